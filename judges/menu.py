"""What a judge may answer on an item: the exact labels of the value and of every part that must be given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judges.benchmarks.benchmark import DecisionKind, Label, Part, TaskDefinition


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision and what counts as an answer to it.

    Attributes:
        labels: the options of a choice, or what a checklist's cells take.
        rows: ids of a checklist's rows or of a ranking's entries, as the item has them.
        columns: (id, title) of a checklist.
        low, high: bounds of a number.
    """

    title: str
    kind: DecisionKind
    labels: tuple[Label, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    low: float = 0.0
    high: float = 1.0

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(label.value for label in self.labels)


@dataclass(frozen=True, slots=True)
class Menu:
    """All decisions of one item: the value, and the required parts by id."""

    value: Decision
    parts: Mapping[str, Decision]


class NoMenuError(ValueError):
    """The item cannot be judged: it lacks the rows of a checklist or ranking."""


def menu_of(task: TaskDefinition, payload: Mapping[str, Any]) -> Menu:
    """The menu of an item. Optional parts are people's alone: no judge is asked for them.

    Raises:
        NoMenuError: a checklist or ranking has nothing to decide on.
    """
    value = Decision(
        task.question, task.kind, task.labels, _rows(task.kind, task.rows_field, payload), (), task.low, task.high
    )
    return Menu(value, {part.id: _part(part, payload) for part in task.parts if part.required})


def _part(part: Part, payload: Mapping[str, Any]) -> Decision:
    rows = _rows(part.kind, part.rows_field, payload)
    return Decision(part.title, part.kind, part.labels, rows, part.columns, part.low, part.high)


def _rows(kind: DecisionKind, field: str, payload: Mapping[str, Any]) -> tuple[str, ...]:
    if kind not in ("checklist", "ranking"):
        return ()
    rows = tuple(str(row["id"]) for row in rows_of(payload.get(field)))
    if not rows:
        raise NoMenuError(f"the item has nothing in {field!r} to decide on")
    return rows


def rows_of(value: Any) -> list[Mapping[str, Any]]:
    """Rows or entries as a payload lists them; [] when it has none."""
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and "id" in entry]


def schema_of(menu: Menu) -> dict[str, Any]:
    """The JSON schema of an answer: reasoning first, then the verdict, then the parts; nothing else."""
    members: dict[str, Any] = {"reasoning": {"type": "string"}, "verdict": _schema(menu.value)}
    if menu.parts:
        members["parts"] = _object({name: _schema(decision) for name, decision in menu.parts.items()})
    return _object(members)


def _object(members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(members),
        "required": list(members),
        "additionalProperties": False,
    }


def _schema(decision: Decision) -> dict[str, Any]:
    if decision.kind == "choice":
        return {"type": "string", "enum": list(decision.values)}
    if decision.kind == "number":
        return {"type": "number"}
    if decision.kind == "ranking":
        return {"type": "array", "items": {"type": "array", "items": {"type": "string", "enum": list(decision.rows)}}}
    cell = {"type": "string", "enum": list(decision.values)}
    return _object({row: _object({column: cell for column, _ in decision.columns}) for row in decision.rows})


def example_of(menu: Menu) -> str:
    """The form of an answer, for the prompt: JSON with the choices written out."""
    verdict = f'"verdict": {_example(menu.value)}'
    parts = ", ".join(f"{json.dumps(name)}: {_example(decision)}" for name, decision in menu.parts.items())
    return '{"reasoning": "…", ' + verdict + (f', "parts": {{{parts}}}' if parts else "") + "}"


def _example(decision: Decision) -> str:
    if decision.kind == "choice":
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in decision.values)
    if decision.kind == "number":
        return f"{decision.low:g} … {decision.high:g}"
    if decision.kind == "ranking":
        return "[[id, …], …]"
    cells = " | ".join(json.dumps(value, ensure_ascii=False) for value in decision.values)
    columns = ", ".join(f"{json.dumps(column)}: {cells}" for column, _ in decision.columns)
    return f"{{id: {{{columns}}}, …}}"
