"""From an estimate to a reported number: the t interval of the delta method, Wilson's for a plain share, and bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from judges.calibration.agreement.binomial import Bounds, wilson_share
from judges.calibration.correction.estimate import Drawn, Estimate, Problem
from judges.calibration.correction.records import Share, Target
from judges.calibration.correction.refusals import Touched
from judges.calibration.correction.sample import design_weights, resolved_rows, strata_of
from judges.calibration.correction.spread import seen_range, spread


class Interval(NamedTuple):
    """An interval with what it was made of. `error` is 0 and `df` infinite when nothing is left to chance."""

    low: float
    high: float
    error: float
    df: float
    how: str

    @property
    def width(self) -> float:
        return self.high - self.low


def t_interval(
    problem: Problem,
    touched: Sequence[Touched],
    estimate: Estimate,
    target: Target,
    level: float,
    share: Share | None,
    shared_tuning: bool = False,
) -> Interval:
    """Value ± t·error over the blocks a metric touches; df is the smallest of theirs. A share stays within [0, 1]."""
    parts = []
    for index, block in enumerate(problem.blocks):
        if any(block is one.block for one in touched):
            gradient = estimate.gradient[block.columns]
            parts.append(spread(block, gradient, float(estimate.tuning[index]), target, shared_tuning))
    error = math.sqrt(max(sum(part.variance for part in parts), 0.0))
    df = min(part.df for part in parts)
    centre = estimate.value + sum(part.shift for part in parts)
    half = _t(level, df) * error
    low, high, value = centre - half, centre + half, estimate.value
    if share is not None:
        low, high, value = (min(max(bound, 0.0), 1.0) for bound in (low, high, value))
    return Interval(min(low, value), max(high, value), error, df, f"t interval, {df:.0f} degrees of freedom")


def wilson_interval(
    touched: Sequence[Touched], estimate: Estimate, share: Share | None, target: Target, level: float
) -> Interval | None:
    """Wilson's interval for a yes/no share of a simple random sample, or None where it is none.

    For the finite target the sample counts as n/(1 − n/N) items.
    """
    if share is None or len(touched) != 1:
        return None
    block = touched[0].block
    if not block.sample.simple or (target == "population" and block.block.clusters is not None):
        return None
    terms = block.block.terms
    if share.numerator not in terms or share.denominator not in terms:
        return None
    counts = block.human[:, [terms.index(share.numerator), terms.index(share.denominator)]]
    if not bool(np.isin(counts, (0.0, 1.0)).all()):
        return None
    n, left = float(counts[:, 1].sum()), 1 - block.sample.n / block.items
    if n == 0:
        return None
    value = estimate.value
    if left == 0 and target == "finite":
        return Interval(value, value, 0.0, math.inf, "all items labelled")
    effective = n / left if target == "finite" else n
    low, high = wilson_share(value, effective, level)
    error = math.sqrt(value * (1 - value) / effective)
    return Interval(low, high, error, n - 1, "Wilson interval")


def varies(touched: Sequence[Touched]) -> bool:
    """False when nobody, people or judge, ever gave two different values to the metric: no sample then shows how far
    it may be off."""
    return any(seen_range(block, gradient) > 0 for block, gradient in touched)


def worst_case(problem: Problem, touched: Sequence[Touched], estimate: Estimate, share: Share | None) -> Bounds | None:
    """The value if every unresolved item were at the lowest or the highest value seen; None when there are none."""
    low = high = estimate.value
    missing = 0
    for index, block in enumerate(problem.blocks):
        if any(block is one.block for one in touched):
            moved = _moved(block, estimate, index)
            if moved is not None:
                missing += 1
                low, high = low + moved.low, high + moved.high
    if not missing:
        return None
    return Bounds(max(low, 0.0), min(high, 1.0)) if share else Bounds(low, high)


def _moved(block: Drawn, estimate: Estimate, index: int) -> Bounds | None:
    """How far the unresolved items of one block can move the metric down and up."""
    resolved = resolved_rows(block.block.human_terms)
    if resolved.all():
        return None
    gradient, tuning = estimate.gradient[block.columns], float(estimate.tuning[index])
    sizes, of_item = strata_of(block.sample.draw)
    stratum = of_item[block.sample.draw.drawn]
    weights = design_weights(block.sample.draw)
    weights = weights * (sizes / np.bincount(stratum, weights, len(sizes)))[stratum]
    everyone, people = block.block.judge_terms @ gradient, block.human @ gradient
    judge = everyone[block.sample.draw.drawn]
    values = np.empty(len(judge))
    values[resolved] = people
    now = float(block.sample.weights @ (people - tuning * judge[resolved]))
    ends = []
    for end in (min(everyone.min(), people.min()), max(everyone.max(), people.max())):
        values[~resolved] = end
        ends.append(float(weights @ (values - tuning * judge)) - now)
    return Bounds(*ends)


def _t(level: float, df: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))
