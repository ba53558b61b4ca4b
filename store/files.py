"""Files that must survive a crash: private modes, fsync, atomic replacement."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

PRIVATE_UMASK = 0o077
"""Everything a study writes may hold patients' words: owner only."""


@contextlib.contextmanager
def private_umask() -> Iterator[None]:
    """New files inside the block are readable by their owner only."""
    before = os.umask(PRIVATE_UMASK)
    try:
        yield
    finally:
        os.umask(before)


def fsync_folder(folder: Path) -> None:
    """Make a rename or a new file in `folder` durable (a no-op where folders cannot be opened, as on Windows)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except (PermissionError, IsADirectoryError):
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomically(path: Path, chunks: Iterable[str], *, encoding: str = "utf-8") -> None:
    """Write text to a temporary file beside `path`, fsync it, and rename it into place.

    An interruption at any moment leaves the old file or the new one, never a mixture.

    Raises:
        OSError: the text could not be written; `path` is as it was.
    """
    with private_umask():
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding=encoding, newline="") as out:
            for chunk in chunks:
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file's bytes, read in blocks."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def move_aside(path: Path, reason: str) -> Path:
    """Rename `path` to the first free `NAME.REASON-N`; nothing is ever deleted or overwritten."""
    for number in range(1, 10_000):
        target = path.with_name(f"{path.name}.{reason}-{number}")
        if not target.exists():
            path.rename(target)
            fsync_folder(path.parent)
            return target
    raise FileExistsError(f"too many files named {path.name}.{reason}-*")
