"""The metrics where paper and README say something else than the code does.

- Accuracy by memory type leaves distractors out (the code counts one that was stored as a success).
- Update ratios are over all annotated updates; one for which nothing was retrieved counts as an omission (the code
  moves it to the recall items).
- Target precision and F1 take the flag for what it says; the code drops a flag that is the JSON boolean true. They are
  given only when such a flag is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halumem.scoring import Facts, f1, judged
from judges.benchmarks.halumem.shapes import FLAG_FIELD
from judges.benchmarks.halumem.tallies import AccuracyBlock, IntegrityBlock, TypeBlock, update_block


class DescribedAccuracy(AccuracyBlock):
    """Target precision with the flag read for what it says."""

    def in_target(self, flag: Any) -> bool:
        return flag is True or super().in_target(flag)


def as_described(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """The metrics that differ, in the official nesting."""
    types = TypeBlock(count_distractors=False)
    update, integrity, accuracy = update_block(), IntegrityBlock(), DescribedAccuracy()
    boolean_flags = False
    for item, record in judged(items, facts):
        if item.task == "integrity":
            integrity.add(record, item)
            types.add(record, "memory_integrity_score", 2, item)
            if item.slices.get("kind") == "rerouted_update":
                update.add({"memory_update_type": "Omission"}, item)
        elif item.task == "update":
            update.add(record, item)
            types.add(record, "memory_update_type", "Correct", item)
        elif item.task == "accuracy":
            accuracy.add(record, item)
            boolean_flags = boolean_flags or record.get(FLAG_FIELD) is True
    scores: Scores = {"memory_update": update.scores(), "memory_type_accuracy": types.scores()}
    if boolean_flags:
        target = {name: value for name, value in accuracy.scores().items() if name.startswith("target_")}
        scores["memory_accuracy"] = target
        scores["memory_extraction_f1"] = f1(target["target_accuracy(all)"], integrity.scores()["recall(all)"])
    return _without_script(scores)


def _without_script(scores: Scores) -> Scores:
    """The paper has no script that could crash: what has nothing to count is undefined by itself."""
    return {
        name: _without_script(value)
        if isinstance(value, dict)
        else replace(value, status="undefined_nothing_to_count")
        if isinstance(value, Undefined)
        else value
        for name, value in scores.items()
    }
