"""The disagreements screen: a list, and the item in hand with its texts."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from annotate.report.facts import Facts
from annotate.tui.screens.disagreements.state import (
    EXPLAINED,
    KEYS,
    DisagreementsState,
    disagreements_footer,
    disagreements_header,
    list_rows,
    said_rows,
)
from annotate.tui.screens.key_screen import ASIDE, MOVES, PAGES, WIDE, KeyScreen
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines

LIST_WIDTH, LIST_ROWS = 60, 7
"""The list's width beside the item, and its rows above it."""


class DisagreementsScreen(KeyScreen):
    """Shows the disagreements of a judge with people over a task."""

    DEFAULT_CSS: ClassVar[str] = """
    DisagreementsScreen #list { split: top; height: 8; padding: 0 1; border-bottom: solid $panel-lighten-2; }
    DisagreementsScreen.-wide #list { split: left; width: 60; height: 1fr; border-bottom: none;
        border-right: solid $panel-lighten-2; padding: 1 1 0 1; }
    DisagreementsScreen #said { split: top; height: auto; max-height: 9; padding: 0 1; }
    DisagreementsScreen DocumentView { height: 1fr; padding: 0 1; }
    """
    keys, explained = KEYS, EXPLAINED

    def __init__(self, facts: Facts, task: str, judge: str) -> None:
        super().__init__()
        self._state = DisagreementsState(facts, task, judge)
        self._list, self._said, self._view = Lines(id="list"), Lines(id="said"), DocumentView()

    def compose(self) -> ComposeResult:
        yield from (self.header, self.footer, self._list, self._said, self._view)

    def on_mount(self) -> None:
        super().on_mount()
        self.call_after_refresh(self._show_text)

    def paint(self) -> None:
        """The header, the list and what is said of the item."""
        width, height = self.app.size
        wide = width >= WIDE
        across = LIST_WIDTH - 3 if wide else width - 2
        self.header.show([disagreements_header(self._state, width)])
        self.footer.show([disagreements_footer(width)])
        self._list.show(list_rows(self._state, height - 4 if wide else LIST_ROWS, across))
        self._said.show(said_rows(self._state, width - LIST_WIDTH - 2 if wide else width - 2))

    def _show_text(self) -> None:
        """The item's texts from their beginning."""
        self._view.show(self._state.document())

    def take(self, key: str, character: str) -> None:  # noqa: ARG002
        moves = {**MOVES, **ASIDE}
        if key in moves:
            before = self._state.place
            self._state.move(moves[key])
            if self._state.place != before:
                self.paint()
                self._show_text()
        elif key in PAGES:
            self._view.scroll_pages(PAGES[key])
        elif key == "space":
            self._view.toggle_top()
