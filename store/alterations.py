"""Acts in the study that are not what was written: found by their hash and their journaled body, and put back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from store.applying import apply_entries
from store.database import in_transaction
from store.events import COLUMNS, event_of, insert_events, row_of
from store.files import free_name, not_written, write_private
from store.journal import Entry

_BATCH = 2000
_READ = COLUMNS.replace("happened_at", "epoch_us(happened_at)")
_NAMES = COLUMNS.replace(" ", "").split(",")


class Altered(NamedTuple):
    """A row that is not what was written.

    Attributes:
        entry: the row's id and body as they are now. row: all its columns by name.
    """

    rowid: int
    entry: Entry
    row: dict[str, Any]


def altered_acts(connection: Any) -> list[Altered]:
    """Rows of `label_events` whose id is not the hash of their body, or whose columns do not say what the body says."""
    cursor = connection.execute(f"SELECT rowid, {_READ} FROM label_events")
    found = []
    while rows := cursor.fetchmany(_BATCH):
        for rowid, *columns in rows:
            entry = Entry(columns[0], columns[-1])
            if not _says_its_body(entry, columns):
                found.append(Altered(rowid, entry, dict(zip(_NAMES, columns, strict=True))))
    return found


def _says_its_body(entry: Entry, columns: Sequence[Any]) -> bool:
    return entry.intact and row_of(event_of(entry), entry.body) == list(columns)


def altered_records(connection: Any) -> list[Altered]:
    """Rows of `journal_records` whose id is not the hash of their body."""
    rows = connection.execute("SELECT rowid, event_id, type, body FROM journal_records").fetchall()
    names = ("event_id", "type", "body")
    return [
        Altered(rowid, entry, dict(zip(names, (event_id, kind, body), strict=True)))
        for rowid, event_id, kind, body in rows
        for entry in [Entry(event_id, body)]
        if not entry.intact
    ]


def put_back(connection: Any, path: Path, journaled: set[str]) -> list[str]:
    """Put altered rows back as they were written; the altered ones are kept in a file. Returns sentences for the user.

    `journaled` are the ids the journal holds: what only it tells comes back when the study is opened.
    """
    acts, records = altered_acts(connection), altered_records(connection)
    if not acts and not records:
        return []
    kept = free_name(path, "altered")
    lines = [json.dumps(altered.row, ensure_ascii=False) + "\n" for altered in [*acts, *records]]
    try:
        write_private(kept, "".join(lines).encode("utf-8"))
    except OSError as error:
        raise not_written(kept, error) from error

    def change() -> None:
        _put_back_acts(connection, acts)
        if records:
            _put_back_records(connection, records)

    in_transaction(connection, change)
    gone = [altered for altered in [*acts, *records] if not _is_told(altered, journaled)]
    fate = f"{len(gone)} of them stand nowhere else and are lost" if gone else "all are as they were written again"
    return [f"{len(lines)} acts had been altered; {fate}. The altered rows are kept as {kept.name}."]


def _is_told(altered: Altered, journaled: set[str]) -> bool:
    true_id = Entry.true_id(altered.entry.body)
    return altered.entry.intact or altered.entry.event_id in journaled or true_id in journaled


def _put_back_acts(connection: Any, acts: list[Altered]) -> None:
    """Where only columns were altered the body tells them; else the row goes, and the journal brings it back."""
    for altered in acts:
        connection.execute("DELETE FROM label_events WHERE rowid = ?", [altered.rowid])
    whole = [(event_of(altered.entry), altered.entry) for altered in acts if altered.entry.intact]
    if whole:
        insert_events(connection, whole)


def _put_back_records(connection: Any, records: list[Altered]) -> None:
    """The tables that records fill are filled anew; what only the journal tells follows when the study is opened."""
    gone = {altered.rowid for altered in records}
    rows = connection.execute("SELECT rowid, event_id, body FROM journal_records ORDER BY rowid").fetchall()
    for table in ("journal_records", "tasks", "draws", "draw_items"):
        connection.execute(f"DELETE FROM {table}")
    apply_entries(connection, [Entry(event_id, body) for rowid, event_id, body in rows if rowid not in gone])
