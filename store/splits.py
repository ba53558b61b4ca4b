"""Splits: which items a prompt may be tuned on, chosen on, and tested on. They exist before a label is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from store.records import canonical_json

if TYPE_CHECKING:
    from store.study import Study

Part = Literal["train", "val", "test"]
PARTS: Final[tuple[Part, ...]] = ("train", "val", "test")
_ITEMS_A_LINE = 1000


class SplitItem(NamedTuple):
    """An item's place in a split; items of one group are never parted."""

    item_id: str
    group: str
    part: Part


@dataclass(frozen=True, slots=True)
class Split:
    """A split's terms.

    Attributes:
        unit: what a group is: `cluster`, `group`, `item`, or `column NAME` for a benchmark's own split.
        settings: what else fixes it (shares, strata …).
    """

    split_id: str
    task: str
    unit: str
    seed: int
    at: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opening:
    """One look at the labels of a sealed test.

    Attributes:
        purpose: `retune` or `hand`. subject: the prompt version that was tried. items: those whose labels were read.
    """

    opening_id: str
    split_id: str
    task: str
    purpose: str
    subject: str
    items: tuple[str, ...]
    at: str


def add_split(study: Study, split: Split, items: Sequence[SplitItem]) -> None:
    """Journal and store a split with its items; the head comes last, so that a split cut by a crash is none.

    Raises:
        SaveError: as for `Study.record`.
    """
    head = {"type": "split", "split_id": split.split_id, "task": split.task, "unit": split.unit, "seed": split.seed,
            "settings": dict(split.settings), "at": split.at, "count": len(items)}  # fmt: skip
    study.record([*_lines(split.split_id, items), head])


def extend_split(study: Study, split_id: str, items: Sequence[SplitItem]) -> None:
    """Add items that came after the split was made; those that have a place keep it."""
    if items:
        study.record(_lines(split_id, items))


def _lines(split_id: str, items: Sequence[SplitItem]) -> list[dict[str, Any]]:
    return [
        {"type": "split_items", "split_id": split_id, "rows": [list(item) for item in items[start:][:_ITEMS_A_LINE]]}
        for start in range(0, len(items), _ITEMS_A_LINE)
    ]


def current_split(study: Study, task: str) -> Split | None:
    """The newest split of a task; None without one."""
    rows = study.rows(
        """SELECT split_id, task, unit, seed, created_at::VARCHAR, settings FROM splits WHERE task = ?
        ORDER BY created_at DESC, rowid DESC LIMIT 1""",
        [task],
    )
    if not rows:
        return None
    split_id, task, unit, chosen, at, settings = rows[0]
    return Split(split_id, task, unit, chosen, at, json.loads(settings))


def split_items(study: Study, split_id: str) -> dict[str, SplitItem]:
    """The items of a split by id."""
    rows = study.rows("SELECT item_id, group_key, part FROM split_items WHERE split_id = ? ORDER BY rowid", [split_id])
    return {row[0]: SplitItem(*row) for row in rows}


def open_test(study: Study, opening: Opening) -> None:
    """Journal that a sealed test's labels are about to be read; do so before reading them."""
    study.record([{"type": "test_opening", **{name: getattr(opening, name) for name in _OPENING[:-2]},
                   "items": list(opening.items), "at": opening.at}])  # fmt: skip


_OPENING = ("opening_id", "split_id", "task", "purpose", "subject", "items", "at")


def openings_of(study: Study, task: str) -> list[Opening]:
    """All openings of a task's tests, oldest first."""
    rows = study.rows(
        """SELECT opening_id, split_id, task, purpose, subject, items, opened_at::VARCHAR FROM test_openings
        WHERE task = ? ORDER BY opened_at, rowid""",
        [task],
    )
    return [
        Opening(opening_id, split_id, task, purpose, subject, tuple(json.loads(items)), at)
        for opening_id, split_id, task, purpose, subject, items, at in rows
    ]


def apply_split(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled split into its table."""
    connection.execute(
        "INSERT INTO splits VALUES (?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
        [record["split_id"], record["task"], record["unit"], record["seed"],
         canonical_json(record["settings"]), record["at"]],
    )  # fmt: skip


def apply_split_items(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled stretch of a split into its table."""
    items, groups, parts = (json.dumps(column) for column in zip(*record["rows"], strict=True))
    connection.execute(
        """INSERT INTO split_items SELECT ?, unnest(from_json(?, '["VARCHAR"]')),
            unnest(from_json(?, '["VARCHAR"]')), unnest(from_json(?, '["VARCHAR"]'))""",
        [record["split_id"], items, groups, parts],
    )


def apply_opening(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled opening of a test into its table."""
    connection.execute(
        "INSERT INTO test_openings VALUES (?, ?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
        [*(record[name] for name in _OPENING[:-2]), canonical_json(record["items"]), record["at"]],
    )
