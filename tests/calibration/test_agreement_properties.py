"""What agreement coefficients must do whatever the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.brennan_prediger import brennan_prediger
from judges.calibration.agreement.class_agreement import negative_agreement, positive_agreement
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.confusion import confusion_counts
from judges.calibration.agreement.fleiss_kappa import fleiss_kappa
from judges.calibration.agreement.gwet import gwet_ac1, gwet_ac2
from judges.calibration.agreement.krippendorff_alpha import krippendorff_alpha
from judges.calibration.agreement.matthews import matthews_correlation
from judges.calibration.agreement.per_label import f1, precision, recall
from judges.calibration.agreement.ratings import LabelCounts, PairTable, distinct_rows
from judges.calibration.agreement.raw import mean_agreement, raw_agreement
from judges.calibration.agreement.scale import Level, Scale
from judges.calibration.agreement.scott_pi import scott_pi
from judges.calibration.agreement.weighted_kappa import weighted_kappa
from judges.calibration.statistic import Statistic

LABELS = ("a", "b", "c")
PAIR_COEFFICIENTS: list[Callable[[PairTable], Statistic]] = [
    raw_agreement,
    cohen_kappa,
    scott_pi,
    matthews_correlation,
    lambda pairs: weighted_kappa(pairs, "linear"),
    lambda pairs: weighted_kappa(pairs, "quadratic"),
    lambda pairs: krippendorff_alpha(pairs.label_counts()),
    lambda pairs: gwet_ac1(pairs.label_counts()),
    lambda pairs: gwet_ac2(pairs.label_counts()),
    lambda pairs: brennan_prediger(pairs.label_counts()),
]
COUNT_COEFFICIENTS: list[Callable[[LabelCounts], Statistic]] = [
    mean_agreement,
    fleiss_kappa,
    krippendorff_alpha,
    gwet_ac1,
    brennan_prediger,
]

label = st.sampled_from(LABELS)
pair_lists = st.lists(st.tuples(label, label), min_size=2, max_size=60)
rating_lists = st.lists(st.lists(st.none() | label, min_size=3, max_size=3), min_size=2, max_size=40)


def pairs_of(rows: Sequence[tuple[str, str]], level: Level = "ordinal", labels: Sequence[str] = LABELS) -> PairTable:
    return PairTable.of_labels(Scale(tuple(labels), level), [row[0] for row in rows], [row[1] for row in rows])


def same(first: Statistic, second: Statistic) -> None:
    assert first.status == second.status
    assert first.n == second.n
    assert first.value == pytest.approx(second.value, abs=1e-12)


@given(pair_lists, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(rows: list[tuple[str, str]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for coefficient in PAIR_COEFFICIENTS:
        same(coefficient(pairs_of(rows)), coefficient(pairs_of(shuffled)))


@given(pair_lists)
def test_the_names_of_labels_do_not_matter(rows: list[tuple[str, str]]) -> None:
    names = {"a": "überhaupt", "b": "0", "c": "否"}
    renamed = [(names[first], names[second]) for first, second in rows]
    for coefficient in PAIR_COEFFICIENTS:
        same(coefficient(pairs_of(rows)), coefficient(pairs_of(renamed, labels=[names[each] for each in LABELS])))


@given(pair_lists)
def test_swapping_the_raters_does_not_matter(rows: list[tuple[str, str]]) -> None:
    swapped = [(second, first) for first, second in rows]
    for coefficient in PAIR_COEFFICIENTS:
        same(coefficient(pairs_of(rows)), coefficient(pairs_of(swapped)))
    for each in LABELS:
        assert recall(pairs_of(rows), each).value == precision(pairs_of(swapped), each).value
        same(positive_agreement(pairs_of(rows), each), positive_agreement(pairs_of(swapped), each))


@given(pair_lists)
def test_declaring_the_labels_in_reverse_does_not_matter_on_an_ordinal_scale(rows: list[tuple[str, str]]) -> None:
    for coefficient in PAIR_COEFFICIENTS:
        same(coefficient(pairs_of(rows)), coefficient(pairs_of(rows, labels=LABELS[::-1])))


@given(st.lists(label, min_size=2, max_size=50))
def test_perfect_agreement_is_one_or_undefined(labels: list[str]) -> None:
    pairs = pairs_of([(each, each) for each in labels])
    for coefficient in PAIR_COEFFICIENTS[1:]:
        found = coefficient(pairs)
        if len(set(labels)) == 1:
            assert (found.value, found.status) == (None, "undefined_single_category")
        else:
            assert found.value == pytest.approx(1.0)
    assert raw_agreement(pairs).value == 1.0


@given(rating_lists, st.permutations([0, 1, 2]))
def test_which_rater_gave_a_label_does_not_matter(ratings: list[list[str | None]], order: list[int]) -> None:
    scale = Scale(LABELS)
    moved = [[row[place] for place in order] for row in ratings]
    for coefficient in COUNT_COEFFICIENTS:
        same(
            coefficient(LabelCounts.of_ratings(scale, ratings)), coefficient(LabelCounts.of_ratings(scale, moved[::-1]))
        )


@pytest.mark.slow
@given(pair_lists)
def test_values_equal_scikit_learn(rows: list[tuple[str, str]]) -> None:
    from sklearn.metrics import cohen_kappa_score, f1_score, matthews_corrcoef, precision_score, recall_score

    first, second = [row[0] for row in rows], [row[1] for row in rows]
    pairs = pairs_of(rows)
    if cohen_kappa(pairs).value is not None:
        assert cohen_kappa(pairs).value == pytest.approx(cohen_kappa_score(first, second, labels=LABELS), abs=1e-12)
        assert matthews_correlation(pairs).value == pytest.approx(matthews_corrcoef(first, second), abs=1e-12)
        for kind in ("linear", "quadratic"):
            expected = cohen_kappa_score(first, second, labels=LABELS, weights=kind)
            assert weighted_kappa(pairs, kind).value == pytest.approx(expected, abs=1e-12)
    scores = {recall: recall_score, precision: precision_score, f1: f1_score}
    for ours, theirs in scores.items():
        expected = theirs(first, second, labels=LABELS, average=None, zero_division=np.nan)
        for place, each in enumerate(LABELS):
            value = ours(pairs, each).value  # type: ignore[operator]
            assert np.isnan(expected[place]) if value is None else value == pytest.approx(expected[place])


@given(pair_lists)
def test_confusion_counts_hold_every_declared_label_and_every_item(rows: list[tuple[str, str]]) -> None:
    table = confusion_counts(pairs_of(rows, labels=(*LABELS, "unused")))
    assert set(table) == {*LABELS, "unused"}
    assert all(set(row) == set(table) for row in table.values())
    for first in LABELS:
        for second in LABELS:
            assert table[first][second] == rows.count((first, second))


@given(pair_lists)
def test_agreement_on_a_label_is_that_on_the_absence_of_the_other(rows: list[tuple[str, str]]) -> None:
    two = [(first.replace("c", "b"), second.replace("c", "b")) for first, second in rows]
    pairs = pairs_of(two, labels=("a", "b"))
    assert positive_agreement(pairs, "a").value == negative_agreement(pairs, "b").value
    assert positive_agreement(pairs, "b").value == negative_agreement(pairs, "a").value


@given(st.lists(st.lists(st.integers(-3, 5), min_size=3, max_size=3), max_size=60))
def test_distinct_rows_equal_numpy_unique(rows: list[list[int]]) -> None:
    matrix = np.array(rows, dtype=np.int64).reshape(-1, 3)
    found = distinct_rows(matrix)
    expected, inverse, counts = np.unique(matrix, axis=0, return_inverse=True, return_counts=True)
    assert np.array_equal(found.rows, expected)
    assert np.array_equal(found.inverse, inverse.reshape(-1))
    assert np.array_equal(found.counts, counts)


def test_distinct_rows_of_many_wide_columns() -> None:
    """The folded key would need 100 x 10 bits: it is compacted on the way."""
    matrix = np.random.default_rng(3).integers(0, 1000, size=(50, 100))
    matrix = np.vstack([matrix, matrix[::-1]])
    found = distinct_rows(matrix)
    assert np.array_equal(found.rows, np.unique(matrix, axis=0))
    assert np.array_equal(found.rows[found.inverse], matrix)


@given(pair_lists, st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_an_interval_does_not_depend_on_the_order_of_items(rows: list[tuple[str, str]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assume(len(set(rows)) > 2)
    intervals = []
    for each in (rows, shuffled):
        pairs = pairs_of(each)
        found = cohen_kappa(pairs, Bootstrap.of_pairs(pairs, resamples=200, rarest=1))
        intervals.append((found.low, found.high, found.why))
    assert intervals[0] == intervals[1]


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_interval_labels_are_numbers(level: Level) -> None:
    with pytest.raises(ValueError, match="not a number"):
        Scale(("low", "high"), level)
    with pytest.raises(ValueError, match="not a finite number"):
        Scale(("1", "nan"), level)
    with pytest.raises(ValueError, match="same number"):
        Scale(("1", "1.0"), level)


def test_a_label_is_never_coerced() -> None:
    """'1' and 1 are different things; an undeclared label is an error and no category of its own."""
    scale = Scale(("0", "1"))
    assert scale.encode(["0", "1", None]).tolist() == [0, 1, -1]
    for foreign in (1, 0, True, "1 ", "01"):
        with pytest.raises(ValueError, match="not one of the declared labels"):
            scale.encode([foreign])  # type: ignore[list-item]


def test_a_label_set_needs_two_different_labels() -> None:
    with pytest.raises(ValueError, match="at least two"):
        Scale(("yes",))
    with pytest.raises(ValueError, match="twice"):
        Scale(("yes", "no", "yes"))
