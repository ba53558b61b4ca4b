"""What is found out about a table that nobody described, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_files import read_values, row, source, write_rows, write_tasks

from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.table import BENCHMARK
from store.errors import InputError


def tasks_of(folder: Path, values: list[dict[str, Any]], tasks: str = "") -> list[TaskDefinition]:
    path = write_rows(folder / "run.jsonl", values)
    return list(BENCHMARK.tasks_for(source(path, write_tasks(folder, tasks) if tasks else "")))


def said_of(folder: Path, values: list[dict[str, Any]], tasks: str = "") -> str:
    path = write_rows(folder / "run.jsonl", values)
    return "\n".join(BENCHMARK.inference(source(path, write_tasks(folder, tasks) if tasks else "")))


def labelled(*labels: Any, **more: Any) -> list[dict[str, Any]]:
    return [row(number, label, label, **more) for number, label in enumerate(labels)]


def test_labels_of_people_judges_and_gold_make_the_set(tmp_path: Path) -> None:
    values = [row(0, "no", "maybe", gold="yes"), row(1, "no", None)]
    (task,) = tasks_of(tmp_path, values)
    assert (task.task, task.values, task.level) == ("label", ("maybe", "no", "yes"), "nominal")


def test_numbers_are_ordinal_best_first(tmp_path: Path) -> None:
    (task,) = tasks_of(tmp_path, labelled(2, "10", 1, "2.5"))
    assert (task.values, task.level) == (("10", "2.5", "2", "1"), "ordinal")


@given(order=st.permutations(range(8)))
@settings(max_examples=20)
def test_the_order_of_rows_decides_nothing(tmp_path_factory: pytest.TempPathFactory, order: list[int]) -> None:
    folder = tmp_path_factory.mktemp("order")
    values = labelled("c", "a", "b", "a", "b", "c", "c", "a")
    assert tasks_of(folder, [values[place] for place in order]) == tasks_of(folder, values)


def test_two_numbers_that_are_one_make_no_ordinal_scale_and_are_said(tmp_path: Path) -> None:
    values = labelled("3", "3.0", "1")
    (task,) = tasks_of(tmp_path, values)
    assert task.level == "nominal"
    assert "'3' and '3.0' differ only in spelling" in said_of(tmp_path, values)


def test_labels_that_look_alike_are_said_and_kept_apart(tmp_path: Path) -> None:
    values = labelled("Correct", "correct.", "wrong")
    assert tasks_of(tmp_path, values)[0].values == ("Correct", "correct.", "wrong")
    assert "'Correct' and 'correct.'" in said_of(tmp_path, values)


def test_many_numbers_are_a_number(tmp_path: Path) -> None:
    values = labelled(*(n / 10 for n in range(12)), 5)
    (task,) = tasks_of(tmp_path, values)
    assert (task.kind, task.level, task.labels, task.low, task.high) == ("number", "interval", (), 0.0, 5.0)
    found = read_values(tmp_path, values)
    assert found.problems == []
    assert [label.state.value for label in found.labels][:3] == ["0", "0.1", "0.2"]


def test_a_number_out_of_bounds_is_off_the_menu(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0, 0.5, 1.5), row(1, "0.50", "high")], "[task]\nlow = 0\nhigh = 1\n")
    assert found.problems == []
    assert [label.state.value for label in found.labels] == ["0.5", "0.5"]
    assert [verdict.failure for verdict in found.verdicts.values()] == ["off_menu", "off_menu"]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["pass", "pass"], "only one label occurs, 'pass'"),
        ([None, None], "no label occurs"),
        ([f"kind {n}" for n in range(11)], "11 different labels"),
    ],
)
def test_a_set_that_cannot_be_told_is_refused_with_the_reason(tmp_path: Path, labels: list[Any], said: str) -> None:
    values = labelled(*labels)
    with pytest.raises(InputError) as refused:
        tasks_of(tmp_path, values)
    assert said in str(refused.value) and "--tasks" in str(refused.value)
    found = read_values(tmp_path, values)
    assert found.items == {} and said in found.fatal[0].what


def test_a_rare_label_is_not_lost_in_one_of_several_tasks(tmp_path: Path) -> None:
    values = [row(n, label, label, task="Q1") for n, label in enumerate([1, 2, 3, 4])]
    values += [row(n + 4, label, label, task="Q2") for n, label in enumerate([2, 3])]
    first, second = tasks_of(tmp_path, values)
    assert first.values == second.values == ("4", "3", "2", "1")
    assert "Task Q2: takes the labels of task Q1" in said_of(tmp_path, values)


def test_a_task_file_says_for_all_tasks_what_holds_for_all(tmp_path: Path) -> None:
    values = [row(n, label, label, q=f"Q{n % 2}") for n, label in enumerate([1, 2, 3, 2])]
    tasks = (
        '[columns]\ntask = "q"\n[task]\nlevel = "interval"\nlabels = ["4", "3", "2", "1"]\nquestion = "How good?"\n'
        '[[tasks]]\nname = "Q0"\nquestion = "How kind?"\ntitle = "Kindness"\n[[tasks]]\nname = "Q1"\n'
    )
    first, second = tasks_of(tmp_path, values, tasks)
    assert (first.title, first.question, first.level) == ("Kindness", "How kind?", "interval")
    assert (second.title, second.question, second.values) == ("Q1", "How good?", ("4", "3", "2", "1"))


def test_named_labels_get_keys_titles_and_hints(tmp_path: Path) -> None:
    tasks = (
        '[task]\nname = "support"\ntags = ["dose"]\nrubric = "Read."\n'
        'keys = { partial = "h2" }\nlevel = "ordinal"\n'
        'labels = [{ value = "full", title = "Covered", key = "c", hint = "All of it." }, "partial", "none"]\n'
    )
    (task,) = tasks_of(tmp_path, labelled("full", "none"), tasks)
    assert [(lab.value, lab.title, lab.key, lab.digit, lab.hint) for lab in task.labels] == [
        ("full", "Covered", "c", "1", "All of it."),
        ("partial", "partial", "h", "2", ""),
        ("none", "none", "o", "3", ""),
    ]  # fmt: skip
    assert (task.tags, task.rubric, task.level) == (("dose",), "Read.", "ordinal")


def test_a_table_without_a_rubric_says_that_it_has_none(tmp_path: Path) -> None:
    (task,) = tasks_of(tmp_path, labelled("yes", "no"))
    assert "No rubric came with this table" in task.rubric and "**yes**" in task.rubric
    assert "task file" not in task.rubric, "a judge reads it too"
    assert 'in a task file (rubric = "…")' in said_of(tmp_path, labelled("yes", "no"))


def test_panels_have_roles_kinds_and_titles(tmp_path: Path) -> None:
    turns = [{"role": "user", "text": "Hi"}]
    values = labelled("yes", "no", context=turns, reference="Ref")
    (task,) = tasks_of(tmp_path, values)
    assert [(p.kind, p.field, p.title, p.role) for p in task.panels] == [
        ("dialogue", "context", "Context", ""), ("text", "question", "Question", "question"),
        ("text", "reference", "Reference", "reference"), ("text", "response", "Response", "response"),
    ]  # fmt: skip
    tasks = (
        '[task]\nshow = [{ field = "response", title = "Answer", folded = true, judge_saw = false, role = "gold" }]\n'
    )
    (panel,) = tasks_of(tmp_path, values, tasks)[0].panels
    assert (panel.title, panel.folded, panel.judge_saw, panel.role) == ("Answer", True, False, "gold")


def test_definitions_survive_their_json(tmp_path: Path) -> None:
    (task,) = tasks_of(tmp_path, labelled("yes", "no"))
    assert TaskDefinition.from_json(task.as_json()) == task


def test_everything_found_out_is_said(tmp_path: Path) -> None:
    values = [row(n, "yes" if n % 2 else "no", "no", gold="yes", topic="t", group=str(n), task="a") for n in range(40)]
    said = said_of(tmp_path, values)
    for part in (
        "40 rows; labels of people: A1 (40); judges: gpt (40).",
        "`task` names the tasks: a.",
        "`gold` stands beside people's labels",
        "Task a: labels no, yes, as they occur in the data.",
        "Task a: nominal",
        "Task a: keys no = o or 1, yes = y or 2.",
        "Task a: shown question, response.",
        "Task a: not shown topic",
        "`group` has 40 values",
        "40 labels of people do not say whether a verdict had been seen: they count as blind.",
    ):
        assert part in said, part


def test_a_label_column_in_show_is_said_and_left_out(tmp_path: Path) -> None:
    assert "judge holds labels and is not shown" in said_of(
        tmp_path, labelled("yes", "no"), '[task]\nshow = ["response", "judge"]\n'
    )
