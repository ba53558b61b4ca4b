"""From an estimate to a reported number: the t interval of the delta method, Wilson's for a plain share, and bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.binomial import Bounds, wilson_share
from judges.calibration.correction.drawn_together import Part, covariance_of
from judges.calibration.correction.estimate import Drawn, Estimate, Problem
from judges.calibration.correction.records import Share, Target
from judges.calibration.correction.refusals import Touched
from judges.calibration.correction.sample import design_weights, resolved_rows, strata_of
from judges.calibration.correction.spread import seen_range, spread, unstratified
from judges.calibration.distributions import t_half_width


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
    """Value ± t·error over the blocks a metric touches; df is the smallest of theirs. While an item is not labelled it
    may turn out either way: the half width is at least what one item weighs.

    A share stays within [0, 1]; where its interval is not from a simple random sample it is taken on the logit scale
    (Korn & Graubard 1998), which keeps its level when few groups pull a high or low share.
    """
    used = [
        Part(block, estimate.gradient[block.columns], float(estimate.tuning[index]))
        for index, block in enumerate(problem.blocks)
        if any(block is one.block for one in touched)
    ]
    parts = [spread(one.block, one.gradient, one.tuning, target, shared_tuning) for one in used]
    error = math.sqrt(max(sum(part.variance for part in parts), 0.0) + covariance_of(used))
    df = min(part.df for part in parts)
    centre = estimate.value + sum(part.shift for part in parts)
    half, value = max(t_half_width(level, df) * error, _one_item(touched)), estimate.value
    if share is not None and 0 < value < 1 and any(_in_groups(one.block, target) for one in touched):
        low, high = _logit_bounds(value, half)
        return Interval(low, high, error, df, f"t interval of the log odds, {df:.0f} degrees of freedom")
    low, high = centre - half, centre + half
    if share is not None:
        low, high, value = (min(max(bound, 0.0), 1.0) for bound in (low, high, value))
    return Interval(min(low, value), max(high, value), error, df, f"t interval, {df:.0f} degrees of freedom")


def _in_groups(block: Drawn, target: Target) -> bool:
    """Whether items were not drawn one by one with equal chances, or stand for clusters of which others may come."""
    return block.sample.draw.design != "simple" or (target == "population" and block.block.clusters is not None)


def wilson_interval(
    touched: Sequence[Touched], estimate: Estimate, share: Share | None, target: Target, level: float
) -> Interval | None:
    """Wilson's interval for a yes/no share of one simple random sample, or for a share at 0 or 1 of another sample;
    None for anything else.

    For the finite target a sample counts as n/(1 − n/N) items. Of weighted items n is Kish's (Σw)²/Σw², of groups and
    of clusters their number.
    """
    if (
        share is None
        or len(touched) != 1
        or not {share.numerator, share.denominator} <= set(touched[0].block.block.terms)
    ):
        return None
    block, value = touched[0].block, min(max(estimate.value, 0.0), 1.0)
    by_clusters = target == "population" and block.block.clusters is not None
    if target == "finite" and block.sample.complete:
        return Interval(value, value, 0.0, math.inf, "all items labelled")
    terms = block.block.terms
    counts = block.human[:, [terms.index(share.numerator), terms.index(share.denominator)]]
    inside = counts[:, 1] > 0
    if not inside.any():
        return None
    if block.sample.simple and not by_clusters and bool(np.isin(counts, (0.0, 1.0)).all()):
        n, all_n = float(inside.sum()), block.sample.n / block.items
    elif not 1e-9 < value < 1 - 1e-9:
        n, all_n = _units(block, inside, by_clusters)
    else:
        return None
    low, high = wilson_share(value, n / (1 - all_n) if target == "finite" else n, level)
    return Interval(low, high, (high - low) / (2 * t_half_width(level, math.inf)), max(n - 1, 1.0), "Wilson interval")


class _Units(NamedTuple):
    """What a sample counts as, and which part of all there are it holds."""

    n: float
    part: float


def _units(block: Drawn, inside: NDArray[np.bool_], by_clusters: bool) -> _Units:
    draw = block.sample.draw
    units = block.block.clusters if by_clusters else draw.groups if draw.design == "two_stage" else None
    if units is not None:
        found = len(np.unique(units[block.sample.rows[inside]]))
        return _Units(float(found), 0.0 if by_clusters else found / len(np.unique(units)))
    weights = block.sample.weights[inside]
    return _Units(float(weights.sum() ** 2 / (weights**2).sum()), block.sample.n / block.items)


def simple_width(touched: Sequence[Touched], level: float) -> float:
    """Width that people's labels alone would give had the same number been drawn without strata (finite target)."""
    parts = []
    for block, gradient in touched:
        if block.sample.draw.strata is None or block.sample.draw.design != "simple":
            parts.append(spread(block, gradient, 0.0, "finite"))
        else:
            parts.append(unstratified(block, gradient))
    error = math.sqrt(sum(part.variance for part in parts))
    return 2 * t_half_width(level, min(part.df for part in parts)) * error


def by_verdict(touched: Sequence[Touched]) -> bool:
    """Whether strata alone already use the judge: its terms differ between strata and are the same within."""
    for block, gradient in touched:
        if block.sample.draw.strata is None:
            continue
        judged = block.block.judge_terms @ gradient
        _, codes = np.unique(block.sample.draw.strata, return_inverse=True)
        lowest, highest = np.full(codes.max() + 1, np.inf), np.full(codes.max() + 1, -np.inf)
        np.minimum.at(lowest, codes, judged)
        np.maximum.at(highest, codes, judged)
        if float((highest - lowest).max()) <= 1e-9 * float(np.ptp(judged)):
            return True
    return False


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


def _one_item(touched: Sequence[Touched]) -> float:
    """The most that one more label can move the metric; 0 where all are labelled."""
    return max((seen_range(block, gradient) for block, gradient in touched if not block.sample.complete), default=0.0)


def _logit_bounds(value: float, half: float) -> Bounds:
    odds, slope = math.log(value / (1 - value)), 1 / (value * (1 - value))
    return Bounds(*(1 / (1 + math.exp(min(-(odds + sign * half * slope), 700.0))) for sign in (-1, 1)))
