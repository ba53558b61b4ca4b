"""Numbers against thresholds: reached, missed, or undecided with the labels that would decide."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.calibration.agreement.binomial import clopper_pearson
from judges.calibration.audit import audit
from judges.calibration.audit_records import AuditItem, HumanLabel, JudgeVerdict, LabelSet, TaskRecords
from judges.calibration.audit_result import JudgeAgreement, Settings
from judges.calibration.checks import NO_MORE_THAN, Assessment, Check, Thresholds, assess, decisive_items

QA = LabelSet(("Correct", "Hallucination", "Omission"))


def judged(table: Mapping[tuple[str, str], int]) -> JudgeAgreement:
    pairs = [pair for pair, count in table.items() for _ in range(count)]
    rows = [
        AuditItem(f"i{n}", {"A": HumanLabel(people)}, {"J": JudgeVerdict(said)})
        for n, (people, said) in enumerate(pairs)
    ]
    return audit([TaskRecords("qa", QA, rows)], settings=Settings(resamples=300)).tasks["qa"].judges["J"]


def check(found: Assessment, name: str, label: str = "") -> Check:
    return next(one for one in found.checks if (one.name, one.label) == (name, label))


GOOD = {("Correct", "Correct"): 60, ("Hallucination", "Hallucination"): 40, ("Omission", "Omission"): 30}


def test_a_judge_whose_every_interval_reaches_its_threshold_is_good_enough() -> None:
    found = assess(judged(GOOD))
    assert found.outcome == "good_enough"
    assert {one.answer for one in found.checks} == {"met"}
    assert found.more_labels is None


def test_one_missed_threshold_is_enough_to_fall_short() -> None:
    found = assess(judged(GOOD | {("Omission", "Correct"): 40}))
    assert check(found, "recall", "Omission").answer == "missed"
    assert check(found, "recall", "Hallucination").answer == "met"
    assert found.outcome == "falls_short"
    assert found.more_labels is None


def test_an_interval_around_the_threshold_is_undecided_and_says_how_many_labels_would_do() -> None:
    table = {("Correct", "Correct"): 60, ("Hallucination", "Hallucination"): 9, ("Hallucination", "Omission"): 1,
             ("Omission", "Omission"): 30}  # fmt: skip
    one = check(found := assess(judged(table)), "recall", "Hallucination")
    assert (one.answer, found.outcome) == ("undecided", "undecided")
    needed = decisive_items(0.9, 0.8)
    assert needed is not None
    assert one.more_labels == (needed - 10) * 100 / 10
    assert found.more_labels is not None and found.more_labels >= one.more_labels


def test_a_label_nobody_used_is_untested_and_named() -> None:
    found = assess(judged({("Correct", "Correct"): 60, ("Omission", "Omission"): 40}))
    assert check(found, "recall", "Hallucination").answer == "untested"
    assert found.untested == ("Hallucination",)
    assert found.outcome == "good_enough"


def test_one_label_only_is_never_good_enough() -> None:
    found = assess(judged({("Correct", "Correct"): 200}))
    assert check(found, "recall", "Correct").answer == "met"
    assert (check(found, "kappa").answer, found.outcome, found.more_labels) == ("undecided", "undecided", None)


def test_without_an_interval_of_kappa_the_labels_until_there_is_one_are_named() -> None:
    table = {("Correct", "Correct"): 96, ("Hallucination", "Hallucination"): 4}
    one = check(assess(judged(table)), "kappa")
    assert one.statistic.low is None
    assert (one.answer, one.more_labels) == ("undecided", 6 * 100 // 4)


def test_kappas_labels_follow_from_its_interval() -> None:
    table = {("Correct", "Correct"): 40, ("Correct", "Omission"): 10, ("Omission", "Omission"): 40,
             ("Omission", "Correct"): 6}  # fmt: skip
    one = check(assess(judged(table)), "kappa")
    kappa = one.statistic
    assert kappa.value is not None and kappa.low is not None and kappa.low < 0.6 < kappa.value
    exact = 96 * ((kappa.value - kappa.low) / (kappa.value - 0.6)) ** 2 - 96
    assert one.more_labels is not None and 0 <= one.more_labels - exact <= 1


def test_where_all_items_agree_kappa_has_the_bound_of_raw_agreement() -> None:
    one = check(assess(judged({("Correct", "Correct"): 20, ("Omission", "Omission"): 20})), "kappa")
    assert one.statistic.low == pytest.approx((0.025 ** (1 / 40) - 0.5) / 0.5)
    assert one.answer == "met"
    few = check(assess(judged({("Correct", "Correct"): 10, ("Omission", "Omission"): 10})), "kappa")
    assert (few.answer, few.more_labels) == ("met", None)
    high = check(
        assess(judged({("Correct", "Correct"): 10, ("Omission", "Omission"): 10}), Thresholds(kappa=0.9)), "kappa"
    )
    assert (high.answer, high.more_labels) == ("undecided", 52)


def test_few_items_are_always_undecided_and_name_what_is_missing() -> None:
    found = assess(judged({("Correct", "Omission"): 12}))
    assert check(found, "recall", "Correct").answer == "missed"
    assert (found.outcome, found.more_labels) == ("undecided", 8)


def test_thresholds_can_be_set() -> None:
    strict = assess(judged(GOOD), Thresholds(recall=0.99, precision=0.5, kappa=0.5))
    assert check(strict, "recall", "Correct").answer == "undecided"
    assert check(strict, "precision", "Correct").answer == "met"


def test_a_rate_too_close_to_its_threshold_names_no_number() -> None:
    table = {("Correct", "Correct"): 79, ("Correct", "Omission"): 20, ("Omission", "Omission"): 60}
    one = check(assess(judged(table)), "recall", "Correct")
    assert (one.answer, one.more_labels) == ("undecided", None)


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([0.5, 0.6, 0.8, 0.9, 0.95]))
def test_the_number_of_items_is_the_first_at_which_the_exact_interval_decides(
    hits: int, n: int, threshold: float
) -> None:
    share = min(hits, n) / n
    needed = decisive_items(share, threshold)
    if needed is None:
        assert abs(share - threshold) < 0.01
        return
    multiple = -(-needed // n)
    low, high = clopper_pearson(round(share * n * multiple), n * multiple)
    assert low > threshold or high < threshold
    if needed > n:
        low, high = clopper_pearson(round(share * n), n)
        assert low <= threshold <= high


@pytest.mark.parametrize(("share", "threshold", "expected"), [(1.0, 0.8, 17), (0.0, 0.8, 3), (0.8, 0.8, None)])
def test_items_needed_at_the_ends(share: float, threshold: float, expected: int | None) -> None:
    """1 − α/2 = .975: .8^17 = .0225 < .025 < .8^16 = .0281; .2^3 = .008 < .025 < .2^2 = .04."""
    assert decisive_items(share, threshold) == expected


def test_no_number_beyond_a_week_of_work_is_named() -> None:
    found = assess(judged(GOOD | {("Omission", "Correct"): 7}))
    assert all(one.more_labels is None or one.more_labels <= NO_MORE_THAN for one in found.checks)
