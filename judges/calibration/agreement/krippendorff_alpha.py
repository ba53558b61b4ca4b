"""Krippendorff's alpha of any number of raters with missing ratings."""

from __future__ import annotations

import numpy as np

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import LabelCounts, quotient
from judges.calibration.agreement.scale import FloatArray, Level, Scale
from judges.calibration.agreement.undefined import undefined_counts, with_rated_once
from judges.calibration.statistic import Statistic

_LIBRARY_CELLS = 2_000_000
"""Above so many items x labels² the library's dense arrays cost more memory than the answer is worth."""


def krippendorff_alpha(
    ratings: LabelCounts, bootstrap: Bootstrap | None = None, level: Level | None = None
) -> Statistic:
    """1 − D_o/D_e over items with two or more ratings (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011).

    The value comes from the `krippendorff` package; for more items than its dense arrays should hold, and for every
    resample, from `alpha_values`, which equals it.

    Args:
        level: how labels differ; the scale's own when None.

    Raises:
        ValueError: interval or ratio differences asked for on a scale whose labels are not numbers.
    """
    level = level or ratings.scale.level
    name = f"Krippendorff's alpha ({level})"
    if level in ("interval", "ratio") and ratings.scale.level not in ("interval", "ratio"):
        raise ValueError(f"{level} differences need labels that are numbers")
    undefined = undefined_counts(ratings, name)
    if undefined:
        return undefined

    def alpha(weights: FloatArray) -> FloatArray:
        return alpha_values(ratings, weights, level)

    items = int(ratings.counts.sum())
    fits = ratings.weights is None and items * ratings.scale.size**2 <= _LIBRARY_CELLS
    value = _library(ratings, level) if fits else float(alpha(ratings.mass))
    plain = Statistic(value, ratings.pairable, name, dropped=with_rated_once(ratings))
    return bootstrap.attach(plain, alpha) if bootstrap else plain


def alpha_values(ratings: LabelCounts, weights: FloatArray, level: Level) -> FloatArray:
    """Alpha from counts of patterns, shape (...), for items per pattern of shape (..., P); nan without variation.

    Observed and expected disagreement are sums over unordered pairs of labels: an item of m ratings holds
    n_c·n_k/(m−1) coincidences of c and k, and the n pairable ratings together n_c·n_k/(n−1) by chance.
    """
    raters = ratings.raters
    pairable = raters >= 2
    patterns = ratings.patterns[pairable].astype(np.float64)
    kept = weights[..., pairable]
    first, second = np.triu_indices(ratings.scale.size, k=1)
    coincidences = patterns[:, first] * patterns[:, second] / (raters[pairable, np.newaxis] - 1)
    totals = kept @ patterns
    distance = _distances(ratings.scale, totals, level, first, second)
    observed = ((kept @ coincidences) * distance).sum(axis=-1)
    expected = (totals[..., first] * totals[..., second] * distance).sum(axis=-1)
    return 1 - quotient(observed * (totals.sum(axis=-1) - 1), expected)


def _distances(scale: Scale, totals: FloatArray, level: Level, first: np.ndarray, second: np.ndarray) -> FloatArray:
    """Squared differences of label pairs, shape (pairs,); ordinal ones follow the totals, shape (..., pairs)."""
    if level == "nominal":
        return np.ones(len(first))
    if level == "ordinal":
        midranks = np.cumsum(totals, axis=-1) - totals / 2
        return np.asarray((midranks[..., first] - midranks[..., second]) ** 2)
    difference = scale.values[first] - scale.values[second]
    if level == "interval":
        return np.asarray(difference**2)
    sums = scale.values[first] + scale.values[second]
    return np.where(sums == 0, 0.0, quotient(difference, sums)) ** 2


def _library(ratings: LabelCounts, level: Level) -> float:
    import krippendorff

    per_item = np.repeat(ratings.patterns, ratings.counts, axis=0)
    order = np.argsort(ratings.scale.values) if level != "nominal" else np.arange(ratings.scale.size)
    value = krippendorff.alpha(
        value_counts=per_item[:, order], value_domain=ratings.scale.values[order], level_of_measurement=level
    )
    return float(value)
