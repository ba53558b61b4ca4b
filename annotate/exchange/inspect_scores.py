"""Scores for Inspect (`inspect_ai.scorer.precomputed_scores`): one record a sample, as JSON lines.

`id` is the benchmark's own key of the item, `value` what Inspect's metrics read: "C" for the label that
says the response is right and "I" for the others, a number where labels are numbers. The label itself is the `answer`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from annotate.exchange.calibrated import Decided, decided, thresholds_kept
from judges.collect import task_definitions
from judges.favourable import favourable_label
from store.errors import UsageError
from store.study import Study


def inspect_lines(
    study: Study, judge: str, system: str = "", task: str = "", *, selective: bool = False
) -> Iterator[str]:
    """Records of all items that somebody decided.

    Raises:
        NotEnoughError: selective, and no threshold is kept for this judge.
        UsageError: two items have one key, which Inspect refuses.
    """
    definitions = task_definitions(study)
    seen: set[str] = set()
    for one in decided(study, judge, system, task, thresholds_kept(study, judge, selective)):
        if one.label is None:
            continue
        sample = sample_id(one)
        if sample in seen:
            raise UsageError(
                "Several items have one key, and Inspect takes one score a sample.", "", "Say --system and --task."
            )
        seen.add(sample)
        definition = definitions[one.item.task]
        right = favourable_label(definition)
        number = definition.level == "interval" or definition.kind == "number"
        record = {
            "id": sample, "value": float(one.label) if number else "C" if one.label == right else "I",
            "answer": one.label, "explanation": _explanation(one), "metadata": one.as_json(),
        }  # fmt: skip
        yield json.dumps(record, ensure_ascii=False) + "\n"


def sample_id(one: Decided) -> str:
    """The benchmark's own key as one text."""
    key = json.loads(one.item.natural_key)
    return "/".join(map(str, key)) if isinstance(key, list) else str(key)


def _explanation(one: Decided) -> str:
    if one.people is not None:
        return one.people.state.note
    return one.verdict.rationale if one.verdict is not None else ""
