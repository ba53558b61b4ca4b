"""A share corrected by the judge's error rates: for calibration sets chosen for equal numbers of each label.

It needs the judge's true positive and true negative rate to be the same in both sets, not the prevalence; under random
labelling the regression of `estimate` is never wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple


class Errors(NamedTuple):
    """How a judge did on labelled items: of `positives` that people passed it passed `true_positives`, of `negatives`
    that people failed it failed `true_negatives`."""

    true_positives: float
    positives: float
    true_negatives: float
    negatives: float


@dataclass(frozen=True, slots=True)
class Inversion:
    """A share with the interval.

    Attributes:
        value: (p + TNR − 1)/(TPR + TNR − 1), put back into [0, 1]; raw: before that.
        error: its standard error. shift: what the interval's centre is moved by.
    """

    value: float
    raw: float
    low: float
    high: float
    error: float
    shift: float = 0.0


def rogan_gladen(passed: float, n: int, errors: Errors, level: float = 0.95) -> Inversion:
    """The share by Rogan & Gladen 1978 (Am. J. Epidemiol. 107:71-76) with the delta-method interval.

    Args:
        passed: share of the n unlabelled items that the judge passed.

    Raises:
        ValueError: a label is missing among the labelled items, or TPR + TNR is 1 or less.
    """
    tpr, tnr, j = rates(errors)
    raw = (passed + tnr - 1) / j
    variance = passed * (1 - passed) / n + (1 - raw) ** 2 * tnr * (1 - tnr) / errors.negatives
    variance += raw**2 * tpr * (1 - tpr) / errors.positives
    error = math.sqrt(variance) / j
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Inversion(min(max(raw, 0.0), 1.0), raw, raw - half, raw + half, error)


def lee_interval(passed: float, n: int, errors: Errors, level: float = 0.95) -> Inversion:
    """The same share with the smoothed interval of Lee et al. 2025 (arXiv 2511.21140), within [0, 1].

    Raises:
        ValueError: a label is missing among the labelled items, or TPR + TNR is 1 or less, smoothed or not.
    """
    _, tnr, j = rates(errors)
    raw = (passed + tnr - 1) / j
    z = NormalDist().inv_cdf((1 + level) / 2)
    big_n, m0, m1 = n + z * z, errors.negatives + 2, errors.positives + 2
    p = (n * passed + z * z / 2) / big_n
    q0, q1 = (errors.true_negatives + 1) / m0, (errors.true_positives + 1) / m1
    theta = (p + q0 - 1) / (q0 + q1 - 1)
    first, second = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    shift = 2 * z * z * (-(1 - theta) * first + theta * second)
    error = math.sqrt(p * (1 - p) / big_n + (1 - theta) ** 2 * first + theta**2 * second) / (q0 + q1 - 1)
    low, high = _clip(theta + shift - z * error), _clip(theta + shift + z * error)
    return Inversion(_clip(raw), raw, low, high, error, shift)


class Rates(NamedTuple):
    """The judge's true positive and true negative rate, and Youden's J = TPR + TNR − 1."""

    tpr: float
    tnr: float
    j: float


def rates(errors: Errors) -> Rates:
    """The rates of the counts.

    Raises:
        ValueError: a label is missing among the labelled items, or J is not above 0.
    """
    if not errors.positives or not errors.negatives:
        raise ValueError("people gave one of the two labels to no item")
    tpr, tnr = errors.true_positives / errors.positives, errors.true_negatives / errors.negatives
    if tpr + tnr <= 1:
        raise ValueError("the judge does no better than chance")
    return Rates(tpr, tnr, tpr + tnr - 1)


class Allocation(NamedTuple):
    """How many labels to spend on items of either kind."""

    negatives: int
    positives: int


def allocate_labels(labels: int, passed: float, pilot: Errors) -> Allocation:
    """Labels for a calibration set that make the interval short (Lee et al. 2025, after a pilot).

    Items that people fail and pass get labels as (1/p − 1)·√κ to 1, κ = (1 − TNR)/(1 − TPR), smoothed.

    Args:
        passed: share of unlabelled items that the judge passed, above 0.
        pilot: what a first few labels showed; zeros for none. Its numbers of true positives and negatives may be
            expected ones.
    """
    missed_fails = 1 - (pilot.true_negatives + 1) / (pilot.negatives + 2)
    missed_passes = 1 - (pilot.true_positives + 1) / (pilot.positives + 2)
    ratio = (1 / passed - 1) * math.sqrt(missed_fails / missed_passes)
    negatives = round(labels * ratio / (1 + ratio))
    return Allocation(negatives, labels - negatives)


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
