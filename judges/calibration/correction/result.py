"""What a correction finds: one answer a metric, what it rests on, and the reason where it is not the corrected one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judges.calibration.agreement.binomial import Bounds
from judges.calibration.correction.records import Target
from judges.calibration.statistic import Statistic

Used = Literal["corrected", "humans_only", "inverted", "exact", "none"]
"""Which number the answer is: people's labels with the judge as covariate; people's labels alone; the judge's error
rates inverted; a number no label changes; none."""

Refusal = Literal[
    "",
    "labels_not_blind",
    "sampling_unknown",
    "class_balanced",
    "no_labels",
    "undefined",
    "adjudicate_first",
    "too_few",
    "stratum_without_labels",
    "too_few_clusters",
    "judge_changed",
    "few_of_a_class",
    "weak_judge",
    "no_gain",
]
"""Why a metric was not corrected; "" where it was."""


@dataclass(frozen=True, slots=True)
class CorrectedMetric:
    """One metric.

    Attributes:
        statistic: the answer: corrected, or people's labels alone, or why there is none.
        used: which of them it is. refusal: why it is not the corrected one.
        humans_only: people's labels expanded by the design, the judge left aside.
        corrected: the correction wherever it can be computed, chosen or not.
        as_coded: the metric over the judge's terms of all items; None where undefined.
        tuning: λ of each block the metric touches.
        effective_n: "these labels are worth so many": how many labels alone would give an interval as short.
        worst_case: the answer's value if all unresolved items came out at one end or the other; None without any.
        error, df: standard error of the answer and its degrees of freedom, for comparisons.
    """

    statistic: Statistic
    used: Used
    humans_only: Statistic
    corrected: Statistic | None = None
    refusal: Refusal = ""
    as_coded: float | None = None
    tuning: Mapping[str, float] = field(default_factory=dict)
    effective_n: float | None = None
    worst_case: Bounds | None = None
    error: float | None = None
    df: float | None = None

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            **self.statistic.as_json(),
            "used": self.used,
            "refusal": self.refusal,
            "humans_only": self.humans_only.as_json(),
            "as_coded": self.as_coded,
            "tuning": dict(self.tuning),
            "effective_n": self.effective_n,
        }
        if self.worst_case is not None:
            fields["worst_case"] = list(self.worst_case)
        return fields


@dataclass(frozen=True, slots=True)
class CorrectedScores:
    """All metrics of one benchmark run.

    Attributes:
        target: what the numbers speak of.
        labels: resolved labels by block. items: all items by block.
    """

    target: Target
    level: float
    metrics: Mapping[str, CorrectedMetric]
    labels: Mapping[str, int]
    items: Mapping[str, int]

    def __getitem__(self, metric: str) -> CorrectedMetric:
        return self.metrics[metric]

    def as_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "level": self.level,
            "labels": dict(self.labels),
            "items": dict(self.items),
            "metrics": {name: found.as_json() for name, found in self.metrics.items()},
        }
