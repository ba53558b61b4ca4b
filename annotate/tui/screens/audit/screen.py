"""The audit screen: pages of lines, the disagreements one key away."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from annotate.report.facts import Facts
from annotate.tui.screens.audit.state import EXPLAINED, KEYS, audit_footer, audit_header, audit_pages
from annotate.tui.widgets.lines import Lines

WIDE = 110
"""From this width on the answer and what lies beside it stand side by side."""


class AuditScreen(Screen[None]):
    """Dismissed by q or Esc. Nothing has the focus: every key comes here."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    AuditScreen { overflow: hidden; }
    AuditScreen #header { split: top; height: 1; background: $panel; }
    AuditScreen #footer { split: bottom; height: 1; background: $panel; }
    AuditScreen #beside { split: right; width: 58; padding: 1 1 0 1; border-left: solid $panel-lighten-2; }
    AuditScreen #answer { height: 1fr; padding: 1 1 0 1; }
    AuditScreen #beside { height: 1fr; }
    AuditScreen.-narrow #beside { display: none; }
    """

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._facts = facts
        self._pages = audit_pages(facts)
        self._place = 0
        self._header, self._footer = Lines(id="header"), Lines(id="footer")
        self._answer, self._beside = Lines(id="answer"), Lines(id="beside")

    def compose(self) -> ComposeResult:
        yield from (self._header, self._footer, self._beside, self._answer)

    def on_mount(self) -> None:
        self.show_page()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_page)

    def show_page(self) -> None:
        """Bring the screen in line with the page in hand."""
        width, page = self.app.size.width, self._pages[self._place]
        narrow = width < WIDE
        self.set_class(narrow, "-narrow")
        self._header.show([audit_header(self._facts.study.benchmark, page, self._place, len(self._pages), width)])
        self._footer.show([audit_footer(page, len(self._pages) > 1, width)])
        self._answer.show([*page.answer, *page.beside] if narrow else page.answer)
        self._beside.show(page.beside)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.is_active:
            self._take(event.key, event.character or "")

    def _take(self, key: str, character: str) -> None:
        rows = max(self._answer.size.height - 2, 1)
        scrolls = {"down": 1, "up": -1, "pagedown": rows, "pageup": -rows, "home": -(10**6), "end": 10**6}
        if key in scrolls:
            self._answer.scroll_rows(scrolls[key])
            self._beside.scroll_rows(scrolls[key])
        elif key in ("left", "right"):
            self._place = (self._place + (1 if key == "right" else -1)) % len(self._pages)
            self.show_page()
        elif character.lower() == "d":
            self.show_disagreements()
        elif character == "?" or key == "f1":
            self._show_keys()
        elif key == "escape" or character.lower() == "q":
            self.leave()

    def _show_keys(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import key_lines

        self.app.push_screen(TextScreen("Keys", key_lines(KEYS, EXPLAINED)))

    def show_disagreements(self) -> None:
        """Those of the judge and task in hand."""
        from annotate.tui.screens.disagreements.screen import DisagreementsScreen

        page = self._pages[self._place]
        if page.judge:
            self.app.push_screen(DisagreementsScreen(self._facts, page.task, page.judge))

    def leave(self) -> None:
        """Back to what it was opened from, or out of the program."""
        if len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self.app.exit()
