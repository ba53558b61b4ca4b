"""A label that could not be made safe: the desk waits until it is, or the person leaves."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import Line, Span
from store.errors import SaveError
from store.safe_text import safe_text


class SaveFailed(ModalScreen[bool]):
    """Answers True for "try again", False for "leave"; nothing else closes it."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    SaveFailed { align: center middle; }
    SaveFailed Vertical { width: 74; max-width: 100%; height: auto; border: heavy $error; padding: 1 2; }
    SaveFailed Vertical { background: $surface; }
    """

    def __init__(self, error: SaveError) -> None:
        super().__init__()
        self.error = error
        self._failure = Lines(id="failure")

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._failure

    def on_mount(self) -> None:
        self._failure.show(failure_lines(self.error))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if not self.is_current:
            return
        if event.character in ("r", "R"):
            self.dismiss(True)
        elif event.character in ("q", "Q"):
            self.dismiss(False)


def failure_lines(error: SaveError) -> list[Line]:
    """What failed, where, the remedy, and the two keys there are."""
    if error.journaled:
        head, leave = "NOT IN THE STUDY YET: the journal has it", " leave: the next start completes it"
    else:
        head, leave = "NOT SAVED", " leave without saving this"
    told = [safe_text(text) for text in (error.title, error.detail, error.hint) if text]
    return [
        [Span(head, "differs")],
        *([Span(text)] for text in told),
        [],
        [Span("r", "key"), Span(" try again   "), Span("q", "key"), Span(leave)],
    ]
