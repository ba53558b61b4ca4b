"""MedMemoryBench: memory of a patient's long history, asked in six ways (arXiv:2605.11814)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.backends.rules import Rule
from judges.benchmarks.background import DeclaredTie, PublishedAgreement
from judges.benchmarks.benchmark import (
    Alarm,
    AskingBenchmark,
    ClinicalBenchmark,
    ComparingBenchmark,
    ContradictingBenchmark,
    CorrectableBenchmark,
    DerivingBenchmark,
    Doubt,
    DoubtingBenchmark,
    HeadliningBenchmark,
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
    VerdictSlicingBenchmark,
)
from judges.benchmarks.medmemorybench import (
    background,
    compared,
    derived,
    doubts,
    people,
    reader,
    sample,
    scoring,
    terms,
    writer,
)
from judges.benchmarks.medmemorybench.judge_rubrics import RUBRICS
from judges.benchmarks.medmemorybench.judge_rules import RULES
from judges.benchmarks.medmemorybench.recognise import kind_of_head
from judges.benchmarks.medmemorybench.shapes import BENCHMARK_NAME, INCORRECT, TYPE_OF_TASK
from judges.benchmarks.medmemorybench.tasks import TASKS
from judges.rubric import Rubric
from store.records import LabelState, Record, VerdictRecord

Facts = Mapping[str, Mapping[str, Any]]


OPTIONS = {
    "duplicates": "first or last: which copy of a query is judged that a resumed run asked twice",
    "regime": "Efficient or Mixed: without or with noise sessions, where no *_result.json says so",
    "language": "zh or en: language of the run, where no *_result.json says so",
    "architecture": "what kind of memory the system is, as in “graph retrieval”; else told from the method's name",
}

REMARKS = (
    "The paper's average is the unweighted mean of the six types; overall_accuracy of the code pools all queries.",
    "A failed judge call counts as a wrong answer as coded; “strict” leaves out what could not be read.",
    "The thresholds of a deduction stand in the judge's prompt alone: as coded its own is_correct counts; "
    "“by_published_rule” applies them.",
    "Hallucination rate, recall at k, token F1 and ROUGE-L are defined here: the benchmark published no code for them.",
)


class MedMemoryBench:
    """The benchmark's parts behind the protocols: it can be corrected, and derives from labels."""

    name = BENCHMARK_NAME
    names_systems = True
    options: Mapping[str, str] = OPTIONS
    verdict_slices: Sequence[str] = derived.SLICES
    headline: Mapping[str, str] = {
        f"summary / by_type / {name} / accuracy": task.upper() for task, name in TYPE_OF_TASK.items()
    }

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

    def compared(
        self, systems: Mapping[str, Iterable[ScoredItem]], facts: Mapping[str, Facts], *, overridden: bool = False
    ) -> Scores:
        return compared.compared(systems, facts, overridden=overridden)

    def remarks(self) -> Sequence[str]:
        return REMARKS

    def alarms(self, items: Iterable[ScoredItem], facts: Facts) -> Sequence[Alarm]:
        return people.alarms(list(items), facts)

    def doubts(self, items: Iterable[ScoredItem], facts: Facts) -> Iterator[Doubt]:  # noqa: ARG002
        return doubts.doubts(items)

    def sample(self, folder: Path) -> Sample:
        return sample.sample(folder)

    def write_native(
        self, items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[NativeFile]:
        return writer.write_native(items, facts, provenance)

    def published_agreement(self) -> Sequence[PublishedAgreement]:
        return background.PUBLISHED

    def declared_ties(self) -> Sequence[DeclaredTie]:
        return ()

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

    def slices_of_verdict(self, item: ScoredItem) -> Mapping[str, str]:
        return derived.slices_of_verdict(item)

    def contradicts(self, item: ScoredItem) -> bool:
        return derived.contradicts_itself(item)


BENCHMARK = MedMemoryBench()
_IS: tuple[
    CorrectableBenchmark, DerivingBenchmark, ComparingBenchmark, RemarkingBenchmark, ClinicalBenchmark,
    DoubtingBenchmark, SampledBenchmark, SelfNamingBenchmark, AskingBenchmark, HeadliningBenchmark,
    ContradictingBenchmark, VerdictSlicingBenchmark,
] = (
    BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK,
    BENCHMARK, BENCHMARK,
)  # fmt: skip
"""What of the protocol it offers, held by the type checker."""
