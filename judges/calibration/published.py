"""Agreement of a judge with people as others have published it, to be read beside one's own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PublishedAgreement:
    """How far the benchmark's authors found their judge to agree with people.

    Attributes:
        statistic: as `audit --json` names it ("raw_agreement", "cohen_kappa", "kendall_tau").
        tasks: the tasks it is of; () for all of them together.
        n: items it rests on. low, high: its interval as printed. note: what keeps it from being ours.
    """

    statistic: str
    value: float
    n: int | None
    source: str
    tasks: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "tasks": list(self.tasks)}

    def concerns(self, task: str) -> bool:
        return not self.tasks or task in self.tasks
