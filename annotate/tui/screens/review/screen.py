"""The review screen: the block's labels beside the verdicts, disagreements first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult

from annotate.desk.actions import Action, Choice, KeyMap
from annotate.desk.desk import Desk
from annotate.desk.review import BlockReview
from annotate.tui.screens.desk_screen import DeskScreen
from annotate.tui.screens.review.state import review_footer, review_header, review_rows
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.prompt import Answer
from annotate.tui.widgets.spans import Role, Span


class ReviewScreen(DeskScreen):
    """Dismissed when the desk has gone on."""

    DEFAULT_CSS: ClassVar[str] = """
    ReviewScreen { layers: base prompt; overflow: hidden; }
    ReviewScreen #header { split: top; height: 1; background: $panel; }
    ReviewScreen #footer { split: bottom; height: 1; background: $panel; }
    ReviewScreen #message { split: bottom; height: 1; }
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

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_desk)

    # Keys

    def take(self, key: str) -> None:
        review = self.desk.review
        if review is None:
            return
        self.desk.message = ""
        meaning = self._keymap(review).resolve(key)
        if isinstance(meaning, Choice):
            self._take_label(key, meaning)
        elif isinstance(meaning, Action):
            self.perform(meaning.id)
        else:
            self.say(meaning.hint, "warning")

    def _take_label(self, key: str, choice: Choice) -> None:
        if refusal := self.desk.guard.refusal(key, self.desk.clock()):
            self.say(f"! {refusal}", "warning")
        else:
            self.save(lambda: self.desk.choose(choice))

    def perform(self, action: str) -> None:
        handler = self.handlers.get(action)
        if handler is None:
            self.say("not here: first go through this review, Enter keeps your label", "warning")
        elif self.desk.review is not None:
            handler()

    def _all_handlers(self) -> dict[str, Callable[[], None]]:
        """What each action that has a meaning in a review does here."""
        desk, save = self.desk, self.save
        stores: dict[str, Callable[[], None]] = {
            "confirm": desk.confirm, "undo": desk.undo, "redo": desk.redo,
            "scroll_down": lambda: desk.move(1), "scroll_up": lambda: desk.move(-1),
            "next_item": lambda: desk.move(1), "previous_item": lambda: desk.move(-1),
        }  # fmt: skip
        shows: dict[str, Callable[[], None]] = {
            "note": self._ask_why, "dialogue": self._show_item, "verdict": self._show_verdict,
            "rubric": self._show_rubric, "help": self._show_help, "quit": lambda: self.app.exit(),
            "page_down": lambda: self._block.scroll_rows(self._page), "pace": lambda: self.say(desk.pace_words()),
            "page_up": lambda: self._block.scroll_rows(-self._page),
        }  # fmt: skip
        saving: dict[str, Callable[[], None]] = {name: partial(save, act) for name, act in stores.items()}
        return {**saving, **shows}

    @property
    def _page(self) -> int:
        return max(self._block.size.height - 1, 1)

    def _keymap(self, review: BlockReview) -> KeyMap:
        return self._keymaps[review.line.reading.task.task]

    @property
    def _review(self) -> BlockReview:
        """The review under way; handlers run only while there is one."""
        assert self.desk.review is not None
        return self.desk.review

    # Asking and other screens

    def _ask_why(self) -> None:
        self.prompt.ask("note", self._review.line.reading.state.note)

    def answered(self, answer: Answer) -> None:
        if answer.touched:
            self.save(lambda: self.desk.set_note(answer.text.strip()))

    def _show_item(self) -> None:
        from annotate.tui.screens.review.item import ItemScreen

        self.app.push_screen(ItemScreen(self.desk, self._review.line.reading))

    def _show_verdict(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import verdict_text

        self.app.push_screen(TextScreen("What the judge said", verdict_text(self._review.line.views)))

    def _show_rubric(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import rubric_text

        task = self._review.line.reading.task
        self.app.push_screen(TextScreen(f"Rubric: {task.title}", rubric_text(task)))

    def _show_help(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import help_text

        review = self._review
        self.app.push_screen(TextScreen("Keys", help_text(self._keymap(review), review.line.reading.task)))

    # Showing

    def show_desk(self) -> None:
        review = self.desk.review
        if review is None:
            if self.is_current:
                self.dismiss(None)
            return
        width = self.size.width
        rows, cursor = review_rows(review, max(width - 2, 20))
        self._header.show([review_header(self._benchmark, review, width)])
        self._footer.show([review_footer(self._keymap(review), review, width)])
        self._block.show(rows, self._block.top)
        self._block.reveal(cursor.start, cursor.stop - 1)
        self.say(self.desk.message)
        if self.desk.guard.painted_at is None:
            self.call_after_refresh(lambda: self.desk.guard.painted(self.desk.clock()))

    def say(self, message: str, role: Role = "chosen") -> None:
        """The line above the keys."""
        self._message.show([[Span(f" {message}", role)]] if message else [])
