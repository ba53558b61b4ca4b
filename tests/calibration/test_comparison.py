"""Systems and judges compared on the same labels, ranks, transport and quantiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from correction_cases import RATE, Floats, published, rate, rate_block, simple, simulated

from judges.calibration.agreement.binomial import mcnemar_exact
from judges.calibration.agreement.holm import benjamini_yekutieli, holm
from judges.calibration.agreement.scale import Scale
from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.comparison import compare_judges, compare_systems
from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.leaderboard import leaderboard
from judges.calibration.correction.power import power_of
from judges.calibration.correction.quantiles import corrected_quantiles
from judges.calibration.correction.records import Block, Draw
from judges.calibration.correction.result import CorrectedMetric
from judges.calibration.correction.transport import transport


class TestSystems:
    def pair(self) -> tuple[Block, Block, float]:
        given, expected = published("paired_N500")
        draw = Draw(given["labelled"], 500)
        blocks = [rate_block(given[f"f{s}"].astype(float), given[f"y{s}"].astype(float), draw) for s in "AB"]
        return blocks[0], blocks[1], expected["truth_all_items"]

    def test_paired_is_narrower_than_apart(self) -> None:
        a, b, truth = self.pair()
        paired = compare_systems([a], [b], rate)["rate"]
        apart = compare_systems([a], [b], rate, paired=False)["rate"]
        low, high = paired.found.statistic.low, paired.found.statistic.high
        assert low is not None and high is not None and low < truth < high
        assert apart.found.statistic.low is not None and apart.found.statistic.high is not None
        assert high - low < 0.85 * (apart.found.statistic.high - apart.found.statistic.low)

    def test_people_alone_give_the_plain_difference(self) -> None:
        a, b, _ = self.pair()
        assert compare_systems([a], [b], rate)["rate"].found.humans_only.value == pytest.approx(0.04)

    def test_p_value_and_interval_agree(self) -> None:
        a, b, _ = self.pair()
        found = compare_systems([a], [b], rate)["rate"]
        assert found.p_value is not None
        assert found.separable == (found.p_value < 0.05)
        same = compare_systems([a], [a], rate)["rate"]
        assert same.found.statistic.value == pytest.approx(0)

    def test_power_says_what_more_labels_would_do(self) -> None:
        a, b, _ = self.pair()
        found = compare_systems([a], [b], rate, worth_finding=0.074)["rate"]
        assert found.power is not None and found.power.labels is not None
        assert 0.5 < found.power.observed < 0.8
        assert 100 < found.power.labels < 250
        assert found.power.detectable > 0.074

    def test_draws_that_do_not_fit(self) -> None:
        a, b, _ = self.pair()
        with pytest.raises(ValueError, match="not one draw"):
            compare_systems([a], [replace(b, draw=simple(500, 100, 1))], rate)

    def test_no_answer_without_labels(self) -> None:
        a, b, _ = self.pair()
        empty = Draw(np.array([], dtype=np.int64), 500)
        bare = [replace(one, draw=empty, human_terms=np.zeros((0, 2))) for one in (a, b)]
        found = compare_systems(bare[:1], bare[1:], rate)["rate"]
        assert (found.found.statistic.status, found.p_value, found.power) == ("no_labels", None, None)
        assert not found.separable


class TestJudges:
    def test_the_better_prompt(self) -> None:
        rng = np.random.default_rng(1)
        people = (rng.random(300) < 0.7).astype(int)
        good = np.where(rng.random(300) < 0.95, people, 1 - people)
        bad = np.where(rng.random(300) < 0.75, people, 1 - people)
        found = compare_judges(people, good, bad, 2)
        assert found.accuracy.value == pytest.approx(float((good == people).mean() - (bad == people).mean()))
        assert found.accuracy.low is not None and found.accuracy.low > 0
        assert found.p_value < 1e-6
        recalls = [np.mean((good == people)[people == k]) - np.mean((bad == people)[people == k]) for k in (0, 1)]
        assert found.informedness.value == pytest.approx(sum(recalls))
        assert found.informedness.low is not None and found.informedness.low > 0

    def test_two_judges_who_never_differ(self) -> None:
        people = np.array([0, 1] * 20)
        found = compare_judges(people, people, people, 2)
        assert (found.accuracy.value, found.p_value, found.only_first) == (0.0, 1.0, 0)
        assert found.accuracy.low is not None and found.accuracy.low < 0

    def test_an_unreadable_verdict_agrees_with_nobody(self) -> None:
        found = compare_judges([0, 1, 1, 0], [0, 1, 1, 0], [0, -2, -1, 0], 2)
        assert (found.only_first, found.only_second) == (2, 0)

    def test_a_label_nobody_gave(self) -> None:
        found = compare_judges([1, 1, 1], [1, 0, 1], [1, 1, 1], 2)
        assert found.informedness.status == "label_not_used"

    def test_no_items(self) -> None:
        with pytest.raises(ValueError, match="no item"):
            compare_judges([], [], [], 2)

    def test_mcnemar(self) -> None:
        from scipy.stats import binomtest

        for b, c in ((9, 5), (0, 6), (3, 3), (20, 4)):
            assert mcnemar_exact(b, c) == pytest.approx(min(1.0, binomtest(b, b + c).pvalue), abs=1e-12)


class TestPower:
    def test_labels_that_would_do(self) -> None:
        found = power_of(0.05, 0.1, 100)
        again = power_of(0.05 * (100 / (found.labels or 0)) ** 0.5, 0.1, found.labels or 0)
        assert again.observed == pytest.approx(0.8, abs=0.01)
        assert power_of(0.05, found.detectable, 100).observed == pytest.approx(0.8, abs=1e-3)

    def test_finite_items_need_fewer(self) -> None:
        infinite, finite = power_of(0.05, 0.05, 100), power_of(0.05, 0.05, 100, items=300)
        assert finite.labels is not None and infinite.labels is not None
        assert finite.labels < 300 < infinite.labels

    def test_no_difference_is_never_found(self) -> None:
        assert power_of(0.05, 0.0, 100).labels is None
        assert power_of(0.05, 0.0, 100, items=500).labels == 500
        assert power_of(0.05, 0.0, 100).observed == pytest.approx(0.05)


def metric_of(people: Floats, judge: Floats, seed: int) -> CorrectedMetric:
    n = len(people)
    return corrected_scores([rate_block(judge, people, simple(n, 200, seed))], rate, CorrectionSettings(shares=RATE))[
        "rate"
    ]


class TestLeaderboard:
    def board(self) -> dict[str, CorrectedMetric]:
        rates = {"low": 0.3, "mid": 0.62, "middle": 0.6, "high": 0.9}
        return {name: metric_of(*simulated(800, seed, share), seed) for seed, (name, share) in enumerate(rates.items())}

    def test_only_what_labels_separate_is_ranked(self) -> None:
        ranks = {rank.system: rank for rank in leaderboard(self.board())}
        assert (ranks["high"].rank, ranks["high"].best, ranks["high"].worst) == (1, 1, 1)
        assert (ranks["low"].rank, ranks["low"].best, ranks["low"].worst) == (4, 4, 4)
        assert ranks["mid"].not_separable == ("middle",)
        assert {(ranks[name].best, ranks[name].worst) for name in ("mid", "middle")} == {(2, 3)}

    def test_lower_may_be_better(self) -> None:
        assert leaderboard(self.board(), higher_is_better=False)[0].system == "low"

    def test_a_system_without_a_value_has_no_rank(self) -> None:
        people, judge = simulated(300, 1)
        bare = rate_block(judge, people, Draw(np.array([], dtype=np.int64), 300))
        board = {**self.board(), "bare": corrected_scores([bare], rate)["rate"]}
        last = leaderboard(board)[-1]
        assert (last.system, last.rank) == ("bare", None)

    def test_a_paired_difference_is_used(self) -> None:
        people, judge = simulated(800, 5, 0.6)
        rng = np.random.default_rng(55)
        better = np.where(rng.random(800) < 0.12, 1.0, people)
        better_judge = np.where(better != people, 1.0, judge)
        draw = simple(800, 200, 5)
        blocks = {"a": rate_block(better_judge, better, draw), "b": rate_block(judge, people, draw)}
        board = {
            name: corrected_scores([block], rate, CorrectionSettings(shares=RATE))["rate"]
            for name, block in blocks.items()
        }
        paired = {("b", "a"): compare_systems([blocks["b"]], [blocks["a"]], rate)["rate"]}
        assert leaderboard(board)[0].not_separable == ("b",)
        assert leaderboard(board, paired)[0].not_separable == ()


class TestTransport:
    scale = Scale(("pass", "fail"))

    def labels(self, seed: int, recalls: tuple[float, float], n: int = 200) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(seed)
        people = rng.integers(0, 2, n)
        right = rng.random(n) < np.take(recalls, people)
        return people, np.where(right, people, 1 - people)

    def test_the_same_error_rates_transport(self) -> None:
        a, b = self.labels(1, (0.97, 0.96), 1500), self.labels(2, (0.97, 0.96), 1500)
        assert transport(self.scale, a, b).verdict == "transports"

    def test_another_error_rate_does_not(self) -> None:
        found = transport(self.scale, self.labels(1, (0.95, 0.9)), self.labels(2, (0.95, 0.5)))
        assert found.verdict == "does_not_transport"
        assert "fail" in found.why
        assert found.differences["fail"].value is not None and found.differences["fail"].value < -0.2
        assert found.p_values["fail"] < 0.01

    def test_few_labels_are_undecided_with_how_many_more(self) -> None:
        found = transport(self.scale, self.labels(1, (0.9, 0.9)), self.labels(2, (0.9, 0.9), 40))
        assert found.verdict == "undecided"
        assert found.labels_needed is not None and found.labels_needed > 40

    def test_a_verdict_never_seen_before(self) -> None:
        a = (np.zeros(20, dtype=int), np.zeros(20, dtype=int))
        found = transport(self.scale, a, self.labels(3, (0.9, 0.9)))
        assert found.verdict == "out_of_range"
        assert "fail" in found.why

    def test_an_unlabelled_new_system_is_undecided(self) -> None:
        people, judge = self.labels(4, (0.9, 0.9))
        found = transport(self.scale, (people, judge), (np.full(200, -1), judge))
        assert (found.verdict, found.labels_needed) == ("undecided", None)
        assert found.differences["pass"].status == "too_few"


class TestQuantiles:
    def scores(self, seed: int) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(seed)
        people = np.round(rng.gamma(3, 10, 600))
        return np.round(people * rng.normal(1.2, 0.1, 600) + 2), people

    def test_all_labelled_is_the_sample_quantile(self) -> None:
        judge, people = self.scores(1)
        people = np.floor(people / 4)
        found = corrected_quantiles(judge, people, Draw(np.arange(600), 600), (0.25, 0.5, 0.9))
        expected = np.quantile(people, (0.25, 0.5, 0.9), method="inverted_cdf")
        assert [found[level].value for level in (0.25, 0.5, 0.9)] == pytest.approx(expected)

    @pytest.mark.slow
    def test_intervals_hold_the_truth_and_help_from_a_judge_shortens_them(self) -> None:
        hits, widths = 0, []
        for seed in range(40):
            judge, people = self.scores(seed)
            judge, people = np.floor(judge / 3), np.floor(people / 3)
            draw = simple(600, 80, seed)
            found = corrected_quantiles(judge, people[draw.drawn], draw)[0.5]
            alone = corrected_quantiles(np.zeros(600), people[draw.drawn], draw)[0.5]
            assert found.low is not None and found.high is not None and alone.low is not None and alone.high is not None
            truth = float(np.quantile(people, 0.5, method="inverted_cdf"))
            hits += found.low <= truth <= found.high
            widths.append((found.high - found.low) - (alone.high - alone.low))
        assert hits >= 35
        assert float(np.mean(widths)) < 0

    def test_no_labels(self) -> None:
        found = corrected_quantiles(np.arange(5.0), np.array([]), Draw(np.array([], dtype=np.int64), 5))
        assert found[0.5].status == "no_labels"


class TestManyTests:
    def test_holm(self) -> None:
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
        assert holm([]) == []
        assert holm([0.9, 0.8]) == [1.0, 1.0]

    def test_benjamini_yekutieli_agrees_with_scipy(self) -> None:
        from scipy.stats import false_discovery_control

        rng = np.random.default_rng(1)
        for _ in range(50):
            p = rng.random(8) ** 3
            adjusted = false_discovery_control(p, method="by")
            assert benjamini_yekutieli(p.tolist()) == [bool(value <= 0.05) for value in adjusted]
        assert benjamini_yekutieli([]) == []
