"""Schema migrations: each one transaction together with its record. Names are never renumbered."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from store.database import in_transaction

_RECORD = "INSERT INTO migrations VALUES (?, current_timestamp)"


def migration_names() -> list[str]:
    """All migrations this version knows, in order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("m"))


def applied(connection: Any) -> list[str]:
    """The migrations a study has, in order; [] for a new file."""
    from store.engine import duckdb

    try:
        rows = connection.execute("SELECT name FROM migrations ORDER BY name").fetchall()
    except duckdb.CatalogException:
        return []
    return [row[0] for row in rows]


def migrate(connection: Any) -> list[str]:
    """Apply what is missing; returns the names applied now."""
    done = set(applied(connection))
    missing = [name for name in migration_names() if name not in done]
    for name in missing:
        in_transaction(connection, lambda name=name: _apply(connection, name))  # type: ignore[misc]
    return missing


def unknown(connection: Any) -> list[str]:
    """Migrations the study has that this version does not know: it was made by a newer overread."""
    return sorted(set(applied(connection)) - set(migration_names()))


def _apply(connection: Any, name: str) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (name VARCHAR, applied_at TIMESTAMPTZ)")
    module = importlib.import_module(f"store.migrations.{name}")
    for statement in module.STATEMENTS:
        connection.execute(statement)
    connection.execute(_RECORD, [name])
