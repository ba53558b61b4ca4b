"""A text over the desk: the keys, the rubric of the task, all that a judge said."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Line, Span, push_right

_ROWS = {"down": 1, "up": -1}
_PAGES = {"pagedown": 1, "pageup": -1, "space": 1}
_FAR = 1_000_000


class TextScreen(ModalScreen[None]):
    """Shows lines until a key closes it; arrows and page keys scroll."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    TextScreen { background: $background; overflow: hidden; }
    TextScreen #title { split: top; height: 1; background: $panel; }
    TextScreen #close { split: bottom; height: 1; background: $panel; }
    TextScreen #text { height: 1fr; padding: 0 1; }
    """

    def __init__(self, title: str, lines: list[Line]) -> None:
        super().__init__()
        self._title_words = title
        self._lines = lines
        self._head, self._text, self._close = Lines(id="title"), Lines(id="text"), Lines(id="close")

    def compose(self) -> ComposeResult:
        yield from (self._head, self._close, self._text)

    def on_mount(self) -> None:
        self._text.show(self._lines)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_place)

    def _show_place(self) -> None:
        """The title with how much there is, and how to leave."""
        first, height, total = self._text.top + 1, self._text.size.height, len(self._text.rows)
        place = f"lines {first}–{min(first + height - 1, total)} of {total} " if total > height else ""
        title = [Span(f" {self._title_words}", "title")]
        self._head.show([push_right(title, [Span(place, "muted")], self.size.width)])
        scrolls = " · ↑ ↓ PgUp PgDn scroll" if total > height else ""
        self._close.show([[Span(" any key", "key"), Span(f" closes{scrolls}", "muted")]])

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if not self.is_current:
            return
        page = max(self._text.size.height - 1, 1)
        if event.key in _ROWS:
            self._text.scroll_rows(_ROWS[event.key])
        elif event.key in _PAGES:
            self._text.scroll_rows(_PAGES[event.key] * page)
        elif event.key in ("home", "end"):
            self._text.scroll_rows(_FAR if event.key == "end" else -_FAR)
        else:
            self.dismiss(None)
            return
        self._show_place()
