"""Carrying over what a study has of its benchmark's files from an old file into a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from store.alterations import altered_imports
from store.applying import known_ids
from store.database import in_transaction

TABLES = ("systems", "texts", "judges", "items", "verdicts", "facts", "imports", "file_labels")
"""What comes from imported files; all else comes from the journal."""
JUDGED = ("runs", "calls", "batch_requests", "answers")
"""What a judge run left; a study of an older overread has none of it."""


def carry_over(connection: Any, old: Path) -> list[str]:
    """Copy what the old file still holds of imports into a new study; returns sentences for the user.

    All of it or, where the old file cannot be read, nothing.
    """
    from store.engine import duckdb

    try:
        connection.execute(f"ATTACH {_quoted(str(old))} AS old (READ_ONLY)")
    except duckdb.Error:
        return []
    try:
        if altered := altered_imports(connection, "old"):
            return [f"{altered} items, texts or verdicts in the old file were altered: nothing was carried over."]
        in_transaction(connection, lambda: _copy(connection))
        return _left_behind(connection)
    except duckdb.Error:
        return []
    finally:
        connection.execute("DETACH old")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _copy(connection: Any) -> None:
    there = {row[0] for row in connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'old'"
    ).fetchall()}  # fmt: skip
    for table in (*TABLES, *(name for name in JUDGED if name in there)):
        connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM old.{table}")


def _left_behind(connection: Any) -> list[str]:
    items = connection.execute("SELECT count(DISTINCT item_id) FROM items").fetchone()[0]
    rows = connection.execute(
        "SELECT event_id FROM old.label_events UNION ALL SELECT event_id FROM old.journal_records"
    ).fetchall()
    known = known_ids(connection)
    left = sum(1 for row in rows if row[0] not in known)
    return [
        f"{items} items and their verdicts were carried over from the old file.",
        *([f"{left} acts of the old file do not stand in the journal; only the old file keeps them."] if left else []),
    ]
