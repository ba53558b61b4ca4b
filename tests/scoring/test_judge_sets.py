"""Which judges score together: each task its own, unless several judged the same task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotate.cli.study import create_study, read_into
from judges.judge_sets import judge_set, judge_sets
from judges.scoring import score_study
from store.errors import UsageError
from store.study import Study


def study(folder: Path, judges: Mapping[str, Mapping[str, str]]) -> Study:
    """Two items of every task, judged as given: task → judge → label."""
    rows = [
        {
            "item_id": f"{task}{number}", "task": task, "question": "q", "response": f"r{number}",
            "judge": [{"judge": judge, "label": label} for judge, label in given.items()],
        }
        for task, given in judges.items() for number in range(2)
    ]  # fmt: skip
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    tasks = folder / "tasks.toml"
    names = "".join(f'[[tasks]]\nname = "{task}"\nlabels = ["yes", "no"]\n' for task in judges)
    tasks.write_text(f'[columns]\ntask = "task"\n{names}', encoding="utf-8")
    made = create_study(folder / "s.duckdb", "table")
    read_into(made, [path], [], system="s", judge="", skip_bad=False, options={"tasks": str(tasks)})
    return made


def test_judges_of_different_tasks_score_together(tmp_path: Path) -> None:
    with study(tmp_path, {"a": {"llm": "yes"}, "b": {"rule": "no"}}) as made:
        (one,) = judge_sets(made)
        assert sorted(one.names) == ["llm", "rule"] and judge_set(made) == one
        scores = score_study(made, one.names).systems["s"].as_coded
        assert scores["a"]["share"]["yes"] == 1.0 and scores["b"]["share"]["no"] == 1.0
        assert judge_set(made, "llm").names == ("llm",), "whoever is named stands alone"
        alone = score_study(made, "llm").systems["s"].as_coded
        assert alone["b"]["no_verdict"] == 2


def test_judges_of_one_task_compete_and_the_others_join_each_of_them(tmp_path: Path) -> None:
    with study(tmp_path, {"a": {"one": "yes", "two": "no"}, "b": {"rule": "no"}}) as made:
        assert [found.names for found in judge_sets(made)] == [("one", "rule"), ("two", "rule")]
        with pytest.raises(UsageError, match="several judges of the same task: one, two"):
            judge_set(made)
        two = score_study(made, judge_set(made, "two").names)
        assert two.judge == "two and rule"
        coded = two.systems["s"].as_coded
        assert coded["a"]["share"]["no"] == 1.0 and coded["b"]["share"]["no"] == 1.0


def test_a_judge_that_competes_elsewhere_fills_no_gap_of_another(tmp_path: Path) -> None:
    with study(tmp_path, {"a": {"one": "yes", "two": "no"}, "b": {"one": "no"}}) as made:
        assert [found.names for found in judge_sets(made)] == [("one",), ("two",)]


def test_a_judge_that_is_not_there_is_said_with_those_that_are(tmp_path: Path) -> None:
    with study(tmp_path, {"a": {"llm": "yes"}}) as made, pytest.raises(UsageError, match="no judge 'gpt'") as raised:
        judge_set(made, "gpt")
    assert "llm" in str(raised.value)


def test_a_study_without_verdicts_has_no_set(tmp_path: Path) -> None:
    with create_study(tmp_path / "s.duckdb", "mist") as made:
        assert judge_sets(made) == []
        with pytest.raises(UsageError, match="no judge yet"):
            judge_set(made)
