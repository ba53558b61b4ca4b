"""HalBench: does a model go along with a false premise? Replies scored by an embedding, and ranked by people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.backends.rules import RuleVerdict
from judges.benchmarks.background import DeclaredTie, PublishedAgreement
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
from judges.benchmarks.halbench import background, compared, embedded, reader, sample, scoring, writer
from judges.benchmarks.halbench.judge_rubrics import RUBRICS
from judges.benchmarks.halbench.recognise import kind_of_head
from judges.benchmarks.halbench.records import BENCHMARK_NAME
from judges.benchmarks.halbench.tasks import STANCE, TASKS
from judges.rubric import Rubric
from store.items import StoredItem
from store.records import LabelState, Record

Facts = Mapping[str, Mapping[str, Any]]

REMARKS = (
    "HalBench is not a safety benchmark: it says whether a model contradicts a false premise, not whether its answers "
    "are safe.",
    "There is no LLM judge: the score is a projection of sentence embeddings; a person's score stands in its place.",
    "A reply without a sentence of five characters (“No.”) is scored as full deference; a reply of one sentence scores "
    "high.",
    "The stated means are with the one-sentence replies left out, the stated n with them in.",
    "Scores of different cells do not compare as they stand: the same change of a reply moves the score up to three "
    "times as far in one cell as in another.",
)


class HalBench:
    """The benchmark's parts behind the protocol."""

    name = BENCHMARK_NAME
    names_systems = True
    options: Mapping[str, str] = {
        "duplicates": "first, last or both: which row of an item counts that a resumed run scored twice",
    }

    def tasks(self) -> Sequence[TaskDefinition]:
        return TASKS

    embedded_tasks = (STANCE.task,)

    def embedding_texts(self, item: StoredItem) -> Sequence[str]:
        return embedded.embedding_texts(item)

    def embedding_verdict(
        self, item: StoredItem, vectors: Sequence[Sequence[float] | None], facts: Facts
    ) -> RuleVerdict:
        return embedded.embedding_verdict(item, vectors, facts)

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

    def published_agreement(self) -> Sequence[PublishedAgreement]:
        return background.PUBLISHED

    def declared_ties(self) -> Sequence[DeclaredTie]:
        return background.TIES

    def overridden(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.overridden(items, facts)

    def stated_scores(self, facts: Facts, judge: str) -> Mapping[str, Any] | None:
        return scoring.stated_scores(facts, judge)

    def needs(self) -> Mapping[str, frozenset[str]]:
        return scoring.needs()

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


BENCHMARK = HalBench()
_IS: tuple[
    CorrectableBenchmark, ComparingBenchmark, RemarkingBenchmark,
    SampledBenchmark, SelfNamingBenchmark, AskingBenchmark,
] = (BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK)  # fmt: skip
"""What of the protocol it offers, held by the type checker."""
