"""Metrics as functions of totals, and their derivatives for the delta method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.correction.records import Combine, Gradient

STEP = 1e-5
"""Of the central differences, relative to a total's scale: their error is then about 1e-10 of the derivative."""

MOST_KEPT = 4096
"""Totals whose metrics are kept."""
MOST_SLOPES = 64
"""Totals whose derivatives are kept."""


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
    slopes: dict[bytes, FloatArray] = field(default_factory=dict, repr=False, compare=False)

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

    def gradients(
        self, totals: FloatArray, names: Sequence[str], needed: NDArray[np.bool_] | None = None
    ) -> FloatArray:
        """Derivatives of metrics by totals, shape (M, K); nan where undefined.

        Args:
            needed: totals that the metrics depend on, shape (K,); derivatives by others are 0. None for all.
        """
        if self.gradient is not None:
            given = self.gradient(dict(zip(self.terms, totals.tolist(), strict=True)))
            return np.array([[given[name].get(term, 0.0) for term in self.terms] for name in names])
        if not len(totals):  # a system whose labels add to no total, such as rankings alone
            return np.zeros((len(names), 0))
        rows = list(self.values(totals))
        return self._slopes(totals, needed, rows)[[rows.index(name) for name in names]]

    def _slopes(self, totals: FloatArray, needed: NDArray[np.bool_] | None, names: Sequence[str]) -> FloatArray:
        """Derivatives of every metric. Kept: metrics ask for the same."""
        key = totals.tobytes() + (b"" if needed is None else needed.tobytes())
        if (known := self.slopes.get(key)) is not None:
            return known
        found = np.zeros((len(names), len(totals)))
        places = np.arange(len(totals)) if needed is None else np.flatnonzero(needed)
        found[:, places] = self._differences(totals, places, names)
        if len(self.slopes) >= MOST_SLOPES:
            self.slopes.clear()
        self.slopes[key] = found
        return found

    def _differences(self, totals: FloatArray, places: IntArray, names: Sequence[str]) -> FloatArray:
        steps = STEP * np.maximum(np.abs(totals), self.scale)[places]
        steps[steps == 0] = STEP
        moved = np.tile(totals, (2, len(places), 1))
        moved[0, np.arange(len(places)), places] += steps
        moved[1, np.arange(len(places)), places] -= steps
        above, below = (self._metrics_at(ends, names) for ends in moved)
        slopes = (above - below) / (2 * steps)
        if np.isnan(slopes).any():
            # A metric may end at these totals (a count of 0): its slope is then taken on the side where it is defined.
            here = self._metrics_at(totals[np.newaxis], names)
            one_sided = np.where(np.isnan(above), here - below, above - here) / steps
            slopes = np.where(np.isnan(slopes), one_sided, slopes)
        return slopes

    def _metrics_at(self, points: FloatArray, names: Sequence[str]) -> FloatArray:
        """Metrics at points of shape (P, K), shape (M, P)."""
        found = [self.values(point) for point in points]
        return np.array([[values[name] for values in found] for name in names], dtype=np.float64)
