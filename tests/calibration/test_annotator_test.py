"""The alternative annotator test, its published values and its traps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from correction_cases import PUBLISHED, Floats

from judges.calibration.annotator_test import annotator_test, p_value

GIVEN = PUBLISHED["annotator_test"]
ITEMS = sorted(GIVEN["humans"]["h0"], key=lambda name: int(name[1:]))
HUMANS = {name: np.array([labels[item] for item in ITEMS], dtype=float) for name, labels in GIVEN["humans"].items()}
JUDGES = {name: np.array([labels[item] for item in ITEMS], dtype=float) for name, labels in GIVEN["llms"].items()}


@pytest.mark.parametrize("key", GIVEN["results"])
def test_equals_the_published_values(key: str) -> None:
    name, epsilon = key.split("|eps=")
    expected = GIVEN["results"][key]
    found = annotator_test(HUMANS, JUDGES[name], float(epsilon))
    assert found.winning_rate.value == pytest.approx(expected["winning_rate"], abs=1e-9)
    assert found.advantage_probability.value == pytest.approx(expected["advantage_probability"], abs=1e-9)
    assert found.passed is (expected["winning_rate"] >= 0.5)
    for row in expected["rows"]:
        one = found.annotators[row["annotator"]]
        assert (one.n, one.judge, one.annotator) == (row["n"], pytest.approx(row["rho_llm"]), row["rho_human"])
        assert one.p_value == pytest.approx(row["p"], abs=1e-9)


class TestTraps:
    def test_a_judge_that_is_an_annotator_passes_and_is_pointed_out(self) -> None:
        found = annotator_test(HUMANS, HUMANS["h0"], 0.1)
        assert found.winning_rate.value == GIVEN["own_edge"]["winning_rate"]
        assert found.advantage_probability.value == GIVEN["own_edge"]["advantage_probability"]
        for row in GIVEN["own_edge"]["rows"]:
            assert found.annotators[row["annotator"]].p_value == pytest.approx(row["p"], abs=1e-9)
        assert "ties with h0 on all 40 items" in found.notes[0]

    def test_without_variance_the_margin_decides(self) -> None:
        assert p_value(np.zeros(40), 0.1) == 0.0
        assert p_value(np.zeros(40), 0.0) == 1.0
        assert p_value(np.ones(40), 0.2) == 1.0

    def test_labels_that_are_not_blind(self) -> None:
        found = annotator_test(HUMANS, JUDGES["good"], blind=False)
        assert (found.winning_rate.status, found.passed) == ("labels_not_blind", None)

    def test_two_annotators_are_too_few(self) -> None:
        two = {name: HUMANS[name] for name in ("h0", "h1")}
        found = annotator_test(two, JUDGES["good"])
        assert (found.winning_rate.status, found.passed) == ("too_few_annotators", None)
        assert "3 are needed" in found.winning_rate.why

    def test_an_annotator_with_few_items_is_left_out_and_counted(self) -> None:
        few = np.full(40, np.nan)
        few[:3] = 1
        found = annotator_test({**HUMANS, "guest": few}, JUDGES["good"])
        assert "guest" not in found.annotators
        assert found.winning_rate.dropped == {"annotators_with_few_items": 1}
        assert found.winning_rate.n == 3

    def test_fewer_than_thirty_items_are_ranked(self) -> None:
        short = {name: labels[:20] for name, labels in HUMANS.items()}
        found = annotator_test(short, JUDGES["good"][:20], 0.2)
        from scipy.stats import wilcoxon

        others = np.stack([HUMANS["h1"][:20], HUMANS["h2"][:20]])
        mine, its = ((others == one[:20]).mean(axis=0) for one in (HUMANS["h0"], JUDGES["good"]))
        expected = wilcoxon((mine >= its).astype(float) - (its >= mine) - 0.2, alternative="less").pvalue
        assert found.annotators["h0"].p_value == pytest.approx(expected)
        assert "Wilcoxon" in found.notes[-1]


class TestOneExpert:
    def test_annotators_are_compared_with_the_expert(self) -> None:
        expert = HUMANS["h2"]
        found = annotator_test({"recruit": HUMANS["h0"]}, expert.copy(), 0.2, expert=expert)
        assert found.passed is True
        assert found.annotators["recruit"].judge == 1.0
        worse = annotator_test({"recruit": expert.copy()}, JUDGES["bad"], 0.2, expert=expert)
        assert worse.passed is False


class TestDistance:
    def test_a_judge_between_the_others_wins(self) -> None:
        rng = np.random.default_rng(1)
        truth = rng.normal(3, 1, 60)
        people = {f"h{k}": truth + rng.normal(0, 0.8, 60) for k in range(4)}
        good = annotator_test(people, truth, 0.1, "distance")
        assert (good.winning_rate.value, good.passed) == (1.0, True)
        bad = annotator_test(people, truth + 3, 0.1, "distance")
        assert (bad.winning_rate.value, bad.passed) == (0.0, False)

    def test_ties_count_for_both(self) -> None:
        ones: Floats = np.ones(40)
        found = annotator_test({"a": ones, "b": ones, "c": ones}, ones, 0.1, "distance")
        assert {(one.judge, one.annotator) for one in found.annotators.values()} == {(1.0, 1.0)}


def test_as_json_has_what_other_programs_read() -> None:
    fields: dict[str, Any] = annotator_test(HUMANS, JUDGES["good"]).as_json()
    assert {"winning_rate", "advantage_probability", "epsilon", "passed"} <= set(fields)
    assert fields["annotators"]["h0"]["n"] == 40
