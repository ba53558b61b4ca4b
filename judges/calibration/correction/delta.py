"""Metrics as functions of totals, and their derivatives for the delta method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from judges.calibration.agreement.scale import FloatArray
from judges.calibration.correction.records import Combine, Gradient

STEP = 1e-5
"""Of the central differences, relative to a total's scale: their error is then about 1e-10 of the derivative."""

MOST_KEPT = 4096
"""Totals whose metrics are kept."""


@dataclass(frozen=True)
class Metrics:
    """A benchmark's metrics over named totals.

    Attributes:
        terms: names of the K totals.
        scale: the size of each total, shape (K,), for the steps of numeric derivatives.
    """

    terms: tuple[str, ...]
    scale: FloatArray
    combine: Combine
    gradient: Gradient | None = None
    kept: dict[bytes, dict[str, float]] = field(default_factory=dict, repr=False, compare=False)

    def values(self, totals: FloatArray) -> dict[str, float]:
        """Every metric at totals of shape (K,); nan for one that is undefined there. Kept: metrics ask for the same."""
        if (known := self.kept.get(key := totals.tobytes())) is not None:
            return known
        found = self.combine(dict(zip(self.terms, totals.tolist(), strict=True)))
        if len(self.kept) >= MOST_KEPT:
            self.kept.clear()
        self.kept[key] = {
            name: math.nan if value is None or not math.isfinite(value) else float(value)
            for name, value in found.items()
        }
        return self.kept[key]

    def gradients(self, totals: FloatArray, names: Sequence[str]) -> FloatArray:
        """Derivatives of metrics by totals, shape (M, K); nan where undefined."""
        if self.gradient is not None:
            given = self.gradient(dict(zip(self.terms, totals.tolist(), strict=True)))
            return np.array([[given[name].get(term, 0.0) for term in self.terms] for name in names])
        if not len(totals):  # a system whose labels add to no total, such as rankings alone
            return np.zeros((len(names), 0))
        return np.stack([self._slope(totals, place, names) for place in range(len(totals))], axis=1)

    def _slope(self, totals: FloatArray, place: int, names: Sequence[str]) -> FloatArray:
        step = np.zeros_like(totals)
        step[place] = STEP * max(abs(totals[place]), self.scale[place])
        if step[place] == 0:
            step[place] = STEP
        above, below = self.values(totals + step), self.values(totals - step)
        ends = {name: (above[name], below[name], 2.0) for name in names}
        if any(math.isnan(high + low) for high, low, _ in ends.values()):
            # A metric may end at these totals (a count of 0): its slope is then taken on the side where it is defined.
            here = self.values(totals)
            ends = {name: _one_sided(above[name], here[name], below[name]) for name in names}
        return np.array([(high - low) / (steps * step[place]) for high, low, steps in ends.values()])


def _one_sided(above: float, here: float, below: float) -> tuple[float, float, float]:
    """Two ends of a difference and how many steps they are apart."""
    if math.isnan(above):
        return here, below, 1.0
    return (above, here, 1.0) if math.isnan(below) else (above, below, 2.0)
