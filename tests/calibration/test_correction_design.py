"""Weights and variances of a draw are right on average over every sample that its design can give."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest
from correction_cases import Floats, rate, rate_block

from judges.calibration.correction.corrected import problem_of
from judges.calibration.correction.records import Block, Draw
from judges.calibration.correction.sample import Sample, design_weights

PEOPLE = np.array([3.0, 0.0, 1.0, 4.0, 2.0, 7.0, 1.0, 5.0])
JUDGE = np.array([2.0, 0.0, 2.0, 4.0, 1.0, 6.0, 3.0, 5.0])
STRATA = np.array([0, 0, 0, 0, 1, 1, 1, 1])
GROUPS = np.array([0, 0, 1, 1, 2, 2, 3, 3])
UNEVEN = np.array([0, 0, 0, 1, 1, 2, 2, 2])


def sample_of(draw: Draw, people: Floats = PEOPLE, judge: Floats = JUDGE) -> Sample:
    return Sample.of(Block("task", ("score",), judge[:, np.newaxis], people[draw.drawn, np.newaxis], draw))


def simple_draws() -> Iterator[tuple[float, Draw]]:
    draws = [Draw(np.array(drawn), 8) for drawn in combinations(range(8), 3)]
    yield from ((1 / len(draws), draw) for draw in draws)


def stratified_draws() -> Iterator[tuple[float, Draw]]:
    draws = [
        Draw(np.array(first + second), 8, strata=STRATA)
        for first in combinations(range(4), 2)
        for second in combinations(range(4, 8), 3)
    ]
    yield from ((1 / len(draws), draw) for draw in draws)


def cluster_draws() -> Iterator[tuple[float, Draw]]:
    draws = [
        Draw(np.flatnonzero(np.isin(GROUPS, groups)), 8, "two_stage", groups=GROUPS)
        for groups in combinations(range(4), 2)
    ]
    yield from ((1 / len(draws), draw) for draw in draws)


def two_stage_draws() -> Iterator[tuple[float, Draw]]:
    """Two of three groups of 3, 2 and 3, two items of each."""
    for groups in combinations(range(3), 2):
        choices = [list(combinations(np.flatnonzero(group == UNEVEN), 2)) for group in groups]
        picks = list(product(*choices))
        for pick in picks:
            drawn = np.array([index for pair in pick for index in pair])
            yield 1 / 3 / len(picks), Draw(drawn, 8, "two_stage", groups=UNEVEN)


DESIGNS = {
    "simple": simple_draws,
    "stratified": stratified_draws,
    "clusters": cluster_draws,
    "two_stage": two_stage_draws,
}


@pytest.mark.parametrize("design", DESIGNS)
def test_weights_are_the_reciprocal_of_how_often_an_item_is_drawn(design: str) -> None:
    often, weight = np.zeros(8), np.zeros(8)
    for chance, draw in DESIGNS[design]():
        often[draw.drawn] += chance
        weight[draw.drawn] += chance * design_weights(draw)
    assert often.min() > 0
    assert weight == pytest.approx(np.ones(8))
    assert sum(chance for chance, _ in DESIGNS[design]()) == pytest.approx(1)


@pytest.mark.parametrize("tuning", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("design", DESIGNS)
def test_any_tuning_gives_the_human_total_on_average(design: str, tuning: float) -> None:
    """λ Σ_all f + Σ_drawn (y − λf)/π, before weights are put on the stratum's size."""
    expected = 0.0
    for chance, draw in DESIGNS[design]():
        residuals = PEOPLE[draw.drawn] - tuning * JUDGE[draw.drawn]
        expected += chance * (tuning * JUDGE.sum() + float(design_weights(draw) @ residuals))
    assert expected == pytest.approx(PEOPLE.sum())


@pytest.mark.parametrize("design", ["simple", "stratified", "clusters"])
def test_estimated_variance_is_the_true_one_on_average(design: str) -> None:
    """Where weights are the same for all items of a stratum nothing is approximated."""
    residuals = PEOPLE - 0.6 * JUDGE
    totals, estimated, chances = [], [], []
    for chance, draw in DESIGNS[design]():
        sample = sample_of(draw)
        values = residuals[draw.drawn, np.newaxis]
        totals.append(float(sample.totals(values)[0]))
        estimated.append(float(sample.covariance(values).whole[0, 0]))
        chances.append(chance)
    mean = float(np.average(totals, weights=chances))
    truth = float(np.average((np.array(totals) - mean) ** 2, weights=chances))
    assert float(np.average(estimated, weights=chances)) == pytest.approx(truth)


def test_two_stage_variance_of_equal_groups_is_exact() -> None:
    """Two of four pairs, one item of each would leave no spread within; here both stages have some."""
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    residuals = np.array([3.0, 0.5, 1.0, 4.0, 2.0, 7.0, 1.0, 5.0, 2.5])
    totals, estimated = [], []
    for pair in combinations(range(3), 2):
        choices = [list(combinations(np.flatnonzero(groups == group), 2)) for group in pair]
        for pick in product(*choices):
            drawn = np.array([index for one in pick for index in one])
            sample = sample_of(Draw(drawn, 9, "two_stage", groups=groups), residuals, residuals)
            values = residuals[drawn, np.newaxis]
            totals.append(float(sample.totals(values)[0]))
            estimated.append(float(sample.covariance(values).whole[0, 0]))
    assert float(np.mean(estimated)) == pytest.approx(float(np.var(totals)))


class TestUnequalProbabilities:
    """Items drawn one by one, each with a probability of its own: 2⁵ samples."""

    people = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    judge = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    chance = np.array([0.2, 0.5, 0.9, 0.4, 0.7])

    def draws(self) -> Iterator[tuple[float, Draw]]:
        for taken in product((False, True), repeat=5):
            mask = np.array(taken)
            probability = float(np.where(mask, self.chance, 1 - self.chance).prod())
            yield probability, Draw(np.flatnonzero(mask), 5, "unequal", probabilities=self.chance)

    @pytest.mark.parametrize("tuning", [0.0, 0.4, 1.0])
    def test_the_human_total_on_average(self, tuning: float) -> None:
        expected = sum(
            probability
            * (
                tuning * self.judge.sum()
                + float(design_weights(draw) @ (self.people[draw.drawn] - tuning * self.judge[draw.drawn]))
            )
            for probability, draw in self.draws()
        )
        assert expected == pytest.approx(self.people.sum())

    def test_probabilities_of_one_leave_no_variance(self) -> None:
        draw = Draw(np.arange(5), 5, "unequal", probabilities=np.ones(5))
        sample = sample_of(draw, self.people, self.judge)
        assert float(sample.covariance(self.people[:, np.newaxis]).whole[0, 0]) == pytest.approx(0, abs=1e-12)


def test_equal_probabilities_are_a_simple_random_sample() -> None:
    drawn = np.array([0, 2, 5, 7])
    equal = sample_of(Draw(drawn, 8, "unequal", probabilities=np.full(8, 0.5)))
    simple = sample_of(Draw(drawn, 8))
    values = PEOPLE[drawn, np.newaxis]
    assert equal.totals(values) == pytest.approx(simple.totals(values))
    assert equal.covariance(values).whole == pytest.approx(simple.covariance(values).whole)


def test_whole_groups_of_one_item_are_a_simple_random_sample() -> None:
    drawn = np.array([1, 3, 4])
    alone = sample_of(Draw(drawn, 8, "two_stage", groups=np.arange(8)))
    simple = sample_of(Draw(drawn, 8))
    values = PEOPLE[drawn, np.newaxis]
    assert alone.covariance(values).whole == pytest.approx(simple.covariance(values).whole)
    assert alone.covariance(values).df == pytest.approx(simple.covariance(values).df)


class TestUnresolved:
    """An item without a label is weighted for by those of its stratum and verdict."""

    def test_weights_within_verdict(self) -> None:
        people = np.array([[1.0], [np.nan], [0.0], [0.0]])
        draw = Draw(np.arange(4), 8)
        verdicts = np.array([1, 1, 0, 0, 1, 1, 0, 0])
        block = Block("task", ("passed",), np.zeros((8, 1)), people, draw, verdicts=verdicts)
        assert Sample.of(block).weights == pytest.approx([4, 2, 2])
        assert Sample.of(block).rows.tolist() == [0, 2, 3]

    def test_a_verdict_without_a_resolved_item_is_carried_by_its_stratum(self) -> None:
        people = np.array([[np.nan], [1.0], [0.0], [0.0]])
        verdicts = np.array([1, 0, 0, 0, 1, 0, 0, 0])
        block = Block("task", ("passed",), np.zeros((8, 1)), people, Draw(np.arange(4), 8), verdicts=verdicts)
        assert Sample.of(block).weights == pytest.approx(np.full(3, 8 / 3))


class TestBadDraws:
    def test_an_item_twice(self) -> None:
        with pytest.raises(ValueError, match="twice"):
            Draw(np.array([1, 1]), 3)

    def test_an_item_that_is_not_there(self) -> None:
        with pytest.raises(ValueError, match="not among the 3"):
            Draw(np.array([3]), 3)

    def test_two_stages_without_groups(self) -> None:
        with pytest.raises(ValueError, match="group of each item"):
            Draw(np.array([0]), 3, "two_stage")

    def test_a_group_in_two_strata(self) -> None:
        with pytest.raises(ValueError, match="two strata"):
            Draw(np.array([0]), 2, "two_stage", strata=np.array([0, 1]), groups=np.array([0, 0]))

    @pytest.mark.parametrize("chance", [0.0, 1.5, np.nan])
    def test_an_impossible_probability(self, chance: float) -> None:
        with pytest.raises(ValueError, match=r"\(0, 1\]"):
            Draw(np.array([0]), 2, "unequal", probabilities=np.array([chance, 0.5]))

    def test_terms_that_do_not_fit(self) -> None:
        with pytest.raises(ValueError, match="human terms"):
            Block("task", ("a",), np.zeros((3, 1)), np.zeros((2, 1)), Draw(np.array([0]), 3))
        with pytest.raises(ValueError, match="judge terms"):
            Block("task", ("a",), np.zeros((2, 1)), np.zeros((1, 1)), Draw(np.array([0]), 3))
        with pytest.raises(ValueError, match="not a number"):
            Block("task", ("a",), np.full((3, 1), np.nan), np.zeros((1, 1)), Draw(np.array([0]), 3))


def test_tuning_by_the_design_follows_what_was_sampled() -> None:
    """Judge and people agree within strata but not between them: the stratified draw sees it, the simple one not."""
    rng = np.random.default_rng(3)
    strata = np.repeat([0, 1], 100)
    people = rng.normal(size=200)
    judge = people + 5 * strata
    drawn = np.concatenate([np.arange(30), 100 + np.arange(30)])
    by_stratum = problem_of([rate_block(judge, people, Draw(drawn, 200, strata=strata))], rate)
    together = problem_of([rate_block(judge, people, Draw(drawn, 200))], rate)
    assert by_stratum.tuned(["rate"], [True], [True])["rate"].tuning[0] == pytest.approx(1)
    assert together.tuned(["rate"], [True], [True])["rate"].tuning[0] < 0.5
