"""`score --compare`: systems in pairs where pairs were drawn, judges on the same labels; ranks; carried-over rates."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import JUDGE, METRIC, Plant, Planted, label, plant

from judges.comparing import compare_systems_of, leaderboards, transported
from judges.correcting import Corrections
from judges.drawing import Wish, draw_estimate
from store.study import Study
from tests.commands import Overread

overread = Overread()
TWO = Plant(items=300, right={"a": 0.85, "b": 0.6})


def study_of(tmp_path: Path, plan: Plant = TWO) -> tuple[Study, Planted]:
    planted = plant(tmp_path / "s.duckdb", plan)
    return Study.open(planted.path), planted


@pytest.mark.parametrize("design", [{}, {"by": ("verdict",), "judge": JUDGE, "allocation": "proportional"}])
def test_pairs_that_were_drawn_are_compared_as_pairs(tmp_path: Path, design: dict[str, object]) -> None:
    study, planted = study_of(tmp_path)
    with study:
        wish = Wish(100, paired=True, seed=1, **design)  # type: ignore[arg-type]
        label(study, planted, draw_estimate(study, wish, "lead").draw.draw_id)
        found = compare_systems_of(Corrections(study), "a", "b", JUDGE)
        assert found.paired == ("qa",) and found.apart == {}
        one = found.metrics[METRIC]
        value, truth = one.found.statistic, planted.share(study, "a") - planted.share(study, "b")
        assert one.paired and value.low is not None and value.high is not None and value.low < truth < value.high
        assert value.n == 100 and one.separable and one.p_value is not None and one.p_value < 0.01
        assert one.power is not None and 0 < one.power.detectable < 0.2


def test_a_pair_begun_and_not_finished_is_left_out(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        label(study, planted, draw_estimate(study, Wish(60, paired=True, seed=1), "lead").draw.draw_id, 81)
        one = compare_systems_of(Corrections(study), "a", "b", JUDGE).metrics[METRIC]
        assert one.paired and one.found.statistic.n == 40


def test_items_drawn_one_by_one_are_compared_apart_and_that_is_said(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        label(study, planted, draw_estimate(study, Wish(200, seed=1), "lead").draw.draw_id)
        found = compare_systems_of(Corrections(study), "a", "b", JUDGE)
        assert found.paired == () and "sample --paired" in found.apart["qa"]
        value = found.metrics[METRIC].found.statistic
        truth = planted.share(study, "a") - planted.share(study, "b")
        assert value.low is not None and value.high is not None and value.low < truth < value.high
        assert not found.metrics[METRIC].paired


@pytest.mark.slow
def test_the_command_prints_both_shapes(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        label(study, planted, draw_estimate(study, Wish(60, paired=True, seed=1), "lead").draw.draw_id)
    text = overread("score", "--compare", "a", "b", cwd=tmp_path)
    assert text.exit_code == 0 and "paired on tasks: qa" in text.stdout and METRIC in text.stdout, text
    found = overread("score", "--compare", "a", "b", "--json", cwd=tmp_path).json()
    [row] = [one for one in found["compare"] if one["metric"] == METRIC]
    assert (row["a"], row["b"], row["paired"]) == ("a", "b", True)
    assert set(found["systems"]) == {"a", "b"} and row["difference"]["low"] < row["difference"]["value"]
    assert row["power"]["at"] == 0.05 and row["power"]["labels_needed"] > 0
    ranks = {one["system"]: one for one in found["leaderboard"][METRIC]}
    assert (ranks["a"]["rank"], ranks["b"]["rank"], ranks["a"]["not_separable"]) == (1, 2, [])
    for wrong, words in (
        ("nobody", "no system and no judge"),
        ("a", "system is not compared with itself"),
        (JUDGE, "judge is not"),
    ):
        outcome = overread("score", "--compare", wrong, wrong, cwd=tmp_path)
        assert outcome.exit_code == 2 and words in outcome.stderr, outcome


def test_ranks_that_labels_cannot_tell_apart_are_said_and_less_is_better_where_it_is(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=200, right={"a": 0.9, "b": 0.7, "c": 0.68}))
    with study:
        label(study, planted, draw_estimate(study, Wish(70, paired=True, seed=2), "lead").draw.draw_id)
        corrections = Corrections(study)
        scores = {name: corrections.corrected(name, JUDGE) for name in "abc"}
        boards = leaderboards(corrections, {name: one for name, one in scores.items() if one}, JUDGE)
        ranks = {one.system: one for one in boards[METRIC]}
        assert (ranks["a"].rank, ranks["a"].best, ranks["a"].worst) == (1, 1, 1)
        assert ranks["b"].not_separable == ("c",) and ranks["c"].not_separable == ("b",)
        assert (ranks["b"].best, ranks["b"].worst) == (2, 3)
        [best, *_] = boards["question_answering / hallucination_qa_ratio(all)"]
        assert best.system == "a"


@pytest.mark.slow
def test_two_judges_on_the_same_labels(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=400, judges=(JUDGE, "other"), wrong=0.12))
    with study:
        label(study, planted, draw_estimate(study, Wish(300, seed=1), "lead").draw.draw_id)
        said = {
            name: dict(study.rows("SELECT item_id, label FROM verdicts JOIN judges USING (judge_id) WHERE name = ?",
                                  [name])) for name in (JUDGE, "other")
        }  # fmt: skip
        ids = [row[0] for row in study.rows("SELECT item_id FROM current_labels")]
    right = {name: {one for one in ids if found[one] == planted.truth[one]} for name, found in said.items()}
    rows = overread("score", "--compare", JUDGE, "other", "--json", cwd=tmp_path).json()["compare"]
    [accuracy] = [one for one in rows if one.get("metric") == "accuracy"]
    assert accuracy["difference"]["value"] == pytest.approx((len(right[JUDGE]) - len(right["other"])) / 300)
    assert accuracy["only_a_right"] == len(right[JUDGE] - right["other"]) and accuracy["p_value"] < 0.05
    text = overread("score", "--compare", JUDGE, "other", cwd=tmp_path).stdout
    assert f"only {JUDGE} right" in text and "agreement" in text


def test_judges_are_not_compared_item_by_item_where_items_weigh_differently(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path, Plant(items=100, judges=(JUDGE, "other")))
    with study:
        wish = Wish(60, by=("verdict",), judge=JUDGE, allocation="equal", seed=1)
        label(study, planted, draw_estimate(study, wish, "lead").draw.draw_id)
    rows = overread("score", "--compare", JUDGE, "other", "--json", cwd=tmp_path).json()["compare"]
    assert [one["why"] for one in rows if one["task"] == "qa"] == [
        "labels were drawn by strata or texts: items of unequal weight are not compared one by one"
    ]


@pytest.mark.slow
def test_rates_of_one_system_are_carried_to_another_and_said_to_be(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        label(study, planted, draw_estimate(study, Wish(150, system="a", seed=1), "lead").draw.draw_id)
        found = transported(Corrections(study), "a", "b", JUDGE)
        value = found.metrics[METRIC]
        assert not isinstance(value, str)
        assert value[1] < planted.share(study, "b") < value[2]
        assert found.checks["qa"].verdict == "undecided", "nobody labelled there"
    text = overread("score", "--calibrated-on", "a", cwd=tmp_path).stdout
    assert "by the judge's error rates on a (no labels of this system enter)" in text
    carried = overread("score", "--calibrated-on", "a", "--json", cwd=tmp_path).json()["systems"]
    assert carried["b"]["transported"]["calibrated_on"] == "a" and "transported" not in carried["a"]


def test_a_judge_that_errs_otherwise_on_the_other_system_is_not_carried_over(tmp_path: Path) -> None:
    study, planted = study_of(tmp_path)
    with study:
        study.writer.do(lambda connection: connection.execute(
            """UPDATE verdicts SET label = 'Correct' WHERE label <> 'Correct'
            AND item_id IN (SELECT item_id FROM items WHERE system = 'b')"""
        ))  # fmt: skip
        label(study, planted, draw_estimate(study, Wish(300, seed=1), "lead").draw.draw_id)
        found = transported(Corrections(study), "a", "b", JUDGE).checks["qa"]
        assert found.verdict == "does_not_transport"
