"""The file of paid calls beside a study, `NAME.calls.jsonl.gz`: JSON lines, appended, compressed and checksummed.

Each append is a whole gzip member, whose checksum tells damage from what was written; `zcat` reads all of them. The
first line is the header with `study_id`, format and an id of the file. It holds no keys: only what a server answered.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from store.errors import StudyDamagedError
from store.files import fsync_folder, not_written, write_bytes_atomically
from store.records import has_broken_pair, mend_pairs

FORMAT: Final = 1
HEADER: Final = "header"
_GZIP: Final = 31
_START: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
"""How each member begins: gzip, deflate, no flags, no time."""
_BLOCK: Final = 1 << 16
_MEMBER: Final = 4 << 20
"""Characters of lines in one member; a longer line is one of its own."""


class Mark(NamedTuple):
    """How far a study has taken in a file: its id, and bytes from its start."""

    file: str
    size: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the file, from byte `start` to `end`.

    Attributes:
        lines: what it says; None where it is not what was written.
        torn: the file ends before it does: a crash cut it, and its calls were never confirmed.
    """

    start: int
    end: int
    lines: list[str] | None
    torn: bool = False


def calls_path(study_path: Path) -> Path:
    """`NAME.duckdb` → `NAME.calls.jsonl.gz`."""
    return study_path.with_name(f"{study_path.stem}.calls.jsonl.gz")


def line_of(kind: str, members: Mapping[str, Any]) -> str:
    """A line of the file; half a surrogate pair becomes U+FFFD, as in the study."""
    text = json.dumps({"type": kind, **members}, ensure_ascii=False, separators=(",", ":"))
    return mend_pairs(text) if has_broken_pair(text) else text


def read_stretches(path: Path, start: int = 0) -> Iterator[Stretch]:
    """The file from byte `start`, member by member.

    Raises:
        NotWrittenError: the file may not be read.
    """
    try:
        with path.open("rb") as source:
            end = os.fstat(source.fileno()).st_size
            while start < end:
                stretch = _stretch(source, start, end)
                yield stretch
                start = stretch.end
    except OSError as error:
        raise not_written(path, error, f"{path.name} cannot be read.") from error


def _stretch(source: IO[bytes], start: int, end: int) -> Stretch:
    source.seek(start)
    unpacker = zlib.decompressobj(wbits=_GZIP)
    parts: list[bytes] = []
    torn = False
    with contextlib.suppress(zlib.error, UnicodeDecodeError):
        while not unpacker.eof and (block := source.read(_BLOCK)):
            parts.append(unpacker.decompress(block))
        if unpacker.eof:
            lines = b"".join(parts).decode("utf-8").split("\n")[:-1]
            return Stretch(start, source.tell() - len(unpacker.unused_data), lines)
        torn = True
    following = _find(source, start + 1)
    return Stretch(start, end if following is None else following, None, torn=torn and following is None)


def _find(source: IO[bytes], start: int) -> int | None:
    """Where the next member begins, at or after `start`."""
    source.seek(start)
    tail = b""
    while block := source.read(_BLOCK):
        window = tail + block
        if (found := window.find(_START)) >= 0:
            return start - len(tail) + found
        start += len(block)
        tail = window[-len(_START) + 1 :]
    return None


class CallLog:
    """The file of one study. Used by the writer thread alone."""

    def __init__(self, study_path: Path, study_id: str) -> None:
        self.path, self._study_id = calls_path(study_path), study_id

    def mark(self) -> Mark | None:
        """The file's id and size; None where there is no file, or not even a whole header.

        Raises:
            StudyDamagedError: it is another study's, or a newer overread's. NotWrittenError: it may not be read.
        """
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            raise not_written(self.path, error, f"{self.path.name} cannot be read.") from error
        first = next(read_stretches(self.path), None)
        if first is None or not first.lines:
            return None
        header = json.loads(first.lines[0])
        if header.get("type") != HEADER:
            return None
        if header["study_id"] != self._study_id:
            raise StudyDamagedError(
                f"{self.path.name} belongs to another study.", "Nothing is lost and nothing was changed.",
                "Move it away, or put the right one beside the study.",
            )  # fmt: skip
        if header["format"] > FORMAT:
            raise StudyDamagedError(
                f"{self.path.name} was written by a newer overread.", "Nothing was changed.", "Upgrade overread."
            )
        return Mark(header["file"], size)

    def write(self, lines: Iterable[str]) -> Mark:
        """Write the file anew, whole or not at all.

        Raises:
            NotWrittenError: no space, no rights; the file is as it was.
        """
        file = secrets.token_hex(8)
        header = line_of(HEADER, {"study_id": self._study_id, "format": FORMAT, "file": file})
        write_bytes_atomically(self.path, (member for part in ([header], lines) for member in _members(part)))
        return Mark(file, self.path.stat().st_size)

    def append(self, lines: Sequence[str]) -> int:
        """Add lines and fsync; returns the file's size when they are on disk.

        Raises:
            NotWrittenError: they could not be made safe; the file is as it was.
        """
        block = b"".join(_members(lines))
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                return _add(descriptor, block)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise not_written(self.path, error) from error

    def cut_to(self, size: int) -> None:
        """Drop what stands after `size` bytes.

        Raises:
            NotWrittenError: the file cannot be written.
        """
        try:
            with self.path.open("r+b") as out:
                out.truncate(size)
                os.fsync(out.fileno())
            fsync_folder(self.path.parent)
        except OSError as error:
            raise not_written(self.path, error) from error


def _add(descriptor: int, block: bytes) -> int:
    before = os.fstat(descriptor).st_size
    view = memoryview(block)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    except OSError:
        # Should the cut fail too, the half member is seen as one that was never confirmed.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, before)
        raise
    return before + len(block)


def _members(lines: Iterable[str]) -> Iterator[bytes]:
    """The lines as gzip members of bounded size."""
    part: list[str] = []
    size = 0
    for line in lines:
        if part and size + len(line) > _MEMBER:
            yield _packed(part)
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        yield _packed(part)


def _packed(lines: Sequence[str]) -> bytes:
    return zlib.compress("".join(f"{line}\n" for line in lines).encode("utf-8"), wbits=_GZIP)
