"""Files that must survive a crash: private modes, fsync, atomic replacement."""

from __future__ import annotations

import codecs
import contextlib
import errno
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from store.errors import NotWrittenError, UsageError

PRIVATE_UMASK = 0o077
"""Everything a study writes may hold patients' words: owner only."""

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class _Umask:
    """The process's umask, narrowed while anyone needs it. It belongs to the process, so threads must share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 0

    def narrow(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before = os.umask(PRIVATE_UMASK)
            self._users += 1

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                os.umask(self._before)


_umask = _Umask()


@contextlib.contextmanager
def private_umask() -> Iterator[None]:
    """New files inside the block are readable by their owner only; blocks may nest and overlap over threads."""
    _umask.narrow()
    try:
        yield
    finally:
        _umask.release()


def not_written(path: Path, error: OSError, title: str = "") -> NotWrittenError:
    """What a refusal of the file system means to the user: the place, the reason, the remedy."""
    reason = error.strerror or type(error).__name__
    if error.errno in _NO_SPACE:
        hint = "Free disk space, then try again."
    elif error.errno in _NO_RIGHT:
        hint = "Give yourself the right to write there, or choose another folder."
    else:
        hint = "Check the disk and the folder, then try again."
    return NotWrittenError(title or f"{path.name} cannot be written.", f"{error.filename or path}: {reason}", hint)


@contextlib.contextmanager
def told_of(path: Path) -> Iterator[None]:
    """Turn a refusal of the file system inside the block into what it means.

    Raises:
        NotWrittenError: of `path`, or of the file the system names.
    """
    try:
        yield
    except OSError as error:
        raise not_written(path, error) from error


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

    An interruption at any moment leaves the old file or the new one, never a mixture. A link is followed: the file it
    names is replaced.

    Raises:
        UsageError: `path` is a folder or a device. NotWrittenError: no space, no rights; `path` is as it was.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise UsageError(f"{path} is no ordinary file.", "", "Choose another name.")
    encoder = codecs.getincrementalencoder(encoding)()
    with told_of(path):
        _write_and_rename(target, (encoder.encode(chunk) for chunk in chunks))


def write_bytes_atomically(path: Path, chunks: Iterable[bytes]) -> None:
    """`write_atomically` for bytes, to a file that is none or an ordinary one.

    Raises:
        NotWrittenError: no space, no rights; `path` is as it was.
    """
    with told_of(path):
        _write_and_rename(path.resolve(), chunks)


def _write_and_rename(target: Path, chunks: Iterable[bytes]) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            for chunk in chunks:
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    fsync_folder(target.parent)


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner reads, and fsync it.

    Raises:
        FileExistsError: `path` is there already. OSError: it cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    fsync_folder(path.parent)


def publish(unfinished: Path, path: Path) -> None:
    """Give a finished file its name, never over another file.

    Raises:
        FileExistsError: `path` is there already.
    """
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise
    except OSError as error:  # a file system without hard links
        if path.exists():
            raise FileExistsError(path) from error
        unfinished.replace(path)
    else:
        unfinished.unlink()
    fsync_folder(path.parent)


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file's bytes, read in blocks."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def free_name(path: Path, reason: str) -> Path:
    """The first free `NAME.REASON-N`."""
    for number in range(1, 10_000):
        target = path.with_name(f"{path.name}.{reason}-{number}")
        if not target.exists():
            return target
    raise FileExistsError(f"too many files named {path.name}.{reason}-*")


def move_aside(path: Path, reason: str) -> Path:
    """Rename `path` to the first free `NAME.REASON-N`; nothing is ever deleted or overwritten."""
    target = free_name(path, reason)
    path.rename(target)
    fsync_folder(path.parent)
    return target


def keep_copy(path: Path, reason: str) -> Path:
    """Give the content of `path` the first free `NAME.REASON-N` as well, before `path` is replaced."""
    target = free_name(path, reason)
    try:
        os.link(path, target)
    except OSError:  # a file system without hard links
        write_private(target, path.read_bytes())
    fsync_folder(path.parent)
    return target
