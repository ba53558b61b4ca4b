"""The terminal app: signals, the second wall against control characters, the palette."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from annotate.desk.actions import ACTIONS
from annotate.desk.desk import Desk
from annotate.tui.line_filter import ControlCharacterFilter
from annotate.tui.screens.desk_screen import DeskScreen
from annotate.tui.screens.label.screen import LabelScreen
from store.errors import SaveError

LEAVING_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")
HANGUP_GRACE = 3.0
"""Seconds after which a process whose terminal is gone ends the hard way; every label is safe by then."""


class DeskApp(App[SaveError]):
    """The reading desk on a terminal; its return value is the error of an act that was left unsaved, if any.

    Attributes:
        fault: the first error that nobody expected; it ended the app.
    """

    TITLE = "overread"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "Quit", show=False, priority=True),
        Binding("ctrl+c", "leave", "Quit", show=False, priority=True),
    ]

    def __init__(self, desk: Desk, benchmark: str, remapped: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self.label_screen = LabelScreen(desk, benchmark, remapped)
        self.fault: Exception | None = None
        self._wall = ControlCharacterFilter()

    def get_default_screen(self) -> Screen[None]:
        return self.label_screen

    def on_mount(self) -> None:
        self._catch_signals()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever reaches a line of the screen loses its control characters here."""
        return [*super().get_line_filters(), self._wall]

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette offers the registry's actions, for the screen it was opened over."""
        if isinstance(screen, DeskScreen):
            for action in ACTIONS:
                run = partial(screen.perform_from_palette, action.id)
                yield SystemCommand(action.id.replace("_", " "), action.description, run)

    # Leaving

    @property
    def _desk_screens(self) -> list[DeskScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, DeskScreen)]

    def action_leave(self) -> None:
        """Leave; a note that is being written is kept, an act that could not be saved is told."""
        from annotate.tui.screens.notice.screen import SaveFailed

        if isinstance(self.screen, SaveFailed):
            self.exit(self.screen.error)
        else:
            self._desk_screens[-1].keep_open_note(then=self.exit)

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for name in LEAVING_SIGNALS:
            number = getattr(signal, name, None)
            if number is not None:
                with contextlib.suppress(NotImplementedError):
                    loop.add_signal_handler(number, self._leave_on_signal, number)

    def _leave_on_signal(self, number: int) -> None:
        self.limit_leaving(128 + number)
        error = None
        try:
            self._desk_screens[-1].save_open_note_now()
        except SaveError as failed:
            error = failed
        self.exit(error, return_code=128 + number)

    def _handle_exception(self, error: Exception) -> None:
        """End on a fault of the program without a word: Textual's own account of it prints the item's text.

        What is being written is saved if it still can be; the fault is raised again when the screen is gone.
        """
        if self.fault is None:
            self.fault = error
            with contextlib.suppress(Exception):
                self._desk_screens[-1].save_open_note_now()
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    def limit_leaving(self, code: int) -> None:
        """End the process the hard way if leaving hangs, as it may when the terminal is gone."""
        timer = threading.Timer(HANGUP_GRACE, os._exit, args=(code,))
        timer.daemon = True
        timer.start()


def run_app(desk: Desk, remapped: Mapping[str, Sequence[str]]) -> int:
    """Show the desk until the person leaves; returns the exit code: 0, or 128 and the signal that ended it.

    Raises:
        SaveError: the person left although the last act could not be saved.
        Exception: a fault of the program ended it.
    """
    app = DeskApp(desk, desk.ledger.study.benchmark, remapped)
    unsaved = app.run(mouse=True)
    if app.fault is not None:
        raise app.fault
    if unsaved is not None:
        raise _left_behind(unsaved)
    return app.return_code or 0


def _left_behind(error: SaveError) -> SaveError:
    """What to say once the screen is gone."""
    if error.journaled:
        return SaveError(
            "Your last act is in the journal, but not in the study file yet.", error.detail,
            "The next start completes it. Nothing is lost.", journaled=True,
        )  # fmt: skip
    return SaveError("Your last act was not saved; everything before it is.", error.detail, "Give it again next time.")
