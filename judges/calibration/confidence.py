"""Whether a judge's confidence means what it says, and how to make it so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.scale import FloatArray
from judges.calibration.clustered import clustered_mean, weighted_mean
from judges.calibration.distributions import t_half_width
from judges.calibration.statistic import Statistic

Method = Literal["platt", "temperature", "isotonic"]

BINS = 10
RESAMPLES = 2000
LEAST_ITEMS = 50
"""Below so many items ten bins of five say nothing."""
_BY_CHANCE = " weighted by 1/π"
LEAST_RESAMPLES, MOST_DRAWN = 200, 200_000_000
COLDEST = 5.0
EDGE = 1e-6
"""Confidences of 0 and 1 are taken as this far from them on the log-odds scale."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Items of like confidence: how sure the judge was on average, and how often it was right."""

    low: float
    high: float
    n: int
    confidence: float
    agreement: float


@dataclass(frozen=True, slots=True)
class Confidence:
    """How good a judge's confidence is.

    Attributes:
        brier: mean squared distance from 0/1. log_loss: mean negative log likelihood.
        ece: expected calibration error over bins of equal numbers. gap: mean confidence less agreement; above 0 is
            overconfident.
    """

    brier: Statistic
    log_loss: Statistic
    ece: Statistic
    gap: Statistic
    bins: tuple[ReliabilityBin, ...]


def confidence(
    levels: ArrayLike,
    agrees: ArrayLike,
    bins: int = BINS,
    resamples: int = RESAMPLES,
    seed: int = 0,
    weights: FloatArray | None = None,
) -> Confidence:
    """Calibration of confidences against people's labels, items resampled for intervals.

    Args:
        levels: confidence that the verdict is right, shape (n,), in [0, 1]; nan is left out and counted.
        agrees: whether people gave the same label, shape (n,).
        weights: 1/π of each item, where they were not all as likely to be drawn.

    Raises:
        ValueError: a confidence is outside [0, 1].
    """
    given, right = np.asarray(levels, dtype=np.float64), np.asarray(agrees, dtype=np.float64)
    known = np.isfinite(given)
    dropped = {"no_confidence": int((~known).sum())} if not known.all() else {}
    p, y = given[known], right[known]
    if len(p) and not bool(((p >= 0) & (p <= 1)).all()):
        raise ValueError("a confidence is outside 0 to 1")
    if len(p) < 2:
        none = Statistic.undefined("too_few", f"{len(p)} items have a confidence", len(p), dropped)
        return Confidence(none, none, none, none, ())
    parts = {
        "Brier score": (p - y) ** 2,
        "log loss": -np.log(np.where(y == 1, clipped(p), 1 - clipped(p))),
        "mean confidence less agreement": p - y,
    }
    counted = None if weights is None else weights[known]
    brier, loss, gap = (_mean(name, values, dropped, counted) for name, values in parts.items())
    ece = _ece(p, y, _Ece(bins, resamples, seed), dropped, counted)
    return Confidence(brier, loss, ece, gap, reliability(p, y, bins, counted))


def reliability(
    levels: FloatArray, agrees: FloatArray, bins: int = BINS, weights: FloatArray | None = None
) -> tuple[ReliabilityBin, ...]:
    """Bins of equal numbers (as near as can be), lowest confidence first; means weighted by what items stand for."""
    return tuple(
        ReliabilityBin(
            float(levels[part].min()),
            float(levels[part].max()),
            len(part),
            float(np.average(levels[part], weights=None if weights is None else weights[part])),
            float(np.average(agrees[part], weights=None if weights is None else weights[part])),
        )
        for part in _bins(levels, bins)
    )


def _bins(levels: FloatArray, bins: int) -> list[NDArray[np.int64]]:
    return np.array_split(np.argsort(levels, kind="stable"), min(bins, len(levels)))


def ece_equal_mass(
    levels: FloatArray, agrees: FloatArray, bins: int = BINS, weights: FloatArray | None = None
) -> float:
    """Mean distance of confidence from agreement over bins of equal numbers, weighted by size."""
    counted = np.ones(len(levels)) if weights is None else weights
    gaps = counted * (levels - agrees)
    return float(sum(abs(float(gaps[part].sum())) for part in _bins(levels, bins)) / counted.sum())


def ece_equal_width(levels: FloatArray, agrees: FloatArray, bins: int = BINS) -> float:
    """The same over bins of equal width, right-closed (Guo et al. 2017): what most papers print."""
    codes = np.clip(np.ceil(levels * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = np.bincount(codes, levels - agrees, bins)
    return float(np.abs(gaps).sum()) / len(levels)


def clipped(levels: FloatArray) -> FloatArray:
    """Confidences kept off 0 and 1 by `EDGE`."""
    return np.clip(levels, EDGE, 1 - EDGE)


def log_odds(levels: FloatArray) -> FloatArray:
    inside = clipped(levels)
    return np.asarray(np.log(inside / (1 - inside)))


def _mean(name: str, values: FloatArray, dropped: dict[str, int], weights: FloatArray | None) -> Statistic:
    n = len(values)
    plain = Statistic(float(np.average(values, weights=weights)), n, name, dropped=dict(dropped))
    if n < LEAST_ITEMS:
        return plain.without_interval(f"{n} items; an interval needs {LEAST_ITEMS}")
    found = clustered_mean(values, np.arange(n)) if weights is None else weighted_mean(values, weights)
    half = t_half_width(0.95, found.df) * found.error
    return plain.with_interval(
        found.value - half,
        found.value + half,
        0.95,
        "t interval" if weights is None else f"t interval of items{_BY_CHANCE}",
    )


class _Ece(NamedTuple):
    """How the calibration error is made."""

    bins: int
    resamples: int
    seed: int


def _ece(p: FloatArray, y: FloatArray, how: _Ece, dropped: dict[str, int], weights: FloatArray | None) -> Statistic:
    """A resample's bins scatter more than the sample's, so its error is too large: the basic interval, 2·value less the
    percentiles, takes that out."""
    name = f"expected calibration error, {min(how.bins, len(p))} bins of equal numbers"
    value = ece_equal_mass(p, y, how.bins, weights)
    plain = Statistic(value, len(p), name, dropped=dict(dropped))
    if len(p) < LEAST_ITEMS:
        return plain.without_interval(f"{len(p)} items; an interval needs {LEAST_ITEMS}")
    resamples = max(min(how.resamples, MOST_DRAWN // len(p)), LEAST_RESAMPLES)
    low, high = np.percentile(_resampled_ece(p, y, how._replace(resamples=resamples), weights), [2.5, 97.5])
    bounds = max(2 * value - float(high), 0.0), min(max(2 * value - float(low), value), 1.0)
    method = (
        f"basic interval of {resamples:,} resamples of items{'' if weights is None else _BY_CHANCE}, seed {how.seed}"
    )
    return plain.with_interval(*bounds, 0.95, method)


def _resampled_ece(p: FloatArray, y: FloatArray, how: _Ece, weights: FloatArray | None) -> FloatArray:
    rng = np.random.default_rng(how.seed)
    n = len(p)
    order = np.argsort(p, kind="stable")
    counted = np.ones(n) if weights is None else weights[order]
    gaps = counted * (p - y)[order]
    starts = np.array([part[0] for part in np.array_split(np.arange(n), min(how.bins, n))])
    values = np.empty(how.resamples)
    for place in range(how.resamples):
        drawn = np.repeat(np.arange(n), np.bincount(rng.integers(0, n, n), minlength=n))
        total = n if weights is None else counted[drawn].sum()
        values[place] = np.abs(np.add.reduceat(gaps[drawn], starts)).sum() / total
    return values


# Making confidence right


@dataclass(frozen=True, slots=True)
class Platt:
    """p = 1/(1 + exp(−(slope·log-odds + intercept)))."""

    slope: float
    intercept: float

    def __call__(self, levels: FloatArray) -> FloatArray:
        from scipy.special import expit

        return np.asarray(expit(self.slope * log_odds(levels) + self.intercept))


@dataclass(frozen=True)
class Steps:
    """A rising step function between the points given (isotonic regression)."""

    at: FloatArray
    values: FloatArray

    def __call__(self, levels: FloatArray) -> FloatArray:
        return np.asarray(np.interp(levels, self.at, self.values))


def fit_platt(levels: FloatArray, agrees: FloatArray, weights: FloatArray | None = None) -> Platt:
    """Logistic regression of agreement on log-odds of confidence, without penalty (Platt 1999).

    Args:
        weights: what each item counts for, shape (n,); None for one each.

    Raises:
        ValueError: people agreed with all verdicts or with none.
    """
    _both(agrees)
    from judges.calibration.logistic import fit_logistic

    found = fit_logistic(np.column_stack([np.ones(len(levels)), log_odds(levels)]), agrees, weights)
    return Platt(float(found.coefficients[1]), float(found.coefficients[0]))


def fit_temperature(levels: FloatArray, agrees: FloatArray, weights: FloatArray | None = None) -> float:
    """T that makes log-odds/T likeliest (Guo et al. 2017), within e^±5; above 1 the judge is overconfident.

    Raises:
        ValueError: people agreed with all verdicts or with none.
    """
    _both(agrees)
    from scipy.optimize import brentq
    from scipy.special import expit

    odds, sign = log_odds(levels), np.where(agrees == 1, 1.0, -1.0)
    counted = np.ones(len(levels)) if weights is None else weights

    def slope(log_scale: float) -> float:
        """Derivative of the log likelihood by 1/T: falls as 1/T grows."""
        return float(counted @ (sign * odds * expit(-sign * odds * np.exp(log_scale))))

    if slope(-COLDEST) <= 0:
        return math.exp(COLDEST)
    if slope(COLDEST) >= 0:
        return math.exp(-COLDEST)
    return float(np.exp(-brentq(slope, -COLDEST, COLDEST, xtol=1e-14)))


def fit_isotonic(levels: FloatArray, agrees: FloatArray, weights: FloatArray | None = None) -> Steps:
    """Rising regression of agreement on confidence (Zadrozny & Elkan 2002)."""
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(out_of_bounds="clip").fit(levels, agrees, sample_weight=weights)
    return Steps(np.asarray(model.X_thresholds_), np.asarray(model.y_thresholds_))


def recalibrated(
    levels: ArrayLike,
    agrees: ArrayLike,
    method: Method = "platt",
    folds: int = 5,
    seed: int = 0,
    clusters: ArrayLike | None = None,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Confidences calibrated out of fold, shape (n,): each by a model that has not seen its item (or its cluster).

    Args:
        weights: 1/π of each item, where they were not all as likely to be drawn.

    Raises:
        ValueError: a fold's other items agree all or not at all; fewer items or clusters than folds.
    """
    p, y = np.asarray(levels, dtype=np.float64), np.asarray(agrees, dtype=np.float64)
    fold = _folds(len(p), folds, seed, clusters)
    out = np.empty(len(p))
    for number in range(folds):
        here = fold == number
        out[here] = _fitted(p[~here], y[~here], method, None if weights is None else weights[~here])(p[here])
    return out


def _fitted(levels: FloatArray, agrees: FloatArray, method: Method, weights: FloatArray | None) -> Platt | Steps:
    if method == "platt":
        return fit_platt(levels, agrees, weights)
    if method == "temperature":
        return Platt(1 / fit_temperature(levels, agrees, weights), 0.0)
    return fit_isotonic(levels, agrees, weights)


def _folds(n: int, folds: int, seed: int, clusters: ArrayLike | None) -> NDArray[np.int64]:
    units = np.arange(n) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    number = int(units.max()) + 1 if n else 0
    if number < folds:
        raise ValueError(f"{number} items or clusters cannot fill {folds} folds")
    order = np.random.default_rng(seed).permutation(number)
    place = np.empty(number, dtype=np.int64)
    place[order] = np.arange(number) % folds
    return place[units]


def _both(agrees: FloatArray) -> None:
    if not 0 < float(agrees.mean()) < 1:
        raise ValueError("people agreed with all verdicts or with none: nothing can be fitted")
