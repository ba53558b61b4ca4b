"""Chances that take few values, or follow the judge's verdict, count as strata."""

from __future__ import annotations

import numpy as np
import pytest
from correction_cases import RATE, Floats, rate, rate_block

from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.records import Draw
from judges.calibration.correction.result import CorrectedMetric

ITEMS = 1000
SETTINGS = CorrectionSettings(shares=RATE)


def planted(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """People's labels, verdicts, and chances: each of the judge's fails is ten times as likely as a pass."""
    people = (rng.random(ITEMS) < 0.5).astype(float)
    judge = np.where(people == 1, rng.random(ITEMS) < 0.95, rng.random(ITEMS) >= 0.9).astype(float)
    size = np.where(judge == 0, 10.0, 1.0)
    return people, judge, np.minimum(150 * size / size.sum(), 1.0)


def corrected(people: Floats, judge: Floats, draw: Draw) -> CorrectedMetric:
    return corrected_scores([rate_block(judge, people, draw)], rate, SETTINGS).metrics["rate"]


def test_two_chances_are_two_strata() -> None:
    rng = np.random.default_rng(5)
    people, judge, chance = planted(rng)
    drawn = np.flatnonzero(rng.random(ITEMS) < chance)
    found = corrected(people, judge, Draw(drawn, ITEMS, "unequal", probabilities=chance))
    same = corrected(people, judge, Draw(drawn, ITEMS, strata=judge.astype(np.int64)))
    assert (found.statistic.value, found.statistic.low, found.statistic.high) == (
        same.statistic.value, same.statistic.low, same.statistic.high,
    )  # fmt: skip


def test_chances_that_differ_item_by_item_stay_as_they_are() -> None:
    rng = np.random.default_rng(5)
    people, judge, chance = planted(rng)
    chance = np.minimum(chance * rng.uniform(0.5, 1.5, ITEMS), 1.0)
    drawn = np.flatnonzero(rng.random(ITEMS) < chance)
    found = corrected(people, judge, Draw(drawn, ITEMS, "unequal", probabilities=chance)).humans_only
    weights = 1 / chance[drawn]
    assert found.value == pytest.approx(float(weights @ people[drawn] / weights.sum()))


def test_few_items_that_stand_for_many_do_not_make_the_interval_too_short() -> None:
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(60):
        people, judge, chance = planted(rng)
        drawn = np.flatnonzero(rng.random(ITEMS) < chance)
        found = corrected(people, judge, Draw(drawn, ITEMS, "unequal", probabilities=chance)).statistic
        assert found.low is not None and found.high is not None
        held += found.low <= people.mean() <= found.high
    assert held >= 54
