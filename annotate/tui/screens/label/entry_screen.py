"""One response of a ranking on the whole screen; the arrows go to the others, any other key back to the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult

from annotate.desk.document import Document
from annotate.desk.sections import Section
from annotate.tui.screens.text_over import TextOver
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Span

_ROWS = {"down": 1, "up": -1}
_PAGES = {"pagedown": 1, "pageup": -1, "space": 1}
_OTHERS = {"right": 1, "left": -1}


class EntryScreen(TextOver):
    """Shows the responses one by one, in the order the person is shown them."""

    DEFAULT_CSS: ClassVar[str] = """
    EntryScreen { background: $background; overflow: hidden; }
    EntryScreen #title { split: top; height: 1; background: $panel; }
    EntryScreen #close { split: bottom; height: 1; background: $panel; }
    EntryScreen DocumentView { height: 1fr; }
    """

    def __init__(self, sections: Sequence[Section], place: int) -> None:
        """`place` is the one to begin with, 0-based."""
        super().__init__()
        self._sections, self._place = sections, place
        self._head, self._close = Lines(id="title"), Lines(id="close")
        self._view = DocumentView()

    def compose(self) -> ComposeResult:
        yield from (self._head, self._close, self._view)

    def on_mount(self) -> None:
        self._close.show([[Span(" any key", "key"), Span(" closes · ↑ ↓ PgUp PgDn scroll · ", "muted"),
                           Span("← → digits", "key"), Span(" the others", "muted")]])  # fmt: skip
        self._show()

    def _show(self) -> None:
        section = self._sections[self._place]
        self._head.show([[Span(f" {section.title}", "title")]])
        self._view.show(Document([replace(section, title="")]))

    def scrolls(self, key: str) -> bool:
        if key in _ROWS:
            self._view.scroll_rows(_ROWS[key])
        elif key in _PAGES:
            self._view.scroll_pages(_PAGES[key])
        elif key in _OTHERS:
            self._place = max(0, min(self._place + _OTHERS[key], len(self._sections) - 1))
            self._show()
        elif key.isdecimal() and 1 <= int(key) <= len(self._sections):
            self._place = int(key) - 1
            self._show()
        else:
            return False
        return True
