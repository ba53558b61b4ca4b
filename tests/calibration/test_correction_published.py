"""Every published value of score correction that we compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correction_cases import PUBLISHED, RATE, published, rate, rate_block

from judges.calibration.agreement.binomial import clopper_pearson, mcnemar_exact, wilson
from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores, problem_of
from judges.calibration.correction.multiclass import invert_confusion, post_stratified_shares
from judges.calibration.correction.prediction_powered import (
    MeanEstimate,
    active_mean,
    hajek_mean,
    ppi_mean,
    smoothed_ppi_mean,
    stratified_ppi_mean,
)
from judges.calibration.correction.records import Block, Draw, Totals
from judges.calibration.correction.rogan_gladen import Errors, allocate_labels, lee_interval, rogan_gladen
from judges.calibration.correction.spread import plain_variance

EXACT = {"abs": 1e-9}
MEANS = ["binary_n200_N1000", "binary_small_n30_N300", "likert_n80_N400"]
BINARY = MEANS[:2]


def split(name: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    """People's and the judge's labelled values, the judge's others, and what is expected."""
    given, expected = published(name)
    labelled = given["labelled"]
    rest = np.setdiff1d(np.arange(len(given["f"])), labelled)
    y, f = given["y"].astype(float), given["f"].astype(float)
    return y[labelled], f[labelled], f[rest], expected


def check(found: MeanEstimate, expected: dict[str, Any], t: str = "", z: str = "ci95") -> None:
    assert found.value == pytest.approx(expected["point"], **EXACT)
    assert found.error == pytest.approx(expected["se"], **EXACT)
    if "lam" in expected:
        assert found.tuning == pytest.approx(expected["lam"], **EXACT)
    if z in expected:
        assert found.z_interval() == pytest.approx(expected[z], **EXACT)
    if t:
        assert found.t_interval() == pytest.approx(expected[t], **EXACT)


@pytest.mark.parametrize("name", MEANS)
class TestPredictionPoweredMean:
    def test_untuned(self, name: str) -> None:
        people, judge, rest, expected = split(name)
        check(ppi_mean(people, judge, rest, 1.0, "plug_in"), expected["ppi_lambda1_ddof0 (ppi_py)"])
        check(ppi_mean(people, judge, rest, 1.0), expected["ppi_lambda1_ddof1 (glide)"])

    def test_tuned(self, name: str) -> None:
        people, judge, rest, expected = split(name)
        plug_in = ppi_mean(people, judge, rest, convention="plug_in")
        check(plug_in, expected["ppi_pp_ppi_py_convention"])
        tuned = expected["ppi_pp_glide_convention"]
        check(ppi_mean(people, judge, rest), tuned, t="ci95_t_nminus1", z="ci95_z")
        package = expected["ppi_pp_ppi_py_convention"]["packages"]["ppi_py 0.2.3"]
        assert plug_in.z_interval() == pytest.approx(package["ci95"], abs=1e-6)

    def test_finite_regression_is_the_general_estimator_without_its_guard(self, name: str) -> None:
        given, expected = published(name)
        expected = expected["finite_benchmark_regression"]
        people, judge = given["y"].astype(float), given["f"].astype(float)
        block = rate_block(judge, people, Draw(given["labelled"], len(people)))
        problem = problem_of([block], rate)
        found = problem.tuned(["rate"], [True], [True])["rate"]
        plain = plain_variance(problem.blocks[0], found.gradient, float(found.tuning[0]))
        assert found.tuning[0] == pytest.approx(expected["beta"], **EXACT)
        assert found.value == pytest.approx(expected["point"], **EXACT)
        assert plain.variance**0.5 == pytest.approx(expected["se"], **EXACT)
        assert plain.df == pytest.approx(len(given["labelled"]) - 2)
        interval = MeanEstimate(found.value, plain.variance**0.5, found.tuning[0], plain.df).t_interval()
        assert interval == pytest.approx(expected["ci95_t"], **EXACT)


@pytest.mark.parametrize("name", BINARY)
class TestYesNo:
    def test_smoothed(self, name: str) -> None:
        people, judge, rest, expected = split(name)
        found = smoothed_ppi_mean(people, judge, rest)
        check(found, expected["ppi_pp_t_smoothed (this project; +0.5 per cell)"], t="ci95", z="")

    def test_rogan_gladen(self, name: str) -> None:
        people, judge, rest, expected = split(name)
        expected = expected["rogan_gladen"]
        yes, said = people == 1, judge == 1
        errors = Errors(int((yes & said).sum()), int(yes.sum()), int((~yes & ~said).sum()), int((~yes).sum()))
        table = [int((yes & said).sum()), int((yes & ~said).sum()), int((~yes & said).sum()), int((~yes & ~said).sum())]
        assert table == expected["labelled_table_y1f1_y1f0_y0f1_y0f0"]
        found = rogan_gladen(float(rest.mean()), len(rest), errors)
        assert found.raw == pytest.approx(expected["theta_raw"], **EXACT)
        assert found.value == pytest.approx(expected["theta_clipped"], **EXACT)
        assert found.error == pytest.approx(expected["se_delta"], **EXACT)
        assert [found.low, found.high] == pytest.approx(expected["ci95_delta"], **EXACT)
        lee = lee_interval(float(rest.mean()), len(rest), errors)
        assert [lee.low, lee.high] == pytest.approx(expected["lee2025_ci95"], **EXACT)
        assert lee.error == pytest.approx(expected["lee2025_se"], **EXACT)
        assert lee.shift == pytest.approx(expected["lee2025_bias_shift"], **EXACT)
        assert lee.value == pytest.approx(expected["lee2025_point"], **EXACT)

    def test_post_stratified(self, name: str) -> None:
        people, judge, rest, expected = split(name)
        table = [[float(((people == i) & (judge == j)).sum()) for j in (0, 1)] for i in (0, 1)]
        shares = post_stratified_shares(table, [1 - rest.mean(), rest.mean()])
        assert shares[1] == pytest.approx(expected["eif_poststratified"]["point"], **EXACT)
        assert shares.sum() == pytest.approx(1)

    def test_people_alone(self, name: str) -> None:
        people, _, _, expected = split(name)
        assert float(people.mean()) == pytest.approx(expected["human_only_mean"], **EXACT)
        found = wilson(int(people.sum()), len(people))
        assert found == pytest.approx(expected["human_only_wilson_ci95"], **EXACT)


def test_population_interval_of_people_alone_is_wilson() -> None:
    given, expected = published("binary_n200_N1000")
    block = rate_block(given["f"].astype(float), given["y"].astype(float), Draw(given["labelled"], 1000))
    alone = corrected_scores([block], rate, CorrectionSettings("population", shares=RATE))["rate"].humans_only
    assert [alone.low, alone.high] == pytest.approx(expected["human_only_wilson_ci95"], **EXACT)


@pytest.mark.parametrize("row", PUBLISHED["lee_grid"], ids=lambda row: f"p{row['p']}-m{row['m0']}-{row['m1']}")
def test_lee_grid(row: dict[str, Any]) -> None:
    errors = Errors(row["q1_sensitivity"] * row["m1"], row["m1"], row["q0_specificity"] * row["m0"], row["m0"])
    for key, level in (("ci95", 0.95), ("ci90", 0.9)):
        found = lee_interval(row["p"], row["n"], errors, level)
        assert [found.low, found.high] == pytest.approx(row[key], **EXACT)
        assert found.raw == pytest.approx(row["point_raw"], **EXACT)
        assert found.value == pytest.approx(row["point_clipped"], **EXACT)


@pytest.mark.parametrize("row", PUBLISHED["lee_allocation"], ids=lambda row: f"m{row['m']}-p{row['p']}")
def test_lee_allocation(row: dict[str, Any]) -> None:
    pilot = row["m_pilot"]
    errors = Errors(row["q1_pilot"] * pilot, pilot, row["q0_pilot"] * pilot, pilot)
    found = allocate_labels(row["m"], row["p"], errors)
    assert [found.negatives, found.positives] == row["m0_m1"]


class TestUnequalProbabilities:
    given, expected = published("active_N300")

    def active(self, tuning: float | None) -> MeanEstimate:
        given = self.given
        return active_mean(given["y"][given["labelled"]], given["f"], given["labelled"], given["pi"], tuning)

    def test_active_inference(self) -> None:
        check(self.active(None), self.expected["asi_power_tuned"])
        check(self.active(1.0), self.expected["asi_lambda1"])
        check(self.active(0.0), self.expected["horvitz_thompson"])

    def test_hajek(self) -> None:
        given = self.given
        found = hajek_mean(given["y"][given["labelled"]], given["pi"][given["labelled"]], 300)
        check(found, self.expected["hajek"])

    def test_the_general_estimator_without_a_judge_is_hajek(self) -> None:
        given = self.given
        draw = Draw(given["labelled"], 300, "unequal", probabilities=given["pi"])
        found = problem_of([rate_block(given["f"], given["y"], draw)], rate).humans_only(["rate"])["rate"]
        assert found.value == pytest.approx(self.expected["hajek"]["point"], **EXACT)


class TestStratified:
    given, expected = published("stratified_N360")

    def stratified(self, tuning: float | None) -> MeanEstimate:
        given = self.given
        y, f = given["y"].astype(float), given["f"].astype(float)
        return stratified_ppi_mean(y[given["labelled"]], f, given["labelled"], given["stratum"], tuning)

    @pytest.mark.parametrize(
        ("key", "tuning"), [("ppi_pp_per_stratum", None), ("ppi_lambda1", 1.0), ("classical", 0.0)]
    )
    def test_means(self, key: str, tuning: float | None) -> None:
        expected = {name: value for name, value in self.expected[key].items() if name != "lams"}
        check(self.stratified(tuning), expected)
        assert self.stratified(tuning).tuning == pytest.approx(np.mean(self.expected[key]["lams"]), **EXACT)

    def test_the_general_estimator_without_a_judge_weights_by_population_shares(self) -> None:
        given = self.given
        draw = Draw(given["labelled"], 360, strata=given["stratum"])
        block = rate_block(given["f"].astype(float), given["y"].astype(float), draw)
        found = problem_of([block], rate).humans_only(["rate"])["rate"]
        assert found.value == pytest.approx(self.expected["classical"]["point"], **EXACT)


class TestPaired:
    given, expected = published("paired_N500")

    def test_differences(self) -> None:
        given, expected = self.given, self.expected
        labelled = given["labelled"]
        rest = np.setdiff1d(np.arange(500), labelled)
        people, judge = (given["yA"] - given["yB"]).astype(float), (given["fA"] - given["fB"]).astype(float)
        tuned = ppi_mean(people[labelled], judge[labelled], judge[rest])
        check(tuned, expected["paired_ppi_pp (glide convention)"])
        p = expected["paired_ppi_pp (glide convention)"]["p_two_sided"]
        assert tuned.p_value() == pytest.approx(p, **EXACT)
        for key, tuning in (("ppi_lam1", 1.0), ("classical_lam0", 0.0), ("ppi_pp", None)):
            package = expected["ppi_py"][f"ppi_py_diff_{key}"]
            found = ppi_mean(people[labelled], judge[labelled], judge[rest], tuning, "plug_in")
            assert found.value == pytest.approx(package["point"], abs=1e-6)
            assert found.p_value() == pytest.approx(package["p"], abs=1e-6)
        assert float(people[labelled].mean()) == pytest.approx(expected["human_only_difference"])

    @pytest.mark.parametrize("system", ["A", "B"])
    def test_either_system(self, system: str) -> None:
        given = self.given
        rest = np.setdiff1d(np.arange(500), given["labelled"])
        people, judge = given[f"y{system}"].astype(float), given[f"f{system}"].astype(float)
        found = ppi_mean(people[given["labelled"]], judge[given["labelled"]], judge[rest], convention="plug_in")
        package = self.expected["ppi_py"][f"ppi_py_single_{system}"]
        assert found.value == pytest.approx(package["point"], abs=1e-6)
        assert found.z_interval() == pytest.approx(package["ci95"], abs=1e-6)

    def test_mcnemar(self) -> None:
        expected = self.expected["mcnemar_exact_labelled"]
        assert mcnemar_exact(expected["b"], expected["c"]) == pytest.approx(expected["p"], **EXACT)


class TestThreeLabels:
    given, expected = published("three_class_N600")

    def tables(self) -> tuple[Any, Any]:
        y, f, labelled = self.given["y"], self.given["f"], self.given["labelled"]
        rest = np.setdiff1d(np.arange(600), labelled)
        confusion = np.bincount(y[labelled] * 3 + f[labelled], minlength=9).reshape(3, 3)
        return confusion, np.bincount(f[rest], minlength=3) / len(rest)

    def test_inversion(self) -> None:
        confusion, shares = self.tables()
        assert confusion.tolist() == self.expected["confusion_human_rows_judge_cols"]
        found = invert_confusion(confusion, shares, 450)
        assert found.raw == pytest.approx(self.expected["matrix_inversion"], **EXACT)
        assert found.covariance == pytest.approx(np.array(self.expected["matrix_inversion_cov"]), **EXACT)
        assert np.sqrt(np.diag(found.covariance)) == pytest.approx(self.expected["matrix_inversion_se_delta"], **EXACT)
        assert found.condition == pytest.approx(self.expected["condition_number"], **EXACT)
        assert found.inside
        # The published least squares came from an iterative solver; inside the simplex the optimum is the inversion.
        assert found.shares == pytest.approx(self.expected["em_mixture"], **EXACT)
        assert found.shares == pytest.approx(self.expected["simplex_least_squares"], abs=1e-7)

    def test_post_stratified(self) -> None:
        found = post_stratified_shares(*self.tables())
        assert found == pytest.approx(self.expected["post_stratified_eif"], **EXACT)

    def test_each_label_alone(self) -> None:
        y, f, labelled = self.given["y"], self.given["f"], self.given["labelled"]
        rest = np.setdiff1d(np.arange(600), labelled)
        total = 0.0
        for label in range(3):
            people, judge = (y == label).astype(float), (f == label).astype(float)
            found = ppi_mean(people[labelled], judge[labelled], judge[rest])
            check(found, self.expected["ppi_pp_per_class"][str(label)])
            total += found.value
        assert total == pytest.approx(self.expected["sum_ppi_pp"], **EXACT)

    def test_a_family_sums_to_one_where_labels_alone_do_not(self) -> None:
        y, f, labelled = self.given["y"], self.given["f"], self.given["labelled"]
        terms = ("0", "1", "2", "items")
        judge = np.column_stack([np.eye(3)[f], np.ones(600)])
        people = np.column_stack([np.eye(3)[y[labelled]], np.ones(150)])
        block = Block("qa", terms, judge, people, Draw(labelled, 600), fixed=frozenset({"items"}))

        def shares(totals: Totals) -> dict[str, float | None]:
            return {label: totals[label] / totals["items"] for label in "012"}

        together = corrected_scores([block], shares, CorrectionSettings(families=[["0", "1", "2"]]))
        assert [together[label].used for label in "012"] == ["corrected"] * 3
        assert sum(together[label].statistic.value or 0 for label in "012") == pytest.approx(1, abs=1e-12)
        apart = corrected_scores([block], shares)
        assert abs(sum(apart[label].statistic.value or 0 for label in "012") - 1) > 1e-5


def test_ill_conditioned_inversion_leaves_the_shares_and_is_put_back() -> None:
    case = PUBLISHED["cases"]["three_class_ill_conditioned"]
    rows = np.array(case["input"]["confusion_rows"]) * 100
    found = invert_confusion(rows, case["input"]["judge_distribution"], 1000)
    assert found.raw == pytest.approx(case["expected"]["matrix_inversion"], **EXACT)
    assert found.condition == pytest.approx(case["expected"]["condition_number"], **EXACT)
    assert not found.inside
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    grid = [np.array([a, b, 1 - a - b]) for a in np.linspace(0, 1, 101) for b in np.linspace(0, 1 - a, 101)]
    fit = (rows / 100).T
    target = np.array(case["input"]["judge_distribution"])
    best = min(float(((fit @ p - target) ** 2).sum()) for p in grid)
    assert float(((fit @ found.shares - target) ** 2).sum()) <= best + 1e-12


@pytest.mark.parametrize("row", PUBLISHED["selective"]["clopper_pearson_upper"])
def test_exact_upper_bounds(row: dict[str, Any]) -> None:
    high = clopper_pearson(row["errors"], row["n"], 1 - 2 * row["delta"]).high
    assert high == pytest.approx(row["ucb"], **EXACT)
