"""What the audit of a number, a ranking or a grid finds, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judges.calibration.audit_result import TaskAudit
from judges.calibration.statistic import Statistic

MeasuredKind = Literal["number", "ranking"]


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """One judge against people.

    Attributes:
        n: items that both gave. unreadable, no_verdict: items people gave whose verdict could not be read, or says
            nothing of it.
        statistics: by name; of numbers `pearson`, `spearman`, `kendall_tau`, `rmse` and `mean_difference` (judge less
            people), of rankings `kendall_tau` (mean of the items' τ-b) and the shares of items by their τ.
        counts: of rankings, items with ties and items without a τ.
        slices: slice → value → the mean τ; of rankings only.
        notes: what a reader should know to read the numbers right.
    """

    n: int
    unreadable: int
    no_verdict: int
    statistics: Mapping[str, Statistic]
    counts: Mapping[str, int] = field(default_factory=dict)
    slices: Mapping[str, Mapping[str, Statistic]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        counts = {"n": self.n, "unreadable": self.unreadable, "no_verdict": self.no_verdict, **self.counts}
        fields: dict[str, Any] = {**counts, **_json(self.statistics)}
        if self.slices:
            fields["slices"] = {name: _json(values) for name, values in self.slices.items()}
        fields["notes"] = list(self.notes)
        return fields


@dataclass(frozen=True, slots=True)
class MeasuredHumans:
    """People among each other: labels of each, and the statistics of each pair by the two names joined with "|"."""

    annotators: Mapping[str, int]
    pairs: Mapping[str, Mapping[str, Statistic]]

    def as_json(self) -> dict[str, Any]:
        pairs = {names: {"n": _n(found), **_json(found)} for names, found in self.pairs.items()}
        return {"annotators": dict(self.annotators), "pairs": pairs}


@dataclass(frozen=True, slots=True)
class MeasuredAudit:
    """A number or a ranking: a task's value, or one of its parts.

    Attributes:
        items: of the task, of every stream. labelled: items that somebody gave it on, blind and in stream estimate.
        rules: labelled items by how what people said was put together.
        dropped: what was left out of it, by rule.
    """

    kind: MeasuredKind
    title: str
    items: int
    labelled: int
    rules: Mapping[str, int]
    dropped: Mapping[str, int]
    judges: Mapping[str, MeasuredAgreement]
    humans: MeasuredHumans

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "items": self.items,
            "labelled": self.labelled,
            "rules": dict(self.rules),
            "dropped": dict(self.dropped),
            "judges": {judge: found.as_json() for judge, found in self.judges.items()},
            "humans": self.humans.as_json(),
        }


@dataclass(frozen=True, slots=True)
class GridAudit:
    """A grid: its cells as nominal units, resampled by item since the cells of one item stand or fall together.

    Attributes:
        items: of the task. labelled: items with a grid that counts. cells: the audit whose items are cells.
    """

    title: str
    items: int
    labelled: int
    cells: TaskAudit

    def as_json(self) -> dict[str, Any]:
        return {**self.cells.as_json(), "kind": "checklist", "unit": "cell", "items": self.items,
                "labelled": self.labelled, "cells": self.cells.labelled}  # fmt: skip


PartAudit = MeasuredAudit | GridAudit


def _json(statistics: Mapping[str, Statistic]) -> dict[str, Any]:
    return {name: statistic.as_json() for name, statistic in statistics.items()}


def _n(statistics: Mapping[str, Statistic]) -> int:
    return max((statistic.n for statistic in statistics.values()), default=0)
