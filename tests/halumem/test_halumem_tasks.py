"""HaluMem's four tasks as the desk gets them."""

from __future__ import annotations

import json
import re

import pytest
from halumem_records import SHEET, VERDICTS, read

from judges.benchmarks.benchmark import Label, TaskDefinition
from judges.benchmarks.halumem import BENCHMARK
from judges.benchmarks.halumem.verdict_labels import CLASSES, SCORES

TASKS = {task.task: task for task in BENCHMARK.tasks()}


def labels_of(task: TaskDefinition) -> list[Label]:
    return [*task.labels, *(label for part in task.parts for label in part.labels)]


def keys(labels: tuple[Label, ...]) -> list[tuple[str, str, str]]:
    return [(label.key, label.digit, label.value) for label in labels]


def test_the_tasks_and_their_keys() -> None:
    assert list(TASKS) == ["integrity", "accuracy", "update", "qa"]
    assert keys(TASKS["integrity"].labels) == [("c", "2", "2"), ("p", "1", "1"), ("m", "0", "0")]
    assert keys(TASKS["accuracy"].labels) == [("a", "2", "2"), ("m", "1", "1"), ("z", "0", "0")]
    assert keys(TASKS["accuracy"].parts[0].labels) == [("i", "7", "true"), ("o", "8", "false")]
    assert keys(TASKS["update"].labels) == [
        ("c", "1", "Correct"),
        ("h", "2", "Hallucination"),
        ("o", "3", "Omission"),
        ("z", "4", "Other"),
    ]
    assert keys(TASKS["qa"].labels) == [("c", "1", "Correct"), ("h", "2", "Hallucination"), ("o", "3", "Omission")]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_within_a_task_every_key_and_digit_is_one_labels(task: TaskDefinition) -> None:
    labels = labels_of(task)
    for given in ([label.key for label in labels], [label.digit for label in labels]):
        assert len(set(given)) == len(labels)
    assert all(re.fullmatch("[a-z]", label.key) and re.fullmatch("[0-9]", label.digit) for label in labels)
    assert all(label.hint for label in task.labels)


def test_label_values_are_what_verdicts_are_read_as() -> None:
    assert TASKS["integrity"].values == TASKS["accuracy"].values == SCORES
    assert {task: TASKS[task].values for task in CLASSES} == CLASSES
    assert [TASKS[task].level for task in TASKS] == ["ordinal", "ordinal", "nominal", "nominal"]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_definitions_survive_the_study(task: TaskDefinition) -> None:
    assert TaskDefinition.from_json(json.loads(json.dumps(task.as_json()))) == task


@pytest.mark.parametrize("name", TASKS)
def test_every_panel_shows_a_field_that_items_have_and_nothing_else_is_shown(name: str) -> None:
    imported = read(VERDICTS, answers=[SHEET])
    panels = {panel.field: panel for panel in TASKS[name].panels}
    for item in (item for item in imported.items.values() if item.task == name):
        assert panels.keys() == item.payload.keys() | item.texts.keys()
        for field, panel in panels.items():
            value = item.payload[field] if field in item.payload else imported.texts[item.texts[field]]
            if field in item.texts and panel.kind != "text":
                value = json.loads(value)
            shape = {"text": str, "list": list, "dialogue": list}[panel.kind]
            assert isinstance(value, shape)


def test_panels_the_judge_never_had_say_so_and_start_folded() -> None:
    unseen = {name: [p.field for p in task.panels if not p.judge_saw] for name, task in TASKS.items()}
    assert unseen == {
        "integrity": ["dialogue"],
        "accuracy": [],
        "update": ["dialogue"],
        "qa": ["context", "dialogue"],
    }
    assert all(panel.folded for task in TASKS.values() for panel in task.panels if not panel.judge_saw)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_rubrics_explain_every_label_and_betray_no_distractor(task: TaskDefinition) -> None:
    for label in labels_of(task):
        assert label.title in task.rubric
    told = json.dumps(task.as_json()).lower()
    assert "distractor" not in told
    assert "interference" not in told
    assert set(task.tags) >= {"fabrication", "error", "conflict", "omission"}
    assert len(task.tags) <= 9, "tags are given by t and one digit"
