"""MedMemoryBench's six tasks as the desk gets them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from medmem_records import TYPES, chain_query, key_point, query_of, read, whole_shape, write, write_queries

from judges.benchmarks.benchmark import Label, TaskDefinition
from judges.benchmarks.medmemorybench import BENCHMARK
from judges.benchmarks.medmemorybench.chain import ANCHORS, COLUMNS

TASKS = {task.task: task for task in BENCHMARK.tasks()}
TAGS = {"stale_state", "family_members_fact", "generic_reasoning", "confident_without_evidence"}
ACTION_KEYS = set("nxtrdevgsfuwq")
"""What the desk's own actions take."""


def flat_labels(task: TaskDefinition) -> list[Label]:
    """The labels that are keys of the item itself: a checklist's cells are answered in their grid."""
    parts = [part for part in task.parts if part.kind != "checklist"]
    return [*task.labels, *(label for part in parts for label in part.labels)]


def test_the_six_tasks() -> None:
    assert list(TASKS) == ["eem", "tla", "sua", "mq", "ig", "mcd"]
    for task in TASKS.values():
        assert [(label.value, label.key, label.digit) for label in task.labels] == [
            ("correct", "c", "1"),
            ("incorrect", "i", "2"),
        ]
        assert set(task.tags) >= TAGS and len(task.tags) <= 9, "tags are given by t and one digit"
        assert task.level == "nominal" and task.kind == "choice"


def test_abstention_and_evidence_are_optional_parts_of_all_but_the_deduction() -> None:
    for name in ("eem", "tla", "sua", "mq", "ig"):
        parts = {part.id: part for part in TASKS[name].parts}
        assert list(parts) == ["abstained", "evidence"]
        assert not any(part.required for part in parts.values())
        assert [label.value for label in parts["abstained"].labels] == ["yes", "no"]


def test_a_deduction_asks_the_conclusion_then_the_grid_then_the_completeness() -> None:
    conclusion, nodes, cc = TASKS["mcd"].parts
    assert [part.id for part in (conclusion, nodes, cc)] == ["conclusion", "nodes", "cc"]
    assert all(part.required for part in TASKS["mcd"].parts)
    assert [label.value for label in conclusion.labels] == ["agrees", "differs"]
    assert (nodes.kind, nodes.rows_field, nodes.columns) == ("checklist", "nodes", COLUMNS)
    assert [column for column, _ in nodes.columns] == ["stated", "causal", "patient"]
    assert [(label.value, label.key) for label in nodes.labels] == [("y", "y"), ("n", "n")]
    assert tuple(label.value for label in cc.labels) == ANCHORS == ("1.0", "0.7", "0.5", "0.3", "0.0")


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_within_a_task_every_key_and_digit_is_one_labels(task: TaskDefinition) -> None:
    labels = flat_labels(task)
    for given in ([label.key for label in labels], [label.digit for label in labels]):
        assert len(set(given)) == len(labels)
    assert all(re.fullmatch("[a-z]", label.key) and re.fullmatch("[0-9]", label.digit) for label in labels)
    assert not {label.key for label in labels} & ACTION_KEYS
    assert all(label.hint for label in labels)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_definitions_survive_the_study(task: TaskDefinition) -> None:
    assert TaskDefinition.from_json(json.loads(json.dumps(task.as_json()))) == task


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_rubrics_explain_every_label(task: TaskDefinition) -> None:
    for part_labels in (task.labels, *(part.labels for part in task.parts)):
        for label in part_labels:
            assert f"**{label.title}**" in task.rubric, label.title
    assert task.rubric.startswith("# ")


@pytest.mark.parametrize("name", TASKS)
def test_every_field_of_an_item_has_a_panel_of_its_shape_and_the_other_way_round(tmp_path: Path, name: str) -> None:
    trap = {"trap_type": "diet", "trap_mechanism": "m", "required_patient_info": ["i"]}
    points = [key_point(3)]
    queries = [chain_query(source_key_points=points)]
    queries += [query_of(t, metadata={"trap_design": trap}, source_key_points=points) for t in TYPES if t != "mcd"]
    imported = read(write(tmp_path, whole_shape()), answers=[write_queries(tmp_path, queries)])
    item = imported.find(name)
    panels = {panel.field: panel for panel in TASKS[name].panels}
    shown = (item.payload.keys() | item.texts.keys()) - {"nodes"}
    assert panels.keys() == shown, "the grid's rows are no panel"
    for field, panel in panels.items():
        value = item.payload[field] if field in item.payload else json.loads(imported.texts[item.texts[field]])
        assert isinstance(value, {"text": str, "list": list, "dialogue": list, "compare": str}[panel.kind])
        if panel.kind == "list":
            assert all(isinstance(entry, str) for entry in value)


def test_panels_the_judge_never_had_say_so_and_start_folded() -> None:
    unseen = {name: [p.field for p in task.panels if not p.judge_saw] for name, task in TASKS.items()}
    assert unseen == {
        "eem": ["explanation", "key_points", "retrieved"],
        "tla": ["key_points", "retrieved"],
        "sua": ["key_points", "retrieved"],
        "mq": ["options", "trap", "explanation", "key_points", "retrieved"],
        "ig": ["key_points", "retrieved"],
        "mcd": ["key_points", "retrieved"],
    }
    assert all(panel.folded for task in TASKS.values() for panel in task.panels if not panel.judge_saw)


def test_nothing_shown_tells_of_planted_things() -> None:
    told = json.dumps([task.as_json() for task in TASKS.values()]).lower()
    assert not any(word in told for word in ("planted", "noise session", "judge_reason"))
