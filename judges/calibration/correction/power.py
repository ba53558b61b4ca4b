"""How large a difference labels can show, and how many labels would show it."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

_NORMAL = NormalDist()


class Power(NamedTuple):
    """What a comparison can see.

    Attributes:
        detectable: the difference it would find with probability `power`.
        observed: probability of finding a true difference as large as the one asked about.
        labels: labels that would find that with probability `power`; None when none would.
    """

    detectable: float
    observed: float
    labels: int | None
    power: float


def power_of(
    error: float, difference: float, labels: int, items: int = 0, level: float = 0.95, power: float = 0.8
) -> Power:
    """Power of a two-sided test of a difference with a standard error, both on the normal scale.

    Args:
        error: standard error with these labels. difference: the true difference asked about.
        items: all items where they are finite, whose labels leave no error; 0 for a population.
    """
    needed = _NORMAL.inv_cdf((1 + level) / 2)
    reach = needed + _NORMAL.inv_cdf(power)
    if error <= 0:
        return Power(0.0, 1.0 if difference else 1 - level, labels, power)
    size = abs(difference) / error
    observed = _NORMAL.cdf(size - needed) + _NORMAL.cdf(-size - needed)
    return Power(reach * error, observed, _labels(error, abs(difference) / reach, labels, items), power)


def _labels(error: float, wanted: float, labels: int, items: int) -> int | None:
    """Labels for a standard error of `wanted`: variance goes with 1/n, less 1/N where items are finite."""
    if wanted <= 0:
        return items or None
    rest = 1 / items if items else 0.0
    now = 1 / labels - rest
    if now <= 0:
        return labels
    return math.ceil(1 / (rest + now * (wanted / error) ** 2) - 1e-9)
