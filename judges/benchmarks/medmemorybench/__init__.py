"""MedMemoryBench: memory of a patient's long history, asked in six ways (arXiv:2605.11814)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.backends.rules import Rule
from judges.benchmarks.benchmark import NativeFile, ScoredItem, Scores, Source, TaskDefinition, Undefined
from judges.benchmarks.medmemorybench import derived, reader, scoring, terms, writer
from judges.benchmarks.medmemorybench.judge_rubrics import RUBRICS
from judges.benchmarks.medmemorybench.judge_rules import RULES
from judges.benchmarks.medmemorybench.recognise import kind_of_head
from judges.benchmarks.medmemorybench.shapes import BENCHMARK_NAME, INCORRECT
from judges.benchmarks.medmemorybench.tasks import TASKS
from judges.rubric import Rubric
from store.records import LabelState, Record, VerdictRecord

Facts = Mapping[str, Mapping[str, Any]]


class MedMemoryBench:
    """The benchmark's parts behind the protocols: it can be corrected, and derives from labels."""

    name = BENCHMARK_NAME

    def tasks(self) -> Sequence[TaskDefinition]:
        return TASKS

    def judge_rules(self) -> Mapping[str, Mapping[str, Rule]]:
        return RULES

    def without_asking(
        self,
        task: str,  # noqa: ARG002
        payload: Mapping[str, Any],
        slices: Mapping[str, str],  # noqa: ARG002
        texts: Mapping[str, str],  # noqa: ARG002
    ) -> tuple[str, str] | None:
        """An empty answer is incorrect: the official code calls nobody for it."""
        empty = not str(payload.get("response", "")).strip()
        return (INCORRECT, "no_response") if empty else None

    def judge_rubrics(self) -> Mapping[str, Rubric]:
        return RUBRICS

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return kind_of_head(head) in ("answers", "checkpoint", "result", "queries")

    def read(self, source: Source) -> Iterator[Record]:
        return reader.read(source)

    def as_coded(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.as_coded(items, facts)

    def as_described(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.as_described(items, facts)

    def overridden(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.overridden(items, facts)

    def stated_scores(self, facts: Facts, judge: str) -> Mapping[str, Any] | None:
        return scoring.stated_scores(facts, judge)

    def write_native(
        self, items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[NativeFile]:
        return writer.write_native(items, facts, provenance)

    def needs(self) -> Mapping[str, frozenset[str]]:
        return terms.needs()

    def terms(self, item: ScoredItem, state: LabelState | None) -> Mapping[str, float]:
        return terms.terms(item, state)

    def combine(self, sums: Mapping[str, float]) -> Mapping[str, float | Undefined]:
        return terms.combine(sums)

    def derived(self, task: str, payload: Mapping[str, Any], state: LabelState) -> Sequence[tuple[str, str]]:
        return derived.lines(task, payload, state)

    def derived_of_verdict(
        self, task: str, payload: Mapping[str, Any], verdict: VerdictRecord
    ) -> Sequence[tuple[str, str]]:
        return derived.lines_of_verdict(task, payload, verdict)


BENCHMARK = MedMemoryBench()
