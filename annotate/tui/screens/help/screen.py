"""A text over the desk: the keys, the rubric of the task, all that a judge said."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from annotate.tui.screens.text_over import TextOver
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Line, Span, push_right

_ROWS = {"down": 1, "up": -1}
_PAGES = {"pagedown": 1, "pageup": -1, "space": 1}
_FAR = 1_000_000


class TextScreen(TextOver):
    """Shows lines until a key closes it; arrows and page keys scroll."""

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
        """Title and text are there at the first paint; how much there is, is known when they have a size."""
        self._head.show([[self._title_span]])
        self._text.show(self._lines)

    @property
    def _title_span(self) -> Span:
        return Span(f" {self._title_words}", "title")

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_place)

    def _show_place(self) -> None:
        """The title with how much there is, and how to leave."""
        first, height, total = self._text.top + 1, self._text.size.height, len(self._text.rows)
        place = f"lines {first}–{min(first + height - 1, total)} of {total} " if total > height else ""
        self._head.show([push_right([self._title_span], [Span(place, "muted")], self.size.width)])
        scrolls = " · ↑ ↓ PgUp PgDn scroll" if total > height else ""
        self._close.show([[Span(" any key", "key"), Span(f" closes{scrolls}", "muted"), *self._more]])

    @property
    def _more(self) -> Line:
        """Other keys there are."""
        return []

    def scrolls(self, key: str) -> bool:
        page = max(self._text.size.height - 1, 1)
        steps = {**_ROWS, **{name: pages * page for name, pages in _PAGES.items()}, "home": -_FAR, "end": _FAR}
        if key not in steps:
            return False
        self._text.scroll_rows(steps[key])
        self._show_place()
        return True


class RubricTextScreen(TextScreen):
    """A rubric; `d` shows what changed in it, where it has changed, and the text again."""

    def __init__(self, title: str, lines: list[Line], changes: list[Line]) -> None:
        super().__init__(title, lines)
        self._others = changes

    @property
    def _more(self) -> Line:
        return [Span(" · ", "muted"), Span("d", "key"), Span(" changes, text", "muted")] if self._others else []

    def scrolls(self, key: str) -> bool:
        if key == "d" and self._others:
            self._lines, self._others = self._others, self._lines
            self._text.show(self._lines)
            self._show_place()
            return True
        return super().scrolls(key)
