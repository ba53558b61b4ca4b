"""The append-only journal beside a study: one JSON line an act, fsync'd before anything is acknowledged.

Each line is `{"event_id":"<sha-256 of the rest>",<rest>}`, the rest in canonical JSON, so that a line is verified by
hashing bytes, without parsing them. The first line is the header with `study_id` and format. The journal alone
rebuilds everything a person made.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.errors import SaveError, StudyDamagedError
from store.files import fsync_folder, private_umask
from store.records import canonical_json

FORMAT = 1
_PREFIX = b'{"event_id":"'
_ID_END = len(_PREFIX) + 64
_TAIL_START = _ID_END + 2  # past `",`


class JournalDamagedError(StudyDamagedError):
    """A complete line of the journal is not what was written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A journal line: its id (hash of `body`), its body as canonical JSON, and the line number (1-based, 0 if new)."""

    event_id: str
    body: str
    line: int = 0

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Entry:
        """The entry of a record; `record` must not contain `event_id`."""
        body = canonical_json(record)
        return cls(hashlib.sha256(body.encode("utf-8")).hexdigest(), body)

    @property
    def record(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    def line_bytes(self) -> bytes:
        return b'{"event_id":"' + self.event_id.encode("ascii") + b'",' + self.body[1:].encode("utf-8") + b"\n"


def journal_path(study_path: Path) -> Path:
    """`NAME.duckdb` → `NAME.journal.jsonl`."""
    return study_path.with_name(f"{study_path.stem}.journal.jsonl")


def parse_line(raw: bytes, line: int) -> Entry:
    """Verify one line (without its newline).

    Raises:
        JournalDamagedError: the line's hash does not match its bytes.
    """
    tail = raw[_TAIL_START:]
    body = b"{" + tail
    stated = raw[len(_PREFIX) : _ID_END]
    intact = raw.startswith(_PREFIX) and raw[_ID_END:_TAIL_START] == b'",'
    if not intact or hashlib.sha256(body).hexdigest().encode("ascii") != stated:
        raise JournalDamagedError(
            "The journal is damaged.",
            f"Line {line} is not what was written: its hash does not match its text.",
            "`overread doctor` tells what is lost; `overread doctor --repair` mends it and keeps the damaged file.",
        )
    return Entry(stated.decode("ascii"), body.decode("utf-8"), line)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a pass over a journal found.

    Attributes:
        entries: the intact lines, in order.
        torn: bytes after the last newline that are no complete line: an act that was never acknowledged.
        good_bytes: length of the file up to the end of its last intact line before any torn one.
        damaged: line numbers whose hash does not match (only with `tolerant`).
        unended: the last line is complete but for its newline.
    """

    entries: list[Entry]
    torn: bytes
    good_bytes: int
    damaged: list[int]
    unended: bool


def read_journal(path: Path, *, tolerant: bool = False) -> Reading:
    """Read and verify a whole journal.

    Raises:
        JournalDamagedError: a complete line is damaged (unless `tolerant`).
    """
    entries: list[Entry] = []
    damaged: list[int] = []
    torn = b""
    good_bytes = 0
    unended = False
    for line, raw in enumerate(_lines(path), start=1):
        complete = raw.endswith(b"\n")
        try:
            entry = parse_line(raw.removesuffix(b"\n"), line)
        except JournalDamagedError:
            if not complete:
                torn = raw
                break
            if not tolerant:
                raise
            damaged.append(line)
        else:
            entries.append(entry)
            unended = not complete
        good_bytes += len(raw)
    return Reading(entries, torn, good_bytes, damaged, unended)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        yield from source


class Journal:
    """An open journal, written by one thread of one process."""

    def __init__(self, path: Path) -> None:
        """Open for appending; the file is created if it is not there.

        Raises:
            OSError: the folder or the file cannot be written.
        """
        self.path = path
        with private_umask():
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        self._end = os.fstat(self._descriptor).st_size
        self._broken = False
        fsync_folder(path.parent)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries and fsync; returns only when they are on disk.

        Raises:
            SaveError: they could not be made safe; the file is cut back to what it was.
        """
        if self._broken:
            raise SaveError("The journal could not be repaired after a failed write.", str(self.path), _RETRY_HINT)
        block = b"".join(entry.line_bytes() for entry in entries)
        try:
            self._write_all(block)
            os.fsync(self._descriptor)
        except OSError as error:
            self._cut_back()
            raise SaveError("Not saved.", f"{self.path.name}: {error.strerror or error}", _RETRY_HINT) from error
        self._end += len(block)

    def _write_all(self, block: bytes) -> None:
        view = memoryview(block)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._descriptor, self._end)
            os.fsync(self._descriptor)
        except OSError:
            self._broken = True

    def end_last_line(self) -> None:
        """Give a complete last line the newline that a crash cut off."""
        self._write_all(b"\n")
        os.fsync(self._descriptor)
        self._end += 1

    def cut_to(self, size: int) -> None:
        """Drop what stands after `size` bytes (a torn line that was never acknowledged)."""
        os.ftruncate(self._descriptor, size)
        os.fsync(self._descriptor)
        self._end = size

    def close(self) -> None:
        os.close(self._descriptor)


_RETRY_HINT = "The label is kept on screen. Free disk space or fix the folder's rights, then press the retry key."
