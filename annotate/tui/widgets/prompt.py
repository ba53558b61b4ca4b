"""The line at the bottom in which a person writes: while it is open it swallows every letter."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

Purpose = Literal["note", "reference_wrong", "find", "go_to"]
QUESTIONS: dict[Purpose, str] = {
    "note": "Note (Enter or Esc keeps it): ",
    "reference_wrong": "The right answer (Enter; Esc leaves the reference as it is): ",
    "find": "Find: ",
    "go_to": "Go to item: ",
}


class Prompt(Horizontal):
    """Asks one question and posts what was written."""

    DEFAULT_CSS = """
    Prompt { height: 1; display: none; background: $surface; }
    Prompt.-open { display: block; }
    Prompt Static { width: auto; text-style: bold; }
    Prompt Input { border: none; height: 1; padding: 0; background: $surface; width: 1fr; }
    Prompt Input:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = []

    class Answered(Message):
        """The person pressed Enter, or Esc (`kept` False)."""

        def __init__(self, purpose: Purpose, text: str, kept: bool) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text
            self.kept = kept

    def __init__(self) -> None:
        super().__init__()
        self.purpose: Purpose | None = None

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)
        yield Input(select_on_focus=False)

    @property
    def text(self) -> str:
        return self.query_one(Input).value

    def ask(self, purpose: Purpose, text: str = "") -> None:
        """Open with a text to start from."""
        self.purpose = purpose
        self.query_one(Static).update(QUESTIONS[purpose])
        box = self.query_one(Input)
        box.value = text
        box.cursor_position = len(text)
        self.add_class("-open")
        box.focus()

    def close(self, kept: bool) -> None:
        """Close and post the answer."""
        if self.purpose is None:
            return
        purpose, self.purpose = self.purpose, None
        self.remove_class("-open")
        self.screen.set_focus(None)
        self.post_message(self.Answered(purpose, self.text, kept))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close(kept=True)
