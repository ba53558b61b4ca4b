"""Labels and hours of a metric that rests on several tasks drawn apart, such as an F1 of one task's recall and
another's precision: how many of each task, so that the hours are fewest.

The errors of the tasks add as variances; of labels that cost c and vary by S² the cheapest share is that of S/√c
(Neyman 1934; Cochran 1977, section 5.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judges.calibration.planner import (
    LEAST_LABELS,
    UNDECIDABLE,
    Effort,
    Expectation,
    Goal,
    Plan,
    expected_groups,
    fewest,
    half_width_of,
    hours,
    simple_error,
)

_MOST_SCALE = 1e12
"""Where a task of which no label is wanted would never reach its most."""


class TaskPart(NamedTuple):
    """What one task adds: `expected.variance` is that of one label's part in the metric, per item of its task."""

    expected: Expectation
    effort: Effort

    def spread(self, with_judge: bool) -> float:
        return self.expected.spread * (1 - self.expected.explained * with_judge)

    @property
    def seconds(self) -> float:
        """Of one label, its shared text read for it alone."""
        return self.effort.seconds + self.effort.group_characters / self.effort.characters_per_second

    @property
    def least(self) -> int:
        return min(LEAST_LABELS, self.effort.items)


def plan_jointly(parts: Mapping[str, TaskPart], goal: Goal) -> list[Plan]:
    """Items of every task one by one, without the judge's help and with it. At least `LEAST_LABELS` of each task."""
    return [_plan(parts, goal, with_judge) for with_judge in (False, True)]


def _plan(parts: Mapping[str, TaskPart], goal: Goal, with_judge: bool) -> Plan:
    if goal.distance <= 0:
        return Plan("simple", with_judge, None, None, None, None, UNDECIDABLE)
    tasks = list(parts.values())
    spreads = [one.spread(with_judge) for one in tasks]
    wanted = [math.sqrt(spread / one.seconds) for spread, one in zip(spreads, tasks, strict=True)]

    def error(labels: Sequence[int]) -> float:
        errors = [
            simple_error(spread, n, one.effort.items) for spread, n, one in zip(spreads, labels, tasks, strict=True)
        ]
        return math.hypot(*errors)

    def met(total: int) -> bool:
        labels = allotted(total, wanted, tasks)
        return goal.met(error(labels), min(labels))

    low, high = sum(one.least for one in tasks), sum(one.effort.items for one in tasks)
    labels = allotted(fewest(low, high, met), wanted, tasks)
    groups = [round(expected_groups(one.effort.group_sizes, n)) for one, n in zip(tasks, labels, strict=True)]
    time = sum(hours(one.effort, n, texts) for one, n, texts in zip(tasks, labels, groups, strict=True))
    half = half_width_of(error(labels), min(labels), goal.level)
    by_task = dict(zip(parts, labels, strict=True))
    return Plan("simple", with_judge, sum(labels), sum(groups), time, half, by_task=by_task)


def allotted(total: int, wanted: Sequence[float], tasks: Sequence[TaskPart]) -> list[int]:
    """`total` labels in the ratio wanted, but of each task its least at least and its most at most."""

    def at(scale: float) -> list[float]:
        return [
            float(min(max(scale * share, one.least), one.effort.items))
            for share, one in zip(wanted, tasks, strict=True)
        ]

    low, high = 0.0, 1.0
    while sum(at(high)) < total and high < _MOST_SCALE:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if sum(at(middle)) >= total else (middle, high)
    real = at(high)
    labels = [math.floor(count) for count in real]
    for k in sorted(range(len(real)), key=lambda k: labels[k] - real[k])[: max(total - sum(labels), 0)]:
        labels[k] = min(labels[k] + 1, tasks[k].effort.items)
    return labels
