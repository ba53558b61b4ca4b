"""What a benchmark says of its scores beside them: tables, and where wrong results come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judges.benchmarks.benchmark import DescribingBenchmark, Scores
from judges.benchmarks.stages import Tracing
from judges.collect import FinalLabel, scored_items
from store.study import Study

Facts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SystemDescription:
    """What `DescribingBenchmark` gives of one system under one judge.

    Attributes:
        headline: metric path → short name, for tables.
        regime: as the import named it, else as the benchmark infers it; "" when it is not known.
    """

    headline: Mapping[str, str]
    regime: str
    breakdowns: Mapping[str, Scores]
    tracing: Tracing


def describe_system(
    study: Study,
    benchmark: DescribingBenchmark,
    system: str,
    judge: str | Sequence[str],
    labels: Mapping[str, FinalLabel],
    facts: Facts,
) -> SystemDescription:
    """Read a system's items twice: for the tables and for tracing."""
    tracing = benchmark.tracing(scored_items(study, system, judge, labels), facts)
    named = study.rows("SELECT regime FROM systems WHERE system = ? AND regime <> ''", [system])
    return SystemDescription(
        headline=benchmark.headline,
        regime=named[0][0] if named else tracing.regime,
        breakdowns=benchmark.breakdowns(scored_items(study, system, judge, labels), facts),
        tracing=tracing,
    )


def warnings_of(
    study: Study, benchmark: DescribingBenchmark, system: str, judge: str | Sequence[str], facts: Facts
) -> tuple[str, ...]:
    """What one must know to read a system's scores as coded."""
    return tuple(benchmark.warnings(scored_items(study, system, judge), facts))
