"""Loading what takes long.

Ctrl-C ends the process at once meanwhile: an import that an exception interrupts is left in half, which DuckDB does not
survive, or swallows it. Nothing that is loaded is garbage, so none is looked for.
"""

from __future__ import annotations

import gc
import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGINT, getsignal, signal

from annotate.entry import leave_at_once

_OF_THE_DESK = ("store.engine", "store.study", "annotate.desk.opening")


def load_engine() -> None:
    """Import DuckDB."""
    with loading():
        importlib.import_module("store.engine")


def load_desk(*, screen: bool) -> None:
    """Import what the desk needs; the code of its screen in a thread, while DuckDB, which needs no interpreter for
    that, opens the study."""
    with loading():
        if screen:
            of_screen = "annotate.tui.app"
            threading.Thread(target=importlib.import_module, args=(of_screen,), name="overread-screen").start()
        for module in _OF_THE_DESK:
            importlib.import_module(module)


@contextmanager
def loading() -> Iterator[None]:
    """While inside, Ctrl-C ends the process; all that was stored is safe."""
    before = getsignal(SIGINT)
    signal(SIGINT, leave_at_once)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        signal(SIGINT, before)


def keep_loaded() -> None:
    """Take what is loaded out of every later search for garbage: it would make some keys wait."""
    gc.freeze()
