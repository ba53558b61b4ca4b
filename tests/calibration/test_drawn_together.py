"""Tasks that came with the same texts: their errors go together, and the interval knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores, problem_of
from judges.calibration.correction.records import Block, Draw, Share, Totals
from judges.calibration.correction.spread import spread

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


def texts_drawn(rng: np.random.Generator, passing: float, chosen: int) -> tuple[Block, float]:
    """`chosen` of 60 texts of 5 to 24 items with all of them, labels and the judge's errors alike within texts, and the
    share of all items that pass."""
    group = np.repeat(np.arange(60), rng.integers(5, 25, 60))
    own, right = rng.beta(6 * passing, 6 * (1 - passing), 60)[group], rng.beta(9, 1.5, 60)[group]
    people = (rng.random(len(group)) < own).astype(float)
    judge = np.where(rng.random(len(group)) < right, people, 1 - people)
    drawn = np.flatnonzero(np.isin(group, rng.choice(60, chosen, replace=False)))
    return block("a", people, judge, Draw(drawn, len(group), "two_stage", groups=group)), float(people.mean())


@pytest.mark.slow
def test_few_texts_of_which_few_have_fails_hold_the_truth() -> None:
    """Where the texts drawn have hardly a fail the judge gains nothing, and people's labels show too little spread."""
    rng, runs, held, too_high = np.random.default_rng(SIZE), 600, 0, 0
    settings = CorrectionSettings(shares={"rate": Share("a yes", "a n")})
    for _ in range(runs):
        one, truth = texts_drawn(rng, 0.95, 20)
        found = corrected_scores([one], lambda totals: {"rate": totals["a yes"] / totals["a n"]}, settings)["rate"]
        assert found.statistic.low is not None and found.statistic.high is not None
        held += found.statistic.low <= truth <= found.statistic.high
        too_high += truth < found.statistic.low
    assert held / runs >= 0.93
    assert too_high / runs <= 0.04


@pytest.mark.slow
def test_few_users_who_nearly_always_pass_stand_for_others() -> None:
    """10 of all users there may be, 95 % passing: an interval that reaches above 1 as far as below the share misses."""
    rng, runs, held = np.random.default_rng(SIZE), 400, 0
    settings = CorrectionSettings("population", shares={"rate": Share("a yes", "a n")})
    user = np.repeat(np.arange(10), 100)
    for _ in range(runs):
        people = (rng.random(1000) < rng.beta(9.5, 0.5, 10)[user]).astype(float)
        judge = np.where(rng.random(1000) < 0.88, people, 1 - people)
        one = replace(block("a", people, judge, Draw(np.sort(rng.choice(1000, 150, False)), 1000)), clusters=user)
        found = corrected_scores([one], lambda totals: {"rate": totals["a yes"] / totals["a n"]}, settings)["rate"]
        assert found.statistic.low is not None and found.statistic.high is not None
        held += found.statistic.low <= 0.95 <= found.statistic.high
    assert held / runs >= 0.93


def test_disagreements_that_come_together_weigh_more() -> None:
    """What a sample may lack is wider where the judge's fails lie in few texts, unless every text was drawn."""
    group = np.repeat(np.arange(GROUPS), SIZE)
    people = np.ones(len(group))
    apart, alike = (group * SIZE + np.arange(len(group)) % SIZE) % 10 > 0, group % 10 > 0
    slope = np.array([1 / len(group), 0.0])
    half, some = np.flatnonzero(group < GROUPS / 2), np.flatnonzero(np.arange(len(group)) % SIZE < 3)
    found = {}
    for name, judge in (("apart", apart), ("alike", alike)):
        for drawn in (half, some):
            draw = Draw(drawn, len(group), "two_stage", groups=group)
            one = problem_of([block("a", people, judge.astype(float), draw)], combine).blocks[0]
            found[name, len(drawn)] = spread(one, slope, 0.0, "finite").variance
    assert found["alike", len(half)] == pytest.approx(SIZE**2 * found["apart", len(half)])
    assert found["alike", len(some)] == pytest.approx(found["apart", len(some)])
