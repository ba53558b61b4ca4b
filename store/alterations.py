"""Acts in the study that are not what was written: found by their hash and their journaled body, and put back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from store import migrations
from store.applying import FILLED, apply_entries, known_ids
from store.database import in_transaction
from store.events import COLUMNS, event_of, insert_events, row_of
from store.files import free_name, told_of, write_private
from store.journal import Entry
from store.records import canonical_json, digest, text_hash

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
    """Rows of `label_events` whose id is not the hash of their body, whose columns do not say what the body says, or
    that stand there twice."""
    cursor = connection.execute(f"SELECT rowid, {_READ} FROM label_events ORDER BY rowid")
    found, seen = [], set[str]()
    while rows := cursor.fetchmany(_BATCH):
        for rowid, *columns in rows:
            entry = Entry(columns[0], columns[-1])
            if entry.event_id in seen or not _says_its_body(entry, columns):
                found.append(Altered(rowid, entry, dict(zip(_NAMES, columns, strict=True))))
            seen.add(entry.event_id)
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


def untrue_tables(connection: Any) -> list[str]:
    """The tables filled by records that do not say what the records say."""
    from store.engine import duckdb

    rows = connection.execute("SELECT event_id, body FROM journal_records ORDER BY rowid").fetchall()
    entries = [entry for entry in (Entry(*row) for row in rows) if entry.intact]
    with duckdb.connect() as scratch:
        migrations.migrate(scratch)
        apply_entries(scratch, entries)
        return [table for table in FILLED if _meaning(scratch, table) != _meaning(connection, table)]


_JSON = frozenset({"definition", "document", "items", "settings", "texts"})
"""Columns whose text is JSON: what it says counts, for the order of its members was not always the same."""

_Row = tuple[str | None, ...]


def _meaning(connection: Any, table: str) -> list[_Row]:
    columns = connection.execute(f"SELECT column_name FROM duckdb_columns() WHERE table_name = '{table}'").fetchall()
    is_json = [name in _JSON for (name,) in columns]
    rows = _content(connection, table)
    if not any(is_json):
        return rows
    told = [tuple(_said(cell) if js else cell for cell, js in zip(row, is_json, strict=True)) for row in rows]
    return sorted(told, key=lambda row: [(cell is not None, cell or "") for cell in row])


def _said(text: str | None) -> str | None:
    try:
        return text if text is None else canonical_json(json.loads(text))
    except ValueError:  # not even JSON any more: then it is not what was journaled
        return text


def _content(connection: Any, table: str) -> list[_Row]:
    rows: list[_Row] = connection.execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {table} ORDER BY ALL").fetchall()
    return rows


def put_back(connection: Any, path: Path, journaled: set[str]) -> list[str]:
    """Put altered rows back as they were written; the altered ones are kept in a file. Returns sentences for the user.

    `journaled` are the ids the journal holds: what only it tells comes back when the study is opened.

    Raises:
        NotWrittenError: the file for the altered rows cannot be written; nothing was changed.
    """
    acts, records, untrue = altered_acts(connection), altered_records(connection), untrue_tables(connection)
    if not acts and not records and not untrue:
        return []
    kept = free_name(path, "altered")
    lines = [json.dumps(altered.row, ensure_ascii=False) + "\n" for altered in [*acts, *records]]
    lines += [
        json.dumps({"table": table, "row": row}) + "\n" for table in untrue for row in _content(connection, table)
    ]
    with told_of(kept):
        write_private(kept, "".join(lines).encode("utf-8"))

    def change() -> None:
        _put_back_acts(connection, acts)
        if records or untrue:
            _put_back_records(connection, records)

    in_transaction(connection, change)
    return [*_what_was_altered(acts, records, untrue, journaled), f"What was altered is kept as {kept.name}."]


def _what_was_altered(
    acts: list[Altered], records: list[Altered], untrue: list[str], journaled: set[str]
) -> Iterator[str]:
    both = [*acts, *records]
    lost = sum(1 for altered in both if not _is_told(altered, journaled))
    if both:
        fate = f"{lost} of them stand nowhere else and are lost" if lost else "all are as they were written again"
        yield f"{len(both)} acts had been altered; {fate}."
    if untrue:
        yield f"Altered tables were filled anew: {', '.join(untrue)}."


def _is_told(altered: Altered, journaled: set[str]) -> bool:
    true_id = Entry.true_id(altered.entry.body)
    return altered.entry.intact or altered.entry.event_id in journaled or true_id in journaled


def _put_back_acts(connection: Any, acts: list[Altered]) -> None:
    """Where only columns were altered the body tells them; else the row goes, and the journal brings it back."""
    for altered in acts:
        connection.execute("DELETE FROM label_events WHERE rowid = ?", [altered.rowid])
    known = known_ids(connection)
    whole = {altered.entry.event_id: altered.entry for altered in acts if altered.entry.intact}
    if missing := [entry for event_id, entry in whole.items() if event_id not in known]:
        insert_events(connection, [(event_of(entry), entry) for entry in missing])


def _put_back_records(connection: Any, records: list[Altered]) -> None:
    """The tables that records fill are filled anew; what only the journal tells follows when the study is opened."""
    gone = {altered.rowid for altered in records}
    rows = connection.execute("SELECT rowid, event_id, body FROM journal_records ORDER BY rowid").fetchall()
    for table in ("journal_records", *FILLED):
        connection.execute(f"DELETE FROM {table}")
    apply_entries(connection, [Entry(event_id, body) for rowid, event_id, body in rows if rowid not in gone])


def altered_imports(connection: Any, schema: str = "main") -> int:
    """How many items, texts and verdicts are not what was imported: their hash is not that of their content."""
    count = 0
    for query, hash_of in _HASHED:
        cursor = connection.execute(query.format(schema=schema))
        while rows := cursor.fetchmany(_BATCH):
            count += sum(1 for stated, *content in rows if not _is_hash(stated, content, hash_of))
    return count


def _is_hash(stated: str, content: Sequence[Any], hash_of: Callable[..., str]) -> bool:
    try:
        return hash_of(*content) == stated or any("\ufffd" in text for text in content if isinstance(text, str))
    except ValueError:  # not even JSON any more
        return False


def _content_hash(task: str, payload: str, texts: str) -> str:
    return digest("content", task, json.loads(payload), json.loads(texts))


def _verdict_hash(
    label: str, parts: str, failure: str, raw: str, route: str, score: float, confidence: float, rationale: str
) -> str:
    return digest("answer", label, json.loads(parts), failure, raw, route, score, confidence, rationale)


_HASHED: tuple[tuple[str, Callable[..., str]], ...] = (
    ("SELECT content_hash, task, payload, texts FROM {schema}.items", _content_hash),
    ("SELECT text_hash, body FROM {schema}.texts", text_hash),
    (
        "SELECT verdict_hash, label, parts, failure, raw, route, score, confidence, rationale FROM {schema}.verdicts",
        _verdict_hash,
    ),
)
"""What is named by the hash of its content. A replaced half emoji (U+FFFD) was hashed as it came."""
