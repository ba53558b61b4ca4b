"""The disagreements screen: a list, and the item in hand with its texts."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

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
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines

WIDE = 110
LIST_WIDTH, LIST_ROWS = 60, 7
"""The list's width beside the item, and its rows above it."""


class DisagreementsScreen(Screen[None]):
    """Dismissed by q or Esc."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    DisagreementsScreen { overflow: hidden; }
    DisagreementsScreen #header { split: top; height: 1; background: $panel; }
    DisagreementsScreen #footer { split: bottom; height: 1; background: $panel; }
    DisagreementsScreen #list { split: top; height: 8; padding: 0 1; border-bottom: solid $panel-lighten-2; }
    DisagreementsScreen.-wide #list { split: left; width: 60; height: 1fr; border-bottom: none;
        border-right: solid $panel-lighten-2; padding: 1 1 0 1; }
    DisagreementsScreen #said { split: top; height: auto; max-height: 9; padding: 0 1; }
    DisagreementsScreen DocumentView { height: 1fr; padding: 0 1; }
    """

    def __init__(self, facts: Facts, task: str, judge: str) -> None:
        super().__init__()
        self._state = DisagreementsState(facts, task, judge)
        self._header, self._footer = Lines(id="header"), Lines(id="footer")
        self._list, self._said, self._view = Lines(id="list"), Lines(id="said"), DocumentView()

    def compose(self) -> ComposeResult:
        yield from (self._header, self._footer, self._list, self._said, self._view)

    def on_mount(self) -> None:
        self.set_class(self.app.size.width >= WIDE, "-wide")
        self.call_after_refresh(self.show_item)

    def on_resize(self) -> None:
        self.set_class(self.app.size.width >= WIDE, "-wide")
        self.call_after_refresh(self.show_list)

    def show_list(self) -> None:
        """The header, the list and what is said of the item."""
        width, height = self.app.size
        wide = width >= WIDE
        across = LIST_WIDTH - 3 if wide else width - 2
        self._header.show([disagreements_header(self._state, width)])
        self._footer.show([disagreements_footer(width)])
        self._list.show(list_rows(self._state, height - 4 if wide else LIST_ROWS, across))
        self._said.show(said_rows(self._state, width - LIST_WIDTH - 2 if wide else width - 2))

    def show_item(self) -> None:
        """Everything, the item's texts from their beginning."""
        self.show_list()
        self._view.show(self._state.document())

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.is_active:
            self._take(event.key, event.character or "")

    def _take(self, key: str, character: str) -> None:
        moves = {"down": 1, "up": -1, "right": 1, "left": -1, "home": -(10**9), "end": 10**9}
        if key in moves:
            before = self._state.place
            self._state.move(moves[key])
            if self._state.place != before:
                self.show_item()
        elif key in ("pagedown", "pageup"):
            self._view.scroll_pages(1 if key == "pagedown" else -1)
        elif key == "space":
            self._toggle()
        elif character == "?" or key == "f1":
            self._show_keys()
        elif key == "escape" or character.lower() == "q":
            self.dismiss(None)

    def _show_keys(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import key_lines

        self.app.push_screen(TextScreen("Keys", key_lines(KEYS, EXPLAINED)))

    def _toggle(self) -> None:
        document = self._view.document
        if document.rows:
            self._view.toggle_section(document.position(self._view.top_row).section)
