"""HaluMem's metrics as the official script codes them, over the judge's verdicts or with people's labels put in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halumem.shapes import FLAG_FIELD, VERDICT_FIELD
from judges.benchmarks.halumem.tallies import (
    CRASH,
    AccuracyBlock,
    IntegrityBlock,
    Metric,
    TypeBlock,
    qa_block,
    timings,
    update_block,
)
from store.records import VerdictRecord

Facts = Mapping[str, Mapping[str, Any]]


class Counted(NamedTuple):
    """An item and the fields of its record that the official script reads."""

    item: ScoredItem
    record: Mapping[str, Any]


class Aggregation:
    """One run of the official aggregation; holds counts only."""

    def __init__(self) -> None:
        self.integrity = IntegrityBlock()
        self.accuracy = AccuracyBlock()
        self.update = update_block()
        self.qa = qa_block()
        self.types = TypeBlock()

    def add(self, counted: Counted) -> None:
        item, record = counted
        if item.task == "integrity":
            self.integrity.add(record, item)
            self.types.add(record, "memory_integrity_score", 2, item)
        elif item.task == "update":
            self.update.add(record, item)
            self.types.add(record, "memory_update_type", "Correct", item)
        elif item.task == "accuracy":
            self.accuracy.add(record, item)
        else:
            self.qa.add(record, item)

    def scores(self, time_consuming: Mapping[str, Metric]) -> Scores:
        """All metrics in the official nesting and order.

        When the official script would have stopped, `official_script` comes first and says where; the metrics that
        its fault does not touch keep the value its formulas give.
        """
        integrity, accuracy = self.integrity.scores(), self.accuracy.scores()
        resistance = {name: integrity.pop(name) for name in list(integrity) if name.startswith("interference_")}
        scores: Scores = {
            "memory_integrity": integrity,
            "memory_accuracy": resistance | accuracy,
            "memory_extraction_f1": f1(accuracy["target_accuracy(all)"], integrity["recall(all)"]),
            "memory_update": self.update.scores(),
            "question_answering": self.qa.scores(),
            "memory_type_accuracy": self.types.scores(),
            "time_consuming": dict(time_consuming),
        }
        crash = first_crash(scores)
        return {"official_script": crash, **scores} if crash else scores


def first_crash(scores: Scores) -> Undefined | None:
    """Where the official script would stop: it adds up durations first, then works in the order of the scores."""
    blocks = [scores["time_consuming"], *scores.values()]
    for value in _leaves(blocks):
        if isinstance(value, Undefined) and value.status == CRASH:
            return Undefined(CRASH, f"{value.why}; the official script stops there and writes no stat_result")
    return None


def _leaves(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, Mapping):
            yield from _leaves(value.values())
        else:
            yield value


def f1(precision: Metric, recall: Metric) -> Metric:
    """2PR / (P + R); 0.0 when the sum is 0."""
    if isinstance(precision, Undefined):
        return precision
    if isinstance(recall, Undefined):
        return recall
    total = precision + recall
    return 2 * precision * recall / total if total != 0 else 0.0


# What is counted


def as_coded(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """The official `overall_score` over the judge's verdicts. Items without one are in no official record."""
    return _aggregate(judged(items, facts), facts)


def overridden(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """`as_coded` with people's labels in place of the verdicts; `people` counts them by task.

    An item that nobody judged counts once a person has labelled it. `cannot judge` leaves the judge's verdict.
    """
    people: dict[str, Counter[str]] = {}
    scores = _aggregate(decided(_counting(items, people), facts), facts)
    return scores | {"people": {task: dict(counts) for task, counts in people.items()}}


def judged(items: Iterable[ScoredItem], facts: Facts) -> Iterator[Counted]:
    """The records the official script would read: those with a verdict."""
    for both in counted(items, facts):
        if both.judged is not None:
            yield Counted(both.item, both.judged)


def decided(items: Iterable[ScoredItem], facts: Facts) -> Iterator[Counted]:
    """`judged` with people's final values put in, and with what only people decided."""
    for both in counted(items, facts):
        if both.decided is not None:
            yield Counted(both.item, both.decided)


class CountedTwice(NamedTuple):
    """An item and the fields of its record by the judge and with people's final values put in; None: counts nowhere."""

    item: ScoredItem
    judged: Mapping[str, Any] | None
    decided: Mapping[str, Any] | None


def counted(items: Iterable[ScoredItem], facts: Facts) -> Iterator[CountedTwice]:
    """The items with both records, which are one object where nobody decided."""
    from_files = judges_of_files(facts)
    for item in items:
        own = _fields(item)
        answer = verdict_fields(item.task, item.verdict, from_files) if item.verdict else None
        by_judge = own | answer if answer is not None else None
        if item.label is None or item.label.value is None:
            yield CountedTwice(item, by_judge, by_judge)
        else:
            label = label_fields(item.task, item.label.value, item.label.parts, answer)
            yield CountedTwice(item, by_judge, own | (answer or {}) | label)


def _aggregate(records: Iterable[Counted], facts: Facts) -> Scores:
    aggregation = Aggregation()
    judge_id = ""
    for counted in records:
        aggregation.add(counted)
        if counted.item.verdict is not None:
            judge_id = counted.item.verdict.judge_id
    return aggregation.scores(time_consuming(facts, judge_id))


def _counting(items: Iterable[ScoredItem], people: dict[str, Counter[str]]) -> Iterator[ScoredItem]:
    for item in items:
        label = item.label
        if label is not None and label.decided:
            counts = people.setdefault(item.task, Counter(labelled=0, changed=0, cannot_judge=0))
            counts["cannot_judge" if label.value is None else "labelled"] += 1
            counts["changed"] += is_changed(item)
        yield item


def is_changed(item: ScoredItem) -> bool:
    """Whether a person's final label says something else than the judge's verdict, or where there was none."""
    label, verdict = item.label, item.verdict
    if label is None or label.value is None:
        return False
    if verdict is None or verdict.label != label.value:
        return True
    return any(verdict.parts.get(part) != value for part, value in label.parts.items())


# Fields of a record


def judges_of_files(facts: Facts) -> frozenset[str]:
    """Ids of the judges whose verdicts were read from the benchmark's own files."""
    return frozenset(
        judge_id for payload in facts.get("verdict_file", {}).values() for judge_id in payload["judge_ids"].values()
    )


def _fields(item: ScoredItem) -> dict[str, Any]:
    return dict(item.extra.get("fields", {}))


def verdict_fields(task: str, verdict: VerdictRecord, from_files: frozenset[str]) -> dict[str, Any]:
    """The verdict as fields of the benchmark's record: exactly as read, or made of the label of another judge."""
    if verdict.judge_id in from_files:
        own: dict[str, Any] = json.loads(verdict.raw)
        return own
    value = int(verdict.label) if verdict.label is not None and task in ("integrity", "accuracy") else verdict.label
    flag = {FLAG_FIELD: verdict.parts.get("included", "false")} if task == "accuracy" else {}
    return {VERDICT_FIELD[task]: value} | flag


def label_fields(task: str, value: str, parts: Mapping[str, str], answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """A person's label as fields of the benchmark's record. A flag nobody gave stays the judge's, or "false"."""
    fields: dict[str, Any] = {VERDICT_FIELD[task]: int(value) if task in ("integrity", "accuracy") else value}
    if task == "accuracy":
        fields[FLAG_FIELD] = parts.get("included") or (answer or {}).get(FLAG_FIELD, "false")
    return fields


# What the files say themselves


def time_consuming(facts: Facts, judge_id: str) -> dict[str, Metric]:
    """The durations of the answer sheet; without one, those that came with the verdicts."""
    if facts.get("timings"):
        return timings(facts["timings"].values())
    official = official_score(facts, judge_id)
    if official is not None and isinstance(official.get("time_consuming"), dict):
        return dict(official["time_consuming"])
    names = ("add_dialogue_duration_time", "search_memory_duration_time", "total_duration_time")
    return dict.fromkeys(names, Undefined("no_answer_sheet", "durations are in the answer sheet, which was not given"))


def official_score(facts: Facts, judge_id: str = "") -> Mapping[str, Any] | None:
    """The `overall_score` that came with this judge's verdicts; None unless exactly one file had one."""
    found = [
        payload["overall_score"]
        for payload in facts.get("official_score", {}).values()
        if not judge_id or judge_id in payload["judge_ids"].values()
    ]
    return found[0] if len(found) == 1 else None


def stated_scores(facts: Facts, judge: str) -> Mapping[str, Any] | None:
    """As `official_score`, by the judge's name."""
    found = [fact["overall_score"] for fact in facts.get("official_score", {}).values() if fact["judge"] == judge]
    return found[0] if len(found) == 1 else None
