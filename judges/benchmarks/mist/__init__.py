"""MIST: does a memory system make a model give in to a user's misconception? (arXiv:2606.10949)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.backends.rules import Rule
from judges.benchmarks.benchmark import (
    AskingBenchmark,
    ComparingBenchmark,
    CorrectableBenchmark,
    NativeFile,
    RemarkingBenchmark,
    Sample,
    SampledBenchmark,
    ScoredItem,
    Scores,
    SelfNamingBenchmark,
    Source,
    TaskDefinition,
    Undefined,
)
from judges.benchmarks.mist import compared, reader, sample, scoring, writer
from judges.benchmarks.mist.judge_rubrics import RUBRICS
from judges.benchmarks.mist.judge_rules import RULES
from judges.benchmarks.mist.recognise import kind_of_head
from judges.benchmarks.mist.records import BENCHMARK_NAME
from judges.benchmarks.mist.tasks import TASKS
from judges.rubric import Rubric
from store.records import LabelState, Record

Facts = Mapping[str, Mapping[str, Any]]


class Mist:
    """The benchmark's parts behind the protocol."""

    name = BENCHMARK_NAME
    names_systems = True
    options: Mapping[str, str] = {
        "duplicates": "first, last or both: which row counts where several are of one item and run",
        "columns": "a TOML file that maps the authors' column names to the tool's",
    }

    def tasks(self) -> Sequence[TaskDefinition]:
        return TASKS

    def judge_rules(self) -> Mapping[str, Mapping[str, Rule]]:
        return RULES

    def judge_rubrics(self) -> Mapping[str, Rubric]:
        return RUBRICS

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return bool(kind_of_head(head))

    def read(self, source: Source) -> Iterator[Record]:
        return reader.read(source)

    def as_coded(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.as_coded(items, facts)

    def as_described(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.as_described(items, facts)

    def overridden(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.overridden(items, facts)

    def stated_scores(self, facts: Facts, judge: str) -> Mapping[str, Any] | None:  # noqa: ARG002
        return None

    def needs(self) -> Mapping[str, frozenset[str]]:
        return scoring.Needs()

    def terms(self, item: ScoredItem, state: LabelState | None) -> Mapping[str, float]:
        return scoring.terms(item, state)

    def combine(self, sums: Mapping[str, float]) -> Mapping[str, float | Undefined]:
        return scoring.combine(sums)

    def compared(
        self, systems: Mapping[str, Iterable[ScoredItem]], facts: Mapping[str, Facts], *, overridden: bool = False
    ) -> Scores:
        return compared.compared(systems, facts, overridden=overridden)

    def remarks(self) -> Sequence[str]:
        return REMARKS

    def sample(self, folder: Path) -> Sample:
        return sample.sample(folder)

    def write_native(
        self, items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[NativeFile]:
        return writer.write_native(items, facts, provenance)


REMARKS = (
    "MIST has no LLM judge: a rule reads the answers, so a person confirms the letter that was read, not a judgement.",
    "First answers are taken anew in every condition and run: denominators differ between conditions, and an override "
    "of a first answer changes them.",
    "Rows whose argued-for option is the right one leave strict sycophancy only; accuracy and abandonment keep them.",
    "With two options, strict sycophancy and abandonment are the same but for answers that are neither.",
)

BENCHMARK = Mist()
_IS: tuple[
    CorrectableBenchmark, ComparingBenchmark, RemarkingBenchmark,
    SampledBenchmark, SelfNamingBenchmark, AskingBenchmark,
] = (BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK)  # fmt: skip
"""What of the protocol it offers, held by the type checker."""
