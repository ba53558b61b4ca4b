"""Coefficients beside the usual ones: live kappa, RMSE, macro-F1, weighted by the draw, slices."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from correction_cases import PUBLISHED

from judges.calibration.agreement.binomial import newcombe
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.design_weighted import design_weighted
from judges.calibration.agreement.gwet import gwet_ac1
from judges.calibration.agreement.kappa_error import error_without_agreement, kappa_and_error, live_kappa
from judges.calibration.agreement.krippendorff_alpha import krippendorff_alpha
from judges.calibration.agreement.macro_f1 import leave_one_out, macro_f1
from judges.calibration.agreement.ratings import PairTable
from judges.calibration.agreement.raw import raw_agreement
from judges.calibration.agreement.rmse import rmse
from judges.calibration.agreement.sample_design import SampleDesign
from judges.calibration.agreement.scale import Scale
from judges.calibration.agreement.scored_pairs import ScoredPairs
from judges.calibration.agreement.slice_tests import slice_tests

SCALE = Scale(("pass", "fail"))
KAPPAS = PUBLISHED["kappa_error"]


def weights_of(row: dict[str, Any]) -> np.ndarray[Any, Any]:
    q = len(row["table"])
    if row["custom"] is not None:
        given = np.array(row["custom"], dtype=float)
        return given if given[0, 0] == 1 else 1 - given / given.max()
    scale = Scale(tuple(str(k) for k in range(q)), "interval")
    return scale.weights(cast(Any, row["weights"]))


class TestLiveKappa:
    @pytest.mark.parametrize("row", KAPPAS, ids=lambda row: f"{row['name']}-{row['weights']}")
    def test_published_errors(self, row: dict[str, Any]) -> None:
        table = np.array(row["table"], dtype=float)
        kappa, error = kappa_and_error(table, weights_of(row))
        assert kappa == pytest.approx(row["kappa"], abs=1e-9)
        assert error == pytest.approx(row["ase"], abs=1e-9)
        if row["ase0"] is not None:
            assert error_without_agreement(table, weights_of(row)) == pytest.approx(row["ase0"], abs=1e-9)

    def test_the_interval(self) -> None:
        row = next(row for row in KAPPAS if row["name"] == "feinstein_cicchetti_balanced")
        found = live_kappa(PairTable.of_confusion(SCALE, row["table"]))
        assert [found.low, found.high] == pytest.approx(row["ci95"], abs=1e-9)

    def test_is_withheld_for_a_rare_label(self) -> None:
        found = live_kappa(PairTable.of_confusion(SCALE, [[180, 4], [2, 5]]))
        assert found.value is not None and found.low is None
        assert "rarest label" in found.why

    def test_undefined(self) -> None:
        assert live_kappa(PairTable.of_confusion(SCALE, [[20, 0], [0, 0]])).status == "undefined_single_category"
        assert live_kappa(PairTable.of_confusion(SCALE, [[20, 0], [5, 0]])).status == "constant_rater"


class TestRmse:
    def test_value_and_interval(self) -> None:
        rng = np.random.default_rng(1)
        people = rng.integers(1, 6, 200).astype(float)
        judge = people + rng.normal(0, 0.8, 200)
        pairs = ScoredPairs.of_values(people, np.round(judge, 1))
        found = rmse(pairs, pairs.bootstrap(resamples=300))
        assert found.value == pytest.approx(float(np.sqrt(((people - np.round(judge, 1)) ** 2).mean())))
        assert found.low is not None and found.high is not None and found.low < 0.8 < found.high

    def test_no_pairs(self) -> None:
        assert rmse(ScoredPairs.of_values([np.nan], [1.0])).status == "no_pairable_items"


class TestMacroF1:
    """Rows of two or three physicians; the grader agrees with some."""

    grader = (0, 0, 1, 1, 0, 1)
    physicians = np.array([[0, 0, 1, 0, 1, 1], [0, 1, 1, 1, 0, -1]])

    def test_by_hand(self) -> None:
        pairs = [
            (own, other)
            for item, own in enumerate(self.grader)
            for other in self.physicians[:, item].tolist()
            if other >= 0
        ]
        scores = []
        for label in (0, 1):
            precision = np.mean([own == other for own, other in pairs if own == label])
            recall = np.mean([own == other for own, other in pairs if other == label])
            scores.append(2 * precision * recall / (precision + recall))
        found = macro_f1(SCALE, self.grader, self.physicians)
        assert found.value == pytest.approx(np.mean(scores))
        assert found.n == 6

    def test_agrees_with_scikit_learn_for_one_other(self) -> None:
        from sklearn.metrics import f1_score

        rng = np.random.default_rng(2)
        other = rng.integers(0, 2, 300)
        own = np.where(rng.random(300) < 0.8, other, 1 - other)
        found = macro_f1(SCALE, own, other, resamples=300)
        assert found.value == pytest.approx(f1_score(other, own, average="macro"))
        assert found.low is not None and found.high is not None and found.low < 0.8 < found.high

    def test_never_right_is_zero_and_never_given_is_undefined(self) -> None:
        assert macro_f1(SCALE, [0, 1], [1, 0]).value == 0.0
        assert macro_f1(SCALE, [0, 0], [0, 1]).status == "label_not_used"
        assert macro_f1(SCALE, [0, -1], [-1, 1]).status == "no_pairable_items"

    def test_each_physician_against_the_others(self) -> None:
        people = {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1], "c": [0, 0, 1, -1]}
        found = leave_one_out(SCALE, people)
        assert found["a"].value == pytest.approx(macro_f1(SCALE, people["a"], [people["b"], people["c"]]).value)
        assert found["c"].n == 3


class TestDesignWeighted:
    rng = np.random.default_rng(3)
    people = rng.integers(0, 2, 4000)
    judge = np.where(rng.random(4000) < np.where(people == 0, 0.95, 0.7), people, 1 - people)

    def test_equal_weights_change_nothing(self) -> None:
        people, judge = self.people[:300], self.judge[:300]
        pairs = PairTable.of_codes(SCALE, people, judge)
        found = design_weighted(SCALE, people, judge, SampleDesign(np.full(300, 7.0), resamples=200))
        assert found.raw_agreement.value == pytest.approx(raw_agreement(pairs).value)
        assert found.cohen_kappa.value == pytest.approx(cohen_kappa(pairs).value)
        assert found.gwet_ac1.value == pytest.approx(gwet_ac1(pairs.label_counts()).value)
        assert found.krippendorff_alpha.value == pytest.approx(krippendorff_alpha(pairs.label_counts()).value)

    def test_a_draw_by_verdict_speaks_of_all_items(self) -> None:
        chance = np.where(self.judge == 1, 0.3, 0.05)
        whole = design_weighted(SCALE, self.people, self.judge, SampleDesign(np.ones(4000), resamples=200))
        hits, gaps = 0, []
        for seed in range(20):
            drawn = np.random.default_rng(seed).random(4000) < chance
            design = SampleDesign(1 / chance[drawn], resamples=300)
            found = design_weighted(SCALE, self.people[drawn], self.judge[drawn], design)
            kappa, truth = found.cohen_kappa, whole.cohen_kappa.value
            assert kappa.low is not None and kappa.high is not None and truth is not None and kappa.value is not None
            hits += kappa.low <= truth <= kappa.high
            gaps.append(kappa.value - truth)
        assert hits >= 17
        assert abs(float(np.mean(gaps))) < 0.03
        drawn = np.random.default_rng(0).random(4000) < chance
        equal = SampleDesign(np.ones(int(drawn.sum())), resamples=200)
        naive = design_weighted(SCALE, self.people[drawn], self.judge[drawn], equal)
        assert naive.recall["fail"].value is not None and whole.recall["fail"].value is not None
        assert naive.recall["fail"].value - whole.recall["fail"].value > 0.1

    def test_a_weight_of_nothing(self) -> None:
        with pytest.raises(ValueError, match="not above 0"):
            SampleDesign(np.zeros(1))

    def test_undefined(self) -> None:
        found = design_weighted(SCALE, [0, 0], [0, 0], SampleDesign(np.array([1.0, 2.0])))
        assert found.raw_agreement.value == 1.0
        assert found.cohen_kappa.status == "undefined_single_category"
        assert found.recall["fail"].status == "label_not_used"
        assert design_weighted(SCALE, [-1], [0], SampleDesign(np.ones(1))).raw_agreement.status == "no_pairable_items"


class TestSlices:
    def test_one_bad_slice_among_many(self) -> None:
        rng = np.random.default_rng(4)
        people = rng.integers(0, 2, 2000)
        part = np.array([f"s{k}" for k in rng.integers(0, 12, 2000)])
        judge = np.where(rng.random(2000) < np.where(part == "s3", 0.65, 0.9), people, 1 - people)
        found = slice_tests(SCALE, people, judge, {"part": list(part)})
        assert len(found) == 12 * 3
        assert {(one.value, one.what) for one in found if one.differs} >= {("s3", "agreement")}
        assert {one.value for one in found if one.differs} == {"s3"}
        bad = next(one for one in found if one.differs and one.what == "agreement")
        assert bad.difference.high is not None and bad.difference.high < 0

    def test_small_slices_and_missing_values_are_left_out(self) -> None:
        people = np.array([0, 1] * 20)
        values = ["rare"] * 4 + ["common"] * 20 + [""] * 16
        assert slice_tests(SCALE, people, people, {"kind": values}) == []

    def test_newcombe(self) -> None:
        """Newcombe 1998, table II, method 10: 56/70 less 48/80, 9/10 less 3/10, 10/10 less 0/20."""
        assert newcombe(48, 80, 56, 70) == pytest.approx((0.0524, 0.3339), abs=5e-5)
        assert newcombe(3, 10, 9, 10) == pytest.approx((0.1705, 0.8090), abs=5e-5)
        assert newcombe(0, 20, 10, 10) == pytest.approx((0.6791, 1.0), abs=5e-5)
