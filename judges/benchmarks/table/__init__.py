"""Any table: rows with something to judge, and what people and judges said of it.

What only reading or writing files needs is imported there: an audit reads none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import (
    AskingBenchmark,
    CorrectableBenchmark,
    InferringBenchmark,
    NativeFile,
    Sample,
    SampledBenchmark,
    ScoredItem,
    Scores,
    SelfNamingBenchmark,
    Source,
    TaskDefinition,
    TaskFileBenchmark,
    Undefined,
)
from judges.benchmarks.table import scoring
from judges.benchmarks.table.scoring import BENCHMARK_NAME
from store.errors import InputError
from store.records import LabelState, Problem, Record

Facts = Mapping[str, Mapping[str, Any]]


class Table:
    """The benchmark's parts behind the protocol. Its tasks are those of the source that is read."""

    name = BENCHMARK_NAME
    names_systems = True
    options: Mapping[str, str] = {
        "tasks": "a task file, as --tasks",
        "label_mode": "how labels in the file were given, as --label-mode",
    }

    def tasks(self) -> Sequence[TaskDefinition]:
        return ()

    def faults_of_tasks(self, path: Path) -> Sequence[Problem]:
        from judges.benchmarks.table.task_file import read_task_file

        return read_task_file(path).faults

    def tasks_for(self, source: Source) -> Sequence[TaskDefinition]:
        """The tasks that the task file and the data of a source make.

        Raises:
            InputError: they make none; says every reason.
        """
        from judges.benchmarks.table.plan import plan_of

        plan = plan_of(source)
        if plan.problems or not plan.tasks:
            reasons = "\n".join(problem.what for problem in plan.problems) or "There is no table among the files."
            raise InputError("The tasks of this table cannot be told.", reasons, "Give a task file: --tasks FILE.toml")
        return plan.definitions

    def inference(self, source: Source) -> Sequence[str]:
        from judges.benchmarks.table.plan import plan_of

        return plan_of(source).sentences

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        from judges.benchmarks.table.recognise import is_table

        return is_table(head)

    def read(self, source: Source) -> Iterator[Record]:
        from judges.benchmarks.table import reader

        return reader.read(source)

    def as_coded(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.as_coded(items, facts)

    def as_described(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:  # noqa: ARG002
        return {}

    def overridden(self, items: Iterable[ScoredItem], facts: Facts) -> Scores:
        return scoring.overridden(items, facts)

    def stated_scores(self, facts: Facts, judge: str) -> Mapping[str, Any] | None:  # noqa: ARG002
        return None

    def needs(self) -> Mapping[str, frozenset[str]]:
        return scoring.TaskOfPath()

    def terms(self, item: ScoredItem, state: LabelState | None) -> Mapping[str, float]:
        return scoring.terms(item, state)

    def combine(self, sums: Mapping[str, float]) -> Mapping[str, float | Undefined]:
        return scoring.combine(sums)

    def sample(self, folder: Path) -> Sample:
        from judges.benchmarks.table.sample import sample

        return sample(folder)

    def write_native(
        self, items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[NativeFile]:
        from judges.benchmarks.table.writer import write_native

        return write_native(items, facts, provenance)


BENCHMARK = Table()
_IS: tuple[
    CorrectableBenchmark, InferringBenchmark, SampledBenchmark, SelfNamingBenchmark, AskingBenchmark, TaskFileBenchmark,
] = (
    BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK, BENCHMARK,
)  # fmt: skip
"""What of the protocol it offers, held by the type checker."""
