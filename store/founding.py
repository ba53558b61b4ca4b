"""The foundation of a study file: its schema and the settings that name it, laid under another name and published."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from store import migrations
from store.database import in_transaction, told
from store.errors import StudyDamagedError, UsageError
from store.files import not_written, publish
from store.journal import FORMAT, journal_path
from store.opening import command, connect
from store.records import canonical_json

SETTINGS = ("study_id", "copy_id", "benchmark", "format", "created_at")
"""What every study says of itself."""


def new_settings(benchmark: str, created_at: str) -> dict[str, Any]:
    """The settings of a new study, with ids of its own."""
    return {
        "study_id": secrets.token_hex(16),
        "copy_id": secrets.token_hex(8),
        "benchmark": benchmark,
        "format": FORMAT,
        "created_at": created_at,
    }


@contextlib.contextmanager
def founded(path: Path, settings: Mapping[str, Any], make_room: Callable[[], object] = lambda: None) -> Iterator[Any]:
    """Make a study file: inside the block its connection, to fill it; after it the file stands at `path`, whole.

    `make_room` is called when all is written and only the name is to be given.

    Raises:
        UsageError: something of that name is there already. NotWrittenError: no space, no rights.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with told(path):
            connection = connect(unfinished)
            try:
                migrations.migrate(connection)
                write_settings(connection, settings)
                yield connection
            finally:
                connection.close()
        make_room()
        publish(unfinished, path)
    except (FileExistsError, FileNotFoundError) as error:
        raise is_there(path) from error
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        unfinished.unlink(missing_ok=True)
        unfinished.with_name(f"{unfinished.name}.wal").unlink(missing_ok=True)


def is_there(path: Path) -> UsageError:
    """The refusal to write over something."""
    return UsageError(f"{path.name} is there already.", str(path), "Choose another name, or use the study.")


def write_settings(connection: Any, settings: Mapping[str, Any]) -> None:
    """Store settings that are not there yet, in one transaction."""
    rows = [[key, canonical_json(value)] for key, value in settings.items()]
    in_transaction(connection, lambda: connection.executemany("INSERT INTO study VALUES (?, ?)", rows))


def load_settings(connection: Any, path: Path) -> dict[str, Any]:
    """What a study says of itself.

    Raises:
        StudyDamagedError: it is no study, not a whole one, or one of a newer overread.
    """
    if newer := migrations.unknown(connection):
        raise StudyDamagedError(
            f"{path.name} was made by a newer overread.",
            f"It has {newer[0]}. Nothing was changed.",
            "Upgrade overread.",
        )
    settings = _read_settings(connection) if migrations.applied(connection) else {}
    if not set(SETTINGS) <= settings.keys():
        raise _no_study(path)
    return settings


def _read_settings(connection: Any) -> dict[str, Any]:
    return {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM study").fetchall()}


def _no_study(path: Path) -> StudyDamagedError:
    if journal_path(path).exists():
        return StudyDamagedError(
            f"{path.name} is a DuckDB file, but not the study that its journal is of.",
            f"{journal_path(path).name} holds every label, draw and rubric: no label is lost.",
            f"{command(path, 'doctor --rebuild')}   (makes the study anew from its journal; keeps this file)",
        )
    return StudyDamagedError(f"{path.name} is a DuckDB file, but no overread study.", str(path), "Name another file.")
