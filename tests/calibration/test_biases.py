"""What a judge leans on: planted biases are found, absent ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from judges.calibration.biases import Finding, covariate_effect, family_preference, leniency
from judges.calibration.breakdown import broken_systems, one_label_collapse
from judges.calibration.judge_stability import position_preference, repeat_instability

RNG = np.random.default_rng(7)
N = 1200
PEOPLE = (RNG.random(N) < 0.6).astype(int)
LENGTH = RNG.gamma(4, 100, N)


def judge(pull: float, seed: int = 1) -> np.ndarray:
    """Passes by people's label and, as far as `pull` says, by length."""
    rng = np.random.default_rng(seed)
    odds = -1.5 + 3 * PEOPLE + pull * (LENGTH - LENGTH.mean()) / LENGTH.std()
    return (rng.random(N) < 1 / (1 + np.exp(-odds))).astype(int)


def holds(found: Finding, value: float) -> bool:
    low, high = found.statistic.low, found.statistic.high
    return low is not None and high is not None and low < value < high


class TestLength:
    def test_a_judge_that_likes_long_answers(self) -> None:
        found = covariate_effect("length", LENGTH, judge(0.8), PEOPLE)
        assert found.flagged
        assert holds(found, float(np.exp(0.8)))
        assert "higher length more readily" in found.words

    def test_length_that_comes_with_quality_is_no_bias(self) -> None:
        """Longer answers are better, and the judge only sees quality."""
        better = LENGTH + 300 * PEOPLE
        found = covariate_effect("length", better, judge(0.0), PEOPLE)
        assert not found.flagged
        raw = covariate_effect("length", better, judge(0.0), np.zeros(N))
        assert raw.flagged

    def test_items_that_stand_for_others_speak_of_all_of_them(self) -> None:
        """Long answers that the judge passes are likelier to be drawn: as they lie there, it seems to favour length."""
        rng = np.random.default_rng(3)
        passed, missed = judge(0.0), 0
        for _ in range(20):
            chances = np.where((LENGTH.mean() < LENGTH) & (passed == 1), 0.8, 0.2)
            drawn = rng.random(N) < chances
            those = (LENGTH[drawn], passed[drawn], PEOPLE[drawn])
            missed += not holds(covariate_effect("length", *those, weights=1 / chances[drawn]), 1.0)
        assert missed <= 4
        assert covariate_effect("length", *those).flagged

    def test_what_cannot_be_measured(self) -> None:
        assert covariate_effect("length", LENGTH, np.ones(N), PEOPLE).statistic.status == "too_few"
        assert covariate_effect("length", np.ones(N), judge(0), PEOPLE).statistic.status == "constant"
        assert covariate_effect("length", PEOPLE * 80.0, judge(0), PEOPLE).statistic.status == "collinear"
        separated = (np.median(LENGTH) < LENGTH).astype(int)
        assert covariate_effect("length", LENGTH, separated, np.zeros(N)).statistic.status == "separated"

    def test_marks_in_a_few_answers_that_all_pass(self) -> None:
        marks = np.where(np.arange(N) % 60 == 0, 4.0, 0.0)
        passed = np.where(marks > 0, 1, judge(0.0))
        found = covariate_effect("list marks", marks, passed, PEOPLE).statistic
        assert (found.value, found.status) == (None, "separated")


class TestSlices:
    language = np.where(np.arange(N) % 3 == 0, "zh", "en")
    topic = np.where(np.arange(N) % 2 == 0, "drug", "food")

    def test_a_judge_that_is_strict_in_one_language(self) -> None:
        scores = PEOPLE.astype(float)
        hit = (self.language == "zh") & (RNG.random(N) < 0.2)
        scores[hit] = 0
        found = {
            one.name: one
            for one in leniency({"language": list(self.language), "topic": list(self.topic)}, PEOPLE, scores)
        }
        strict = found["slice language=zh"]
        assert strict.flagged and strict.statistic.value is not None and strict.statistic.value < 0
        assert "stricter" in strict.words
        assert not found["slice topic=drug"].flagged

    def test_holm_over_all_slices(self) -> None:
        """Twenty slices of nothing: a naive test would flag one in most runs."""
        flagged = 0
        for seed in range(40):
            rng = np.random.default_rng(seed)
            scores = np.where(rng.random(N) < 0.9, PEOPLE, 1 - PEOPLE)
            found = leniency({"part": [str(part) for part in rng.integers(0, 20, N)]}, PEOPLE, scores)
            assert len(found) == 20
            flagged += any(one.flagged for one in found)
        assert flagged <= 6

    def test_small_slices_are_left_out(self) -> None:
        values = ["rare"] * 5 + ["common"] * (N - 5)
        assert leniency({"kind": values}, PEOPLE, PEOPLE) == []


class TestFamily:
    own = np.arange(N) % 4 == 0

    def test_favour_is_the_difference_of_differences(self) -> None:
        """The judge is right that its family is better, and adds something on top."""
        people = np.where(self.own, RNG.random(N) < 0.8, RNG.random(N) < 0.5).astype(float)
        fair = family_preference(self.own, people, people)
        assert not fair.flagged and fair.statistic.value == 0
        kind = np.where(self.own & (RNG.random(N) < 0.3), 1.0, people)
        found = family_preference(self.own, people, kind, {"MemOS": "shares an author with the benchmark"})
        assert found.flagged
        assert "declared: MemOS, shares an author" in found.words

    def test_too_few_of_the_family(self) -> None:
        found = family_preference(np.arange(20) < 5, np.ones(20), np.ones(20), {"X": "same vendor"})
        assert found.statistic.status == "too_few"
        assert "same vendor" in found.words


class TestRepeats:
    def test_pairs_of_repeats_that_differ(self) -> None:
        verdicts = np.array([[0, 0, 0], [0, 1, 1], [1, -1, 1], [1, -1, -1]])
        found = repeat_instability(verdicts)
        assert found.statistic.value == pytest.approx((0 + 2 / 3 + 0) / 3)
        assert found.statistic.dropped == {"judged_once": 1}
        assert found.words == "1 of 3 items got different verdicts when judged again"

    def test_a_steady_judge_has_an_interval_too(self) -> None:
        found = repeat_instability(np.zeros((50, 3), dtype=int))
        assert (found.statistic.value, found.statistic.low, found.flagged) == (0.0, 0.0, False)
        assert found.statistic.high is not None and 0.01 < found.statistic.high < 0.1

    def test_no_repeats(self) -> None:
        assert repeat_instability(np.zeros((5, 1), dtype=int)).statistic.status == "no_repeats"


class TestPosition:
    def test_a_judge_that_prefers_the_first(self) -> None:
        rng = np.random.default_rng(8)
        better = rng.integers(0, 2, 300)
        lazy = rng.random(300) < 0.4
        forward, backward = np.where(lazy, 0, better), np.where(lazy, 0, 1 - better)
        consistency, place = position_preference(forward, backward)
        assert consistency.flagged and place.flagged
        assert place.words == "The judge prefers whatever stands first"
        assert consistency.statistic.value == pytest.approx(1 - lazy.mean())

    def test_a_judge_as_fickle_without_a_swap(self) -> None:
        rng = np.random.default_rng(9)
        better = rng.integers(0, 2, 300)
        forward = np.where(rng.random(300) < 0.1, 1 - better, better)
        backward = np.where(rng.random(300) < 0.1, better, 1 - better)
        assert position_preference(forward, backward)[0].flagged
        consistency, place = position_preference(forward, backward, repeat_flips=0.18)
        assert not consistency.flagged and not place.flagged

    def test_ties_are_counted(self) -> None:
        consistency, place = position_preference([0, -1, 0], [1, 0, 1])
        assert consistency.statistic.dropped == {"tie_or_unreadable": 1}
        assert place.statistic.status == "no_flips"
        assert position_preference([-1], [0])[0].statistic.status == "no_pairable_items"


class TestBreakdown:
    def test_one_label_for_everything(self) -> None:
        found = one_label_collapse(("pass", "fail"), np.zeros(100, dtype=int), PEOPLE[:100])
        assert found.flagged
        assert "100% of the items pass" in found.words
        all_pass = one_label_collapse(("pass", "fail"), np.zeros(100, dtype=int), np.zeros(100, dtype=int))
        assert not all_pass.flagged
        assert one_label_collapse(("pass", "fail"), [-2], [0]).statistic.status == "no_items"
        stands_for = np.array([98.0, 1.0, 1.0, np.nan])
        found = one_label_collapse(("pass", "fail"), [0, 1, 1, 1], [0, 0, 1, 1], stands_for)
        assert found.statistic.value == pytest.approx(0.98) and "people gave it to 99%" in found.words
        assert found.statistic.n == 3 and "1/π" in found.statistic.method

    def test_broken_on_one_system(self) -> None:
        rng = np.random.default_rng(10)
        systems = np.array(["a", "b", "c"])[np.arange(N) % 3]
        right = rng.random(N) < np.where(systems == "c", 0.6, 0.9)
        found = {one.name: one for one in broken_systems(list(systems), right)}
        assert found["c"].flagged
        assert "less often on c" in found["c"].words
        assert not found["a"].flagged and not found["b"].flagged

    def test_a_small_loss_is_not_flagged(self) -> None:
        systems = ["a"] * 4000 + ["b"] * 4000
        right = np.concatenate([np.arange(4000) % 100 < 90, np.arange(4000) % 100 < 86])
        found = {one.name: one for one in broken_systems(systems, right)}
        assert found["b"].p_value is not None and found["b"].p_value < 0.001
        assert not found["b"].flagged
