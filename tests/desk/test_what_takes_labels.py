"""Which tasks the desk takes labels of, and what a study opened from files is called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotate.cli.openings import file_stem
from annotate.desk.actions import KeyMap
from judges.benchmarks.benchmark import Label, Part, TaskDefinition, benchmark_names, get_benchmark
from judges.benchmarks.decisions import takes_labels

YES_NO = (Label("yes", "Yes", "y", "1"), Label("no", "No", "k", "2"))


def task(*parts: Part, kind: str = "choice") -> TaskDefinition:
    return TaskDefinition("t", "T", "Right?", "nominal", YES_NO, (), parts, kind=kind)  # type: ignore[arg-type]


def test_a_task_whose_decisions_are_choices_takes_labels() -> None:
    assert takes_labels(task())
    assert takes_labels(task(Part("p", "P", YES_NO), Part("c", "C", kind="checklist", required=False)))


def test_a_task_with_a_grid_a_ranking_or_a_number_takes_labels_when_it_says_of_what() -> None:
    columns = (("stated", "stated"),)
    assert takes_labels(task(Part("c", "C", YES_NO, kind="checklist", columns=columns, rows_field="rows")))
    assert takes_labels(replace(task(kind="ranking"), labels=(), rows_field="entries"))
    assert takes_labels(replace(task(kind="number"), labels=(), low=0.0, high=1.0))


def test_what_nobody_could_give_takes_none() -> None:
    assert not takes_labels(task(Part("c", "C", YES_NO, kind="checklist")))
    assert not takes_labels(task(kind="ranking"))
    assert not takes_labels(replace(task(), labels=()))


def test_every_task_of_every_benchmark_takes_labels() -> None:
    for name in benchmark_names():
        for definition in get_benchmark(name).tasks():
            assert takes_labels(definition), definition.task
            KeyMap(definition)


@pytest.mark.parametrize(
    ("name", "stem"),
    [("Mem0", "Mem0"), ("../../x", "x"), ("a/b", "a_b"), ("\x1b[2Jx", "2Jx"), ("记忆", "记忆"), ("..", "study")],
)
def test_a_system_never_names_another_folder(name: str, stem: str) -> None:
    assert file_stem(name) == stem
