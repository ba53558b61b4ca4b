"""Which label of a task says that the response is right."""

from __future__ import annotations

from typing import Final

from judges.benchmarks.benchmark import Panel, TaskDefinition

_WORDS: Final = frozenset(
    ("yes", "pass", "passed", "correct", "true", "right", "good", "supported", "full", "fully", "acceptable", "safe",
     "accept", "accepted", "是", "对", "正确", "通过")
)  # fmt: skip
"""What favourable labels are called; a nominal set that was found in data has no order of its own."""


def favourable_label(task: TaskDefinition) -> str | None:
    """The label that says a response is right; None where none does (numbers, rankings, which of two is better).

    On an ordered scale it is the first, which the rubric puts best; on a nominal one the label that is called so
    ("yes", "pass"), else again the first.
    """
    if task.kind != "choice" or not task.labels or is_pairwise(task):
        return None
    if task.level == "nominal":
        named = [label.value for label in task.labels if {label.value.lower(), label.title.lower()} & _WORDS]
        if len(named) == 1:
            return named[0]
    return task.labels[0].value


PAIR: Final = ("response_1", "response_2")
"""The fields of the two responses of a comparison."""


def response_fields(task: TaskDefinition) -> list[str]:
    """The fields of the item that hold what is judged: one, or the two of a comparison."""
    if is_pairwise(task):
        return list(PAIR)
    return [field for panel in task.panels if panel.role == "response" for field in _fields(panel)][:1]


def is_pairwise(task: TaskDefinition) -> bool:
    """Whether the task says which of two responses is better."""
    return set(PAIR) <= {field for panel in task.panels for field in _fields(panel)}


def _fields(panel: Panel) -> list[str]:
    return [field.strip() for field in panel.field.split(",")]
