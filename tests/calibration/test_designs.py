"""Draws with known chances: topped up, stopped early, handed to the correction."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from correction_cases import RATE, rate, rate_block, simulated
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.calibration.clustered import intraclass
from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.sample import design_weights
from judges.calibration.designs import (
    Allocation,
    allocate,
    draw_simple,
    draw_stratified,
    draw_two_stage,
    draw_unequal,
    inclusion_chances,
    served_draw,
    served_prefix,
    top_up,
)
from judges.calibration.joint_plan import TaskPart, plan_jointly
from judges.calibration.learn_order import Signal, interest, learn_order
from judges.calibration.planner import (
    Effort,
    Expectation,
    Goal,
    expected_groups,
    hours,
    pilot,
    plan_half_width,
    plan_threshold,
    simple_error,
)
from judges.calibration.sampling import Candidate

ITEMS = [Candidate(f"i{k}", group=f"g{k // 5}", stratum="fail" if k % 5 == 0 else "pass") for k in range(100)]


class TestSimple:
    def test_every_item_is_drawn_as_often(self) -> None:
        counts = Counter(name for seed in range(2000) for name in draw_simple(ITEMS[:10], 3, seed).items)
        assert set(counts) == {f"i{k}" for k in range(10)}
        assert max(counts.values()) - min(counts.values()) < 120

    def test_the_order_of_candidates_does_not_matter(self) -> None:
        assert draw_simple(ITEMS, 20, 1).items == draw_simple(ITEMS[::-1], 20, 1).items

    @given(st.integers(0, 1000), st.integers(1, 50), st.integers(0, 50))
    @settings(max_examples=30)
    def test_topping_up_is_the_larger_draw(self, seed: int, n: int, more: int) -> None:
        small, large = draw_simple(ITEMS, n, seed), draw_simple(ITEMS, n + more, seed)
        added = top_up(small, large)
        assert small.items + [place.item_id for place in added] == large.items
        assert {place.probability for place in large.places} == {(n + more) / 100}

    def test_another_seed_is_no_top_up(self) -> None:
        with pytest.raises(ValueError, match="does not contain"):
            top_up(draw_simple(ITEMS, 5, 1), draw_simple(ITEMS, 10, 2))


class TestStratified:
    @pytest.mark.parametrize(
        ("allocation", "expected"),
        [("proportional", {"pass": 16, "fail": 4}), ("equal", {"pass": 10, "fail": 10})],
    )
    def test_allocation(self, allocation: Allocation, expected: dict[str, int]) -> None:
        plan = draw_stratified(ITEMS, 20, 1, allocation)
        assert Counter(place.stratum for place in plan.places) == expected
        assert {place.stratum: place.probability for place in plan.places} == {
            "pass": expected["pass"] / 80,
            "fail": expected["fail"] / 20,
        }

    def test_neyman_follows_the_spread(self) -> None:
        counts = allocate({"a": 100, "b": 100}, 60, "neyman", {"a": 0.5, "b": 0.1})
        assert counts == {"a": 50, "b": 10}

    @given(
        st.dictionaries(st.text("abcdef", min_size=1), st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 80)
    )
    @settings(max_examples=60)
    def test_no_stratum_gets_more_than_it_has(self, sizes: dict[str, int], n: int) -> None:
        counts = allocate(sizes, n)
        assert sum(counts.values()) == min(n, sum(sizes.values()))
        assert all(counts[name] <= size for name, size in sizes.items())
        if n >= 2 * len(sizes):
            assert all(counts[name] >= min(2, size) for name, size in sizes.items())

    def test_topping_up_keeps_what_was_drawn(self) -> None:
        added = top_up(draw_stratified(ITEMS, 20, 3), draw_stratified(ITEMS, 40, 3))
        assert Counter(place.stratum for place in added) == {"pass": 16, "fail": 4}

    def test_the_order_says_nothing_of_the_stratum(self) -> None:
        """After an item of one stratum the next is of either as often as chance has it: no taking turns."""
        follows = Counter(
            plan[0].stratum == plan[1].stratum
            for plan in (draw_stratified(ITEMS, 20, seed, "equal").places for seed in range(1000))
        )
        assert follows[True] / 1000 == pytest.approx(9 / 19, abs=0.05)

    def test_within_a_stratum_every_beginning_is_a_simple_random_sample(self) -> None:
        firsts = Counter(
            next(place.item_id for place in draw_stratified(ITEMS, 20, seed, "equal").places if place.stratum == "fail")
            for seed in range(2000)
        )
        assert len(firsts) == 20 and max(firsts.values()) < 2 * min(firsts.values())


GROUPED = [one._replace(stratum="") for one in ITEMS]


class TestTwoStage:
    def test_groups_are_served_together_and_whole(self) -> None:
        plan = draw_two_stage(GROUPED, 6, 1)
        groups = [name.item_id for name in plan.places]
        assert len(groups) == 30
        numbers = [place.group_number for place in plan.places]
        assert numbers == sorted(numbers)
        assert {place.probability for place in plan.places} == {0.3}

    def test_chances_multiply(self) -> None:
        uneven = [Candidate(f"i{k}", group="small" if k < 3 else f"g{k // 6}") for k in range(30)]
        plan = draw_two_stage(uneven, 3, 2, within=2)
        sizes = Counter(one.group for one in uneven)
        group_of = {one.item_id: one.group for one in uneven}
        for place in plan.places:
            size = sizes[group_of[place.item_id]]
            assert place.probability == pytest.approx(3 / len(sizes) * min(2, size) / size)

    def test_items_without_a_group_are_groups_of_one(self) -> None:
        plan = draw_two_stage([Candidate(f"i{k}") for k in range(10)], 4, 1)
        assert len(plan.places) == 4

    def test_every_group_is_drawn_as_often(self) -> None:
        counts = Counter(place.item_id for seed in range(1500) for place in draw_two_stage(GROUPED, 4, seed).places)
        assert len(counts) == 100
        assert max(counts.values()) < 1.3 * min(counts.values())

    def test_the_served_prefix_ends_at_a_group(self) -> None:
        plan = draw_two_stage(GROUPED, 6, 1)
        assert len(served_prefix(plan, plan.items[:12])) == 10
        assert len(served_prefix(plan, plan.items)) == 30
        assert served_prefix(plan, plan.items[1:]) == ()

    def test_of_every_task_of_a_text_something_is_read(self) -> None:
        mixed = [Candidate(f"i{k}", f"g{k // 10}", part="qa" if k % 10 == 0 else "facts") for k in range(100)]
        plan = draw_two_stage(mixed, 5, 1, within=3)
        assert Counter(next(one.part for one in mixed if one.item_id == name) for name in plan.items) == {
            "qa": 5, "facts": 15,
        }  # fmt: skip
        chances = {mixed[int(place.item_id[1:])].part: place.probability for place in plan.places}
        assert chances == pytest.approx({"qa": 0.5, "facts": 0.5 * 3 / 9})

    def test_groups_of_each_stratum(self) -> None:
        long = [Candidate(f"i{k}", f"g{k // 5}", "long" if k < 25 else "short") for k in range(100)]
        plan = draw_two_stage(long, 10, 1, allocation="equal")
        assert Counter(place.stratum for place in plan.places) == {"long": 25, "short": 25}
        assert {place.stratum: place.probability for place in plan.places} == {"long": 1.0, "short": 5 / 15}
        with pytest.raises(ValueError, match="two strata"):
            draw_two_stage(ITEMS, 4, 1)

    def test_topping_up_adds_groups(self) -> None:
        added = top_up(draw_two_stage(GROUPED, 4, 5), draw_two_stage(GROUPED, 6, 5))
        assert len(added) == 10
        assert {place.group_number for place in added} == {4, 5}


class TestUnequal:
    def test_chances_sum_to_n_and_have_a_floor(self) -> None:
        chances = inclusion_chances([0.0] * 90 + [10.0] * 10, 20)
        assert sum(chances) == pytest.approx(20)
        assert min(chances) == pytest.approx(0.5 * 20 / 100, rel=0.35)
        assert max(chances) <= 1

    def test_no_interest_is_uniform(self) -> None:
        assert inclusion_chances([0.0] * 50, 10) == pytest.approx([0.2] * 50)
        assert inclusion_chances([1.0] * 5, 9) == [1.0] * 5

    def test_items_are_drawn_with_their_chance(self) -> None:
        interests = {"i0": 5.0, "i1": 1.0}
        often: Counter[str] = Counter()
        for seed in range(3000):
            often.update(draw_unequal(ITEMS[:20], 5, interests, seed).items)
        plan = inclusion_chances([interests.get(one.item_id, 0.0) for one in ITEMS[:20]], 5)
        for place in range(3):
            assert often[f"i{place}"] / 3000 == pytest.approx(plan[place], abs=0.03)

    def test_a_beginning_does_not_count(self) -> None:
        plan = draw_unequal(ITEMS, 20, {}, 1)
        with pytest.raises(ValueError, match="served whole"):
            served_draw(plan, ITEMS, plan.items[:-1])


class TestHandedToTheCorrection:
    def test_weights_are_those_of_what_was_served(self) -> None:
        plan = draw_stratified(ITEMS, 20, 1, "equal")
        draw = served_draw(plan, ITEMS, plan.items[:12])
        strata = Counter(ITEMS[index].stratum for index in draw.drawn)
        weights = design_weights(draw)
        for index, weight in zip(draw.drawn, weights, strict=True):
            stratum = ITEMS[index].stratum
            assert weight == pytest.approx({"pass": 80, "fail": 20}[stratum] / strata[stratum])

    def test_two_stage_chances_are_the_weights(self) -> None:
        plan = draw_two_stage(GROUPED, 6, 1, within=3)
        draw = served_draw(plan, ITEMS, plan.items)
        assert design_weights(draw) == pytest.approx([1 / place.probability for place in plan.places])
        half = served_draw(plan, ITEMS, plan.items[:9])
        assert design_weights(half) == pytest.approx(np.full(9, 20 / 3 * 5 / 3))

    def test_unequal_chances_are_the_weights(self) -> None:
        plan = draw_unequal(ITEMS, 30, {f"i{k}": float(k % 7) for k in range(100)}, 1)
        draw = served_draw(plan, ITEMS, plan.items)
        assert design_weights(draw) == pytest.approx([1 / place.probability for place in plan.places])

    @pytest.mark.parametrize("design", ["simple", "stratified", "two_stage", "unequal"])
    def test_the_human_rate_is_found(self, design: str) -> None:
        people, judge = simulated(1000, 1, 0.6)
        candidates = [Candidate(f"i{k}", f"g{k // 10}", str(judge[k])) for k in range(1000)]
        plan = {
            "simple": lambda: draw_simple(candidates, 200, 2),
            "stratified": lambda: draw_stratified(candidates, 200, 2),
            "two_stage": lambda: draw_two_stage([one._replace(stratum="") for one in candidates], 20, 2),
            "unequal": lambda: draw_unequal(candidates, 200, {f"i{k}": float(judge[k]) for k in range(1000)}, 2),
        }[design]()
        draw = served_draw(plan, candidates, plan.items)
        found = corrected_scores([rate_block(judge, people, draw)], rate, CorrectionSettings(shares=RATE))["rate"]
        assert found.used == "corrected"
        assert found.statistic.low is not None and found.statistic.high is not None
        assert found.statistic.low < people.mean() < found.statistic.high
        assert found.statistic.high - found.statistic.low < 0.12

    def test_an_item_that_is_gone(self) -> None:
        plan = draw_simple(ITEMS, 5, 1)
        with pytest.raises(ValueError, match="not among the candidates"):
            served_draw(plan, [one for one in ITEMS if one.item_id != plan.items[0]], plan.items)


class TestLearn:
    signals = (
        [Signal(f"differ{k}", {"a": "pass", "b": "fail"}) for k in range(10)]
        + [Signal(f"unsure{k}", {"a": "pass"}, confidence=0.55) for k in range(10)]
        + [Signal(f"plain{k}", {"a": "pass", "b": "pass"}, confidence=0.99) for k in range(100)]
    )

    def test_the_most_telling_are_taken_and_plain_ones_mixed_in(self) -> None:
        picks = learn_order(self.signals, 15, 1)
        kinds = Counter(pick.item_id.rstrip("0123456789") for pick in picks)
        assert kinds == {"differ": 10, "plain": 5}
        assert all(pick.why == ("mixed_in",) for pick in picks if pick.item_id.startswith("plain"))

    def test_the_place_in_the_queue_says_nothing(self) -> None:
        early = Counter(
            pick.item_id.startswith("plain") for seed in range(200) for pick in learn_order(self.signals, 30, seed)[:5]
        )
        assert early[True] / 1000 == pytest.approx(1 / 3, abs=0.05)

    def test_a_judge_that_contradicts_itself(self) -> None:
        assert interest(Signal("x", repeats=("pass", "fail", "pass"))) > 0
        assert interest(Signal("x", {"a": "pass", "b": None}, repeats=("pass", "pass"), confidence=0.9)) == 0

    def test_a_new_cluster_is_new_once(self) -> None:
        signals = [Signal(f"i{k}", {"a": "pass"}, cluster="c1" if k < 5 else "c2") for k in range(10)]
        picks = learn_order(signals, 4, 1, frozenset({"c1"}), mixed_in=0.5)
        new = [pick.item_id for pick in picks if "new_cluster" in pick.why]
        assert len(new) == 1 and int(new[0][1:]) >= 5
        assert len(picks) == 4

    def test_nobody_is_there_twice(self) -> None:
        picks = learn_order(self.signals, 500, 1)
        assert len({pick.item_id for pick in picks}) == len(picks)


class TestPlanner:
    effort = Effort(seconds=40, group_sizes=[5] * 200, group_characters=14_000)

    def test_a_judge_saves_labels_and_hours(self) -> None:
        plans = {(p.design, p.with_judge): p for p in plan_half_width(Expectation(0.8, 0.5), self.effort, 0.05)}
        alone, helped = plans["simple", False], plans["simple", True]
        assert alone.labels is not None and helped.labels is not None
        assert 0.45 < helped.labels / alone.labels < 0.75
        assert helped.hours is not None and alone.hours is not None and helped.hours < alone.hours

    def test_reading_together_saves_hours_where_texts_are_long(self) -> None:
        plans = {(p.design, p.with_judge): p for p in plan_half_width(Expectation(0.8, 0.5), self.effort, 0.05)}
        simple, together = plans["simple", True], plans["two_stage", True]
        assert simple.labels is not None and together.labels is not None
        assert together.labels > simple.labels
        assert simple.hours is not None and together.hours is not None
        assert together.hours < 0.6 * simple.hours

    def test_the_half_width_is_what_the_correction_then_gives(self) -> None:
        people, judge = simulated(1000, 6, 0.8)
        expected = pilot(people, judge)
        for helped in (False, True):
            plan = next(
                p
                for p in plan_half_width(expected, self.effort, 0.05)
                if (p.design, p.with_judge) == ("simple", helped)
            )
            widths = []
            for seed in range(60):
                drawn = draw_simple([Candidate(str(k)) for k in range(1000)], plan.labels or 0, seed)
                draw = served_draw(drawn, [Candidate(str(k)) for k in range(1000)], drawn.items)
                found = corrected_scores([rate_block(judge, people, draw)], rate, CorrectionSettings(shares=RATE))[
                    "rate"
                ]
                one = found.statistic if helped else found.humans_only
                widths.append((one.high or 0) - (one.low or 0))
            assert float(np.median(widths)) / 2 == pytest.approx(0.05, rel=0.12)

    def test_a_threshold_far_away_needs_little(self) -> None:
        near, far = (
            plan_threshold(Expectation(0.8, 0.5), self.effort, threshold)[0].labels for threshold in (0.75, 0.5)
        )
        assert near is not None and far is not None and far < near / 5
        same = plan_threshold(Expectation(0.8, 0.5), self.effort, 0.8)
        assert all(plan.labels is None and "no number" in plan.why for plan in same)

    def test_too_few_items_of_each_group(self) -> None:
        effort = Effort(seconds=40, group_sizes=[50] * 4, within=1)
        plan = plan_half_width(Expectation(0.5, 0.0), effort, 0.05)[-1]
        assert (plan.design, plan.labels) == ("two_stage", None)
        assert "label more of them" in plan.why

    def test_groups_a_random_sample_touches(self) -> None:
        rng = np.random.default_rng(1)
        sizes = [3, 1, 10, 6, 20]
        group = np.repeat(np.arange(5), sizes)
        seen = [len(np.unique(group[rng.choice(40, 8, replace=False)])) for _ in range(4000)]
        assert expected_groups(sizes, 8) == pytest.approx(np.mean(seen), abs=0.05)
        assert expected_groups(sizes, 40) == 5

    def test_pilot(self) -> None:
        rng = np.random.default_rng(2)
        groups = np.repeat(np.arange(50), 10)
        people = (rng.random(500) < rng.beta(2, 1, 50)[groups]).astype(float)
        judge = np.where(rng.random(500) < 0.95, people, 1 - people)
        found = pilot(people, judge, groups)
        assert found.explained > 0.7
        assert found.alike < found.alike_people
        assert found.alike_people == pytest.approx(0.25, abs=0.12)
        with pytest.raises(ValueError, match="too few"):
            pilot([1, 0], [1, 1])

    def test_intraclass_of_nothing_alike_and_all_alike(self) -> None:
        groups = np.repeat(np.arange(20), 5)
        assert intraclass(groups.astype(float), groups) == 1.0
        assert intraclass(np.random.default_rng(3).normal(size=100), groups) < 0.2
        assert intraclass(np.ones(100), groups) == 0.0


class TestSeveralTasks:
    """An F1 rests on labels of two tasks."""

    noisy = TaskPart(Expectation(0.7, 0.6, variance=0.3), Effort(30, [1] * 500))
    slow = TaskPart(Expectation(0.7, 0.2, variance=0.1), Effort(60, [10] * 100, 3000))

    def test_no_other_split_of_as_many_labels_meets_the_goal_in_less_time(self) -> None:
        goal = Goal.half_width(0.06)
        [alone, helped] = plan_jointly({"noisy": self.noisy, "slow": self.slow}, goal)
        assert helped.labels and alone.labels and helped.hours and helped.labels < alone.labels
        assert helped.by_task["noisy"] > helped.by_task["slow"], "less costly and more variable"
        assert sum(helped.by_task.values()) == helped.labels and helped.half_width and helped.half_width <= 0.06
        best = math.inf
        for first in range(20, 400, 10):
            for second in range(20, 400, 10):
                error = math.hypot(
                    simple_error(self.noisy.spread(True), first, 500),
                    simple_error(self.slow.spread(True), second, 1000),
                )
                if goal.met(error, min(first, second)):
                    texts = round(expected_groups(self.slow.effort.group_sizes, second))
                    best = min(best, hours(self.noisy.effort, first, 0) + hours(self.slow.effort, second, texts))
        assert helped.hours == pytest.approx(best, rel=0.03)

    def test_each_task_keeps_its_least_and_its_most(self) -> None:
        small = TaskPart(Expectation(0.5, 0.0), Effort(1, [1] * 25))
        plans = plan_jointly({"small": small, "noisy": self.noisy}, Goal.half_width(0.001))
        assert [plan.by_task for plan in plans] == [{"small": 25, "noisy": 500}] * 2, "all there are"
        [loose, _] = plan_jointly({"small": small, "noisy": self.noisy}, Goal.half_width(0.9))
        assert loose.by_task == {"small": 20, "noisy": 20}

    def test_the_threshold_itself_cannot_be_decided(self) -> None:
        [alone, _] = plan_jointly({"noisy": self.noisy, "slow": self.slow}, Goal.threshold(0.7, 0.7))
        assert alone.labels is None and "no number of labels" in alone.why
