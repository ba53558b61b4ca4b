"""Draws: which items are read, in which order, with which probability. A draw exists before the first label."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from store.records import canonical_json

if TYPE_CHECKING:
    from store.study import Study

Stream = Literal["estimate", "learn", "check", "practice"]
RevealPolicy = Literal["item", "block", "never", "assisted"]


class DrawnItem(NamedTuple):
    """A place in a draw.

    `group_number` counts groups read together, in serving order; `probability` is the item's inclusion probability π.
    """

    item_id: str
    group_number: int
    stratum: str = ""
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw's terms.

    Attributes:
        task: the task it is of, or "" for all tasks.
        design: `simple` (items one by one, within strata if there are any), `two_stage` (groups in random order, then
            items of each, served together), `unequal` (each by its own probability) or `chosen` (for what they teach).
        reveal: when the judge's verdict is shown.
        settings: what else fixes it (block size, share never shown …).
    """

    draw_id: str
    task: str
    stream: Stream
    design: str
    reveal: RevealPolicy
    seed: int
    created_by: str
    at: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def add_draw(study: Study, draw: Draw, items: Sequence[DrawnItem]) -> None:
    """Journal and store a draw with its items, all in one act.

    The head comes last: a draw that a crash cut in the middle of the journal has none, and is no draw.

    Raises:
        SaveError: as for `Study.record`.
    """
    head = {"type": "draw", "draw_id": draw.draw_id, "task": draw.task, "stream": draw.stream, "design": draw.design,
            "reveal": draw.reveal, "seed": draw.seed, "settings": dict(draw.settings), "created_by": draw.created_by,
            "at": draw.at, "count": len(items)}  # fmt: skip
    records: list[dict[str, Any]] = []
    for start in range(0, len(items), _ITEMS_A_LINE):
        rows = [list(item) for item in items[start : start + _ITEMS_A_LINE]]
        records.append({"type": "draw_items", "draw_id": draw.draw_id, "start": start, "rows": rows})
    study.record([*records, head])


_ITEMS_A_LINE = 1000
_COLUMNS = "draw_id, task, stream, design, reveal, seed, created_by, settings"


def list_draws(study: Study) -> list[Draw]:
    """All draws, oldest first."""
    rows = study.rows(f"SELECT {_COLUMNS}, created_at::VARCHAR FROM draws ORDER BY created_at, rowid")
    return [
        Draw(draw_id=row[0], task=row[1], stream=row[2], design=row[3], reveal=row[4], seed=row[5], created_by=row[6],
             settings=json.loads(row[7]), at=row[8])
        for row in rows
    ]  # fmt: skip


def drawn_items(study: Study, draw_id: str) -> list[DrawnItem]:
    """The items of a draw in serving order; items that the study no longer has are left out."""
    rows = study.rows(
        """SELECT d.item_id, d.group_number, d.stratum, d.probability FROM draw_items d
        WHERE d.draw_id = ? AND d.item_id IN (SELECT item_id FROM items) ORDER BY d.ordinal""",
        [draw_id],
    )
    return [DrawnItem(*row) for row in rows]


def apply_draw(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled draw into its table."""
    connection.execute(
        "INSERT INTO draws VALUES (?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
        [record["draw_id"], record["task"], record["stream"], record["design"], record["reveal"], record["seed"],
         canonical_json(record["settings"]), record["created_by"], record["at"]],
    )  # fmt: skip


def apply_items(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled stretch of a draw into its table."""
    items, groups, strata, probabilities = (json.dumps(column) for column in zip(*record["rows"], strict=True))
    connection.execute(
        """INSERT INTO draw_items SELECT ?, unnest(from_json(?, '["VARCHAR"]')), ? + unnest(range(?)),
            unnest(from_json(?, '["BIGINT"]')), unnest(from_json(?, '["VARCHAR"]')),
            unnest(from_json(?, '["DOUBLE"]'))""",
        [record["draw_id"], items, record["start"], len(record["rows"]), groups, strata, probabilities],
    )


def count_absent(study: Study, draw_id: str) -> int:
    """How many items of a draw the study does not hold: its files must be imported again."""
    count: int = study.rows(
        "SELECT count(*) FROM draw_items WHERE draw_id = ? AND item_id NOT IN (SELECT item_id FROM items)", [draw_id]
    )[0][0]
    return count
