"""Who decides an item: people, the judge, or people's queue, where the judge is too unsure to decide alone.

In selective mode the judge decides where its confidence reaches the threshold that labels found for it
(`judges.selecting`); what falls below, and what could not be read, is for people. A score that rests on an item which
still waits for them is not told: the judge is not to fill in where nothing is promised of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from judges.benchmarks.benchmark import Benchmark, CorrectableBenchmark, Scores, Undefined
from judges.selecting import confidences, kept_selections
from store.errors import NotEnoughError
from store.items import stream_scored

if TYPE_CHECKING:
    from judges.collect import FinalLabel
    from store.records import VerdictRecord
    from store.study import Study

Decider = Literal["people", "judge", "queue", "nobody"]
"""queue: left to people in selective mode. nobody: no verdict, and nobody labelled."""


@dataclass(frozen=True, slots=True)
class Selective:
    """Where judges may decide alone.

    Attributes:
        promises: by task: `threshold`, and that with probability 1 − `delta` at most `alpha` of the judge's verdicts
            there differ from people's labels.
        sure: items whose verdict reaches the threshold of its task.
    """

    promises: Mapping[str, Mapping[str, Any]]
    sure: frozenset[str]


def selective_of(study: Study, judges: Sequence[str]) -> Selective:
    """Where these judges may decide alone; a task without a threshold is people's.

    Raises:
        NotEnoughError: none of them has a threshold that still holds.
    """
    promises: dict[str, Mapping[str, Any]] = {}
    sure: set[str] = set()
    for judge in judges:
        for task, kept in kept_selections(study, judge).items():
            promises[task] = {name: kept[name] for name in ("threshold", "alpha", "delta")}
            levels, _ = confidences(study, judge, task)
            sure.update(item for item, level in levels.items() if level >= kept["threshold"])
    if not promises:
        raise NotEnoughError(
            f"No confidence is known above which {' or '.join(judges)} may decide alone.",
            "A threshold needs labels that guarantee its rate of errors, and the judge must not have changed since.",
            f"overread audit --confidence --judge {judges[0]} --keep",
        )
    return Selective(promises, frozenset(sure))


def decider(
    item_id: str, verdict: VerdictRecord | None, people: FinalLabel | None, selective: Selective | None = None
) -> Decider:
    """Who decides an item. Without `selective` every verdict that could be read decides where people did not."""
    if people is not None and people.state.value is not None:
        return "people"
    if verdict is None:
        return "nobody"
    if selective is None:
        return "judge" if verdict.label is not None else "nobody"
    return "judge" if verdict.label is not None and item_id in selective.sure else "queue"


@dataclass(frozen=True, slots=True)
class SelectiveScores:
    """A system's scores from what people decided and what the judge may decide alone.

    Attributes:
        decided: items by task and by who decides them. promises: as in `Selective`.
        scores: the overridden ones; `Undefined` while an item they rest on waits for people.
    """

    decided: Mapping[str, Mapping[str, int]]
    promises: Mapping[str, Mapping[str, Any]]
    scores: Scores

    @property
    def waiting(self) -> dict[str, int]:
        """Items that wait for people, by task."""
        return {task: counts["queue"] for task, counts in self.decided.items() if counts.get("queue")}


def selective_scores(
    study: Study,
    benchmark: Benchmark,
    system: str,
    judge: str | Sequence[str],
    labels: Mapping[str, FinalLabel],
    selective: Selective,
    overridden: Scores,
) -> SelectiveScores:
    """`overridden` as far as it rests on what was decided.

    Once nobody waits, people's final labels stand where the judge is unsure and its verdicts where it may decide alone:
    then all of them hold.
    """
    decided: dict[str, Counter[str]] = {}
    for item, verdict in stream_scored(study, system, judge):
        by = decider(item.item_id, verdict, labels.get(item.item_id), selective)
        decided.setdefault(item.task, Counter())[by] += 1
    open_tasks = {task: counts for task, counts in decided.items() if counts["queue"] or counts["nobody"]}
    needs = benchmark.needs() if isinstance(benchmark, CorrectableBenchmark) else {}

    def held(scores: Mapping[str, Any], above: str = "") -> dict[str, Any]:
        return {
            name: held(value, f"{above}{name} / ") if isinstance(value, Mapping) else told(f"{above}{name}", value)
            for name, value in scores.items()
        }

    def told(path: str, value: Any) -> Any:
        needed = needs.get(path)
        tasks = open_tasks if needed is None else {one.partition("/")[0] for one in needed} & open_tasks.keys()
        if not tasks:
            return value
        return Undefined("not_decided", "; ".join(_open_words(task, open_tasks[task]) for task in sorted(tasks)))

    return SelectiveScores({task: dict(counts) for task, counts in decided.items()}, selective.promises,
                           held(overridden))  # fmt: skip


def _open_words(task: str, counts: Counter[str]) -> str:
    said = [f"{counts['queue']} items of {task} wait for people"] if counts["queue"] else []
    said += [f"{counts['nobody']} of {task} were not judged"] if counts["nobody"] else []
    return ", ".join(said)
