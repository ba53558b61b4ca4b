"""A label that could not be made safe: the desk waits until it is, or the person leaves."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from annotate.tui.screens.label.state import Span
from annotate.tui.widgets.lines import Lines
from store.errors import SaveError
from store.safe_text import safe_text


class SaveFailed(ModalScreen[bool]):
    """Answers True for "try again", False for "leave"."""

    DEFAULT_CSS = """
    SaveFailed { align: center middle; }
    SaveFailed Vertical { width: 70; max-width: 95%; height: auto; border: heavy $error; padding: 1 2; }
    SaveFailed Vertical { background: $surface; }
    """

    def __init__(self, error: SaveError) -> None:
        super().__init__()
        self._error = error

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Lines(id="failure")

    def on_mount(self) -> None:
        error = self._error
        self.query_one(Lines).show(
            [
                [Span("NOT SAVED", "differs")],
                [Span(safe_text(error.title), "title")],
                [Span(safe_text(error.detail))],
                [Span(safe_text(error.hint), "muted")],
                [],
                [Span("r", "key"), Span(" try again   "), Span("q", "key"), Span(" leave without this label")],
            ]
        )

    def on_key(self, event: events.Key) -> None:
        event.stop()
        if event.character in ("r", "R"):
            self.dismiss(True)
        elif event.character in ("q", "Q"):
            self.dismiss(False)
