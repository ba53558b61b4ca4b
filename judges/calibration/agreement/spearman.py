"""Spearman's rank correlation of people's values and a judge's scores."""

from __future__ import annotations

import numpy as np

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.agreement.scored_pairs import ScoredPairs, correlation
from judges.calibration.statistic import Statistic

NAME = "Spearman's correlation"


def spearman(pairs: ScoredPairs, bootstrap: Bootstrap | None = None) -> Statistic:
    """Correlation of mid-ranks, by `scipy.stats.spearmanr`; resamples are ranked anew from their counts."""
    undefined = pairs.undefined(NAME)
    if undefined:
        return undefined
    from scipy.stats import spearmanr

    value = spearmanr(*pairs.columns()).statistic if pairs.weights is None else spearman_values(pairs, pairs.mass)
    plain = Statistic(float(value), pairs.n, NAME, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, lambda weights: spearman_values(pairs, weights)) if bootstrap else plain


def spearman_values(pairs: ScoredPairs, weights: FloatArray) -> FloatArray:
    """The coefficient of items per pair of shape (..., P), shape (...)."""
    return correlation(
        weights,
        _midranks(weights, pairs.x_index, len(pairs.x)),
        _midranks(weights, pairs.y_index, len(pairs.y)),
    )


def _midranks(weights: FloatArray, index: IntArray, size: int) -> FloatArray:
    """Mid-rank, less a constant, of each pair's value, shape (..., P)."""
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(size))
    per_value = np.add.reduceat(weights[..., order], starts, axis=-1)
    ranks = np.cumsum(per_value, axis=-1) - per_value / 2
    return np.asarray(ranks[..., index])
