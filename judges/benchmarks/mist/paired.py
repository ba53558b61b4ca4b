"""What MIST's comparisons make of several runs and several p values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean, stdev
from typing import NamedTuple

from judges.calibration.distributions import t_half_width


def fisher_combined(p_values: Sequence[float]) -> float | None:
    """One p of independent ones, by Fisher's −2 Σ ln p ~ χ² with 2k degrees of freedom; None without any."""
    from scipy.stats import chi2

    if not p_values:
        return None
    smallest = min(p_values)
    return 0.0 if smallest <= 0 else float(chi2.sf(-2 * sum(map(math.log, p_values)), 2 * len(p_values)))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values in the given order (Benjamini & Hochberg 1995)."""
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(p_values)] if p_values else []


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
