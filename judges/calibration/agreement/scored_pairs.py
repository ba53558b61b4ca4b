"""People's values against a judge's scores, reduced to distinct pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.bootstrap import LEVEL, RESAMPLES, Bootstrap
from judges.calibration.agreement.ratings import Clusters, counting, distinct_rows, group_by_cluster, mass_of, quotient
from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.statistic import Statistic

LEAST_ITEMS = 10
MOST_PAIRS = 20_000
"""Above so many distinct pairs the resamples take longer than anyone waits."""


@dataclass(frozen=True)
class ScoredPairs:
    """Items by (people's value, judge's score).

    Attributes:
        x, y: the distinct values of each side, ascending, shapes (X,) and (Y,).
        x_index, y_index: the place in them of each distinct pair, shape (P,).
        counts: items per pair, shape (P,).
        weights: what an item of each pair counts for, shape (P,), a pair standing once for each; None for one.
    """

    x: FloatArray
    y: FloatArray
    x_index: IntArray
    y_index: IntArray
    counts: IntArray
    clusters: Clusters | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    weights: FloatArray | None = None

    @classmethod
    def of_values(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        clusters: ArrayLike | None = None,
        dropped: Mapping[str, int] | None = None,
        weights: ArrayLike | None = None,
    ) -> ScoredPairs:
        """Count pairs of numbers, each of shape (items,). An item with nan on either side is left out; unless `dropped`
        says by which rules, it is counted as `not_paired`. An infinite score is no score.

        Args:
            weights: 1/π of each item, shape (items,); None where each counts for one.
        """
        first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        kept = np.isfinite(first) & np.isfinite(second)
        missing = int((~kept).sum())
        left_out = dict(dropped) if dropped is not None else ({"not_paired": missing} if missing else {})
        xs, x_codes = np.unique(first[kept], return_inverse=True)
        ys, y_codes = np.unique(second[kept], return_inverse=True)
        given = np.ones(len(first)) if weights is None else np.asarray(weights, dtype=np.float64)
        own, w_codes = np.unique(given[kept], return_inverse=True)
        distinct = distinct_rows(np.stack([x_codes, y_codes, w_codes], axis=1))
        grouped = group_by_cluster(clusters, kept, distinct)
        rows = distinct.rows
        counted = None if weights is None else counting(own[rows[:, 2]], distinct.counts)
        return cls(xs, ys, rows[:, 0], rows[:, 1], distinct.counts, grouped, left_out, counted)

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def mass(self) -> FloatArray:
        """What the items of each pair count for, shape (P,)."""
        return mass_of(self.counts, self.weights)

    def columns(self) -> tuple[FloatArray, FloatArray]:
        """Both sides item by item, each of shape (n,)."""
        return (
            np.repeat(self.x[self.x_index], self.counts),
            np.repeat(self.y[self.y_index], self.counts),
        )

    def bootstrap(self, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL) -> Bootstrap:
        """Intervals for coefficients of these pairs."""
        withheld = ""
        if self.n < LEAST_ITEMS:
            withheld = f"{self.n} items; an interval needs {LEAST_ITEMS}"
        elif len(self.counts) > MOST_PAIRS:
            withheld = f"more than {MOST_PAIRS:,} distinct pairs are not resampled"
        return Bootstrap(self.counts, self.clusters, withheld, resamples, seed, level, self.weights)

    def undefined(self, name: str) -> Statistic | None:
        """Why a correlation has no value, or None when it has one."""
        dropped = dict(self.dropped)
        if self.n == 0:
            return Statistic.undefined("no_pairable_items", "no item has both a label and a score", 0, dropped, name)
        if self.n == 1:
            return Statistic.undefined("too_few", "one item cannot show a correlation", 1, dropped, name)
        if len(self.x) == 1 or len(self.y) == 1:
            who = "people gave one value" if len(self.x) == 1 else "the judge gave one score"
            why = f"{who} to all {self.n} items: without variation {name} is undefined"
            return Statistic.undefined("constant_rater", why, self.n, dropped, name)
        return None


def correlation(weights: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Product-moment correlation of values under item counts, both of shape (..., P); nan without spread."""
    n = weights.sum(axis=-1, keepdims=True)
    centred_first = first - quotient((weights * first).sum(axis=-1, keepdims=True), n)
    centred_second = second - quotient((weights * second).sum(axis=-1, keepdims=True), n)
    covariance = (weights * centred_first * centred_second).sum(axis=-1)
    spread = (weights * centred_first**2).sum(axis=-1) * (weights * centred_second**2).sum(axis=-1)
    return quotient(covariance, np.sqrt(spread))
