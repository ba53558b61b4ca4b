"""An item of val: its text, people's label, and what both prompts made of it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from annotate.desk.document import Document
from annotate.desk.reading import headline, sections_for
from annotate.tui.screens.key_screen import ASIDE, PAGES, KeyScreen
from annotate.tui.screens.retune.lines import item_head, reading_of
from annotate.tui.screens.retune.state import RetuneState
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Line, Span, cut_line, keys_line, push_right


class RetuneItemScreen(KeyScreen):
    """The item in hand; the arrows go to the others of the list."""

    DEFAULT_CSS: ClassVar[str] = """
    RetuneItemScreen #said { split: top; height: auto; padding: 0 1 1 1; }
    RetuneItemScreen DocumentView { height: 1fr; padding: 0 1; }
    """

    def __init__(self, state: RetuneState) -> None:
        super().__init__()
        self._state = state
        self._said, self._view = Lines(id="said"), DocumentView()

    def compose(self) -> ComposeResult:
        yield from (self.header, self.footer, self._said, self._view)

    def on_mount(self) -> None:
        super().on_mount()
        self.call_after_refresh(self._show_text)

    def paint(self) -> None:
        """What is said of the item."""
        state, width = self._state, self.app.size.width
        one = state.items[state.item_place]
        place = f"{state.item_place + 1} / {len(state.items)} "
        title: Line = [Span(f" {headline(reading_of(state.task, one.item), 200)}", "title")]
        self.header.show([push_right(cut_line(title, width - len(place) - 1), [Span(place, "title")], width)])
        self._said.show(item_head(state, one))
        keys = (("↑ ↓ PgUp PgDn", "scroll"), ("space", "open, fold"), ("← →", "other item"), ("q", "back"))
        self.footer.show([keys_line(keys, width)])

    def _show_text(self) -> None:
        """The item's texts from their beginning."""
        one = self._state.items[self._state.item_place]
        self._view.show(Document(sections_for(reading_of(self._state.task, one.item), self._state.study)))

    def take(self, key: str, character: str) -> None:  # noqa: ARG002
        if key in ASIDE:
            before = self._state.item_place
            self._state.move(ASIDE[key])
            if self._state.item_place != before:
                self.paint()
                self._show_text()
        elif key in ("down", "up"):
            self._view.scroll_rows(1 if key == "down" else -1)
        elif key in PAGES:
            self._view.scroll_pages(PAGES[key])
        elif key == "space":
            self._view.toggle_top()
        elif key == "enter":
            self.leave()
