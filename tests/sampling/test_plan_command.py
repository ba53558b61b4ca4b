"""`plan`: labels and hours, by the judge's verdicts first and by labels later; a plan frozen and whether it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from planted import JUDGE, METRIC, Plant, label, plant

from judges.correcting import correct_study
from judges.drawing import Wish, draw_estimate
from judges.frozen_plan import check_plan, freeze, frozen_plan
from judges.learning_draws import draw_unexplained
from judges.reading_effort import measured_pace
from store.errors import UsageError
from store.study import Study
from tests.commands import Overread

overread = Overread()
ONE = ("--metric", METRIC)


def ways(found: dict[str, Any]) -> dict[tuple[str, bool], dict[str, Any]]:
    return {(one["design"], one["with_judge"]): one for one in found["metrics"][0]["plans"]}


@pytest.mark.slow
def test_every_design_with_and_without_the_judge_before_and_after_labels(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=400, group=10, wrong=0.08))
    before = overread("plan", *ONE, "--json", cwd=tmp_path).json()
    assert before["metrics"][0]["expected"]["supposed"] and before["metrics"][0]["labels_known"] == 0
    assert before["pace"]["qa"]["labels"] == 0, "30 seconds are assumed, and that is said"
    assert set(ways(before)) == {
        ("simple", False), ("simple", True), ("by_verdict", True), ("two_stage", False), ("two_stage", True),
    }  # fmt: skip
    made = overread("sample", "--n", "100", "--single", "--seed", "1", "--json", cwd=tmp_path).json()
    with Study.open(planted.path) as study:
        label(study, planted, made["draw_id"], ms=12_000)
    after = overread("plan", *ONE, "--json", cwd=tmp_path).json()
    expected = after["metrics"][0]["expected"]
    assert not expected["supposed"] and expected["explained_by_judge"] > 0.5
    assert after["pace"]["qa"]["seconds"] == pytest.approx(12) and after["pace"]["qa"]["labels"] > 20
    helped, alone = ways(after)["simple", True], ways(after)["simple", False]
    assert helped["labels"] < alone["labels"] and helped["hours"] < alone["hours"]
    text = overread("plan", *ONE, cwd=tmp_path).stdout
    assert "by shared text (--two-stage)" in text and "by 100 labels" in text and "12 s a label, measured" in text
    decide = overread("plan", *ONE, "--decide", "0.5", "--json", cwd=tmp_path).json()
    assert ways(decide)["simple", True]["labels"] < helped["labels"]


@pytest.mark.slow
def test_the_number_planned_gives_the_width_planned(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=600, wrong=0.1))
    pilot = overread("sample", "--n", "80", "--seed", "1", "--json", cwd=tmp_path).json()
    with Study.open(planted.path) as study:
        label(study, planted, pilot["draw_id"])
    found = overread("plan", *ONE, "--half-width", "0.04", "--json", cwd=tmp_path).json()
    n = ways(found)["simple", True]["labels"]
    more = overread("sample", "--top-up", pilot["draw_id"], "--n", str(n - 80), "--json", cwd=tmp_path).json()
    with Study.open(planted.path) as study:
        label(study, planted, more["draw_id"])
        corrected = correct_study(study, "northwind", JUDGE)
        assert corrected is not None
        value = corrected[METRIC].statistic
        assert value.low is not None and value.high is not None
        assert (value.high - value.low) / 2 == pytest.approx(0.04, rel=0.25)


def test_measured_seconds_leave_the_reading_of_a_shared_text_apart(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=120, group=6))
    with Study.open(planted.path) as study:
        made = draw_estimate(study, Wish(120, within=0, seed=1), "lead")
        first = {}
        for item in made.items:
            first.setdefault(item.group_number, item.item_id)
        from store.events import EventDraft
        from store.records import LabelState

        study.append([
            EventDraft(kind="label", annotator="a", item_id=one.item_id, content_hash=planted.contents[one.item_id],
                       state=LabelState(value="Correct"), draw_id=made.draw.draw_id,
                       active_ms=70_000 if one.item_id in first.values() else 10_000)
            for one in made.items
        ])  # fmt: skip
        pace = measured_pace(study, {"qa"}, {f"s{k}": 1200 for k in range(20)})
        assert (pace.seconds, pace.labels, pace.texts) == (10.0, 100, 20)
        assert pace.characters_per_second == pytest.approx(1200 / 60)


# --- frozen ---


@pytest.mark.slow
def test_a_plan_is_frozen_before_the_first_label_and_score_says_whether_it_is_kept(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=200))
    frozen = overread("plan", *ONE, "--freeze", "--n", "60", "--threshold", "recall=0.9", "--json", cwd=tmp_path)
    plan = frozen.json()["frozen"]
    assert (plan["metrics"], plan["n"], plan["judge"]) == ([METRIC], {"qa": 60}, JUDGE)
    assert plan["thresholds"] == {"recall": 0.9}
    made = overread("sample", "--n", "80", "--seed", "1", "--json", cwd=tmp_path).json()
    with Study.open(planted.path) as study:
        label(study, planted, made["draw_id"], 40)
    early = overread("score", "--json", cwd=tmp_path).json()["plan"]
    assert early["kept"] and any("40 of 60 planned labels" in note for note in early["notes"])
    assert any("exploratory" in note for note in early["notes"])
    with Study.open(planted.path) as study:
        label(study, planted, made["draw_id"])
        assert check_plan(study, {"qa": 60}, judge="other").deviations == ("the judge is other, planned was gpt-judge",)
        limits = check_plan(study, {"qa": 60}, thresholds={"recall": 0.8, "kappa": 0.1})
        assert limits.deviations == ("the threshold of recall is 0.8, planned was 0.9",)
    text = overread("score", cwd=tmp_path).stdout
    assert "NOT FOLLOWED" in text and "qa: 80 labels, planned were 60" in text
    late = overread("plan", *ONE, "--freeze", cwd=tmp_path)
    assert late.exit_code == 2 and "before the first label" in late.stderr


def test_without_a_plan_all_is_exploratory(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=60))
    with Study.open(planted.path) as study:
        label(study, planted, draw_estimate(study, Wish(40, seed=1), "lead").draw.draw_id)
        assert check_plan(study, {}).kept is None
    assert "all numbers are exploratory" in overread("score", cwd=tmp_path).stdout


def test_what_the_plan_leaves_out_is_in_no_draw_and_no_corrected_score(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=200))
    with Study.open(planted.path) as study:
        freeze(study, metrics=[METRIC], n={"qa": 100}, goal={}, created_by="lead", exclusions=[("kind", "hard")])
        hard = {row[0] for row in study.rows("SELECT item_id FROM items WHERE slices LIKE '%hard%'")}
        assert len(hard) == 50
        made = draw_estimate(study, Wish(100, seed=1), "lead")
        assert not hard & {item.item_id for item in made.items}
        label(study, planted, made.draw.draw_id)
        found = correct_study(study, "northwind", JUDGE)
        assert found is not None and (found.items, found.labels) == ({"qa": 150}, {"qa": 100})
        [note] = [one for one in check_plan(study, {"qa": 100}).notes if "left out" in one]
        assert "50 items with kind = hard" in note


def test_exclusions_and_plans_come_before_draws_and_labels(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=60))
    with Study.open(planted.path) as study:
        terms: dict[str, Any] = {"metrics": [METRIC], "n": {"qa": 10}, "goal": {}, "created_by": "lead"}
        with pytest.raises(UsageError, match="No item has kind = odd"):
            freeze(study, **terms, exclusions=[("kind", "odd")])
        label(study, planted, draw_unexplained(study, Wish(10, stream="practice"), "lead").draw.draw_id)
        freeze(study, **terms)
        assert freeze(study, **terms | {"n": {"qa": 20}}).number == 2, "practice labels are no reason against a plan"
        draw_estimate(study, Wish(10, seed=1), "lead")
        with pytest.raises(UsageError, match="before the first draw"):
            freeze(study, **terms, exclusions=[("kind", "hard")])
        plan = frozen_plan(study)
        assert plan is not None and plan.n == {"qa": 20}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--half-width", "0"], "between 0 and 1"),
        (["--metric", "accuracy of dreams"], "no metric"),
        (["--n", "10"], "--freeze"),
        (["--freeze", "--threshold", "recall=high"], "no threshold"),
        (["--freeze", "--threshold", "f1=0.5"], "no threshold"),
        (["--freeze", "--exclude", "kind"], "no SLICE=VALUE"),
    ],
)
def test_what_is_no_plan_is_said(tmp_path: Path, arguments: list[str], words: str) -> None:
    plant(tmp_path / "s.duckdb", Plant(items=40))
    outcome = overread("plan", *arguments, cwd=tmp_path)
    assert outcome.exit_code == 2 and words in outcome.stderr, outcome
