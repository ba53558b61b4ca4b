"""The whole item of a review's line: the labels alone do not say why one should change."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from annotate.desk.desk import Desk
from annotate.desk.document import Document
from annotate.desk.ledger import Reading
from annotate.desk.reading import headline, sections_for
from annotate.tui.screens.text_over import TextOver
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Span, cut_line

_ROWS = {"down": 1, "up": -1}
_PAGES = {"pagedown": 1, "pageup": -1}


class ItemScreen(TextOver):
    """Shows the item until a key closes it; space opens and folds panels."""

    DEFAULT_CSS: ClassVar[str] = """
    ItemScreen { background: $background; overflow: hidden; }
    ItemScreen #title { split: top; height: 1; background: $panel; }
    ItemScreen #close { split: bottom; height: 1; background: $panel; }
    ItemScreen DocumentView { height: 1fr; }
    """

    def __init__(self, desk: Desk, reading: Reading) -> None:
        super().__init__()
        self._desk = desk
        self._reading = reading
        self._head, self._close = Lines(id="title"), Lines(id="close")
        self._view = DocumentView()

    def compose(self) -> ComposeResult:
        yield from (self._head, self._close, self._view)

    def on_mount(self) -> None:
        self._head.show([cut_line([Span(f" {headline(self._reading, 200)}", "title")], self.app.size.width)])
        self._close.show([[Span(" any key", "key"), Span(" closes · ↑ ↓ PgUp PgDn scroll · ", "muted"),
                           Span("space", "key"), Span(" opens and folds", "muted")]])  # fmt: skip
        self._view.show(Document(sections_for(self._reading, self._desk.ledger.study)))

    def scrolls(self, key: str) -> bool:
        if key in _ROWS:
            self._view.scroll_rows(_ROWS[key])
        elif key in _PAGES:
            self._view.scroll_pages(_PAGES[key])
        elif key == "space":
            self._view.toggle_top()
        else:
            return False
        return True

    def on_document_view_sections_opened(self, message: DocumentView.SectionsOpened) -> None:
        """Opening a panel that the judge did not see is recorded with the label."""
        self._desk.ledger.open_panels(self._reading.task, message.sections)
