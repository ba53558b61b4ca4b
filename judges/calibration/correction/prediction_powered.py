"""Prediction-powered means as published: labelled items and *other* items that only the judge has seen.

The estimator in `estimate` does the same for any design and metric over one set of items; these closed forms are what
other programs print, for checking and for a judge whose unlabelled items are not the labelled ones' own set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from judges.calibration.agreement.binomial import Bounds
from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.distributions import t_half_width

Convention = Literal["unbiased", "plug_in"]
"""unbiased: variances with n − 1, λ free. plug_in: with n (the judge's variance in λ apart), λ kept in [0, 1]."""


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with standard error. `tuning` is λ; `df` of its t interval."""

    value: float
    error: float
    tuning: float
    df: float

    def z_interval(self, level: float = 0.95) -> Bounds:
        half = NormalDist().inv_cdf((1 + level) / 2) * self.error
        return Bounds(self.value - half, self.value + half)

    def t_interval(self, level: float = 0.95) -> Bounds:
        half = t_half_width(level, self.df) * self.error
        return Bounds(self.value - half, self.value + half)

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided, normal."""
        return 2 * NormalDist().cdf(-abs(self.value - null) / self.error)


def ppi_mean(
    people: FloatArray,
    judge: FloatArray,
    rest: FloatArray,
    tuning: float | None = None,
    convention: Convention = "unbiased",
) -> MeanEstimate:
    """λ·mean(rest) + mean(people − λ·judge) (Angelopoulos et al. 2023; tuned: PPI++, arXiv 2311.01453).

    Args:
        people, judge: of the n labelled items, a simple random sample of all. rest: the judge's of the N others.
        tuning: λ; None for the variance-minimising Cov(people, judge)/((1 + n/N)·Var(judge)), Var over all items.
    """
    n, others = len(people), len(rest)
    ddof = 1 if convention == "unbiased" else 0
    if tuning is None:
        shared = float(np.cov(people, judge, ddof=ddof)[0, 1])
        own = float(np.concatenate([judge, rest]).var(ddof=1))
        tuning = shared / ((1 + n / others) * own) if own > 0 else 0.0
        tuning = min(max(tuning, 0.0), 1.0) if convention == "plug_in" else tuning
    residuals = people - tuning * judge
    variance = float(residuals.var(ddof=ddof)) / n + tuning**2 * float(rest.var(ddof=ddof)) / others
    return MeanEstimate(tuning * float(rest.mean()) + float(residuals.mean()), math.sqrt(variance), tuning, n - 1)


def smoothed_ppi_mean(people: FloatArray, judge: FloatArray, rest: FloatArray) -> MeanEstimate:
    """The same for yes/no labels with half an item added to each cell of the labelled (people, judge) table.

    Its t interval with n − 1 degrees of freedom keeps its level where the plain one loses it (few labels, skew).
    """
    n, others = len(people), len(rest)
    y, f = np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    cells = np.array([float(((people == a) & (judge == b)).sum()) for a, b in zip(y, f, strict=True)]) + 0.5
    mass = float(cells.sum())
    shared = float(cells @ (y * f)) / mass - float(cells @ y) * float(cells @ f) / mass**2
    own = float(np.concatenate([judge, rest]).var())
    tuning = shared / ((1 + mass / others) * own) if own > 0 else 0.0
    residuals = y - tuning * f
    mean = float(cells @ residuals) / mass
    variance = float(cells @ (residuals - mean) ** 2) / mass / (mass - 1) + tuning**2 * float(rest.var()) / others
    return MeanEstimate(tuning * float(rest.mean()) + mean, math.sqrt(variance), tuning, n - 1)


def stratified_ppi_mean(
    people: FloatArray, judge: FloatArray, labelled: IntArray, strata: IntArray, tuning: float | None = None
) -> MeanEstimate:
    """Σ W_h·θ_h with population shares W_h and λ tuned in each stratum (Fisch et al. 2024).

    Args:
        people: shape (n,), in the order of `labelled`. judge, strata: of all items, shape (N,).
        labelled: indices of the labelled items.
    """
    rest = np.setdiff1d(np.arange(len(judge)), labelled)
    value = variance = 0.0
    tunings: list[float] = []
    codes = np.unique(strata)
    for code in codes:
        here, there = strata[labelled] == code, rest[strata[rest] == code]
        found = ppi_mean(people[here], judge[labelled[here]], judge[there], tuning)
        weight = float((strata == code).mean())
        value, variance = value + weight * found.value, variance + weight**2 * found.error**2
        tunings.append(found.tuning)
    return MeanEstimate(value, math.sqrt(variance), float(np.mean(tunings)), len(people) - len(codes))


def active_mean(
    people: FloatArray,
    judge: FloatArray,
    labelled: IntArray,
    probabilities: FloatArray,
    tuning: float | None = None,
) -> MeanEstimate:
    """mean(λf + ξ(y − λf)/π) over all items, ξ = 1 for labelled ones (active inference, Zrnic & Candès 2024).

    Args:
        probabilities: known inclusion probability of each of the N items. tuning: λ; None to tune it; 0 is
            Horvitz–Thompson.
    """
    size = len(judge)
    drawn = np.zeros(size)
    drawn[labelled] = 1 / probabilities[labelled]
    y = np.zeros(size)
    y[labelled] = people
    proxy, expanded = judge * (drawn - 1), y * drawn
    if tuning is None:
        own = float(proxy.var())
        tuning = float(np.cov(proxy, expanded, ddof=0)[0, 1]) / own if own > 0 else 0.0
    parts = tuning * judge + drawn * (y - tuning * judge)
    return MeanEstimate(
        float(parts.mean()), float(parts.std(ddof=1)) / math.sqrt(size), tuning, max(len(labelled) - 1, 1)
    )


def hajek_mean(people: FloatArray, probabilities: FloatArray, size: int) -> MeanEstimate:
    """Σ y/π / Σ 1/π with the linearised error, without a judge (Hájek 1971).

    Args:
        people, probabilities: of the labelled items. size: of all items.
    """
    weights = 1 / probabilities
    value = float(weights @ people) / float(weights.sum())
    parts = np.zeros(size)
    parts[: len(people)] = weights * (people - value)
    error = float(parts.std(ddof=1)) / math.sqrt(size) / (float(weights.sum()) / size)
    return MeanEstimate(value, error, 0.0, max(len(people) - 1, 1))
