"""The audit screen: pages of lines, the disagreements one key away."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from annotate.report.facts import Facts
from annotate.tui.screens.audit.state import EXPLAINED, KEYS, audit_footer, audit_header, audit_pages
from annotate.tui.screens.key_screen import ASIDE, FAR, KeyScreen
from annotate.tui.widgets.lines import Lines


class AuditScreen(KeyScreen):
    """The page in hand."""

    DEFAULT_CSS: ClassVar[str] = """
    AuditScreen #beside { split: right; width: 58; padding: 1 1 0 1; border-left: solid $panel-lighten-2; }
    AuditScreen #answer { height: 1fr; padding: 1 1 0 1; }
    AuditScreen #beside { height: 1fr; }
    AuditScreen.-narrow #beside { display: none; }
    """
    keys, explained = KEYS, EXPLAINED

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._facts = facts
        self._pages = audit_pages(facts)
        self._place = 0
        self._answer, self._beside = Lines(id="answer"), Lines(id="beside")

    def compose(self) -> ComposeResult:
        yield from (self.header, self.footer, self._beside, self._answer)

    def paint(self) -> None:
        """Bring the screen in line with the page in hand."""
        width, page = self.app.size.width, self._pages[self._place]
        self.header.show([audit_header(self._facts.study.benchmark, page, self._place, len(self._pages), width)])
        self.footer.show([audit_footer(page, len(self._pages) > 1, width)])
        self._answer.show([*page.answer, *page.beside] if self.has_class("-narrow") else page.answer)
        self._beside.show(page.beside)

    def take(self, key: str, character: str) -> None:
        rows = max(self._answer.size.height - 2, 1)
        scrolls = {"down": 1, "up": -1, "pagedown": rows, "pageup": -rows, "home": -FAR, "end": FAR}
        if key in scrolls:
            self._answer.scroll_rows(scrolls[key])
            self._beside.scroll_rows(scrolls[key])
        elif key in ASIDE:
            self._place = (self._place + ASIDE[key]) % len(self._pages)
            self.paint()
        elif character == "d":
            self.show_disagreements()

    def show_disagreements(self) -> None:
        """Those of the judge and task in hand."""
        from annotate.tui.screens.disagreements.screen import DisagreementsScreen

        page = self._pages[self._place]
        if page.judge:
            self.app.push_screen(DisagreementsScreen(self._facts, page.task, page.judge))
