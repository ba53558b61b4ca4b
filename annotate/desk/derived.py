"""What a benchmark derives from a label, and from what a judge said: asked only once the label is given."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from judges.benchmarks.benchmark import DerivingBenchmark, get_benchmark
from judges.benchmarks.decisions import is_long
from store.items import StoredVerdict

if TYPE_CHECKING:
    from annotate.desk.ledger import Reading

Lines = tuple[tuple[str, str], ...]
"""(title, words)."""


def derived_lines(benchmark: str, reading: Reading) -> Lines:
    """What follows from the person's label; () before it is given."""
    deriving = _deriving(benchmark) if reading.state.value is not None and is_long(reading.task) else None
    if deriving is None:
        return ()
    return tuple(deriving.derived(reading.task.task, reading.item.payload, reading.state))


def derived_of_verdict(benchmark: str, reading: Reading, verdict: StoredVerdict) -> Lines:
    """What follows from a verdict; for verdicts that may be shown."""
    deriving = _deriving(benchmark) if is_long(reading.task) else None
    if deriving is None:
        return ()
    return tuple(deriving.derived_of_verdict(reading.task.task, reading.item.payload, verdict.record))


@lru_cache(maxsize=4)
def _deriving(benchmark: str) -> DerivingBenchmark | None:
    """The benchmark if it derives anything; loaded only for tasks whose parts take more than a key."""
    try:
        found = get_benchmark(benchmark)
    except KeyError:
        return None
    return found if isinstance(found, DerivingBenchmark) else None
