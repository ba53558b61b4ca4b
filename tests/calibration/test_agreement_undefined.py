"""What is said when there is no number: a status and a reason, never nan, 0 or 1."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.brennan_prediger import brennan_prediger
from judges.calibration.agreement.class_agreement import positive_agreement
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.fleiss_kappa import fleiss_kappa
from judges.calibration.agreement.gwet import gwet_ac1, gwet_ac2
from judges.calibration.agreement.krippendorff_alpha import krippendorff_alpha
from judges.calibration.agreement.matthews import matthews_correlation
from judges.calibration.agreement.per_label import precision, recall
from judges.calibration.agreement.ratings import LabelCounts, PairTable
from judges.calibration.agreement.raw import mean_agreement, raw_agreement
from judges.calibration.agreement.scale import Scale
from judges.calibration.agreement.scott_pi import scott_pi
from judges.calibration.agreement.weighted_kappa import weighted_kappa
from judges.calibration.statistic import Statistic

PASS_FAIL = Scale(("pass", "fail"), "ordinal")
CORRECTED: dict[str, Callable[[PairTable], Statistic]] = {
    "kappa": cohen_kappa,
    "weighted": weighted_kappa,
    "pi": scott_pi,
    "mcc": matthews_correlation,
    "alpha": lambda pairs: krippendorff_alpha(pairs.label_counts()),
    "ac1": lambda pairs: gwet_ac1(pairs.label_counts()),
    "ac2": lambda pairs: gwet_ac2(pairs.label_counts()),
    "pabak": lambda pairs: brennan_prediger(pairs.label_counts()),
    "fleiss": lambda pairs: fleiss_kappa(pairs.label_counts()),
}


def pairs_of(rows: Sequence[str | None], columns: Sequence[str | None]) -> PairTable:
    return PairTable.of_labels(PASS_FAIL, rows, columns)


@pytest.fixture(autouse=True)
def no_warnings() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", CORRECTED)
def test_unanimous_labels_leave_it_undefined(name: str) -> None:
    """Everyone says pass: packages give nan, 0, 1 or an exception here."""
    pairs = pairs_of(["pass"] * 6, ["pass"] * 6)
    found = CORRECTED[name](pairs)
    assert (found.value, found.status, found.n) == (None, "undefined_single_category", 6)
    assert "all 6 items were given pass" in found.why
    raw = raw_agreement(pairs)
    assert (raw.value, raw.n) == (1.0, 6)
    assert raw.low == pytest.approx(0.6096657)


@pytest.mark.parametrize("name", CORRECTED)
def test_no_common_item(name: str) -> None:
    found = CORRECTED[name](pairs_of(["pass", None, "fail"], [None, "pass", None]))
    assert (found.value, found.status, found.n) == (None, "no_pairable_items", 0)
    assert found.dropped == {"not_paired": 3}


@pytest.mark.parametrize("name", CORRECTED)
def test_a_single_item_is_too_few(name: str) -> None:
    for judge in ("pass", "fail"):
        found = CORRECTED[name](pairs_of(["pass"], [judge]))
        assert (found.value, found.status, found.n) == (None, "too_few", 1)


@pytest.mark.parametrize("name", ["kappa", "weighted", "mcc"])
def test_a_judge_that_never_varies(name: str) -> None:
    found = CORRECTED[name](pairs_of(["pass"] * 9 + ["fail"], ["pass"] * 10))
    assert (found.value, found.status) == (None, "constant_rater")
    assert "the judge gave pass to all 10 items" in found.why


def test_people_who_never_vary_are_named() -> None:
    found = cohen_kappa(pairs_of(["pass"] * 10, ["pass"] * 9 + ["fail"]))
    assert found.why.startswith("people gave pass to all 10 items")


def test_a_constant_rater_leaves_the_others_defined() -> None:
    pairs = pairs_of(["pass"] * 9 + ["fail"], ["pass"] * 10)
    assert krippendorff_alpha(pairs.label_counts()).value == pytest.approx(0.0)
    assert gwet_ac1(pairs.label_counts()).value == pytest.approx(0.889502762430939)
    assert scott_pi(pairs).value == pytest.approx(-0.0526315789473673)


def test_missing_ratings_are_left_out_and_counted() -> None:
    found = cohen_kappa(pairs_of(["pass", "fail", None, "pass", "fail"], ["pass", "fail", "pass", None, "pass"]))
    assert (found.n, found.dropped) == (3, {"not_paired": 2})
    assert found.value == pytest.approx(0.4)


def test_empty_data() -> None:
    pairs = pairs_of([], [])
    assert raw_agreement(pairs).status == "no_pairable_items"
    assert mean_agreement(pairs.label_counts()).status == "no_pairable_items"
    assert {name: coefficient(pairs).status for name, coefficient in CORRECTED.items()} == dict.fromkeys(
        CORRECTED, "no_pairable_items"
    )
    assert cohen_kappa(pairs, Bootstrap.of_pairs(pairs)).value is None


def test_a_label_nobody_used_has_no_recall_and_no_precision() -> None:
    pairs = PairTable.of_labels(Scale(("pass", "fail", "omission")), ["pass", "fail"], ["pass", "omission"])
    assert recall(pairs, "omission").status == "label_not_used"
    assert recall(pairs, "omission").why == "people gave omission to no item"
    assert precision(pairs, "fail").why == "the judge gave fail to no item"
    assert recall(pairs, "fail").value == 0.0
    assert positive_agreement(pairs, "pass").value == 1.0


def test_recall_zero_is_a_value() -> None:
    found = recall(pairs_of(["fail"] * 4, ["pass"] * 4), "fail")
    assert (found.value, found.low, found.n, found.status) == (0.0, 0.0, 4, "ok")
    assert found.high == pytest.approx(0.6023646)


class TestUnequalRaters:
    """statsmodels asserts here, and pooling the counts of all items overstates agreement."""

    ratings: ClassVar[list[list[str | None]]] = [
        ["pass", "pass", None, None],
        ["pass", "fail", None, None],
        ["fail", "pass", None, None],
        ["fail", "fail", "fail", "fail"],
    ]

    def test_each_item_counts_once(self) -> None:
        counts = LabelCounts.of_ratings(PASS_FAIL, self.ratings)
        assert mean_agreement(counts).value == pytest.approx(2 / 4)
        shares = (1 + 0.5 + 0.5 + 0) / 4
        chance = shares**2 + (1 - shares) ** 2
        assert fleiss_kappa(counts).value == pytest.approx((0.5 - chance) / (1 - chance))

    def test_items_rated_once_are_said(self) -> None:
        counts = LabelCounts.of_ratings(PASS_FAIL, [*self.ratings, ["pass", None, None, None], [None] * 4])
        found = krippendorff_alpha(counts)
        assert found.n == 4
        assert found.dropped == {"not_rated": 1, "rated_once": 1}
        assert found.value == krippendorff_alpha(LabelCounts.of_ratings(PASS_FAIL, self.ratings)).value


def test_three_raters_agreement_by_hand() -> None:
    """Three who all differ agree 0, three alike 1, two of three 1/3."""
    scale = Scale(("a", "b", "c"))
    for row, share in ((["a", "b", "c"], 0.0), (["a", "a", "a"], 1.0), (["a", "a", "b"], 1 / 3)):
        assert mean_agreement(LabelCounts.of_ratings(scale, [row])).value == pytest.approx(share)


def test_several_documents_that_differ_everywhere_have_no_agreement() -> None:
    counts = LabelCounts.of_ratings(PASS_FAIL, [["pass", "fail"], ["fail", "pass"]] * 5)
    assert mean_agreement(counts).value == 0.0
    assert krippendorff_alpha(counts).value == pytest.approx(1 - 1 * 19 * 20 / (10 * 10 * 2))


@given(
    st.lists(st.tuples(st.sampled_from(["pass", "fail", None]), st.sampled_from(["pass", "fail", None])), max_size=30)
)
def test_never_nan_and_never_silent(rows: list[tuple[str | None, str | None]]) -> None:
    pairs = pairs_of([row[0] for row in rows], [row[1] for row in rows])
    for coefficient in (*CORRECTED.values(), raw_agreement):
        found = coefficient(pairs)
        assert (found.value is None) == (found.status != "ok")
        assert found.value is not None or found.why
        assert found.n + found.dropped.get("not_paired", 0) == len(rows)


def test_ordered_coefficients_refuse_a_nominal_scale() -> None:
    pairs = PairTable.of_labels(Scale(("a", "b")), ["a", "b"], ["a", "a"])
    with pytest.raises(ValueError, match="ordered"):
        weighted_kappa(pairs)
    with pytest.raises(ValueError, match="ordered"):
        gwet_ac2(pairs.label_counts())
    with pytest.raises(ValueError, match="numbers"):
        krippendorff_alpha(pairs.label_counts(), level="interval")
