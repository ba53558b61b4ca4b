"""Means of items that come in clusters: outputs of one prompt, claims on one summary, questions on one dialogue.

A mean's error is that of the clusters' sums of residuals (linearisation; Kish 1965, Survey Sampling, ch. 6). With
clusters of one item it is the usual one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.scale import FloatArray

Codes = NDArray[np.int64]


class Mean(NamedTuple):
    """A mean with its standard error and degrees of freedom; the error is nan with fewer than two clusters."""

    value: float
    error: float
    df: float


def cluster_numbers(clusters: ArrayLike | None) -> Codes | None:
    """Numbers 0 … G − 1 of the clusters, shape (n,); None where every item is one of its own."""
    if clusters is None:
        return None
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)
    return codes if len(codes) and int(codes.max()) + 1 < len(codes) else None


def clustered_mean(values: FloatArray, clusters: Codes) -> Mean:
    """Mean over items, shape (n,)."""
    mean, codes = float(values.mean()), np.unique(clusters, return_inverse=True)[1]
    sums = np.bincount(codes, values - mean) / len(values)
    return Mean(mean, _error(sums), float(len(sums) - 1))


def weighted_mean(values: FloatArray, weights: FloatArray, clusters: Codes | None = None) -> Mean:
    """Mean of items that stand for so many each, shape (n,). To the error is added what half of one full-range
    difference on the heaviest item would make: a sample without a miss among items that stand for many proves none."""
    total = float(weights.sum())
    mean = float(weights @ values) / total
    codes = np.arange(len(values)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    sums = np.bincount(codes, weights * (values - mean)) / total
    unseen = 0.5 * (float(weights.max()) / total) ** 2
    return Mean(mean, math.sqrt(_error(sums) ** 2 + unseen), float(len(sums) - 1))


def weighted_difference(
    values: FloatArray, weights: FloatArray, here: NDArray[np.bool_], rest: NDArray[np.bool_], clusters: Codes | None
) -> Mean:
    """Weighted mean of the values `here` less that of the `rest`, items or clusters of shape (n,) counting as drawn
    apart; df are those of the side with fewer of them, and the error has what `weighted_mean` adds on either side."""
    codes = np.arange(len(values)) if clusters is None else clusters
    number = int(codes.max()) + 1
    means, sums, unseen = [], np.zeros(number), 0.0
    for sign, rows in ((1.0, here), (-1.0, rest)):
        w, total = weights[rows], float(weights[rows].sum())
        means.append(float(w @ values[rows]) / total)
        sums += sign * np.bincount(codes[rows], w * (values[rows] - means[-1]), number) / total
        unseen += 0.5 * (float(w.max()) / total) ** 2
    least = min(len(np.unique(codes[rows])) for rows in (here, rest))
    error = math.hypot(_error(sums[np.unique(codes[here | rest])]), math.sqrt(unseen)) if least > 1 else math.nan
    return Mean(means[0] - means[1], error, float(least - 1))


def mean_of_means(values: FloatArray, clusters: Codes) -> Mean:
    """Mean over clusters of their means, each counting once."""
    codes = np.unique(clusters, return_inverse=True)[1]
    means = np.bincount(codes, values) / np.bincount(codes)
    value, number = float(means.mean()), len(means)
    return Mean(value, _error((means - value) / number), float(number - 1))


def clustered_difference(here: FloatArray, rest: FloatArray, mine: Codes, others: Codes) -> Mean:
    """Mean of `here` less that of `rest`; a cluster may have items on both sides. df are those of the side with fewer
    clusters."""
    value = float(here.mean() - rest.mean())
    number = int(max(mine.max(), others.max())) + 1
    sums = np.bincount(mine, (here - here.mean()) / len(here), number)
    sums -= np.bincount(others, (rest - rest.mean()) / len(rest), number)
    least = min(len(np.unique(mine)), len(np.unique(others)))
    there = np.unique(np.concatenate([mine, others]))
    return Mean(value, _error(sums[there]) if least > 1 else math.nan, float(least - 1))


def intraclass(values: FloatArray, groups: Codes) -> float:
    """Share of the variance that lies between groups (one-way analysis of variance), from 0 to 1."""
    sizes = np.bincount(groups).astype(np.float64)
    number, n = len(sizes), len(values)
    if number < 2 or n <= number:
        return 0.0
    means = np.bincount(groups, values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (number - 1)
    within = float(((values - means[groups]) ** 2).sum()) / (n - number)
    typical = (n - float((sizes**2).sum()) / n) / (number - 1)
    spread = (between - within) / typical
    return min(max(spread / (spread + within), 0.0), 1.0) if spread + within > 0 else 0.0


def _error(sums: FloatArray) -> float:
    number = len(sums)
    return math.sqrt(number / (number - 1) * float((sums**2).sum())) if number > 1 else math.nan
