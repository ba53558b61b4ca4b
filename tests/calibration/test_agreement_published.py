"""Every coefficient on published tables, against values that at least two independent programs agree on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from judges.calibration.agreement.brennan_prediger import brennan_prediger
from judges.calibration.agreement.class_agreement import negative_agreement, positive_agreement
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.fleiss_kappa import fleiss_kappa
from judges.calibration.agreement.gwet import gwet_ac1, gwet_ac2
from judges.calibration.agreement.krippendorff_alpha import alpha_values, krippendorff_alpha
from judges.calibration.agreement.prevalence import bias_index, prevalence_index
from judges.calibration.agreement.ratings import LabelCounts, PairTable
from judges.calibration.agreement.raw import raw_agreement
from judges.calibration.agreement.scale import Level, Scale, WeightKind
from judges.calibration.agreement.scott_pi import scott_pi
from judges.calibration.agreement.weighted_kappa import weighted_kappa

PUBLISHED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "agreement_published.json").read_text(encoding="utf-8")
)
CASES = [
    pytest.param(data, name, id=f"{data['name']}-{name}".replace(" ", "-"))
    for data in PUBLISHED
    for name in data["expected"]
    if not name.endswith("custom")
]


def scale_of(data: dict[str, Any], level: Level = "nominal") -> Scale:
    return Scale(tuple(data["labels"]), level)


def pairs_of(data: dict[str, Any], level: Level = "nominal") -> PairTable:
    if "table" in data:
        return PairTable.of_confusion(scale_of(data, level), data["table"])
    first, second = zip(*data["ratings"], strict=True)
    return PairTable.of_labels(scale_of(data, level), first, second)


def counts_of(data: dict[str, Any], level: Level = "nominal") -> LabelCounts:
    if "table" in data:
        return pairs_of(data, level).label_counts()
    return LabelCounts.of_ratings(scale_of(data, level), data["ratings"])


def computed(data: dict[str, Any], name: str) -> float | None:
    coefficient, kind = name.split()
    weights = cast(WeightKind, kind)
    match coefficient:
        case "cohen_kappa" if kind == "identity":
            return cohen_kappa(pairs_of(data)).value
        case "cohen_kappa":
            return weighted_kappa(pairs_of(data, "ordinal"), cast(Any, kind)).value
        case "krippendorff_alpha":
            level = cast(Level, kind)
            return krippendorff_alpha(counts_of(data, level)).value
        case "gwet_ac1":
            return gwet_ac1(counts_of(data)).value
        case "gwet_ac2":
            return gwet_ac2(counts_of(data, "interval"), weights).value
        case "fleiss_kappa":
            return fleiss_kappa(counts_of(data)).value
        case "scott_pi":
            return scott_pi(pairs_of(data)).value
        case "brennan_prediger":
            return brennan_prediger(counts_of(data, "interval"), weights).value
    raise AssertionError(name)


@pytest.mark.parametrize(("data", "name"), CASES)
def test_equals_the_published_value(data: dict[str, Any], name: str) -> None:
    assert computed(data, name) == pytest.approx(data["expected"][name], abs=1e-12)


@pytest.mark.parametrize("data", PUBLISHED, ids=lambda data: data["name"])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_from_counts_equals_the_library(data: dict[str, Any], level: Level) -> None:
    ratings = counts_of(data, level)
    by_counts = float(alpha_values(ratings, ratings.counts.astype(float), level))
    assert by_counts == pytest.approx(krippendorff_alpha(ratings).value, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "coefficient", "value"),
    [
        ("krippendorff_4x12", "krippendorff_alpha nominal", 0.743421052632),
        ("krippendorff_4x12", "krippendorff_alpha ordinal", 0.815387503755),
        ("krippendorff_4x12", "krippendorff_alpha interval", 0.849107142857),
        ("krippendorff_4x12", "krippendorff_alpha ratio", 0.797402774712),
        ("krippendorff_4x12", "gwet_ac1 identity", 0.775444068127),
        ("fleiss_1971_diagnoses_30x6", "fleiss_kappa identity", 0.430244520060),
        ("fleiss_1971_diagnoses_30x6", "krippendorff_alpha nominal", 0.433409828282),
        ("sas_3x3", "cohen_kappa identity", 0.484162895928),
        ("gwet_2008_paradox", "gwet_ac1 identity", 0.9407763376),
    ],
)
def test_anchor_numbers(name: str, coefficient: str, value: float) -> None:
    data = next(data for data in PUBLISHED if data["name"] == name)
    assert computed(data, coefficient) == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("data", [data for data in PUBLISHED if "binary" in data], ids=lambda data: data["name"])
def test_two_label_summary(data: dict[str, Any]) -> None:
    pairs, expected = pairs_of(data), data["binary"]
    first = pairs.scale.labels[0]
    assert pairs.n == expected["n"]
    assert raw_agreement(pairs).value == pytest.approx(expected["po"])
    assert brennan_prediger(pairs.label_counts()).value == pytest.approx(expected["pabak"])
    assert prevalence_index(pairs).value == pytest.approx(expected["prevalence_index"])
    assert bias_index(pairs).value == pytest.approx(expected["bias_index"])
    assert positive_agreement(pairs, first).value == pytest.approx(expected["positive_agreement"])
    assert negative_agreement(pairs, first).value == pytest.approx(expected["negative_agreement"])


class TestDeclaredLabelSet:
    """Raters 2 and 3 of irr::anxiety never use label 5 of 1 to 6; dropping it changes the numbers."""

    ratings = next(data for data in PUBLISHED if data["name"] == "irr_anxiety_20x3")["ratings"]
    declared = ("1", "2", "3", "4", "5", "6")
    observed = ("1", "2", "3", "4", "6")

    def pairs(self, labels: tuple[str, ...]) -> PairTable:
        return PairTable.of_labels(
            Scale(labels, "ordinal"), [row[1] for row in self.ratings], [row[2] for row in self.ratings]
        )

    def test_weighted_kappa_uses_the_declared_ranks(self) -> None:
        assert weighted_kappa(self.pairs(self.declared), "linear").value == pytest.approx(0.126213592233, abs=1e-12)
        assert weighted_kappa(self.pairs(self.declared), "quadratic").value == pytest.approx(0.229797979798, abs=1e-12)

    def test_leaving_the_unused_label_out_would_give_other_numbers(self) -> None:
        assert weighted_kappa(self.pairs(self.observed), "linear").value == pytest.approx(0.14590747331, abs=1e-11)
        assert gwet_ac1(self.pairs(self.observed).label_counts()).value == pytest.approx(0.0112012359985, abs=1e-12)

    def test_ac1_and_brennan_prediger_count_the_declared_labels(self) -> None:
        counts = self.pairs(self.declared).label_counts()
        assert gwet_ac1(counts).value == pytest.approx(0.0557686633225, abs=1e-12)
        assert brennan_prediger(counts).value == pytest.approx(0.04, abs=1e-12)

    def test_plain_kappa_does_not_depend_on_it(self) -> None:
        for labels in (self.declared, self.observed):
            assert cohen_kappa(self.pairs(labels)).value == pytest.approx(-0.0062893081761, abs=1e-12)


def test_weights_of_no_known_kind_are_refused() -> None:
    """irrCAC's radical weights are not among ours; they were once taken for quadratic ones."""
    with pytest.raises(ValueError, match="radical"):
        gwet_ac2(counts_of(PUBLISHED[0], "interval"), cast(WeightKind, "radical"))


def test_interval_labels_weigh_by_their_numbers() -> None:
    """Labels 0, 1 and 10: confusing 0 with 1 costs almost nothing, with 10 everything."""
    scale = Scale(("0", "1", "10"), "interval")
    near = PairTable.of_confusion(scale, [[20, 5, 0], [5, 20, 0], [0, 0, 20]])
    far = PairTable.of_confusion(scale, [[20, 0, 5], [0, 20, 0], [5, 0, 20]])
    by_hand = 1 - (10 * 0.1) / (
        (25 * 25 * 2 * 0.1 + 25 * 20 * 2 * 1.0 + 25 * 20 * 2 * 0.9)
        / 70  # rows x columns x distance over the range of 10
    )
    assert weighted_kappa(near, "linear").value == pytest.approx(by_hand)
    assert cast(float, weighted_kappa(near, "linear").value) > 0.9 > cast(float, weighted_kappa(far, "linear").value)
