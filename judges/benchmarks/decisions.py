"""What a label decides, as the task declares it: the value and its parts alike, how each is stored, when it is whole.

A decision is stored as one string (`DecisionKind` says which); here it is read, checked and written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from judges.benchmarks.benchmark import DecisionKind, Label, TaskDefinition
from store.records import canonical_json

Cells = dict[str, dict[str, str]]
"""Row id → column id → label."""
Groups = list[list[str]]
"""Entries best first, ties together."""

VALUE = ""
"""The id of the value itself among the parts of a label."""


class Decision(NamedTuple):
    """The value of a label (id "") or one of its parts. Fields as in `Part`."""

    id: str
    title: str
    kind: DecisionKind = "choice"
    labels: tuple[Label, ...] = ()
    required: bool = True
    columns: tuple[tuple[str, str], ...] = ()
    rows_field: str = ""
    low: float = 0.0
    high: float = 1.0
    question: str = ""

    @property
    def asks(self) -> str:
        """What the person is asked: the task's question for the value, else the title."""
        return self.question or self.title

    @property
    def is_long(self) -> bool:
        """Whether it takes more than one key."""
        return self.kind != "choice"


class Row(NamedTuple):
    """A row of a checklist, or an entry of a ranking; title and text are the benchmark's own: foreign text."""

    id: str
    title: str
    text: str = ""


def decisions_of(task: TaskDefinition) -> list[Decision]:
    """The value, then the parts, in the task's order. A checklist as value has its labels and no columns of its own."""
    value = Decision(
        VALUE, task.title, task.kind, task.labels, rows_field=task.rows_field, low=task.low, high=task.high,
        question=task.question,
    )  # fmt: skip
    parts = [
        Decision(p.id, p.title, p.kind, p.labels, p.required, p.columns, p.rows_field, p.low, p.high)
        for p in task.parts
    ]
    return [value, *parts]


def decision_of(task: TaskDefinition, part: str) -> Decision:
    """The decision of that id.

    Raises:
        StopIteration: the task declares none.
    """
    return next(decision for decision in decisions_of(task) if decision.id == part)


def takes_labels(task: TaskDefinition) -> bool:
    """Whether every required decision of a task can be given: a choice has labels, a grid labels and columns and a
    field of rows, a ranking a field of entries."""
    return all(_can_be_given(decision) for decision in decisions_of(task) if decision.required)


def _can_be_given(decision: Decision) -> bool:
    has = {
        "choice": bool(decision.labels), "number": decision.low < decision.high, "ranking": bool(decision.rows_field),
        "checklist": bool(decision.labels and decision.columns and decision.rows_field),
    }  # fmt: skip
    return has[decision.kind]


def is_long(task: TaskDefinition) -> bool:
    """Whether a label of the task has a decision that takes more than one key."""
    return task.kind != "choice" or any(part.kind != "choice" for part in task.parts)


def rows_of(decision: Decision, payload: Mapping[str, Any]) -> list[Row]:
    """The rows of a checklist or the entries of a ranking, as the item lists them; what has no id is left out."""
    listed = payload.get(decision.rows_field) if decision.rows_field else None
    found = [row for row in listed if isinstance(row, Mapping) and "id" in row] if isinstance(listed, list) else []
    return [Row(str(r["id"]), str(r.get("title") or r["id"]), str(r.get("text") or "")) for r in found]


def is_asked(decision: Decision, payload: Mapping[str, Any]) -> bool:
    """Whether an item can be asked this: a checklist needs rows."""
    return decision.kind != "checklist" or bool(rows_of(decision, payload))


def is_whole(decision: Decision, payload: Mapping[str, Any], text: str) -> bool:
    """Whether the text answers the decision wholly and within what is declared."""
    if decision.kind == "choice":
        return any(label.value == text for label in decision.labels)
    if decision.kind == "number":
        value = read_number(text)
        return value is not None and decision.low <= value <= decision.high
    ids = [row.id for row in rows_of(decision, payload)]
    if decision.kind == "ranking":
        return sorted(entry for group in read_ranking(text) for entry in group) == sorted(ids) and bool(ids)
    cells, values = read_cells(text), {label.value for label in decision.labels}
    return all(cells.get(row, {}).get(column) in values for row in ids for column, _ in decision.columns)


# The texts


def number_text(value: float) -> str:
    """The shortest decimal text that reads back as the same number."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def read_number(text: str) -> float | None:
    """The number; None when it is none, or not finite."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def read_cells(text: str) -> Cells:
    """The cells that are given; {} for none, or for another text."""
    return {
        str(row): {str(column): value for column, value in columns.items() if isinstance(value, str)}
        for row, columns in _object(text).items()
        if isinstance(columns, dict)
    }


def cells_text(cells: Mapping[str, Mapping[str, str]]) -> str:
    """The cells as they are stored; "" for none."""
    given = {row: dict(columns) for row, columns in cells.items() if columns}
    return canonical_json(given) if given else ""


def read_ranking(text: str) -> Groups:
    """The groups, best first; [] for none, or for another text."""
    try:
        groups = json.loads(text) if text else []
    except json.JSONDecodeError:
        return []
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        return []
    return [[str(entry) for entry in group] for group in groups]


def ranking_text(groups: Iterable[Sequence[str]]) -> str:
    """The groups as they are stored, ties in the order of their ids, so that equal rankings are equal texts."""
    given = [sorted(group) for group in groups if group]
    return canonical_json(given) if given else ""


def places_of(groups: Iterable[Iterable[str]]) -> dict[str, int]:
    """Entry → place, 0 for the best; tied entries share one."""
    return {entry: place for place, group in enumerate(groups) for entry in group}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
