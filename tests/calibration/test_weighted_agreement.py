"""Numbers of a draw with unequal chances: with equal weights those of no weights, on average those of all items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from judges.calibration.agreement.scale import Scale
from judges.calibration.agreement.slice_tests import slice_tests
from judges.calibration.audit import audit_task
from judges.calibration.audit_input import NOT_LABELLED, DrawnColumns, JudgeColumn, SliceColumn, TaskColumns
from judges.calibration.audit_result import JudgeAgreement, Settings
from judges.calibration.biases import family_preference, leniency
from judges.calibration.label_worth import label_worth
from judges.calibration.statistic import Statistic

SCALE = Scale(("low", "middle", "high"), "ordinal")
EVERYTHING = Settings(resamples=40, all_statistics=True)
PLACES = ("here", "there")


@dataclass(frozen=True)
class Planted:
    """Items with people's labels, a judge's labels and scores, and a slice in which the judge errs more often."""

    people: NDArray[np.int16]
    judge: NDArray[np.int16]
    scores: NDArray[np.float64]
    place: NDArray[np.int16]

    def rows(self, kept: NDArray[np.bool_]) -> Planted:
        return Planted(self.people[kept], self.judge[kept], self.scores[kept], self.place[kept])


def planted(items: int, seed: int) -> Planted:
    rng = np.random.default_rng(seed)
    people = rng.choice(3, items, p=[0.2, 0.3, 0.5]).astype(np.int16)
    place = rng.integers(0, 2, items).astype(np.int16)
    wrong = rng.random(items) < np.where(place == 0, 0.35, 0.1)
    judge = np.where(wrong, np.minimum(people + 1, 2), people).astype(np.int16)
    return Planted(people, judge, judge + rng.integers(0, 3, items) / 4, place)


def found(of: Planted, weights: NDArray[np.float64] | None) -> JudgeAgreement:
    n = len(of.people)
    drawn = None if weights is None else DrawnColumns(weights, np.arange(n) % 7)
    place = SliceColumn(of.place, PLACES)
    judge = JudgeColumn(of.judge, (), of.scores, {"place of the verdict": place})
    task = TaskColumns(
        "t", SCALE, {"a": of.people}, np.full(n, NOT_LABELLED, np.int16), {"j": judge}, np.ones(n, np.bool_),
        slices={"place": place}, drawn=drawn,
    )  # fmt: skip
    return audit_task(task, EVERYTHING).judges["j"]


def numbers(one: JudgeAgreement) -> dict[str, Statistic]:
    """Everything that an audit with all coefficients says of a judge and that weights change."""
    named = {
        "raw": one.raw_agreement, "kappa": one.cohen_kappa, "alpha": one.krippendorff_alpha, "ac1": one.gwet_ac1,
        **one.more, **{f"correlation {name}": found for name, found in one.correlations.items()},
    }  # fmt: skip
    for label, by in one.per_label.items():
        named |= {f"recall {label}": by.recall, f"precision {label}": by.precision, f"f1 {label}": by.f1}
        if by.agreement is not None:
            named[f"agreement {label}"] = by.agreement
    for value, by_value in one.slices["place"].items():
        named[f"{value} raw"] = by_value.raw_agreement
        named |= {f"{value} recall {label}": recall for label, recall in by_value.recall.items()}
        if by_value.cohen_kappa is not None:
            named[f"{value} kappa"] = by_value.cohen_kappa
    return named


@given(st.integers(40, 200), st.integers(0, 10_000), st.floats(0.5, 50))
@settings(max_examples=3, deadline=None)
def test_equal_weights_change_no_value(items: int, seed: int, weight: float) -> None:
    of = planted(items, seed)
    plain, weighted = numbers(found(of, None)), numbers(found(of, np.full(items, weight)))
    assert plain.keys() == weighted.keys()
    assert len(plain) > 30
    for name, one in plain.items():
        assert weighted[name].value == pytest.approx(one.value, abs=1e-12), name
        assert (weighted[name].status, weighted[name].n) == (one.status, one.n), name


def chances(of: Planted) -> NDArray[np.float64]:
    """The judge's low verdicts five times as likely as its high ones; and here twice as likely as there."""
    return np.asarray(np.array([0.5, 0.3, 0.1])[of.judge] * np.where(of.place == 0, 1.0, 0.5))


def test_on_average_weighted_numbers_are_those_of_all_items() -> None:
    whole = planted(6000, 3)
    truth, chance = numbers(found(whole, None)), chances(whole)
    gaps: dict[str, list[float]] = {name: [] for name in truth}
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for seed in range(100, 108):
        drawn = np.random.default_rng(seed).random(6000) < chance
        for name, one in numbers(found(whole.rows(drawn), 1 / chance[drawn])).items():
            value = truth[name].value
            if one.value is None or value is None:
                continue
            gaps[name].append(one.value - value)
            if one.low is not None and one.high is not None:
                held[name].append(one.low <= value <= one.high)
    far = {name: float(np.mean(gap)) for name, gap in gaps.items() if abs(np.mean(gap)) > 0.03}
    assert far == {}
    assert {name: sum(one) for name, one in held.items() if one and sum(one) < 5} == {}
    unweighted = numbers(found(whole.rows(np.random.default_rng(0).random(6000) < chance), None))
    assert abs((unweighted["recall middle"].value or 0.0) - (truth["recall middle"].value or 0.0)) > 0.03


def leniency_here(of: Planted, weights: NDArray[np.float64] | None) -> Statistic:
    kinds = {"place": [PLACES[code] for code in of.place]}
    return leniency(kinds, of.people / 2, of.judge / 2, weights=weights)[0].statistic


def favour_here(of: Planted, weights: NDArray[np.float64] | None) -> Statistic:
    return family_preference(of.place == 0, of.people / 2, of.judge / 2, weights=weights).statistic


def agreement_here(of: Planted, weights: NDArray[np.float64] | None) -> Statistic:
    kinds = {"place": [PLACES[code] for code in of.place]}
    return slice_tests(SCALE, of.people, of.judge, kinds, weights=weights)[0].difference


DIFFERENCES = (leniency_here, favour_here, agreement_here)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda one: one.__name__)
def test_differences_with_equal_weights_have_the_same_value(
    difference: Callable[[Planted, NDArray[np.float64] | None], Statistic],
) -> None:
    of = planted(200, 1)
    assert difference(of, np.full(200, 9.0)).value == pytest.approx(difference(of, None).value)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda one: one.__name__)
def test_differences_of_a_draw_are_those_of_all_items(
    difference: Callable[[Planted, NDArray[np.float64] | None], Statistic],
) -> None:
    whole = planted(6000, 4)
    truth, chance = difference(whole, None).value, chances(whole)
    assert truth is not None
    gaps, held = [], 0
    for seed in range(100, 140):
        drawn = np.random.default_rng(seed).random(6000) < chance
        one = difference(whole.rows(drawn), 1 / chance[drawn])
        assert one.value is not None and one.low is not None and one.high is not None
        gaps.append(one.value - truth)
        held += one.low <= truth <= one.high
    assert abs(float(np.mean(gaps))) < 0.01
    assert held >= 35


def test_items_in_no_sample_are_left_out_of_slices() -> None:
    of = planted(300, 2)
    weights = np.where(np.arange(300) < 100, 4.0, np.nan)
    inside = found(of, weights)
    same = found(of.rows(np.arange(300) < 100), np.full(100, 4.0))
    assert {value: one.n for value, one in inside.slices["place"].items()} == {
        value: one.n for value, one in same.slices["place"].items()
    }
    assert inside.more["matthews_correlation"].value == pytest.approx(same.more["matthews_correlation"].value)
    assert replace(inside.correlations["spearman"], dropped={}) == replace(same.correlations["spearman"], dropped={})


@pytest.mark.parametrize("weights", [None, np.repeat([1.0, 3.0], 150)], ids=["all alike", "unequal"])
def test_slices_of_verdicts_are_told_as_those_of_items(weights: NDArray[np.float64] | None) -> None:
    slices = found(planted(300, 2), weights).slices
    assert slices["place of the verdict"] == slices["place"]


def test_what_a_label_is_worth_is_that_of_all_items() -> None:
    whole = planted(6000, 5)
    chance = chances(whole)
    truth = label_worth(whole.people, whole.judge, 3)
    assert label_worth(whole.people, whole.judge, 3, np.full(6000, 3.0)) == pytest.approx(truth)
    weighted, unweighted = [], []
    for seed in range(100, 120):
        drawn = np.random.default_rng(seed).random(6000) < chance
        of = whole.rows(drawn)
        weighted.append(label_worth(of.people, of.judge, 3, 1 / chance[drawn]))
        unweighted.append(label_worth(of.people, of.judge, 3))
    assert float(np.mean(weighted)) == pytest.approx(truth, rel=0.03)
    assert abs(float(np.mean(unweighted)) / truth - 1) > 0.05
