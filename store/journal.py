"""The append-only journal beside a study: one JSON line an act, fsync'd before anything is acknowledged.

Each line is `{"event_id":"<sha-256 of the rest>",<rest>}`, the rest in canonical JSON, so that a line is verified by
hashing bytes, without parsing them. The first line is the header with `study_id` and format. The journal alone
rebuilds everything a person made.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from store.errors import SaveError, StudyDamagedError
from store.files import fsync_folder, not_written
from store.records import canonical_json, has_broken_pair, mend_pairs

FORMAT: Final = 1
RETRY_HINT: Final = (
    "Free disk space or fix the folder's rights, then try again (in the desk the label is kept: press the retry key)."
)
_PREFIX: Final = b'{"event_id":"'
_ID_END: Final = len(_PREFIX) + 64
_TAIL_START: Final = _ID_END + 2  # past `",`


class JournalDamagedError(StudyDamagedError):
    """A complete line of the journal is not what was written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A journal line: its id (hash of `body`), its body as canonical JSON, and the line number (1-based, 0 if new)."""

    event_id: str
    body: str
    line: int = 0
    _record: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Entry:
        """The entry of a record; `record` must not contain `event_id`.

        Half a surrogate pair (a broken emoji of a terminal) cannot be written as UTF-8 and becomes U+FFFD.

        Raises:
            ValueError, TypeError: JSON cannot say it.
        """
        body = canonical_json(record)
        if has_broken_pair(body):
            record = json.loads(mend_pairs(body))
            body = canonical_json(record)
        return cls(cls.true_id(body), body, 0, record)

    @property
    def record(self) -> Mapping[str, Any]:
        """What the entry says, parsed anew when it was read from a file."""
        if self._record is not None:
            return self._record
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    @property
    def intact(self) -> bool:
        """Whether the id is the hash of the body."""
        return self.true_id(self.body) == self.event_id

    @staticmethod
    def true_id(body: str) -> str:
        """The id that belongs to a body."""
        return hashlib.sha256(body.encode("utf-8")).hexdigest()

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
    event_id = _verified_id(raw)
    if event_id is None:
        raise JournalDamagedError(
            "The journal is damaged.",
            f"Line {line} is not what was written: its hash does not match its text.",
            "`overread doctor` tells what is lost; `overread doctor --repair` mends it and keeps the damaged file.",
        )
    return _entry(event_id, raw, line)


def _entry(event_id: str, raw: bytes, line: int) -> Entry:
    return Entry(event_id, "{" + raw[_TAIL_START:].decode("utf-8"), line)


def _verified_id(raw: bytes) -> str | None:
    if raw[: len(_PREFIX)] != _PREFIX or raw[_ID_END:_TAIL_START] != b'",':
        return None
    hashed = hashlib.sha256(b"{" + raw[_TAIL_START:]).hexdigest()
    return hashed if hashed.encode("ascii") == raw[len(_PREFIX) : _ID_END] else None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a pass over a journal found.

    Attributes:
        entries: the intact lines in order, each once; of those whose id was known already, only the first line.
        ids: the ids of all intact lines.
        torn: bytes after the last newline that are no complete line: an act that was never acknowledged.
        good_bytes: length of the file up to the end of its last intact line before any torn one.
        damaged: the lines whose hash does not match, number and bytes (only with `tolerant`).
        unended: the last line is complete but for its newline.
    """

    entries: list[Entry]
    ids: set[str]
    torn: bytes
    good_bytes: int
    damaged: list[tuple[int, bytes]]
    unended: bool


def read_journal(path: Path, *, tolerant: bool = False, known: Collection[str] = frozenset()) -> Reading:
    """Read and verify a whole journal, by hashing alone; lines whose id is in `known` are not kept.

    Raises:
        JournalDamagedError: a complete line is damaged (unless `tolerant`).
        NotWrittenError: the file may not be read.
    """
    entries: list[Entry] = []
    ids: set[str] = set()
    damaged: list[tuple[int, bytes]] = []
    torn = b""
    good_bytes = 0
    unended = False
    for line, raw in enumerate(_lines(path), start=1):
        text = raw.rstrip(b"\r\n")
        event_id = _verified_id(text)
        if event_id is not None:
            unended = not raw.endswith(b"\n")
            if event_id not in ids and (line == 1 or event_id not in known):
                entries.append(_entry(event_id, text, line))
            ids.add(event_id)
        elif not raw.endswith(b"\n"):
            torn = raw
            break
        elif text and not tolerant:
            parse_line(text, line)
        elif text:
            damaged.append((line, text))
        good_bytes += len(raw)
    return Reading(entries, ids, torn, good_bytes, damaged, unended)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as source:
            yield from source
    except OSError as error:
        raise not_written(path, error, f"{path.name} cannot be read.") from error


class Journal:
    """An open journal, written by one thread of one process."""

    def __init__(self, path: Path) -> None:
        """Open for appending; the file is created, for its owner only, if it is not there.

        Raises:
            NotWrittenError: the folder or the file cannot be written.
        """
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._descriptor = os.open(path, flags, 0o600)
            self._end = os.fstat(self._descriptor).st_size
            fsync_folder(path.parent)
        except OSError as error:
            raise not_written(path, error) from error
        self._broken = False
        self._closed = False

    def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries and fsync; returns only when they are on disk.

        Raises:
            SaveError: they could not be made safe; the file is cut back to what it was.
        """
        if self._broken:
            self._cut_back()
        if self._broken:
            raise SaveError("The journal could not be repaired after a failed write.", str(self.path), RETRY_HINT)
        block = b"".join(entry.line_bytes() for entry in entries)
        try:
            self._write_all(block)
            os.fsync(self._descriptor)
        except OSError as error:
            self._cut_back()
            raise SaveError("Not saved.", f"{self.path.name}: {error.strerror or error}", RETRY_HINT) from error
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
        else:
            self._broken = False

    def end_last_line(self) -> None:
        """Give a complete last line the newline that a crash cut off.

        Raises:
            NotWrittenError: no space, no rights.
        """
        try:
            self._write_all(b"\n")
            os.fsync(self._descriptor)
        except OSError as error:
            raise not_written(self.path, error) from error
        self._end += 1

    def cut_to(self, size: int) -> None:
        """Drop what stands after `size` bytes (a torn line that was never acknowledged).

        Raises:
            NotWrittenError: the file cannot be written.
        """
        try:
            os.ftruncate(self._descriptor, size)
            os.fsync(self._descriptor)
        except OSError as error:
            raise not_written(self.path, error) from error
        self._end = size

    def close(self) -> None:
        """Let the file go. Calling it again does nothing."""
        if not self._closed:
            self._closed = True
            os.close(self._descriptor)
