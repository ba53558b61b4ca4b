"""The official sums, block by block, over one record at a time: same operations, same order, same quirks.

Where the official script would raise, the block keeps the reason and its metrics are `Undefined`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halumem.shapes import is_distractor
from judges.benchmarks.json_text import shown

CRASH = "official_crash"
MEMORY_TYPES = ("Event Memory", "Persona Memory", "Relationship Memory")
Metric = float | int | Undefined


class Block:
    """One part of the official aggregation.

    Attributes:
        crash: what the official script would raise while it counts; "" for nothing.
    """

    name = ""

    def __init__(self) -> None:
        self.crash = ""

    def add(self, record: Mapping[str, Any], item: ScoredItem) -> None:
        """Count a record; after a crash nothing more is counted, as in the official loop."""
        if self.crash:
            return
        try:
            self._count(record)
        except (KeyError, TypeError, OverflowError) as error:
            session = item.group.partition("/")[2]
            self.crash = f"{_told(error)} in {self.name}, at session {session} of user {item.cluster}"

    def _count(self, record: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def scores(self) -> dict[str, Metric]:
        """The block's metrics in the official order."""
        metrics = self._metrics()
        if self.crash:
            return dict.fromkeys(metrics, Undefined(CRASH, self.crash))
        return {
            name: value if count is None else self._ratio(name, value, count)
            for name, (value, count) in metrics.items()
        }

    def _metrics(self) -> dict[str, tuple[Any, Any]]:
        """Numerator and denominator by name; a denominator of None marks a count or sum."""
        raise NotImplementedError

    def _ratio(self, name: str, value: Any, count: Any) -> Metric:
        try:
            quotient: float = value / count
        except ZeroDivisionError:
            return Undefined(CRASH, f"ZeroDivisionError in {self.name}, at {name}: there is nothing to count")
        return quotient


def _told(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"KeyError ({shown(str(error.args[0]))!r} is not there)"
    why = "a number is too large" if isinstance(error, OverflowError) else "a value of the wrong type"
    return f"{type(error).__name__} ({why})"


class IntegrityBlock(Block):
    """Recall over gold points and the resistance to distractors, which the official file keeps under accuracy."""

    name = "memory_integrity_records"

    def __init__(self) -> None:
        super().__init__()
        self.full = self.valid = self.number = 0
        self.weighted: float = 0
        self.valid_weight: float = 0
        self.weight: float = 0
        self.resisted = self.distractors_valid = self.distractors = 0

    def _count(self, record: Mapping[str, Any]) -> None:
        distractor = record["memory_source"] == "interference"
        if distractor:
            self.distractors += 1
        else:
            self.number += 1
            self.weight += record["importance"]
        score = record["memory_integrity_score"]
        if score is None:
            return
        if distractor:
            self.resisted += bool(score == 0)
            self.distractors_valid += 1
            return
        self.full += bool(score == 2)
        self.weighted += 0.5 * score * record["importance"]
        self.valid += 1
        self.valid_weight += record["importance"]

    def _metrics(self) -> dict[str, tuple[Any, Any]]:
        return {
            "recall(all)": (self.full, self.number),
            "recall(valid)": (self.full, self.valid),
            "weighted_recall(all)": (self.weighted, self.weight),
            "weighted_recall(valid)": (self.weighted, self.valid_weight),
            "memory_valid_importance_sum": (self.valid_weight, None),
            "memory_importance_sum": (self.weight, None),
            "memory_valid_num": (self.valid, None),
            "memory_num": (self.number, None),
            "interference_accuracy(all)": (self.resisted, self.distractors),
            "interference_accuracy(valid)": (self.resisted, self.distractors_valid),
            "interference_memory_valid_num": (self.distractors_valid, None),
            "interference_memory_num": (self.distractors, None),
        }


class AccuracyBlock(Block):
    """Support of extracted memories; target precision only over those whose flag is the text "true" or "True"."""

    name = "memory_accuracy_records"

    def __init__(self) -> None:
        super().__init__()
        self.total: float = 0
        self.target_total: float = 0
        self.valid = self.number = self.target_valid = self.target = 0

    def _count(self, record: Mapping[str, Any]) -> None:
        self.number += 1
        target = self.in_target(record["is_included_in_golden_memories"])
        self.target += target
        score = record["memory_accuracy_score"]
        if score is None:
            return
        half = 0.5 * score
        if target:
            self.target_total += half
            self.target_valid += 1
        self.total += half
        self.valid += 1

    def in_target(self, flag: Any) -> bool:
        return bool(flag in ("true", "True"))

    def _metrics(self) -> dict[str, tuple[Any, Any]]:
        return {
            "target_accuracy(all)": (self.target_total, self.target),
            "target_accuracy(valid)": (self.target_total, self.target_valid),
            "target_memory_valid_num": (self.target_valid, None),
            "target_memory_num": (self.target, None),
            "weighted_accuracy(all)": (self.total, self.number),
            "weighted_accuracy(valid)": (self.total, self.valid),
            "memory_valid_num": (self.valid, None),
            "memory_num": (self.number, None),
        }


class ClassBlock(Block):
    """Shares of exact, case-sensitive labels: update and question answering."""

    def __init__(self, name: str, field: str, labels: tuple[str, ...], ratio: str, count: str) -> None:
        super().__init__()
        self.name = name
        self._field, self._ratio_name, self._count_name = field, ratio, count
        self.counts = dict.fromkeys(labels, 0)
        self.valid = self.number = 0

    def _count(self, record: Mapping[str, Any]) -> None:
        self.number += 1
        label = record[self._field]
        if isinstance(label, str) and label in self.counts:
            self.counts[label] += 1
            self.valid += 1

    def _metrics(self) -> dict[str, tuple[Any, Any]]:
        metrics: dict[str, tuple[Any, Any]] = {}
        for label, count in self.counts.items():
            name = f"{label.lower()}_{self._ratio_name}"
            metrics[f"{name}(all)"] = (count, self.number)
            metrics[f"{name}(valid)"] = (count, self.valid)
        metrics[f"{self._count_name}_valid_num"] = (self.valid, None)
        metrics[f"{self._count_name}_num"] = (self.number, None)
        return metrics


def update_block() -> ClassBlock:
    labels = ("Correct", "Hallucination", "Omission", "Other")
    return ClassBlock("memory_update_records", "memory_update_type", labels, "update_memory_ratio", "update_memory")


def qa_block() -> ClassBlock:
    labels = ("Correct", "Hallucination", "Omission")
    return ClassBlock("question_answering_records", "result_type", labels, "qa_ratio", "qa")


class TypeBlock:
    """Accuracy by memory type over integrity and update records together, distractors and failures included.

    Attributes:
        count_distractors: False leaves them out, as the paper describes it.
    """

    name = "memory_type_accuracy"

    def __init__(self, *, count_distractors: bool = True) -> None:
        self.count_distractors = count_distractors
        self.crash = ""
        self.full = dict.fromkeys(MEMORY_TYPES, 0)
        self.updated = dict.fromkeys(MEMORY_TYPES, 0)
        self.number = dict.fromkeys(MEMORY_TYPES, 0)

    def add(self, record: Mapping[str, Any], field: str, success: object, item: ScoredItem) -> None:
        """Count a record whose `field` holds `success` when it succeeded."""
        if self.crash or field not in record or "importance" not in record:
            return
        if not self.count_distractors and is_distractor(record):
            return
        tally = self.full if field == "memory_integrity_score" else self.updated
        kind = record.get("memory_type")
        if not isinstance(kind, str) or kind not in self.number:
            told = f"KeyError ({shown(str(kind))!r} is no memory type)"
            self.crash = f"{told} in {self.name}, at user {item.cluster}"
            return
        tally[kind] += bool(record[field] == success)
        self.number[kind] += 1

    def scores(self) -> dict[str, dict[str, Metric]]:
        return {kind: self._scores_of(kind) for kind in MEMORY_TYPES}

    def _scores_of(self, kind: str) -> dict[str, Metric]:
        number = self.number[kind]
        names = ("memory_integrity_acc", "memory_update_acc", "total_num", "memory_acc")
        if self.crash:
            return dict.fromkeys(names, Undefined(CRASH, self.crash))
        if not number:
            why = f"ZeroDivisionError in {self.name}: there is no record of type {kind}"
            return dict.fromkeys(names, Undefined(CRASH, why)) | {"total_num": 0}
        integrity, update = self.full[kind] / number, self.updated[kind] / number
        return dict(zip(names, (integrity, update, number, integrity + update), strict=True))


def timings(payloads: Iterable[Mapping[str, Any]]) -> dict[str, Metric]:
    """Minutes, summed in ms over users in the order of the answer sheet and divided at the end."""
    add: float = 0
    search: float = 0
    names = ("add_dialogue_duration_time", "search_memory_duration_time", "total_duration_time")
    try:
        for payload in sorted(payloads, key=lambda payload: int(payload["order"])):
            for duration in payload["add_dialogue_duration_ms"]:
                add += duration
            for duration in payload["search_duration_ms"]:
                search += duration
        add, search = add / 1000 / 60, search / 1000 / 60
    except (TypeError, OverflowError) as error:
        return dict.fromkeys(names, Undefined(CRASH, f"{_told(error)} in time_consuming"))
    return dict(zip(names, (add, search, add + search), strict=True))


def without_script(scores: Mapping[str, Any]) -> Scores:
    """For tables that the official script does not make: what has nothing to count is undefined by itself."""
    return {name: _plain(value) for name, value in scores.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return without_script(value)
    if isinstance(value, Undefined) and value.status == CRASH:
        return replace(value, status="undefined_nothing_to_count")
    return value
