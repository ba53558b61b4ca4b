"""What a person's label is worth beside a judge's verdicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.scale import FloatArray


def label_worth(people: ArrayLike, judge: ArrayLike, labels: int, weights: FloatArray | None = None) -> float | None:
    """1/(1 − R²), R² the share of the variance of people's labels (as one indicator a label) that a regression on the
    judge's explains, corrected for its degrees of freedom; None where people gave one label, or there are too few.

    Args:
        people, judge: codes from 0 on, shape (n,). weights: 1/π of each; None where all count the same.
    """
    y, f = np.asarray(people, dtype=np.int64), np.asarray(judge, dtype=np.int64)
    n, said = len(y), np.unique(f)
    if len(np.unique(y)) < 2 or n <= len(said) + 1:
        return None
    mass = np.ones(n) if weights is None else weights * (n / weights.sum())

    def scatter(rows: NDArray[np.bool_]) -> float:
        """What these items count for, times the variance of their labels' indicators."""
        counts = np.bincount(y[rows], mass[rows], labels)
        return float(counts.sum() - (counts**2).sum() / counts.sum())

    within = sum(scatter(f == verdict) for verdict in said)
    left = max(within / (n - len(said)), 1e-3) / (scatter(np.ones(n, dtype=np.bool_)) / (n - 1))
    return 1 / left
