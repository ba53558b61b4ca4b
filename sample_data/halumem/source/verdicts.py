"""Verdicts with their hidden truth, and the run of one system that they make up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from official_scores import overall_score

Task = Literal["integrity", "accuracy", "update", "qa"]
TASKS: tuple[Task, ...] = ("integrity", "accuracy", "update", "qa")
ARRAYS: dict[Task, str] = {
    "integrity": "memory_integrity_records",
    "accuracy": "memory_accuracy_records",
    "update": "memory_update_records",
    "qa": "question_answering_records",
}
VERDICT_FIELDS: dict[Task, str] = {
    "integrity": "memory_integrity_score",
    "accuracy": "memory_accuracy_score",
    "update": "memory_update_type",
    "qa": "result_type",
}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict with its hidden truth.

    Attributes:
        content: the record's fields apart from the verdict.
        judge, truth: labels; the judge's is None where it failed.
        judge_flag, truth_flag: accuracy's "true"/"false"; "" elsewhere.
        error: kind of the planted error; "" where the judge is right.
        called: False where an empty extraction decided without asking the judge.
    """

    system: str
    task: Task
    user: str
    language: str
    uuid: str
    session: int
    key: str
    content: Json
    judge: int | str | None
    truth: int | str
    judge_flag: str
    truth_flag: str
    error: str
    rationale: str
    called: bool

    @property
    def distractor(self) -> bool:
        return bool(self.content.get("memory_source") == "interference")

    def record(self, *, true: bool = False) -> Json:
        """The record as the result file has it, or with the truth in the judge's place."""
        label = self.truth if true else self.judge
        verdict: Json = {VERDICT_FIELDS[self.task]: label}
        if self.task == "accuracy":
            verdict["is_included_in_golden_memories"] = self.truth_flag if true else self.judge_flag
        if self.rationale:
            verdict["rationale"] = self.rationale
        return {**self.content, **verdict, "is_valid": label is not None}


@dataclass(slots=True)
class Run:
    """What one system's run produced."""

    system: str
    users: list[Json] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def records(self, *, true: bool = False) -> dict[str, list[Json]]:
        """The four record arrays, in the order of the source."""
        return {
            ARRAYS[task]: [verdict.record(true=true) for verdict in self.verdicts if verdict.task == task]
            for task in TASKS
        }

    def scores(self, *, true: bool = False) -> Json:
        return overall_score(self.records(true=true), self.users)
