"""Where wrong results come from: failures by the stage at which they began, and how errors reach the next stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from judges.calibration.statistic import Statistic


@dataclass(frozen=True, slots=True)
class StageCounts:
    """Failures of one kind.

    Attributes:
        failures: how many there are.
        stages: stage id → failures that began there; every stage, in the order of the pipeline.
        untraced: reason id → failures whose stage cannot be told; with `stages` they add up to `failures`.
        unread: results whose verdict could not be read: neither failures nor successes.
        remarks: counts that qualify the above, by id.
    """

    failures: int
    stages: Mapping[str, int]
    untraced: Mapping[str, int]
    unread: int = 0
    remarks: Mapping[str, int] | None = None

    def as_json(self) -> dict[str, Any]:
        def shares(counts: Mapping[str, int]) -> dict[str, Any]:
            return {name: {"count": count, "share": self._share(count)} for name, count in counts.items()}

        return {
            "failures": self.failures, "stages": shares(self.stages), "untraced": shares(self.untraced),
            "untraced_share": self._share(sum(self.untraced.values())), "unread": self.unread,
            "remarks": dict(self.remarks or {}),
        }  # fmt: skip

    def _share(self, count: int) -> float | dict[str, Any]:
        if not self.failures:
            return {"value": None, "status": "undefined_nothing_to_count", "why": "nothing failed"}
        return count / self.failures


class Evidence(NamedTuple):
    """Pieces of evidence that results of one kind rest on, and those of them that no earlier point has."""

    pieces: int
    unmatched: int


@dataclass(frozen=True, slots=True)
class Traced:
    """What tracing found under one reading of the results.

    Attributes:
        failures: kind of result → its failures by stage.
        evidence: kind of result → its evidence, that of successes too.
        propagation: condition id → share of wrong results under it.
    """

    failures: Mapping[str, StageCounts]
    evidence: Mapping[str, Evidence]
    propagation: Mapping[str, Statistic]

    def as_json(self) -> dict[str, Any]:
        return {
            "failures": {kind: counts.as_json() for kind, counts in self.failures.items()},
            "evidence": {kind: evidence._asdict() for kind, evidence in self.evidence.items()},
            "propagation": {condition: share.as_json() for condition, share in self.propagation.items()},
        }


@dataclass(frozen=True, slots=True)
class Tracing:
    """Where a system's wrong results come from.

    Attributes:
        regime: the benchmark's size or setting that the system ran in; "" when it is not known.
        titles: id → words, for stages, reasons, kinds, remarks and conditions.
        by_verdicts: as the judge sees it.
        by_final_labels: with people's final labels put in; None where nobody labelled.
        notes: what a reader must know, in sentences.
    """

    regime: str
    titles: Mapping[str, str]
    by_verdicts: Traced
    by_final_labels: Traced | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "regime": self.regime, "titles": dict(self.titles), "by_verdicts": self.by_verdicts.as_json(),
            "by_final_labels": self.by_final_labels.as_json() if self.by_final_labels else None,
            "notes": list(self.notes),
        }  # fmt: skip
