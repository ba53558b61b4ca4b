"""An item of val: its text, people's label, and what both prompts made of it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from annotate.desk.document import Document
from annotate.desk.reading import headline, sections_for
from annotate.tui.screens.retune.lines import item_head, reading_of
from annotate.tui.screens.retune.state import RetuneState
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Line, Span, cut_line, keys_line, push_right


class RetuneItemScreen(Screen[None]):
    """The item in hand; the arrows go to the others of the list."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    RetuneItemScreen { overflow: hidden; }
    RetuneItemScreen #header { split: top; height: 1; background: $panel; }
    RetuneItemScreen #footer { split: bottom; height: 1; background: $panel; }
    RetuneItemScreen #said { split: top; height: auto; padding: 0 1 1 1; }
    RetuneItemScreen DocumentView { height: 1fr; padding: 0 1; }
    """

    def __init__(self, state: RetuneState) -> None:
        super().__init__()
        self._state = state
        self._header, self._footer, self._said = Lines(id="header"), Lines(id="footer"), Lines(id="said")
        self._view = DocumentView()

    def compose(self) -> ComposeResult:
        yield from (self._header, self._footer, self._said, self._view)

    def on_mount(self) -> None:
        self.call_after_refresh(self.show_item)

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_heads)

    def show_heads(self) -> None:
        """What is said of the item."""
        state, width = self._state, self.app.size.width
        one = state.items[state.item_place]
        place = f"{state.item_place + 1} / {len(state.items)} "
        title: Line = [Span(f" {headline(reading_of(state.task, one.item), 200)}", "title")]
        self._header.show([push_right(cut_line(title, width - len(place) - 1), [Span(place, "title")], width)])
        self._said.show(item_head(state, one))
        keys = (("↑ ↓ PgUp PgDn", "scroll"), ("space", "open, fold"), ("← →", "other item"), ("q", "back"))
        self._footer.show([keys_line(keys, width)])

    def show_item(self) -> None:
        """Everything, the item's texts from their beginning."""
        self.show_heads()
        one = self._state.items[self._state.item_place]
        self._view.show(Document(sections_for(reading_of(self._state.task, one.item), self._state.study)))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.is_active:
            self._take(event.key, (event.character or "").lower())

    def _take(self, key: str, character: str) -> None:
        if key in ("left", "right"):
            before = self._state.item_place
            self._state.move(1 if key == "right" else -1)
            if self._state.item_place != before:
                self.show_item()
        elif key in ("down", "up"):
            self._view.scroll_rows(1 if key == "down" else -1)
        elif key in ("pagedown", "pageup"):
            self._view.scroll_pages(1 if key == "pagedown" else -1)
        elif key == "space":
            document = self._view.document
            if document.rows:
                self._view.toggle_section(document.position(self._view.top_row).section)
        elif character == "q" or key in ("escape", "enter"):
            self.dismiss(None)
