"""Menus and tasks for the tests of this folder."""

from __future__ import annotations

from judges.benchmarks.benchmark import Label, Panel, Part, TaskDefinition
from judges.menu import Decision, Menu


def choice(*values: str) -> Decision:
    return Decision("Which?", "choice", tuple(Label(value, value, "a", "1") for value in values))


def menu(*values: str, **parts: Decision) -> Menu:
    return Menu(choice(*values), parts)


PASS_FAIL = menu("CORRECT", "INCORRECT")

TASK = TaskDefinition(
    task="qa",
    title="Question answering",
    question="Is the response right?",
    level="nominal",
    labels=(Label("CORRECT", "Correct", "c", "1", "It is right."), Label("INCORRECT", "Wrong", "w", "2")),
    panels=(
        Panel("text", "question", "Question", role="question"),
        Panel("text", "reference", "Reference", role="reference"),
        Panel("text", "response", "Response", role="response"),
        Panel("text", "context", "Retrieved", judge_saw=False),
        Panel("dialogue", "dialogue", "Dialogue"),
    ),
    rubric="Right means the same as the reference.",
)

WITH_PART = Part("included", "Inside?", (Label("true", "Yes", "y", "3"), Label("false", "No", "n", "4")))
