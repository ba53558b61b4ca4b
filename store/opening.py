"""Connecting to a study file, and turning what DuckDB says when it cannot into a place, a loss and a remedy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import OverreadError, StudyDamagedError, StudyLockedError
from store.files import private_umask

if TYPE_CHECKING:
    import duckdb

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "storage_compatibility_version": "v1.5.0",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "default_block_size": 16384,
}
"""Files open in DuckDB 1.5 and 2; no extension is ever fetched; small blocks keep small studies small."""

_HOLDER = re.compile(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")


def connect(path: Path) -> duckdb.DuckDBPyConnection:
    """Open the database file for writing.

    Raises:
        StudyLockedError: another process holds it.
        StudyDamagedError: DuckDB refuses the file or its write-ahead log.
        OverreadError: the folder or the file cannot be written.
    """
    import duckdb

    try:
        with private_umask():
            return duckdb.connect(str(path), config=dict(CONFIG))
    except duckdb.Error as error:
        raise explain(path, str(error)) from error


def explain(path: Path, message: str) -> OverreadError:
    """What a refusal of DuckDB means to the user."""
    if "lock" in message or "being used by another process" in message:
        return _locked(path, message)
    if "Permission denied" in message or "read-only" in message.lower():
        return OverreadError(
            f"{path.name} cannot be written here.",
            f"The folder {path.parent} or the file is read-only. Nothing was changed.",
            "Copy the study and its .journal.jsonl to a folder you may write, and open it there.",
        )
    if "WAL" in message or "write-ahead" in message.lower():
        return StudyDamagedError(
            f"The write-ahead log of {path.name} is damaged.",
            f"{path.name}.wal cannot be replayed. No label is lost: every label also stands in the journal beside it.",
            f"overread --study {path} doctor --repair   (keeps the damaged file under another name)",
        )
    if "version number" in message:
        return StudyDamagedError(
            f"{path.name} was written by another version of DuckDB.",
            _first_line(message),
            "Upgrade: pip install -U duckdb",
        )
    return StudyDamagedError(
        f"{path.name} cannot be opened: it is damaged or no DuckDB file.",
        _first_line(message),
        f"overread --study {path} doctor --rebuild   (makes the study anew from its journal; keeps the damaged file)",
    )


def _locked(path: Path, message: str) -> StudyLockedError:
    holder = _HOLDER.search(message)
    who = f"process {holder['pid']} ({Path(holder['program']).name})" if holder else "another program"
    return StudyLockedError(
        f"{path.name} is open in {who}.",
        "Only one program at a time may write to a study. Nothing was changed.",
        "Close it there (in the desk: q), then try again."
        + (f" If it hangs, end it: kill {holder['pid']}; no label is lost." if holder else ""),
    )


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0][:300]
