"""HaluMem: memory systems judged on integrity, accuracy, update and question answering (arXiv:2511.03506)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.background import DeclaredTie, PublishedAgreement
from judges.benchmarks.benchmark import (
    AskingBenchmark,
    CorrectableBenchmark,
    DescribingBenchmark,
    NativeFile,
    Sample,
    SampledBenchmark,
    ScoredItem,
    Scores,
    Source,
    TaskDefinition,
    Undefined,
)
from judges.benchmarks.halumem import (
    background,
    breakdowns,
    described,
    reader,
    sample,
    scoring,
    totals,
    tracing,
    warnings,
    writer,
)
from judges.benchmarks.halumem.items import BENCHMARK_NAME
from judges.benchmarks.halumem.judge_rubrics import RUBRICS
from judges.benchmarks.halumem.recognise import kind_of_head
from judges.benchmarks.halumem.tasks import INTEGRITY, TASKS
from judges.benchmarks.stages import Tracing
from judges.rubric import Rubric
from store.records import LabelState, Record

Facts = Mapping[str, Mapping[str, Any]]


class HaluMem:
    """The benchmark's parts behind the protocol."""

    name = BENCHMARK_NAME
    headline: Mapping[str, str] = breakdowns.HEADLINE
    options: Mapping[str, str] = {"regime": "Medium or Long: which version of the data the system was run on"}

    def tasks(self) -> Sequence[TaskDefinition]:
        return TASKS

    def without_asking(
        self,
        task: str,
        payload: Mapping[str, Any],  # noqa: ARG002
        slices: Mapping[str, str],
        texts: Mapping[str, str],  # noqa: ARG002
    ) -> tuple[str, str] | None:
        """Of an empty extraction nothing is stored: the official script gives every point 0 and calls nobody."""
        empty = task == INTEGRITY.task and slices.get("extraction") == "empty"
        return ("0", "empty_extraction") if empty else None

    def judge_rubrics(self) -> Mapping[str, Rubric]:
        return RUBRICS

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return kind_of_head(head) in ("verdicts", "answers")

    def read(self, source: Source) -> Iterator[Record]:
        return reader.read(source)

    def as_coded(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.as_coded(items, facts)

    def as_described(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return described.as_described(items, facts)

    def overridden(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.overridden(items, facts)

    def stated_scores(self, facts: Facts, judge: str) -> Mapping[str, Any] | None:
        return scoring.stated_scores(facts, judge)

    def breakdowns(self, items: Iterable[ScoredItem], facts: Facts) -> Mapping[str, Scores]:
        return breakdowns.breakdowns(items, facts)

    def warnings(self, items: Iterable[ScoredItem], facts: Facts) -> Sequence[str]:
        return warnings.warnings(items, facts)

    def tracing(self, items: Iterable[ScoredItem], facts: Facts) -> Tracing:
        return tracing.tracing(items, facts)

    def published_agreement(self) -> Sequence[PublishedAgreement]:
        return ()

    def declared_ties(self) -> Sequence[DeclaredTie]:
        return background.TIES

    def needs(self) -> Mapping[str, frozenset[str]]:
        return totals.needs()

    def bounded(self) -> frozenset[str]:
        return frozenset(totals.needs())

    def lower_is_better(self) -> frozenset[str]:
        return frozenset(name for name in totals.needs() if "hallucination" in name or "omission" in name)

    def shares(self) -> Mapping[str, tuple[str, str]]:
        return totals.shares()

    def terms(self, item: ScoredItem, state: LabelState | None) -> Mapping[str, float]:
        return totals.terms(item, state)

    def combine(self, sums: Mapping[str, float]) -> Mapping[str, float | Undefined]:
        return totals.combine(sums)

    def sample(self, folder: Path) -> Sample:
        return sample.sample(folder)

    def write_native(
        self, items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[NativeFile]:
        return writer.write_native(items, facts, provenance)


BENCHMARK = HaluMem()
_DECLARED: tuple[CorrectableBenchmark, DescribingBenchmark, SampledBenchmark, AskingBenchmark] = (
    BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK,
)  # fmt: skip
