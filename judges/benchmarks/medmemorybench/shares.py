"""A share of clustered outcomes, or a difference of paired ones, with an interval that knows the clusters."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from judges.benchmarks.benchmark import Scores, Undefined
from judges.calibration.agreement.binomial import wilson
from judges.calibration.distributions import t_half_width

LEVEL = 0.95
FEWEST_CLUSTERS = 5
"""Below this many personas their spread says too little, and an interval that ignores them is given."""

ROUNDING = 1e-9
"""What sums of equal outcomes may differ by."""


class Share(NamedTuple):
    """A mean of outcomes with its interval at 95 %; `low` and `high` are None where there is none."""

    value: float
    low: float | None
    high: float | None
    n: int
    clusters: int

    def as_scores(self) -> Scores:
        none = Undefined("too_few", "too few personas for an interval")
        low = none if self.low is None else self.low
        return {
            "accuracy": self.value,
            "low": low,
            "high": none if self.high is None else self.high,
            "n": self.n,
        }


def share(outcomes: Sequence[tuple[str, bool]]) -> Share:
    """The share of True among (cluster, outcome) pairs, at least one.

    With five clusters and spread between them a t interval over the clusters' sums (ratio estimator, linearised),
    else Wilson's, which takes the outcomes as independent.
    """
    pairs = [(cluster, float(outcome)) for cluster, outcome in outcomes]
    value = sum(y for _, y in pairs) / len(pairs)
    half = _half_width(pairs, value)
    if half:
        return Share(value, max(0.0, value - half), min(1.0, value + half), len(pairs), _clusters(pairs))
    low, high = wilson(sum(outcome for _, outcome in outcomes), len(outcomes), LEVEL)
    return Share(value, low, high, len(pairs), _clusters(pairs))


def difference(outcomes: Sequence[tuple[str, float]]) -> Share:
    """The mean of paired differences (cluster, difference), with a t interval over clusters, or none."""
    value = sum(d for _, d in outcomes) / len(outcomes)
    half = _half_width(outcomes, value)
    low, high = (max(-1.0, value - half), min(1.0, value + half)) if half else (None, None)
    return Share(value, low, high, len(outcomes), _clusters(outcomes))


def _half_width(outcomes: Sequence[tuple[str, float]], mean: float) -> float:
    """Half of the t interval over clusters; 0 where there are too few of them or no spread."""
    sums: dict[str, float] = defaultdict(float)
    for cluster, value in outcomes:
        sums[cluster] += value - mean
    g = len(sums)
    if g < FEWEST_CLUSTERS or max(map(abs, sums.values())) < ROUNDING:
        return 0.0
    variance = g / (g - 1) * sum(residual**2 for residual in sums.values()) / len(outcomes) ** 2
    return t_half_width(LEVEL, g - 1) * math.sqrt(variance)


def _clusters(outcomes: Sequence[tuple[str, float]]) -> int:
    return len({cluster for cluster, _ in outcomes})
