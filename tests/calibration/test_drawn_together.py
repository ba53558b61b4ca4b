"""Tasks that came with the same texts: their errors go together, and the interval knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.records import Block, Draw, Totals

GROUPS, SIZE, CHOSEN = 80, 5, 20


def combine(totals: Totals) -> dict[str, float | None]:
    """The mean of two tasks' rates, and their difference."""
    one, two = totals["a yes"] / totals["a n"], totals["b yes"] / totals["b n"]
    return {"both": (one + two) / 2, "gap": one - two}


def block(name: str, people: np.ndarray, judge: np.ndarray, draw: Draw) -> Block:
    terms = (f"{name} yes", f"{name} n")
    return Block(
        name, terms, np.column_stack([judge, np.ones(len(judge))]),
        np.column_stack([people[draw.drawn], np.ones(len(draw.drawn))]), draw, fixed=frozenset({terms[1]}),
    )  # fmt: skip


def replications(number: int, together: str) -> dict[str, float]:
    """Share of intervals that cover, by metric: people's rate goes by text, alike in both tasks."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(GROUPS), SIZE)
    own = rng.beta(1, 1, GROUPS)[group]
    people = {name: (rng.random(len(group)) < own).astype(float) for name in "ab"}
    judge = {name: np.where(rng.random(len(group)) < 0.75, one, 1 - one) for name, one in people.items()}
    truth = combine({f"{name} yes": people[name].sum() for name in "ab"} | {"a n": len(group), "b n": len(group)})
    hits = dict.fromkeys(truth, 0)
    for _ in range(number):
        drawn = np.flatnonzero(np.isin(group, rng.choice(GROUPS, CHOSEN, replace=False)))
        draw = Draw(drawn, len(group), "two_stage", groups=group, together=together)
        found = corrected_scores([block(name, people[name], judge[name], draw) for name in "ab"], combine)
        for name, value in truth.items():
            statistic = found[name].statistic
            assert statistic.low is not None and statistic.high is not None and value is not None
            hits[name] += statistic.low <= value <= statistic.high
    return {name: count / number for name, count in hits.items()}


@pytest.mark.slow
def test_intervals_of_what_two_tasks_make_together_cover() -> None:
    known, unknown = replications(200, "one draw"), replications(200, "")
    assert known["both"] >= 0.93 - 3 * (0.05 * 0.95 / 200) ** 0.5
    assert unknown["both"] < known["both"], "taken as independent they would cover more seldom"
    assert known["gap"] >= 0.93


def test_blocks_of_different_draws_are_independent() -> None:
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(GROUPS), SIZE)
    people = (rng.random(GROUPS) < 0.6).astype(float)[group]
    judge = np.where(rng.random(len(group)) < 0.8, people, 1 - people)
    draw = Draw(np.flatnonzero(group < CHOSEN), len(group), "two_stage", groups=group, together="one")
    widths = {}
    for name, other in (("shared", draw), ("apart", replace(draw, together="two"))):
        found = corrected_scores([block("a", people, judge, draw), block("b", people, judge, other)], combine)
        low, high = found["both"].statistic.low, found["both"].statistic.high
        assert low is not None and high is not None
        widths[name] = high - low
    assert widths["shared"] > 1.2 * widths["apart"]
