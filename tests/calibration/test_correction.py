"""What a corrected score says, when it falls back on people's labels, and when it says nothing."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from correction_cases import RATE, Floats, rate, rate_block, simple, simulated
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.estimate import tune
from judges.calibration.correction.records import Block, Draw, Provenance, Share, Totals
from judges.calibration.correction.result import CorrectedMetric
from judges.calibration.statistic import Statistic

SHARES = CorrectionSettings(shares=RATE)


def corrected(block: Block, settings: CorrectionSettings = SHARES) -> CorrectedMetric:
    return corrected_scores([block], rate, settings)["rate"]


def width(statistic: Statistic | None) -> float:
    assert statistic is not None and statistic.low is not None and statistic.high is not None
    return statistic.high - statistic.low


def two_tasks(seed: int = 5) -> list[Block]:
    (y1, f1), (y2, f2) = simulated(300, seed), simulated(200, seed + 1, 0.6)
    one = rate_block(f1, y1, simple(300, 60, seed), "integrity")
    two = rate_block(f2, y2, simple(200, 60, seed + 1), "accuracy")
    rename = {"passed": "supported", "items": "memories"}
    return [one, replace(two, terms=tuple(rename[term] for term in two.terms), fixed=frozenset({"memories"}))]


def test_where_nothing_varies_the_judge_gets_no_weight() -> None:
    """The variance of people's labels came out at −5e-20, and 0/0 of it as λ."""
    shared, own, people = (np.array([[value]]) for value in (-1.4e-20, 0.0, -5.4e-20))
    block = SimpleNamespace(sample=SimpleNamespace(n=30), covariance=lambda _: (shared, own, people))
    with np.errstate(all="raise"):
        assert tune(block, np.ones((1, 1))) == 0.0  # type: ignore[arg-type]


def f1(totals: Totals) -> dict[str, float | None]:
    recall, precision = totals["passed"] / totals["items"], totals["supported"] / totals["memories"]
    return {"recall": recall, "precision": precision, "f1": 2 * recall * precision / (recall + precision)}


class TestAllLabelled:
    @given(st.integers(0, 10_000), st.integers(8, 60))
    @settings(max_examples=40)
    def test_the_finite_interval_closes_at_the_human_value(self, seed: int, items: int) -> None:
        people, judge = simulated(items, seed, 0.5)
        found = corrected(rate_block(judge, people, simple(items, items, seed)))
        assert found.statistic.value == pytest.approx(people.mean())
        assert found.statistic.low == pytest.approx(people.mean())
        assert found.statistic.high == pytest.approx(people.mean())

    @pytest.mark.parametrize("design", ["stratified", "two_stage", "unequal"])
    def test_under_any_design(self, design: str) -> None:
        people, judge = simulated(40, 1)
        parts = np.arange(40) % 4
        everything = {
            "stratified": Draw(np.arange(40), 40, strata=parts),
            "two_stage": Draw(np.arange(40), 40, "two_stage", groups=parts),
            "unequal": Draw(np.arange(40), 40, "unequal", probabilities=np.ones(40)),
        }
        found = corrected(rate_block(judge, people, everything[design]))
        assert found.statistic.value == pytest.approx(people.mean())
        assert width(found.statistic) == pytest.approx(0, abs=1e-9)

    def test_the_population_interval_does_not_close(self) -> None:
        people, judge = simulated(100, 2)
        found = corrected(rate_block(judge, people, simple(100, 100, 2)), replace(SHARES, target="population"))
        assert width(found.statistic) > 0.1


class TestInvariance:
    @given(st.permutations(range(60)))
    @settings(max_examples=20)
    def test_the_order_of_items_does_not_matter(self, order: list[int]) -> None:
        people, judge = simulated(60, 7, 0.5)
        drawn = np.arange(0, 60, 2)
        place = np.empty(60, dtype=np.int64)
        place[order] = np.arange(60)
        plain = corrected(rate_block(judge, people, Draw(drawn, 60)))
        mixed = corrected(rate_block(judge[order], people[order], Draw(place[drawn], 60)))
        assert mixed.statistic.value == pytest.approx(plain.statistic.value)
        assert mixed.statistic.low == pytest.approx(plain.statistic.low)
        assert mixed.statistic.high == pytest.approx(plain.statistic.high)

    @given(st.floats(0.5, 5), st.floats(-3, 3))
    @settings(max_examples=20)
    def test_a_judge_on_another_scale_corrects_the_same(self, scale: float, shift: float) -> None:
        rng = np.random.default_rng(4)
        people = rng.normal(size=200)
        judge = people + rng.normal(size=200) / 2
        draw = simple(200, 50, 4)
        plain = corrected(rate_block(judge, people, draw), CorrectionSettings())
        other = corrected(rate_block(scale * judge + shift, people, draw), CorrectionSettings())
        assert other.corrected is not None and plain.corrected is not None
        assert other.corrected.value == pytest.approx(plain.corrected.value)
        if other.used == plain.used == "corrected":
            assert other.tuning["qa"] * scale == pytest.approx(plain.tuning["qa"])

    def test_the_same_metric_from_other_totals_is_the_same(self) -> None:
        people, judge = simulated(300, 8)
        block = rate_block(judge, people, simple(300, 80, 8))

        def twice(totals: Totals) -> dict[str, float | None]:
            return {"rate": rate(totals)["rate"], "percent": 100 * totals["passed"] / totals["items"]}

        found = corrected_scores([block], twice, SHARES)
        assert found["percent"].statistic.value == pytest.approx(100 * (found["rate"].statistic.value or 0))
        assert width(found["percent"].corrected) == pytest.approx(100 * width(found["rate"].corrected), rel=1e-6)

    def test_identity_gives_the_totals(self) -> None:
        people, judge = simulated(300, 9)
        found = corrected_scores([rate_block(judge, people, simple(300, 80, 9))], dict)
        assert found["items"].used == "exact"
        assert found["items"].statistic.value == found["items"].statistic.low == 300
        share = corrected(rate_block(judge, people, simple(300, 80, 9)))
        assert found["passed"].statistic.value == pytest.approx(300 * (share.statistic.value or 0))

    def test_a_metric_that_ends_at_a_count_of_none_has_a_slope_on_one_side(self) -> None:
        def guarded(totals: Totals) -> dict[str, float | None]:
            return {"rate": None if totals["passed"] < 0 else totals["passed"] / totals["items"]}

        _, judge = simulated(300, 36)
        block = rate_block(judge, np.zeros(300), simple(300, 80, 36))
        found = corrected_scores([block], guarded, SHARES)["rate"]
        assert (found.used, found.statistic.value) == ("humans_only", 0.0)
        assert found.statistic.high is not None and 0.02 < found.statistic.high < 0.06

    def test_exact_derivatives_give_what_numeric_ones_do(self) -> None:
        def slopes(totals: Totals) -> dict[str, dict[str, float]]:
            passed, items = totals["passed"], totals["items"]
            return {"rate": {"passed": 1 / items, "items": -passed / items**2}}

        people, judge = simulated(300, 10)
        block = rate_block(judge, people, simple(300, 80, 10))
        numeric, exact = corrected(block), corrected(block, replace(SHARES, gradient=slopes))
        assert exact.statistic.low == pytest.approx(numeric.statistic.low, abs=1e-9)
        assert exact.statistic.high == pytest.approx(numeric.statistic.high, abs=1e-9)


class TestWithTheJudgesHelp:
    def test_a_good_judge_is_worth_labels(self) -> None:
        people, judge = simulated(1000, 11)
        found = corrected(rate_block(judge, people, simple(1000, 200, 11)))
        assert found.used == "corrected"
        assert found.refusal == ""
        assert width(found.statistic) < 0.8 * width(found.humans_only)
        assert found.effective_n is not None and found.effective_n > 300
        assert "λ" in found.statistic.method and "1,000 items" in found.statistic.method

    def test_the_judges_bias_goes_away(self) -> None:
        people, judge = simulated(2000, 12, 0.6, tpr=0.98, tnr=0.6)
        found = corrected(rate_block(judge, people, simple(2000, 300, 12)))
        assert found.as_coded == pytest.approx(judge.mean())
        assert judge.mean() - people.mean() > 0.1
        assert found.statistic.low is not None and found.statistic.high is not None
        assert found.statistic.low < people.mean() < found.statistic.high < judge.mean()

    def test_two_tasks_make_one_metric(self) -> None:
        found = corrected_scores(two_tasks(), f1)
        assert set(found["f1"].tuning) == {"integrity", "accuracy"}
        assert set(found["recall"].tuning) == {"integrity"}
        assert found["f1"].statistic.n == 120
        assert found["f1"].df == pytest.approx(min(found["recall"].df or 0, found["precision"].df or 0), abs=1.1)
        recall, precision = found["recall"].statistic.value, found["precision"].statistic.value
        assert recall is not None and precision is not None
        expected = 2 * recall * precision / (recall + precision)
        assert found["f1"].statistic.value == pytest.approx(expected, abs=0.005)

    def test_a_term_in_two_tasks_is_summed(self) -> None:
        (y1, j1), (y2, j2) = simulated(300, 13), simulated(200, 14)
        blocks = [
            rate_block(j1, y1, simple(300, 300, 13), "integrity"),
            rate_block(j2, y2, simple(200, 200, 14), "update"),
        ]
        found = corrected_scores(blocks, rate)["rate"]
        assert found.statistic.value == pytest.approx((y1.sum() + y2.sum()) / 500)

    def test_a_share_stays_between_0_and_1(self) -> None:
        people, judge = simulated(400, 15, 0.95, tpr=0.99, tnr=0.95)
        for seed in range(20):
            found = corrected(rate_block(judge, people, simple(400, 100, seed)))
            for one in (found.statistic, found.humans_only, found.corrected):
                assert one is not None and one.low is not None and one.high is not None and one.value is not None
                assert 0 <= one.low <= one.value <= one.high <= 1

    def test_clusters_widen_the_population_interval_only(self) -> None:
        rng = np.random.default_rng(16)
        clusters = np.repeat(np.arange(20), 25)
        people = (rng.random(500) < np.repeat(rng.random(20), 25)).astype(float)
        judge = np.where(rng.random(500) < 0.9, people, 1 - people)
        draw = simple(500, 150, 16)
        free, bound = rate_block(judge, people, draw), rate_block(judge, people, draw, clusters=clusters)
        population = replace(SHARES, target="population")
        assert corrected(bound).statistic == corrected(free).statistic
        assert width(corrected(bound, population).statistic) > 1.5 * width(corrected(free, population).statistic)
        assert corrected(bound, population).df == pytest.approx(18)


class TestStrata:
    """Strata by the judge's verdict already use the judge."""

    def block(self, seed: int) -> Block:
        people, judge = simulated(1000, seed, 0.8)
        rng = np.random.default_rng(seed)
        drawn = [rng.choice(np.flatnonzero(judge == verdict), 60, replace=False) for verdict in (0, 1)]
        return rate_block(judge, people, Draw(np.concatenate(drawn), 1000, strata=judge.astype(np.int64)))

    def test_by_verdict_is_a_correction(self) -> None:
        found = corrected(self.block(34))
        assert found.used == "corrected"
        assert "within strata of the judge's verdict" in found.statistic.method
        assert found.effective_n is not None and found.effective_n > 150
        assert found.statistic.value == found.humans_only.value

    def test_by_something_else_is_not(self) -> None:
        people, _ = simulated(400, 35)
        judge = np.ones(400)
        judge[:20] = 0
        strata = np.arange(400) % 2
        found = corrected(rate_block(judge, people, Draw(np.arange(100), 400, strata=strata)))
        assert (found.used, found.refusal) == ("humans_only", "weak_judge")


class TestHumansOnly:
    def test_a_useless_judge(self) -> None:
        rng = np.random.default_rng(17)
        people, judge = (rng.random(500) < 0.6).astype(float), (rng.random(500) < 0.6).astype(float)
        found = corrected(rate_block(judge, people, simple(500, 100, 17)))
        assert (found.used, found.refusal) == ("humans_only", "weak_judge")
        assert "J" in found.statistic.why
        assert found.statistic.value == found.humans_only.value
        assert found.effective_n is None

    def test_a_judge_who_never_varies(self) -> None:
        people, _ = simulated(300, 18)
        found = corrected(rate_block(np.ones(300), people, simple(300, 80, 18)))
        assert (found.used, found.refusal) == ("humans_only", "weak_judge")

    def test_an_inverted_judge(self) -> None:
        people, judge = simulated(300, 19)
        assert corrected(rate_block(1 - judge, people, simple(300, 80, 19))).refusal == "weak_judge"

    def test_few_labels_of_a_class(self) -> None:
        people, judge = np.ones(300), np.ones(300)
        people[:12] = judge[:12] = 0
        draw = Draw(np.arange(8, 108), 300)
        found = corrected(rate_block(judge, people, draw))
        assert (found.used, found.refusal) == ("humans_only", "few_of_a_class")
        assert "only 4 of 100 labels of qa pull this metric down" in found.statistic.why

    def test_one_label_only_has_wilsons_interval_as_a_share(self) -> None:
        _, judge = simulated(300, 20)
        found = corrected(rate_block(judge, np.ones(300), simple(300, 50, 20)))
        assert (found.used, found.statistic.value, found.statistic.high) == ("humans_only", 1.0, 1.0)
        assert found.statistic.low is not None and 0.9 < found.statistic.low < 0.96

    def test_nothing_varies_at_all(self) -> None:
        found = corrected(rate_block(np.ones(300), np.ones(300), simple(300, 50, 20)), CorrectionSettings())
        assert found.statistic.value == 1
        assert found.statistic.low is None
        assert "cannot show how far" in found.statistic.why

    def test_another_judge_than_the_labels_were_drawn_for(self) -> None:
        people, judge = simulated(300, 21)
        provenance = Provenance(judge_calibrated="gpt-4o v3", judge_scored="gpt-4o v4")
        found = corrected(rate_block(judge, people, simple(300, 80, 21)), replace(SHARES, provenance=provenance))
        assert (found.used, found.refusal) == ("humans_only", "judge_changed")
        assert "gpt-4o v4" in found.statistic.why

    def test_no_gain(self) -> None:
        """A weak judge on many labels: J above the limit, the interval no shorter."""
        refusals = set()
        for seed in range(40):
            people, judge = simulated(400, seed, 0.5, tpr=0.65, tnr=0.6)
            refusals.add(corrected(rate_block(judge, people, simple(400, 60, seed))).refusal)
        assert "no_gain" in refusals

    @given(st.integers(0, 5000))
    @settings(max_examples=40)
    def test_a_reported_correction_is_never_wider(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        people, judge = simulated(200, seed, 0.3 + 0.6 * rng.random(), tpr=0.6 + 0.4 * rng.random())
        found = corrected(rate_block(judge, people, simple(200, 40, seed)))
        assert width(found.statistic) <= width(found.humans_only) + 1e-12
        if found.used == "corrected":
            assert found.effective_n is not None and found.effective_n >= 40 - 1e-9


class TestNoAnswer:
    def found(self, **provenance: object) -> CorrectedMetric:
        people, judge = simulated(300, 22)
        own = replace(SHARES, provenance=Provenance(**provenance))  # type: ignore[arg-type]
        return corrected(rate_block(judge, people, simple(300, 80, 22)), own)

    def test_labels_that_are_not_blind(self) -> None:
        found = self.found(blind=False)
        assert (found.statistic.value, found.statistic.status) == (None, "labels_not_blind")
        assert found.as_coded is not None

    def test_unknown_sampling(self) -> None:
        found = self.found(sampling="unknown")
        assert (found.statistic.value, found.statistic.status) == (None, "sampling_unknown")

    def test_a_task_without_labels_is_named(self) -> None:
        one, two = two_tasks()
        bare = replace(two, human_terms=np.zeros((0, 2)), draw=Draw(np.array([], dtype=np.int64), 200))
        found = corrected_scores([one, bare], f1)
        assert found["recall"].used == "corrected"
        for metric in ("precision", "f1"):
            assert found[metric].statistic.status == "no_labels"
            assert "accuracy" in found[metric].statistic.why

    def test_a_part_without_labels_is_named(self) -> None:
        people, judge = simulated(200, 23)
        drawn = np.arange(60)
        terms = np.column_stack([judge, judge, np.ones(200)])
        labels = np.column_stack([people[drawn], np.full(60, np.nan), np.ones(60)])
        block = Block("accuracy", ("passed", "flagged", "items"), terms, labels, Draw(drawn, 200))

        def both(totals: Totals) -> dict[str, float | None]:
            return {"rate": totals["passed"] / totals["items"], "flags": totals["flagged"] / totals["items"]}

        found = corrected_scores([block], both)
        assert found["rate"].statistic.value is not None
        assert found["flags"].statistic.status == "no_labels"
        assert "flagged" in found["flags"].statistic.why

    def test_an_undefined_metric(self) -> None:
        people, judge = simulated(200, 24)

        def none(totals: Totals) -> dict[str, float | None]:
            return {"rate": None, "inverse": totals["passed"] / 0.0 if not totals["items"] else float("nan")}

        found = corrected_scores([rate_block(judge, people, simple(200, 50, 24))], none)
        assert {found[name].statistic.status for name in ("rate", "inverse")} == {"undefined"}

    def test_a_stratum_without_labels(self) -> None:
        people, judge = simulated(200, 25)
        strata = np.repeat([0, 1], 100)
        found = corrected(rate_block(judge, people, Draw(np.arange(50), 200, strata=strata)))
        assert found.statistic.status == "stratum_without_labels"

    def test_a_stratum_with_one_label(self) -> None:
        people, judge = simulated(200, 26)
        strata = np.repeat([0, 1], 100)
        found = corrected(rate_block(judge, people, Draw(np.append(np.arange(50), 150), 200, strata=strata)))
        assert found.statistic.status == "too_few"
        one_group = corrected(
            rate_block(judge, people, Draw(np.arange(20), 200, "two_stage", groups=np.arange(200) // 20))
        )
        assert one_group.statistic.status == "too_few"
        assert "group" in one_group.statistic.why

    def test_few_clusters_do_not_speak_of_new_ones(self) -> None:
        people, judge = simulated(200, 27)
        block = rate_block(judge, people, simple(200, 60, 27), clusters=np.arange(200) // 50)
        assert corrected(block).statistic.value is not None
        found = corrected(block, replace(SHARES, target="population"))
        assert found.statistic.status == "too_few_clusters"
        assert "4 clusters" in found.statistic.why


class TestUnresolved:
    def blocks(self, unresolved: int) -> tuple[Floats, Floats, Block]:
        people, judge = simulated(500, 28)
        draw = simple(500, 100, 28)
        seen = people.copy()
        seen[draw.drawn[:unresolved]] = np.nan
        verdicts = judge.astype(np.int64)
        return people, judge, rate_block(judge, seen, draw, verdicts=verdicts, missing={"cannot_judge": 1})

    def test_few_are_weighted_for_and_bounded(self) -> None:
        _, _, block = self.blocks(4)
        found = corrected(block)
        assert found.statistic.n == 96
        assert found.statistic.dropped == {"cannot_judge": 1, "unresolved": 3}
        assert found.worst_case is not None and found.statistic.value is not None
        assert found.worst_case.low < found.statistic.value < found.worst_case.high
        assert found.worst_case.high - found.worst_case.low == pytest.approx(0.04, abs=1e-6)

    def test_worst_case_holds_what_full_labels_would_give_without_a_judge(self) -> None:
        people, _, block = self.blocks(5)
        full = corrected(rate_block(np.ones(500), people, block.draw)).humans_only.value
        found = corrected(replace(block, judge_terms=np.ones((500, 2))))
        assert found.worst_case is not None and full is not None
        assert found.worst_case.low - 1e-9 <= full <= found.worst_case.high + 1e-9

    def test_many_are_to_be_adjudicated_first(self) -> None:
        found = corrected(self.blocks(6)[2])
        assert (found.statistic.value, found.statistic.status) == (None, "adjudicate_first")
        assert "6 of 100" in found.statistic.why
        assert found.worst_case is not None


class TestClassBalanced:
    """Labels chosen 30 and 30: only the judge's error rates carry over."""

    settings = CorrectionSettings(shares=RATE, provenance=Provenance(sampling="class_balanced"))

    def block(self, passing: float = 0.9) -> tuple[Floats, Block]:
        people, judge = simulated(3000, 29, passing, tpr=0.9, tnr=0.85)
        rng = np.random.default_rng(29)
        drawn = np.concatenate([rng.choice(np.flatnonzero(people == label), 60, replace=False) for label in (0, 1)])
        return people, rate_block(judge, people, Draw(drawn, 3000))

    def test_the_error_rates_are_inverted(self) -> None:
        people, block = self.block()
        found = corrected(block, self.settings)
        assert found.used == "inverted"
        assert found.statistic.low is not None and found.statistic.high is not None
        assert found.statistic.low < people.mean() < found.statistic.high
        assert found.humans_only.status == "class_balanced"
        wrong = corrected(block).statistic
        assert wrong.high is not None and wrong.high < people.mean()

    def test_no_other_metric_can_be_had(self) -> None:
        _, block = self.block()
        found = corrected(block, replace(self.settings, shares={}))
        assert found.statistic.status == "class_balanced"

    def test_a_judge_no_better_than_chance(self) -> None:
        _, block = self.block()
        swapped = replace(block, judge_terms=np.column_stack([1 - block.judge_terms[:, 0], block.judge_terms[:, 1]]))
        assert corrected(swapped, self.settings).statistic.status == "weak_judge"

    def test_few_of_a_class(self) -> None:
        people, judge = simulated(3000, 30)
        drawn = np.concatenate([np.flatnonzero(people == 0)[:4], np.flatnonzero(people == 1)[:40]])
        found = corrected(rate_block(judge, people, Draw(drawn, 3000)), self.settings)
        assert found.statistic.status == "few_of_a_class"

    def test_a_denominator_that_labels_decide(self) -> None:
        people, judge = simulated(400, 31)
        drawn = np.arange(100)
        flags = np.where(np.arange(400) % 3 == 0, 1 - people, people)
        block = Block(
            "accuracy",
            ("passed", "items"),
            np.column_stack([judge * people, people]),
            np.column_stack([people * flags, flags])[drawn],
            Draw(drawn, 400),
        )
        found = corrected(block, self.settings)
        assert found.statistic.status == "class_balanced"
        assert "which items count" in found.statistic.why


def test_as_json_names_what_was_used() -> None:
    people, judge = simulated(300, 32)
    scores = corrected_scores([rate_block(judge, people, simple(300, 80, 32))], rate, SHARES)
    fields = scores.as_json()
    assert (fields["target"], fields["labels"], fields["items"]) == ("finite", {"qa": 80}, {"qa": 300})
    metric = fields["metrics"]["rate"]
    assert metric["used"] == "corrected"
    assert metric["humans_only"]["n"] == 80


def test_share_terms_may_be_weighted() -> None:
    """A weighted recall: 0 to `weight` of each item."""
    rng = np.random.default_rng(33)
    weight = rng.choice([0.5, 0.75, 1.0], 400)
    people = rng.integers(0, 3, 400) / 2
    judge = np.where(rng.random(400) < 0.85, people, 1 - people)
    drawn = simple(400, 90, 33)
    block = Block(
        "integrity",
        ("kept", "weight"),
        np.column_stack([judge * weight, weight]),
        np.column_stack([people * weight, weight])[drawn.drawn],
        drawn,
        fixed=frozenset({"weight"}),
    )

    def recall(totals: Totals) -> dict[str, float | None]:
        return {"recall": totals["kept"] / totals["weight"]}

    found = corrected_scores([block], recall, CorrectionSettings(shares={"recall": Share("kept", "weight")}))["recall"]
    truth = float((people * weight).sum() / weight.sum())
    assert found.used == "corrected"
    assert found.statistic.low is not None and found.statistic.high is not None
    assert found.statistic.low < truth < found.statistic.high
