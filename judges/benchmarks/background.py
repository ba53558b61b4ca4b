"""What a benchmark's authors say of their judge, and whom it is close to: read beside an audit's own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from judges.calibration.published import PublishedAgreement


@dataclass(frozen=True, slots=True)
class DeclaredTie:
    """Somebody who made the benchmark, or the yardstick, is measured by it.

    Attributes:
        spellings: lower-case pieces of a system's name by which it is known.
        what: the tie, as a clause after the system's name.
    """

    spellings: tuple[str, ...]
    what: str

    def binds(self, system: str) -> bool:
        return any(piece in system.lower() for piece in self.spellings)


@runtime_checkable
class BackgroundBenchmark(Protocol):
    """A benchmark that knows what was published of its judge, and which systems are not independent of it."""

    def published_agreement(self) -> Sequence[PublishedAgreement]:
        """In the order to be told."""
        ...

    def declared_ties(self) -> Sequence[DeclaredTie]:
        """Ties to systems that may be measured."""
        ...


__all__ = ["BackgroundBenchmark", "DeclaredTie", "PublishedAgreement"]
