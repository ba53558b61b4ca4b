"""Kendall's tau-b of people's values and a judge's scores."""

from __future__ import annotations

import numpy as np

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import quotient
from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.agreement.scored_pairs import ScoredPairs
from judges.calibration.statistic import Statistic

NAME = "Kendall's tau-b"
MOST_PAIRS = 2_000
"""A resample compares every distinct pair with every other."""


def kendall_tau_b(pairs: ScoredPairs, bootstrap: Bootstrap | None = None) -> Statistic:
    """Concordant less discordant pairs of items, corrected for ties (Kendall 1945), by `scipy.stats.kendalltau`."""
    undefined = pairs.undefined(NAME)
    if undefined:
        return undefined
    from scipy.stats import kendalltau

    many = len(pairs.counts) > MOST_PAIRS
    if pairs.weights is None:
        value = float(kendalltau(*pairs.columns(), variant="b").statistic)
    elif many:
        why = f"more than {MOST_PAIRS:,} distinct pairs and weights are not compared with each other"
        return Statistic.undefined("too_many_pairs", why, pairs.n, dict(pairs.dropped), NAME)
    else:
        value = float(tau_values(pairs, pairs.mass))
    plain = Statistic(value, pairs.n, NAME, dropped=dict(pairs.dropped))
    if not bootstrap:
        return plain
    if many and not bootstrap.withheld:
        return plain.without_interval(f"more than {MOST_PAIRS:,} distinct pairs are not resampled for {NAME}")
    concordance = _concordance(pairs)
    return bootstrap.attach(plain, lambda weights: tau_values(pairs, weights, concordance))


def tau_values(pairs: ScoredPairs, weights: FloatArray, concordance: FloatArray | None = None) -> FloatArray:
    """Tau-b of items per pair of shape (..., P), shape (...): twice concordant less discordant pairs of items over the
    geometric mean of the pairs untied on either side."""
    signs = _concordance(pairs) if concordance is None else concordance
    excess = ((weights @ signs) * weights).sum(axis=-1)
    n = weights.sum(axis=-1)
    untied = (n**2 - _squares(weights, pairs.x_index, len(pairs.x))) * (
        n**2 - _squares(weights, pairs.y_index, len(pairs.y))
    )
    return quotient(excess, np.sqrt(untied))


def _concordance(pairs: ScoredPairs) -> FloatArray:
    """+1, 0 or −1 for each pair of distinct pairs, shape (P, P)."""
    x, y = pairs.x_index, pairs.y_index
    return (np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))).astype(np.float64)


def _squares(weights: FloatArray, index: IntArray, size: int) -> FloatArray:
    """Sum over distinct values of their squared counts, shape (...)."""
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(size))
    return np.asarray((np.add.reduceat(weights[..., order], starts, axis=-1) ** 2).sum(axis=-1))
