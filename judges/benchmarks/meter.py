"""How far the reading of files has come, told by the readers as they read: nothing is read for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path


class Meter:
    """Bytes read of bytes to read, over files that are read in any order and perhaps more than once.

    Args:
        paths: the files; those that cannot be examined count nothing.
        on_progress: called after each piece that was read.
    """

    def __init__(self, paths: Iterable[Path], on_progress: Callable[[], None] = lambda: None) -> None:
        self._sizes = {str(path): _size(path) for path in paths}
        self._reached = dict.fromkeys(self._sizes, 0)
        self._on_progress = on_progress

    def reached(self, path: str, position: int) -> None:
        """Reading of a file has come to this byte; a second reading of what was read counts nothing."""
        if path in self._reached:
            self._reached[path] = min(self._sizes[path], max(self._reached[path], position))
        self._on_progress()

    @property
    def share(self) -> float:
        """What is read of all there is, 0 to 1."""
        total = sum(self._sizes.values())
        return sum(self._reached.values()) / total if total else 0.0


_watching: ContextVar[Meter | None] = ContextVar("_watching", default=None)


@contextmanager
def watched_by(meter: Meter) -> Iterator[None]:
    """Readers tell this meter how far they are."""
    token = _watching.set(meter)
    try:
        yield
    finally:
        _watching.reset(token)


def tell(path: str, position: int) -> None:
    """Called by readers: this file is read up to this byte."""
    meter = _watching.get()
    if meter is not None:
        meter.reached(path, position)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
