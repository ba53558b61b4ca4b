"""Keeping other programs from between the closing and the opening of a study that is opened anew.

DuckDB's lock is gone for that moment. Whoever opens a study holds this lock of the journal while it does, and whoever
opens it anew holds it all the while: so the other finds the study open, as before, and not free.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from store.journal import journal_path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_WAIT_S: Final = 15.0
"""Longer than any opening takes; after that DuckDB's own lock decides."""


@contextlib.contextmanager
def nobody_between(path: Path) -> Iterator[bool]:
    """Hold the lock of a study's openings inside the block; gives False where there is no such lock to hold."""
    with contextlib.ExitStack() as stack:
        yield _lock(path, stack)


def _lock(path: Path, stack: contextlib.ExitStack) -> bool:
    if fcntl is None:
        return False
    try:
        handle = os.open(journal_path(path), os.O_RDONLY)
    except OSError:  # a study in the making, or one without its journal
        return False
    stack.callback(os.close, handle)
    end = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        except OSError:  # a file system without such locks
            return False
        else:
            return True
