"""From the journal into the tables: label events as rows, other records through their own module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from store import draws, gates, judge_rubrics, splits, tasks
from store.events import EVENT, event_of, insert_events
from store.journal import Entry
from store.records import canonical_json

Applier = Callable[[Any, Mapping[str, Any]], None]
"""Puts a journal record into its tables; the caller holds the transaction."""

SETTING = "setting"
"""Type of a record that changes a setting of the study: `key`, `value`."""


def _apply_setting(connection: Any, record: Mapping[str, Any]) -> None:
    connection.execute("DELETE FROM study WHERE key = ?", [record["key"]])
    connection.execute("INSERT INTO study VALUES (?, ?)", [record["key"], canonical_json(record["value"])])


APPLIERS: Mapping[str, Applier] = {
    SETTING: _apply_setting,
    "task": tasks.apply,
    "draw": draws.apply_draw,
    "draw_items": draws.apply_items,
    "judge_rubric": judge_rubrics.apply,
    "split": splits.apply_split,
    "split_items": splits.apply_split_items,
    "test_opening": splits.apply_opening,
    "gate_look": gates.apply_look,
}
"""How each type of journal record reaches its tables; types without one are only kept."""


FILLED = ("tasks", "draws", "draw_items", "judge_rubrics", "splits", "split_items", "test_openings", "gates")
"""The tables that appliers fill and nothing else does."""


def apply_entries(connection: Any, entries: Iterable[Entry]) -> None:
    """Put entries into the database; the caller holds the transaction."""
    parsed = ((entry, entry.record) for entry in entries)
    for is_event, stretch in groupby(parsed, key=_is_event):
        if is_event:
            insert_events(connection, [(event_of(entry, record), entry) for entry, record in stretch])
        else:
            for entry, record in stretch:
                _apply_record(connection, entry, record)


def apply_missing(connection: Any, entries: Sequence[Entry]) -> None:
    """Put those entries into the database that it does not hold; the caller holds the transaction."""
    known = known_ids(connection)
    apply_entries(connection, (entry for entry in entries if entry.event_id not in known))


def known_ids(connection: Any) -> set[str]:
    """The ids of everything the database holds of the journal."""
    rows = connection.execute(
        "SELECT event_id FROM label_events UNION ALL SELECT event_id FROM journal_records"
    ).fetchall()
    return {row[0] for row in rows}


def keep_record(connection: Any, entry: Entry, record: Mapping[str, Any]) -> None:
    """Note in the database what stands in the journal, beside the tables of its own."""
    connection.execute("INSERT INTO journal_records VALUES (?, ?, ?)", [entry.event_id, record["type"], entry.body])


def _is_event(parsed: tuple[Entry, Mapping[str, Any]]) -> bool:
    return bool(parsed[1]["type"] == EVENT)


def _apply_record(connection: Any, entry: Entry, record: Mapping[str, Any]) -> None:
    if (applier := APPLIERS.get(record["type"])) is not None:
        applier(connection, record)
    keep_record(connection, entry, record)
