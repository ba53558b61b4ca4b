"""Which tasks the desk takes labels of, and what a study opened from files is called."""

from __future__ import annotations

import pytest

from annotate.cli.openings import file_stem
from annotate.desk.opening import takes_labels
from judges.benchmarks.benchmark import Label, Part, TaskDefinition

YES_NO = (Label("yes", "Yes", "y", "1"), Label("no", "No", "k", "2"))


def task(*parts: Part, kind: str = "choice") -> TaskDefinition:
    return TaskDefinition("t", "T", "Right?", "nominal", YES_NO, (), parts, kind=kind)  # type: ignore[arg-type]


def test_a_task_whose_decisions_are_choices_takes_labels() -> None:
    assert takes_labels(task())
    assert takes_labels(task(Part("p", "P", YES_NO), Part("c", "C", kind="checklist", required=False)))


def test_a_task_that_needs_a_checklist_or_a_ranking_does_not() -> None:
    assert not takes_labels(task(Part("c", "C", YES_NO, kind="checklist")))
    assert not takes_labels(task(kind="ranking"))


@pytest.mark.parametrize(
    ("name", "stem"),
    [("Mem0", "Mem0"), ("../../x", "x"), ("a/b", "a_b"), ("\x1b[2Jx", "2Jx"), ("记忆", "记忆"), ("..", "study")],
)
def test_a_system_never_names_another_folder(name: str, stem: str) -> None:
    assert file_stem(name) == stem
