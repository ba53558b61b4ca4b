"""The audit in an app of its own: no desk, nothing that labels."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from dataclasses import replace

from textual.app import App
from textual.filter import LineFilter
from textual.screen import Screen

from annotate.desk.closed import hidden_from
from annotate.report.facts import Facts
from annotate.tui.line_filter import ControlCharacterFilter
from annotate.tui.screens.audit.screen import AuditScreen
from store.errors import NotEnoughError

LEAVING_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")


class AuditApp(App[None]):
    """Shows the audit until the person leaves."""

    TITLE = "overread"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._audit = AuditScreen(facts)
        self._wall = ControlCharacterFilter()

    def get_default_screen(self) -> Screen[None]:
        return self._audit

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for name in LEAVING_SIGNALS:
            number = getattr(signal, name, None)
            if number is not None:
                with contextlib.suppress(NotImplementedError):
                    loop.add_signal_handler(number, self.exit)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever reaches a line of the screen loses its control characters here."""
        return [*super().get_line_filters(), self._wall]


def facts_for(facts: Facts, annotator: str) -> Facts:
    """The facts as this person may see them: without the disagreements whose verdict stays hidden from them."""
    return replace(facts, options=replace(facts.options, hidden=hidden_from(facts.study, annotator)))


def run_audit(facts: Facts, annotator: str) -> None:
    """Show the audit until the person leaves.

    Raises:
        NotEnoughError: nothing is labelled.
    """
    if not facts.labelled:
        raise NotEnoughError("There is nothing to audit yet.", "No item is labelled.", "overread label")
    AuditApp(facts_for(facts, annotator)).run(mouse=True)
