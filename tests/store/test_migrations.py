"""Migrations: each in one transaction with its record; a newer study is refused, an older one brought up."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from store_makers import labelled_study, overread, values

from store import migrations
from store.errors import StudyDamagedError
from store.journal import journal_path
from store.study import Study


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    made = duckdb.connect()
    yield made
    made.close()


def tables(connection: Any) -> set[str]:
    return {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def add_migration(monkeypatch: pytest.MonkeyPatch, name: str, *statements: str) -> None:
    """Let the program know one more migration."""
    module = types.ModuleType(f"store.migrations.{name}")
    module.STATEMENTS = statements  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = [*migrations.migration_names(), name]
    monkeypatch.setattr(migrations, "migration_names", lambda: known)


def test_all_are_applied_once_and_recorded(connection: duckdb.DuckDBPyConnection) -> None:
    assert migrations.applied(connection) == []
    assert migrations.migrate(connection) == migrations.migration_names()
    assert migrations.applied(connection) == migrations.migration_names()
    assert migrations.migrate(connection) == []


def test_a_failing_migration_leaves_nothing(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations.migrate(connection)
    before = tables(connection)
    statements = ("CREATE TABLE half (i INTEGER)", "ALTER TABLE study ADD COLUMN half INTEGER", "THIS IS NO SQL")
    add_migration(monkeypatch, "m9998_bad", *statements)
    with pytest.raises(duckdb.ParserException):
        migrations.migrate(connection)
    assert tables(connection) == before
    assert "m9998_bad" not in migrations.applied(connection)
    assert connection.execute("SELECT * FROM study").description == [("key", *_VARCHAR), ("value", *_VARCHAR)]
    connection.execute("BEGIN").execute("ROLLBACK")


_VARCHAR = ("VARCHAR", None, None, None, None, None)


def test_the_first_one_failing_leaves_an_empty_file(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from store.migrations import m0001_initial

    monkeypatch.setattr(
        m0001_initial, "STATEMENTS", (*m0001_initial.STATEMENTS, "CREATE VIEW v AS SELECT * FROM nowhere")
    )
    with pytest.raises(duckdb.CatalogException):
        migrations.migrate(connection)
    assert tables(connection) == set()
    assert migrations.applied(connection) == []


def test_an_older_study_is_brought_up_when_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    add_migration(monkeypatch, "m9998_more", "CREATE TABLE more (i INTEGER)")
    with Study.open(path) as study:
        assert study.rows("SELECT count(*) FROM more") == [(0,)]
        assert study.rows("SELECT count(*) FROM label_events") == [(5,)]


def test_a_newer_study_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('m9999_future', now())")
        connection.execute("ALTER TABLE study RENAME TO settings")
    before = journal_path(path).read_bytes()
    with pytest.raises(StudyDamagedError, match="newer overread") as caught:
        Study.open(path)
    assert "m9999_future" in caught.value.detail and caught.value.hint == "Upgrade overread."
    result = overread("--study", path, "status", cwd=tmp_path)
    assert result.returncode == 4 and "newer overread" in result.stderr
    assert journal_path(path).read_bytes() == before


def test_the_schema_is_plain(connection: duckdb.DuckDBPyConnection) -> None:
    """No foreign keys, no indexes, no defaults, ids are VARCHAR: what DuckDB stumbles over is not there."""
    migrations.migrate(connection)
    assert connection.execute("SELECT count(*) FROM duckdb_indexes()").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM duckdb_constraints()").fetchone() == (0,)
    columns = connection.execute(
        "SELECT table_name, column_name, data_type, column_default FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()
    assert [row for row in columns if row[3] is not None] == []
    ids = [row for row in columns if re.search(r"(_id|_hash|_key|^key|^system|^task)$", row[1])]
    assert len(ids) > 30 and {row[2] for row in ids} == {"VARCHAR"}


def test_a_study_opens_again_after_every_version(tmp_path: Path) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    assert values(path) == values(path) == [f"value-{number}" for number in range(5)]
