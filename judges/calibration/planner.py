"""How many labels, and how many hours of a clinician, for an interval of ±x or to decide a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.clustered import intraclass
from judges.calibration.distributions import t_half_width

PlannedDesign = Literal["simple", "by_verdict", "two_stage"]

CHARACTERS_PER_SECOND = 25.0
"""About 250 English words a minute; measured reading replaces it."""
POWER = 0.8
LEAST_LABELS = 20
UNDECIDABLE = "the share expected is the threshold: no number of labels decides that"
MOST_EXPLAINED = 0.98


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is known before labelling, from a pilot or by guess.

    Attributes:
        share: the metric, between 0 and 1. explained: share of the variance of people's labels the judge explains (R²).
        alike: intraclass correlation of what the judge leaves unexplained, within groups; alike_people: of the labels.
        variance: of one label about the metric, where that is no plain share.
    """

    share: float
    explained: float
    alike: float = 0.05
    alike_people: float = 0.1
    variance: float | None = None

    @property
    def spread(self) -> float:
        """Variance of one label."""
        return self.share * (1 - self.share) if self.variance is None else self.variance


@dataclass(frozen=True, slots=True)
class Effort:
    """What labelling takes.

    Attributes:
        seconds: active seconds of one label. group_sizes: items of each group that shares a text; one for each item
            that shares none. group_characters: mean length of a shared text.
        within: items labelled in each drawn group of a two-stage draw; 0 for all.
    """

    seconds: float
    group_sizes: Sequence[int]
    group_characters: float = 0.0
    within: int = 0
    characters_per_second: float = CHARACTERS_PER_SECOND

    @property
    def items(self) -> int:
        return sum(self.group_sizes)


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to reach the goal.

    Attributes:
        labels: needed; None when even all items would not do. groups: shared texts that must be read.
        hours: of one person's active time.
        half_width: what the plan is expected to give.
        by_task: the labels task by task, where they are of several.
    """

    design: PlannedDesign
    with_judge: bool
    labels: int | None
    groups: int | None
    hours: float | None
    half_width: float | None
    why: str = ""
    by_task: Mapping[str, int] = field(default_factory=dict)


def pilot(people: ArrayLike, judge: ArrayLike, groups: ArrayLike | None = None) -> Expectation:
    """What a first sample says of what to expect.

    Args:
        people, judge: yes/no labels or scores of the same items, shape (n,). groups: their groups.

    Raises:
        ValueError: fewer than `LEAST_LABELS` items.
    """
    y, f = np.asarray(people, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    if len(y) < LEAST_LABELS:
        raise ValueError(f"{len(y)} items are too few to plan by; {LEAST_LABELS} are needed")
    explained, residuals = 0.0, y - y.mean()
    if float(f.std()) > 0 and float(y.std()) > 0:
        slope = float(np.cov(y, f, ddof=0)[0, 1]) / float(f.var())
        residuals = y - y.mean() - slope * (f - f.mean())
        left = float((residuals**2).sum()) / (len(y) - 2) / float(y.var(ddof=1))
        explained = min(max(1 - left, 0.0), MOST_EXPLAINED)
    if groups is None:
        return Expectation(float(y.mean()), explained)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    return Expectation(float(y.mean()), explained, intraclass(residuals, codes), intraclass(y, codes))


def plan_half_width(expected: Expectation, effort: Effort, half_width: float, level: float = 0.95) -> list[Plan]:
    """Every design, with the judge's help and without, for an interval of ± half_width around the share."""
    return plan_designs(expected, effort, Goal.half_width(half_width, level))


def plan_threshold(
    expected: Expectation, effort: Effort, threshold: float, level: float = 0.95, power: float = POWER
) -> list[Plan]:
    """Every design for an interval that leaves the threshold out with probability `power`, the share as expected."""
    return plan_designs(expected, effort, Goal.threshold(expected.share, threshold, level, power))


class Goal(NamedTuple):
    """A distance that (t + extra) standard errors may not exceed."""

    distance: float
    level: float
    extra: float

    @classmethod
    def half_width(cls, half_width: float, level: float = 0.95) -> Goal:
        """An interval of ± half_width."""
        return cls(half_width, level, 0.0)

    @classmethod
    def threshold(cls, expected: float, threshold: float, level: float = 0.95, power: float = POWER) -> Goal:
        """An interval that leaves the threshold out with probability `power`."""
        return cls(abs(expected - threshold), level, NormalDist().inv_cdf(power))

    def met(self, error: float, units: int) -> bool:
        return half_width_of(error, units, self.level) + self.extra * error <= self.distance + 1e-12


def plan_designs(expected: Expectation, effort: Effort, goal: Goal) -> list[Plan]:
    """Every design, with the judge's help and without."""
    designs: list[tuple[PlannedDesign, bool]] = [("simple", False), ("simple", True), ("by_verdict", True)]
    if max(effort.group_sizes, default=1) > 1:
        designs += [("two_stage", False), ("two_stage", True)]
    return [_plan(design, judge, expected, effort, goal) for design, judge in designs]


def _plan(design: PlannedDesign, with_judge: bool, expected: Expectation, effort: Effort, goal: Goal) -> Plan:
    if goal.distance <= 0:
        return Plan(design, with_judge, None, None, None, None, UNDECIDABLE)
    spread = expected.spread * (1 - expected.explained * with_judge)
    alike = expected.alike if with_judge else expected.alike_people
    if design == "two_stage":
        return _two_stage(with_judge, spread, alike, effort, goal)
    labels = fewest(
        min(LEAST_LABELS, effort.items), effort.items, lambda n: goal.met(simple_error(spread, n, effort.items), n)
    )
    groups = round(expected_groups(effort.group_sizes, labels))
    half = half_width_of(simple_error(spread, labels, effort.items), labels, goal.level)
    return Plan(design, with_judge, labels, groups, hours(effort, labels, groups), half)


def simple_error(spread: float, labels: int, items: int) -> float:
    """Standard error of a simple random sample's mean, guarded as the correction guards it: by one disagreement."""
    return math.sqrt((spread + 1 / labels) * (1 / labels - 1 / items))


def fewest(low: int, high: int, met: Callable[[int], bool]) -> int:
    """The smallest number in low … high that meets a goal which larger ones meet too; `high` always does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle + 1, high)
    return low


def _two_stage(with_judge: bool, spread: float, alike: float, effort: Effort, goal: Goal) -> Plan:
    sizes = np.asarray(effort.group_sizes, dtype=np.float64)
    taken = sizes if not effort.within else np.minimum(sizes, effort.within)
    per_group, all_groups = float(taken.mean()), len(sizes)

    def error(groups: int) -> float:
        labels = groups * per_group
        # Larger groups weigh more: the spread of their sizes adds to the design effect (Kish 1965).
        uneven = 1 + float(sizes.var()) / float(sizes.mean()) ** 2
        between = spread * alike * uneven * (1 / groups - 1 / all_groups)
        within = (spread * (1 - alike) + 1 / labels) * (1 / labels - 1 / effort.items)
        return math.sqrt(between + within)

    least = min(max(2, math.ceil(min(LEAST_LABELS, effort.items) / per_group)), all_groups)
    groups = fewest(least, all_groups, lambda m: goal.met(error(m), m))
    labels, half = round(groups * per_group), half_width_of(error(groups), groups, goal.level)
    if not goal.met(error(groups), groups):
        why = f"even all {all_groups} groups give ±{half:.3f} with so few items of each: label more of them"
        return Plan("two_stage", with_judge, None, None, None, None, why)
    return Plan("two_stage", with_judge, labels, groups, hours(effort, labels, groups), half)


def expected_groups(sizes: Sequence[int], labels: int) -> float:
    """Groups that a simple random sample of items touches, on average."""
    items = sum(sizes)
    if labels >= items:
        return float(len(sizes))
    untouched = 0.0
    for size in sizes:
        if items - size >= labels:
            untouched += math.exp(
                math.lgamma(items - size + 1)
                - math.lgamma(items - size - labels + 1)
                - math.lgamma(items + 1)
                + math.lgamma(items - labels + 1)
            )
    return len(sizes) - untouched


def best_within(effort: Effort, alike: float = 0.05) -> float:
    """Labels of each shared text that give the shortest interval for the hours (Cochran 1977, section 10.6).

    Args:
        alike: intraclass correlation of what the judge leaves unexplained, within groups.
    """
    reading = effort.group_characters / effort.characters_per_second
    return math.sqrt(reading / effort.seconds * (1 - alike) / alike)


def hours(effort: Effort, labels: int, groups: int) -> float:
    """Active hours: each label's seconds, and each shared text read once."""
    reading = groups * effort.group_characters / effort.characters_per_second
    return (labels * effort.seconds + reading) / 3600


def half_width_of(error: float, units: int, level: float) -> float:
    return t_half_width(level, max(units - 1, 1)) * error
