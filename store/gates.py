"""Looks through the gate: each one journaled with what it rested on, so that they can be counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from store.records import canonical_json

if TYPE_CHECKING:
    from store.study import Study


@dataclass(frozen=True, slots=True)
class GateLook:
    """One look at one judge of one task.

    Attributes:
        look: 1 for the first on this judge. inputs: hash of all it rested on; the same inputs are the same look.
        outcome: open, closed or undecided. document: the certificate.
    """

    gate_id: str
    task: str
    judge: str
    judge_id: str
    look: int
    inputs: str
    outcome: str
    document: Mapping[str, Any]
    at: str


_COLUMNS = ("gate_id", "task", "judge", "judge_id", "look", "inputs", "outcome")


def add_look(study: Study, look: GateLook) -> None:
    """Journal and store a look.

    Raises:
        SaveError: as for `Study.record`.
    """
    fields = {name: getattr(look, name) for name in _COLUMNS}
    study.record([{"type": "gate_look", **fields, "document": dict(look.document), "at": look.at}])


def gate_looks(study: Study, task: str = "") -> list[GateLook]:
    """All looks (of a task), oldest first."""
    rows = study.rows(
        f"""SELECT {", ".join(_COLUMNS)}, document, looked_at::VARCHAR FROM gates WHERE ? IN ('', task)
        ORDER BY looked_at, rowid""",
        [task],
    )
    return [
        GateLook(gate_id, task, judge, judge_id, number, inputs, outcome, json.loads(document), at)
        for gate_id, task, judge, judge_id, number, inputs, outcome, document, at in rows
    ]


def apply_look(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled look into its table."""
    connection.execute(
        "INSERT INTO gates VALUES (?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
        [*(record[name] for name in _COLUMNS), canonical_json(record["document"]), record["at"]],
    )
