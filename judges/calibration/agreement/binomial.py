"""Intervals of a share of independent items."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from judges.calibration.distributions import beta_quantile, binomial_share


class Bounds(NamedTuple):
    """Lower and upper bound of an interval."""

    low: float
    high: float


def wilson(successes: int, n: int, level: float = 0.95) -> Bounds:
    """Score interval of a share (Wilson 1927, JASA 22:209-212).

    Raises:
        ValueError: n is 0 or the successes are not among the n.
    """
    _check(successes, n)
    return wilson_share(successes / n, n, level)


def wilson_share(share: float, n: float, level: float = 0.95) -> Bounds:
    """The same for a share of n effective items, which need not be whole."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if share == 0 else (centre - spread) / scale
    high = 1.0 if share == 1 else (centre + spread) / scale
    return Bounds(low, high)


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Bounds:
    """Exact interval of a share (Clopper & Pearson 1934, Biometrika 26:404-413), by quantiles of the beta distribution.

    Raises:
        ValueError: n is 0 or the successes are not among the n.
    """
    _check(successes, n)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else beta_quantile(1 - tail, successes + 1, n - successes)
    return Bounds(low, high)


def newcombe(first: int, first_n: int, second: int, second_n: int, level: float = 0.95) -> Bounds:
    """Interval of the difference second − first of two shares (Newcombe 1998, Statist. Med. 17:873, method 10).

    Raises:
        ValueError: an n is 0 or the successes are not among the n.
    """
    a, b = wilson(first, first_n, level), wilson(second, second_n, level)
    p, q = first / first_n, second / second_n
    return Bounds(q - p - math.hypot(q - b.low, a.high - p), q - p + math.hypot(b.high - q, p - a.low))


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided exact p of two discordant counts being alike (McNemar 1947, binomial); 1 when both are 0."""
    n, least = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return 1.0
    return min(1.0, 2 * binomial_share(least, n, 0.5))


def _check(successes: int, n: int) -> None:
    if n <= 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is not a share")
