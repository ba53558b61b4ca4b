"""Connecting to a study file, and turning what DuckDB says when it cannot into a place, a loss and a remedy."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from store.between import nobody_between
from store.errors import NotWrittenError, OverreadError, StudyDamagedError, StudyLockedError, UsageError
from store.files import private_umask
from store.journal import journal_path, read_journal

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
_LOCKED = ("Could not set lock", "being used by another process", "File is already open in")
_NO_SPACE = ("No space left", "File too large", "Disk quota exceeded", "not enough space")
_NO_RIGHT = ("Permission denied", "Read-only file system", "Access is denied", "in read-only mode")


def connect(path: Path) -> duckdb.DuckDBPyConnection:
    """Open the database file for writing.

    Raises:
        StudyLockedError: another process holds it.
        StudyDamagedError: DuckDB refuses the file or its write-ahead log.
        NotWrittenError: the folder or the file cannot be written, or the disk is full.
    """
    with nobody_between(path):
        return connect_again(path)


def connect_again(path: Path) -> duckdb.DuckDBPyConnection:
    """`connect` for who holds `nobody_between` already."""
    from store.engine import duckdb

    require_writable(path)
    try:
        with private_umask():
            return duckdb.connect(str(path), config=dict(CONFIG))
    except duckdb.Error as error:
        raise explain(path, str(error)) from error


def real_path(path: Path) -> Path:
    """The file itself, whatever links lead to it: its journal and its log stand beside it and nowhere else.

    Raises:
        UsageError: a name that DuckDB cannot take.
    """
    real = path.resolve()
    try:
        str(real).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            "The name of the study, or of a folder above it, is not valid UTF-8.", "", "Rename it."
        ) from error
    if "?" in str(real):  # DuckDB would take the rest for parameters, and put its log into another folder
        raise UsageError(
            "The name of the study, or of a folder above it, has a question mark.", str(real), "Rename it."
        )
    return real


def require_writable(path: Path) -> None:
    """Refuse a folder or a file that cannot be written before a first label finds out.

    Raises:
        NotWrittenError: names it.
    """
    for place in (path.parent, path):
        if place.exists() and not os.access(place, os.W_OK):
            raise _read_only(path)


def command(path: Path, words: str) -> str:
    """The command line that does `words` on a study, to be copied as it stands."""
    name = str(path)
    quoted = subprocess.list2cmdline([name]) if os.name == "nt" else shlex.quote(name)
    return f"overread --study {quoted} {words}"


def sweep(path: Path) -> None:
    """Take away what killed processes left of their temporary files; the caller holds the study."""
    prefixes = (f".{path.name}.", f".{path.stem}.journal.jsonl.", f".{path.stem}.calls.jsonl.gz.")
    for place in list(path.parent.iterdir()):
        if place.name.startswith(prefixes) and place.name.endswith((".part", ".part.wal")):
            with contextlib.suppress(OSError):
                place.unlink()
        elif place.name.startswith(staging_prefix(path)):
            shutil.rmtree(place, ignore_errors=True)
    spilled = path.with_name(f"{path.name}.tmp")
    for place in spilled.glob("duckdb_temp_*") if spilled.is_dir() else ():
        with contextlib.suppress(OSError):
            place.unlink()


def staging_prefix(path: Path) -> str:
    """How the folders begin in which imports into this study lay out what they read."""
    return f".{path.name}.import-"


def is_fault_of_data(error: duckdb.Error) -> bool:
    """True for what another attempt will not mend: the statement or a value is wrong, not the disk or the file."""
    from store.engine import duckdb

    kinds = (duckdb.DataError, duckdb.IntegrityError, duckdb.ProgrammingError, duckdb.NotSupportedError)
    return isinstance(error, kinds)


def explain(path: Path, message: str) -> OverreadError:
    """What a refusal of DuckDB means to the user."""
    said = message.replace(str(path), path.name)
    if any(words in said for words in _LOCKED):
        return _locked(path, said)
    if any(words in said for words in _NO_SPACE):
        return NotWrittenError(
            f"There is no space left for {path.name}.",
            f"{_first_line(said)} Nothing is lost: what was confirmed stands in the study or its journal.",
            "Free disk space, then try again.",
        )
    if any(words in said for words in _NO_RIGHT):
        return _read_only(path)
    if "Out of Memory" in said or "std::bad_alloc" in said:
        return OverreadError("There is not enough memory for this.", _first_line(said), "Close other programs.")
    if "WAL" in said.replace(path.name, "").replace(str(path.parent), "") or "write-ahead" in said.lower():
        return StudyDamagedError(
            f"The write-ahead log of {path.name} is damaged.",
            f"{path.name}.wal cannot be replayed, or is another copy's. {_what_the_journal_saves(path)}",
            f"{command(path, 'doctor --repair')}   (keeps the damaged file under another name)",
        )
    if "version number" in said:
        return StudyDamagedError(
            f"{path.name} was written by another version of DuckDB.",
            _first_line(said),
            "Upgrade: pip install -U duckdb",
        )
    return _damaged(path, _first_line(said))


def _what_the_journal_saves(path: Path) -> str:
    """What is lost when only the journal is left of labels: exactly what can be said without the study."""
    journal = journal_path(path)
    if not journal.exists():
        return f"{journal.name} is missing too: labels that only the log held are lost with it."
    damaged = len(read_journal(journal, tolerant=True).damaged)
    if damaged:
        lines = "1 line" if damaged == 1 else f"{damaged} lines"
        return f"{lines} of {journal.name} cannot be read either; every label of its other lines is safe."
    return "No label is lost: every label also stands in the journal beside it."


def _damaged(path: Path, said: str) -> StudyDamagedError:
    title = f"{path.name} cannot be read: it is damaged or no DuckDB file."
    if not journal_path(path).exists():
        return StudyDamagedError(
            title,
            f"{said} There is no journal beside it.",
            f"Bring back {journal_path(path).name}, or both from a copy.",
        )
    return StudyDamagedError(
        title,
        f"{said} {_what_the_journal_saves(path)}",
        f"{command(path, 'doctor --rebuild')}   (makes the study anew from its journal; keeps the damaged file)",
    )


def _read_only(path: Path) -> NotWrittenError:
    return NotWrittenError(
        f"{path.name} cannot be written here.",
        f"The folder {path.parent} or the file is read-only. Nothing was changed.",
        "Copy the study and its .journal.jsonl to a folder you may write, and open it there.",
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
    line = message.strip().splitlines()[0][:300]
    return line if line.endswith((".", "!")) else f"{line}."
