"""Small tests of proportions that MIST's comparisons use; each names its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean, stdev
from typing import NamedTuple

from judges.calibration.agreement.binomial import Bounds, wilson
from judges.calibration.distributions import t_half_width


def newcombe(first: tuple[int, int], second: tuple[int, int], level: float = 0.95) -> Bounds:
    """Interval of the difference of two independent shares, `first` less `second`, each (events, n): Newcombe's method
    10, square-and-add of Wilson intervals (Statistics in Medicine 1998, 17:873-890).

    Raises:
        ValueError: an n is 0.
    """
    (a, n), (b, m) = first, second
    one, two = wilson(a, n, level), wilson(b, m, level)
    difference = a / n - b / m
    low = difference - math.hypot(a / n - one.low, two.high - b / m)
    high = difference + math.hypot(one.high - a / n, b / m - two.low)
    return Bounds(low, high)


def mcnemar_exact(only_first: int, only_second: int) -> float | None:
    """Two-sided p of McNemar's exact test: binomial on the pairs that differ; None when none does."""
    from scipy.stats import binomtest

    n = only_first + only_second
    return float(binomtest(only_first, n, 0.5).pvalue) if n else None


def fisher_combined(p_values: Sequence[float]) -> float | None:
    """One p of independent ones, by Fisher's −2 Σ ln p ~ χ² with 2k degrees of freedom; None without any."""
    from scipy.stats import chi2

    if not p_values:
        return None
    smallest = min(p_values)
    return 0.0 if smallest <= 0 else float(chi2.sf(-2 * sum(map(math.log, p_values)), 2 * len(p_values)))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values in the given order (Benjamini & Hochberg 1995): the least m·p₍ₖ₎/k over k from its rank up."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    least = 1.0
    for rank in range(len(order), 0, -1):
        place = order[rank - 1]
        least = min(least, p_values[place] * len(p_values) / rank)
        adjusted[place] = least
    return adjusted


FEWEST_RUNS = 3
"""Two runs have a t interval in name only: its half-width is 12.7 standard errors."""


class Spread(NamedTuple):
    """Mean over runs with its t interval and both standard deviations; None where the runs are too few for one."""

    mean: float
    low: float | None
    high: float | None
    sd_sample: float | None
    sd_population: float | None


def over_runs(values: Sequence[float], level: float = 0.95) -> Spread:
    """Mean ± t·s/√k over k runs, the interval from three runs on, standard deviations from two.

    Raises:
        ValueError: there is no run.
    """
    if not values:
        raise ValueError("no run")
    if len(values) == 1:
        return Spread(values[0], None, None, None, None)
    middle, spread = mean(values), stdev(values)
    population = spread * math.sqrt((len(values) - 1) / len(values))
    if len(values) < FEWEST_RUNS:
        return Spread(middle, None, None, spread, population)
    reach = t_half_width(level, len(values) - 1) * spread / math.sqrt(len(values))
    return Spread(middle, middle - reach, middle + reach, spread, population)
