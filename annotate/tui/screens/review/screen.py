"""The review screen: the block's labels beside the verdicts, disagreements first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult

from annotate.desk.actions import KeyMap
from annotate.desk.desk import Desk
from annotate.desk.ledger import Reading
from annotate.desk.part_keys import taken_actions
from annotate.desk.review import BlockReview
from annotate.desk.verdict_view import VerdictView
from annotate.tui.screens.desk_screen import DeskScreen
from annotate.tui.screens.label.pane import menu
from annotate.tui.screens.label.parts import Area, entry_lines
from annotate.tui.screens.review.state import review_footer, review_header, review_rows
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Role, Span, wrap_lines
from store.safe_text import safe_line

LONGEST_MESSAGE = 300
NARROWEST = 20
ENTRY_ROWS = 10
"""Rows for a grid, ranking or number that is open."""


class ReviewScreen(DeskScreen):
    """Dismissed when the desk has gone on."""

    DEFAULT_CSS: ClassVar[str] = """
    ReviewScreen { layers: base prompt; overflow: hidden; }
    ReviewScreen #header { split: top; height: 1; background: $panel; }
    ReviewScreen #footer { split: bottom; height: 1; background: $panel; }
    ReviewScreen #message { split: bottom; height: auto; max-height: 12; }
    ReviewScreen #block { height: 1fr; padding: 1 1 0 1; }
    ReviewScreen Prompt { margin-bottom: 1; }
    """

    def __init__(self, desk: Desk, benchmark: str, keymaps: Mapping[str, KeyMap]) -> None:
        super().__init__(desk)
        self._benchmark = benchmark
        self._keymaps = keymaps
        self._header, self._footer = Lines(id="header"), Lines(id="footer")
        self._block, self._message = Lines(id="block"), Lines(id="message")
        self.handlers = self._all_handlers()

    def compose(self) -> ComposeResult:
        yield from (self._header, self._footer, self._message, self._block, self.prompt)

    def on_mount(self) -> None:
        """Everything is in place before the first paint."""
        self.show_desk()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_desk)

    # What keys are about

    @property
    def review(self) -> BlockReview:
        """The review under way; keys count only while there is one."""
        assert self.desk.review is not None
        return self.desk.review

    @property
    def reading(self) -> Reading:
        return self.review.line.reading

    @property
    def keymap(self) -> KeyMap:
        return self._keymaps[self.reading.task.task]

    def verdicts(self) -> Sequence[VerdictView]:
        return self.review.line.views

    def take(self, key: str) -> None:
        if self.desk.review is not None:
            super().take(key)

    def perform(self, action: str) -> None:
        if self.desk.review is None:
            return
        if action in self.handlers:
            self.handlers[action]()
        else:
            self.say("not in the review: Enter goes through it, then it works again", "warning")

    def _all_handlers(self) -> dict[str, Callable[[], None]]:
        """What each action that has a meaning in a review does here."""
        desk, block = self.desk, self._block
        moves: dict[str, Callable[[], None]] = {
            "scroll_down": lambda: desk.move(1),
            "scroll_up": lambda: desk.move(-1),
        }
        shows: dict[str, Callable[[], None]] = {
            "dialogue": self._show_item,
            "page_down": lambda: block.scroll_rows(max(block.size.height - 1, 1)),
            "page_up": lambda: block.scroll_rows(-max(block.size.height - 1, 1)),
        }
        return {**self.common_handlers(), **self.saving(moves), **shows}

    def _show_item(self) -> None:
        from annotate.tui.screens.review.item import ItemScreen

        self.app.push_screen(ItemScreen(self.desk, self.reading))

    # Showing

    def show_desk(self) -> None:
        review = self.desk.review
        if review is None:
            if self.is_active:
                self.dismiss(None)
            return
        width = self.app.size.width
        rows, cursor = review_rows(review, max(width - 2, NARROWEST))
        self._header.show([review_header(self._benchmark, review, width)])
        self.show_keys()
        self._block.show(rows, self._block.top)
        self._block.reveal(cursor.start, cursor.stop - 1)
        if self.desk.entry is not None:
            area = Area(width - 2, ENTRY_ROWS)
            lines = entry_lines(self.desk.entry, self.keymap, area, unsure=self.desk.part_is_unsure)
            told = [[Span(f" {safe_line(self.desk.message, LONGEST_MESSAGE)}", "chosen")]] if self.desk.message else []
            self._message.show([*([Span(" "), *line] for line in lines), *told])
        elif self.expecting:
            self._message.show(wrap_lines(menu(self.reading, self.expecting, wide=False), width))
        else:
            self.say(self.desk.message)
        if self.desk.guard.painted_at is None:
            self.call_after_refresh(lambda: self.desk.guard.painted(self.desk.clock()))

    def show_keys(self) -> None:
        if self.desk.review is not None:
            entry = self.desk.entry
            taken = taken_actions(entry, self.keymap) if entry is not None else set()
            line = [] if self.keys_are_asked else review_footer(self.keymap, self.review, self.app.size.width, taken)
            self._footer.show([line])

    def say(self, message: str, role: Role = "chosen") -> None:
        self._message.show([[Span(f" {safe_line(message, LONGEST_MESSAGE)}", role)]] if message else [])
