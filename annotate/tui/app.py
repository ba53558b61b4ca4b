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
from annotate.tui.screens.label.screen import LabelScreen
from annotate.tui.screens.review.screen import ReviewScreen
from store.errors import SaveError

LEAVING_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")
HANGUP_GRACE = 3.0
"""Seconds after which a process whose terminal is gone ends the hard way; every label is safe by then."""


class DeskApp(App[None]):
    """The reading desk on a terminal."""

    TITLE = "overread"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "Quit", show=False, priority=True),
        Binding("ctrl+c", "leave", "Quit", show=False, priority=True),
    ]

    def __init__(self, desk: Desk, benchmark: str, remapped: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._desk = desk
        self._label_screen = LabelScreen(desk, benchmark, remapped)

    def on_mount(self) -> None:
        self._catch_signals()
        self.push_screen(self._label_screen)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever reaches a line of the screen loses its control characters here."""
        return [*super().get_line_filters(), ControlCharacterFilter()]

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette offers the registry's actions."""
        del screen
        for action in ACTIONS:
            yield SystemCommand(action.id.replace("_", " "), action.description,
                                partial(self._label_screen.perform, action.id))  # fmt: skip

    def action_leave(self) -> None:
        """Leave; a note that is being written is kept."""
        if self._keep_open_note():
            self.exit()

    def _keep_open_note(self) -> bool:
        screen = self.screen
        if isinstance(screen, LabelScreen | ReviewScreen):
            try:
                screen.keep_open_note()
            except SaveError as error:
                self.notify(f"{error.title} {error.detail}", severity="error", markup=False)
                return False
        return True

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for name in LEAVING_SIGNALS:
            number = getattr(signal, name, None)
            if number is not None:
                with contextlib.suppress(NotImplementedError):
                    loop.add_signal_handler(number, self._leave_on_signal, number)

    def _leave_on_signal(self, number: int) -> None:
        timer = threading.Timer(HANGUP_GRACE, os._exit, args=(128 + number,))
        timer.daemon = True
        timer.start()
        self._keep_open_note()
        self.exit(return_code=128 + number)


def run_app(desk: Desk, remapped: Mapping[str, Sequence[str]]) -> int:
    """Show the desk until the person leaves; returns the exit code."""
    app = DeskApp(desk, desk.ledger.study.benchmark, remapped)
    app.run(mouse=True)
    return app.return_code or 0
