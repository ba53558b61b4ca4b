"""What every app of the program shares: how it ends, whatever ends it, and that no line of it controls the terminal.

Textual's own account of a fault shows the variables of every function on the way, so the item's text; here a fault ends
the app without a word and is raised again when the terminal is as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.worker import WorkerFailed

from annotate.tui.line_filter import ControlCharacterFilter

LEAVING_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")
HANGUP_GRACE = 3.0
"""Seconds after which a process whose terminal is gone ends the hard way; every label is safe by then."""

TAKEN_BACK_AFTER = 0.2
"""Seconds after which SIGINT is ours again when another program had the terminal."""

Result = TypeVar("Result")


class OverreadApp(App[Result], Generic[Result]):
    """Ends in good order on `q`, on signals and on faults of the program. Start it with `run_to_end`.

    Attributes:
        fault: the first error that nobody expected; it ended the app.
    """

    TITLE = "overread"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "Quit", show=False, priority=True),
        Binding("ctrl+c", "leave", "Quit", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.fault: Exception | None = None
        self._wall = ControlCharacterFilter()

    def on_mount(self) -> None:
        """Catch the signals that would end the process without giving the terminal back."""
        loop = asyncio.get_running_loop()
        for name in LEAVING_SIGNALS:
            number = getattr(signal, name, None)
            if number is not None:
                with contextlib.suppress(NotImplementedError):
                    loop.add_signal_handler(number, self._leave_on_signal, number)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever reaches a line of the screen loses its control characters here."""
        return [*super().get_line_filters(), self._wall]

    # Leaving

    def action_leave(self) -> None:
        """A person leaves."""
        self.exit()

    def keep_open(self) -> Result | None:
        """The program is being ended: save, without a word, what is being written; the app returns what this does."""
        return None

    def _leave_on_signal(self, number: int) -> None:
        self.limit_leaving(128 + number)
        self.exit(self.keep_open(), return_code=128 + number)

    def _handle_exception(self, error: Exception) -> None:
        """End on a fault of the program without a word; what is being written is saved if it still can be."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        fault = cause if isinstance(cause, Exception) else error
        if self.fault is None:
            self.fault = fault
            with contextlib.suppress(Exception):
                self.keep_open()
        self._return_code = 1
        if self._exception is None:
            self._exception = fault
            self._exception_event.set()
        self._close_messages_no_wait()

    @contextlib.contextmanager
    def lend_terminal(self) -> Iterator[None]:
        """While inside, the terminal is another program's, Ctrl-C too; whatever happens there, it is taken back.

        Raises:
            SuspendNotSupported: it cannot be given away, as in a browser.
        """
        loop = asyncio.get_running_loop()
        fault: Exception | None = None
        with self.suspend():
            caught = False
            with contextlib.suppress(NotImplementedError):
                caught = loop.remove_signal_handler(signal.SIGINT)
            before = signal.signal(signal.SIGINT, lambda *_: None)
            try:
                yield
            except Exception as error:
                fault = error
            finally:
                if caught:  # later: the loop has yet to read of a Ctrl-C that was the other program's
                    again = (signal.SIGINT, self._leave_on_signal, signal.SIGINT)
                    loop.call_later(TAKEN_BACK_AFTER, loop.add_signal_handler, *again)
                else:
                    signal.signal(signal.SIGINT, before)
        if fault is not None:
            raise fault

    def limit_leaving(self, code: int) -> None:
        """End the process the hard way if leaving hangs, as it may when the terminal is gone."""
        timer = threading.Timer(HANGUP_GRACE, os._exit, args=(code,))
        timer.daemon = True
        timer.start()


def run_to_end(app: OverreadApp[Any]) -> int:
    """Show the app until it is left; returns the exit code: 0, or 128 and the signal that ended it.

    Raises:
        Exception: a fault of the program ended it; the terminal is as it was.
    """
    app.run(mouse=True)
    if app.fault is not None:
        raise app.fault
    return app.return_code or 0
