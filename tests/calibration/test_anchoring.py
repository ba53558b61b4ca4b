"""What a shown verdict does to people's labels."""

from __future__ import annotations

import numpy as np
import pytest
from correction_cases import PUBLISHED

from judges.calibration.agreement.scale import Scale
from judges.calibration.anchoring import (
    Arm,
    LabelActs,
    agreement_by_reveals,
    anchoring,
    copy_rate,
    de_anchored,
    flips,
    log_ratio_error,
)
from judges.calibration.reader_habits import hurried, self_consistency, subset

GIVEN, EXPECTED = PUBLISHED["anchoring"]["input"], PUBLISHED["anchoring"]["expected"]
SCALE = Scale(("pass", "fail"))


class TestPublished:
    blind = Arm(GIVEN["blind_n"], GIVEN["blind_disagree"])
    visible = Arm(GIVEN["visible_n"], GIVEN["visible_disagree"])

    def test_copy_rate(self) -> None:
        found = copy_rate(self.blind, self.visible)
        assert found.value == pytest.approx(EXPECTED["a_hat"], abs=1e-9)
        assert [found.low, found.high] == pytest.approx(EXPECTED["ci95"], abs=1e-9)
        assert log_ratio_error(self.blind, self.visible) == pytest.approx(EXPECTED["log_ratio_se"], abs=1e-9)

    def test_de_anchored_score(self) -> None:
        copied = copy_rate(self.blind, self.visible)
        found = de_anchored(GIVEN["theta_visible"], GIVEN["p_judge"], copied, 200)
        assert found.value == pytest.approx(EXPECTED["theta_deanchored"], abs=1e-9)
        assert found.low is not None and found.high is not None and found.low < 0.735 < found.high


def simulated(seed: int, copying: float, n: int = 4000) -> LabelActs:
    """People who say their own label, but copy a differing verdict with probability `copying` when they see it."""
    rng = np.random.default_rng(seed)
    own = (rng.random(n) < 0.4).astype(np.int64)
    verdict = np.where(rng.random(n) < 0.8, own, 1 - own)
    arm = rng.integers(0, 3, n)
    shown, assisted = arm == 1, arm == 2
    copies = rng.random(n) < copying
    first = np.where(assisted & copies, verdict, own)
    final = np.where(shown & copies, verdict, first)
    return LabelActs(verdict, first, final, shown, assisted, own, np.cumsum(shown))


class TestAnchoring:
    def test_the_planted_rate_is_found_in_both_arms(self) -> None:
        found = anchoring(simulated(1, 0.6), SCALE)
        for one in (found.assisted, found.revealed):
            assert one.low is not None and one.high is not None
            assert one.low < 0.6 < one.high
        assert set(found.by_verdict) == {"pass", "fail"}
        assert found.by_reveals is not None and found.by_reveals.low is not None and found.by_reveals.high is not None
        assert found.by_reveals.low < 0 < found.by_reveals.high

    def test_people_who_are_not_pulled(self) -> None:
        found = anchoring(simulated(2, 0.0), SCALE)
        assert found.assisted.low is not None and found.assisted.high is not None
        assert found.assisted.low < 0 < found.assisted.high

    def test_direction_is_told_when_only_one_is_pulled(self) -> None:
        acts = simulated(3, 0.0)
        pulled = acts.assisted & (acts.verdict == 0)
        first = np.where(pulled, acts.verdict, acts.first)
        found = anchoring(
            LabelActs(acts.verdict, first, first, acts.shown & False, acts.assisted, acts.adjudicated, acts.reveals),
            SCALE,
        )
        assert found.by_verdict["pass"].value == 1.0
        fail = found.by_verdict["fail"]
        assert fail.low is not None and fail.high is not None and fail.low < 0 < fail.high

    def test_few_disagreements(self) -> None:
        found = copy_rate(Arm(50, 4), Arm(50, 1))
        assert found.status == "too_few"
        assert "4 disagreements" in found.why

    def test_nobody_saw_a_verdict(self) -> None:
        assert copy_rate(Arm(50, 10), Arm(0, 0)).status == "no_visible_labels"

    def test_no_disagreement_left(self) -> None:
        found = copy_rate(Arm(100, 20), Arm(100, 0))
        assert (found.value, found.high) == (1.0, 1.0)
        assert found.low is not None and 0.3 < found.low < 1
        assert de_anchored(0.9, 0.9, found, 100).status == "undefined"

    def test_coverage(self) -> None:
        rng = np.random.default_rng(4)
        hits = 0
        for _ in range(600):
            blind, seen = Arm(200, rng.binomial(200, 0.2)), Arm(200, rng.binomial(200, 0.08))
            found = copy_rate(blind, seen)
            hits += found.low is not None and found.high is not None and found.low <= 0.6 <= found.high
        assert hits / 600 > 0.93


class TestFlips:
    def test_toward_away_and_for_better_or_worse(self) -> None:
        #                  toward  toward  away  kept  against  not shown
        verdict = np.array([1, 1, 1, 1, 0, 1])
        first = np.array([0, 0, 0, 0, 0, 0])
        final = np.array([1, 1, 2, 0, 1, 1])
        truth = np.array([0, 1, 2, 0, 0, -1])
        shown = np.array([True, True, True, True, True, False])
        found = flips(LabelActs(verdict, first, final, shown, ~shown, truth, np.zeros(6, dtype=np.int64)))
        assert (found.differed, found.toward, found.away, found.against) == (4, 2, 1, 1)
        assert (found.right_to_wrong, found.wrong_to_right) == (2, 2)
        assert found.rate.value == 0.5
        assert found.p_value == 1.0

    def test_nothing_shown(self) -> None:
        none = np.zeros(3, dtype=np.int64)
        found = flips(LabelActs(none, none, none, none.astype(bool), none.astype(bool), none - 1, none))
        assert (found.rate.status, found.p_value) == ("no_disagreements", None)


class TestReveals:
    def test_people_who_learn_the_judge(self) -> None:
        rng = np.random.default_rng(5)
        seen = np.arange(400)
        found = agreement_by_reveals(seen, rng.random(400) < 0.5 + seen / 1000)
        assert found.value == pytest.approx(0.01, abs=0.004)
        assert found.low is not None and found.low > 0

    def test_too_few_or_constant(self) -> None:
        assert agreement_by_reveals(np.arange(10), np.ones(10)).status == "too_few"
        assert agreement_by_reveals(np.zeros(30), np.ones(30)).status == "constant"


class TestReaders:
    def test_repeats(self) -> None:
        first, again = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 0, 1, 1, 0, -1])
        found = self_consistency(SCALE, first, again)
        assert found.raw_agreement.value == pytest.approx(0.8)
        assert found.raw_agreement.dropped == {"not_paired": 1}
        assert found.cohen_kappa.value is not None

    def test_hurried_labels_apart(self) -> None:
        found = hurried([0.5, 1.9, 30, np.nan], [True, True, False, True])
        assert (found.n, found.inside.value, found.outside.value) == (2, 1.0, 0.5)

    def test_labels_to_look_at_count_for_the_items_they_stand_for(self) -> None:
        rows, agrees = [True, True, True, False], [True, False, True, False]
        found = subset(rows, agrees, np.array([6.0, 2.0, 2.0, 5.0]))
        assert found.n == 3 and found.inside.n == 3
        assert found.inside.value == pytest.approx(0.8) and "1/π" in found.inside.method
        one = subset(rows, agrees, np.array([6.0, 2.0, 2.0, 5.0]), np.array([0, 0, 0, 1])).inside
        assert one.low is not None and found.inside.low is not None and one.low <= found.inside.low

    def test_none_unsure(self) -> None:
        found = subset([False, False], [True, False])
        assert (found.n, found.inside.status) == (0, "no_items")
