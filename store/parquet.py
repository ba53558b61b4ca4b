"""Rows of a Parquet file as texts: no value is guessed at, none loses a zero or a dash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import InputError
from store.opening import CONFIG

if TYPE_CHECKING:
    import duckdb

MAGIC = b"PAR1"
"""The first four bytes of every Parquet file."""

NESTED_TYPES = frozenset({"list", "struct", "map", "array", "union"})
_BATCH = 1000
_SETTINGS = {name: value for name, value in CONFIG.items() if "extension" in name}


def parquet_rows(path: Path) -> Iterator[dict[str, str | None]]:
    """The rows in file order: column → text, None for null; a nested value is its JSON text.

    Every column is cast to VARCHAR by name: whole numbers keep their digits, dates their dashes, truth values are
    "true" and "false", and what is a text in the file stays as it is ("0870", "2024-01-02", upper-case UUIDs).

    Raises:
        InputError: the file is no Parquet file, or is damaged.
    """
    from store.engine import duckdb

    try:
        with duckdb.connect(":memory:", config=dict(_SETTINGS)) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            names = _columns(connection, path)
            found = connection.execute(
                f"SELECT {', '.join(names.values())} FROM read_parquet(?)", [without_wildcards(path)]
            )
            while batch := found.fetchmany(_BATCH):
                for row in batch:
                    yield dict(zip(names, row, strict=True))
    except duckdb.Error as error:
        what = str(error).splitlines()[0].replace(str(path), path.name)
        raise InputError(f"{path.name} cannot be read as Parquet.", what, "Write the file again.") from error


def _columns(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, str]:
    """Column name → the expression that makes a text of it."""
    found = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [without_wildcards(path)])
    return {name: _as_text(name, str(kind.id)) for name, kind, *_ in found.description or ()}


def _as_text(name: str, kind: str) -> str:
    quoted = '"{}"'.format(name.replace('"', '""'))
    return f"CAST(to_json({quoted}) AS VARCHAR)" if kind in NESTED_TYPES else f"CAST({quoted} AS VARCHAR)"


def without_wildcards(path: Path) -> str:
    """The path as DuckDB takes it literally: `*`, `?` and `[` would otherwise match other files."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))
