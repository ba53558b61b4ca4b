"""The review screen: the block's labels beside the verdicts, disagreements first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen

from annotate.desk.actions import Action, Choice, KeyMap
from annotate.desk.desk import Desk
from annotate.tui.screens.label.screen import key_name
from annotate.tui.screens.label.state import Span
from annotate.tui.screens.review.state import review_footer, review_header, review_lines
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.prompt import Prompt
from store.errors import SaveError


class ReviewScreen(Screen[None]):
    """Dismissed when the desk has gone on."""

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ReviewScreen #header { height: 1; background: $panel; }
    ReviewScreen #lines { height: 1fr; padding: 1 1; }
    ReviewScreen #block { height: auto; }
    ReviewScreen #message { height: 1; }
    ReviewScreen #footer { height: 1; background: $panel; }
    """

    def __init__(self, desk: Desk, benchmark: str, keymaps: Mapping[str, KeyMap]) -> None:
        super().__init__()
        self._desk = desk
        self._benchmark = benchmark
        self._keymaps = keymaps

    def compose(self) -> ComposeResult:
        yield Lines(id="header")
        with VerticalScroll(id="lines", can_focus=False):
            yield Lines(id="block")
        yield Lines(id="message")
        yield Prompt()
        yield Lines(id="footer")

    def on_mount(self) -> None:
        self._show()

    def on_resize(self) -> None:
        self._show()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        prompt = self.query_one(Prompt)
        if prompt.purpose is not None:
            if event.key == "escape":
                prompt.close(kept=False)
            return
        event.prevent_default()
        self._desk.active.tick(self._desk.clock())
        self.take(key_name(event))

    def take(self, key: str) -> None:
        """One key, by name."""
        review = self._desk.review
        if review is None:
            return
        self._desk.message = ""
        meaning = self._keymaps[review.line.reading.task.task].resolve(key)
        if isinstance(meaning, Choice):
            if refusal := self._desk.guard.refusal(key, self._desk.clock()):
                self._say(refusal)
            else:
                self._save(lambda: self._desk.choose(meaning))
        elif isinstance(meaning, Action):
            self._perform(meaning.id)
        elif meaning.hint:
            self._say(meaning.hint)

    def _perform(self, action: str) -> None:
        desk = self._desk
        moves: dict[str, Callable[[], None]] = {
            "confirm": desk.confirm,
            "scroll_down": lambda: desk.move(1),
            "scroll_up": lambda: desk.move(-1),
            "next_item": lambda: desk.move(1),
            "previous_item": lambda: desk.move(-1),
            "undo": desk.undo,
            "redo": desk.redo,
        }
        if action == "note" and desk.review is not None:
            self.query_one(Prompt).ask("note", desk.review.line.reading.state.note)
        elif action == "quit":
            self.app.exit()
        elif action in moves:
            self._save(moves[action])

    def on_prompt_answered(self, answer: Prompt.Answered) -> None:
        """Why: the note of the line at the cursor."""
        self._save(lambda: self._desk.set_note(answer.text.strip()))

    def keep_open_note(self) -> None:
        """Store a note that is still being written."""
        prompt = self.query_one(Prompt)
        if prompt.purpose == "note":
            prompt.purpose = None
            self._desk.set_note(prompt.text.strip())

    def _save(self, act: Callable[[], None]) -> None:
        try:
            act()
        except SaveError as error:
            from annotate.tui.screens.notice.screen import SaveFailed

            self.app.push_screen(SaveFailed(error), lambda again: self._save(act) if again else self.app.exit())
            return
        if self._desk.review is None:
            self.dismiss(None)
        else:
            self._show()

    def _show(self) -> None:
        review = self._desk.review
        if review is None:
            return
        lines, row = review_lines(review, self.size.width - 4)
        self.query_one("#header", Lines).show([review_header(self._benchmark, review)])
        self.query_one("#block", Lines).show(lines)
        self.query_one("#footer", Lines).show([review_footer(review.line.reading.task)])
        self._say(self._desk.message)
        self.query_one("#lines", VerticalScroll).scroll_to(y=max(0, row - 4), animate=False)
        if self._desk.guard.painted_at is None:
            self.call_after_refresh(lambda: self._desk.guard.painted(self._desk.clock()))

    def _say(self, message: str) -> None:
        self.query_one("#message", Lines).show([[Span(f" {message}", "chosen")]] if message else [[]])
