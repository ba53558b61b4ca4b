"""Where a person writes: while it is open it gets every key and every paste, in the order they come."""

from __future__ import annotations

from typing import Literal, NamedTuple

from textual import events
from textual.geometry import Offset

from annotate.desk.cells import cell_width
from annotate.tui.widgets.editor import Editor
from annotate.tui.widgets.lines import Lines
from annotate.tui.widgets.spans import GLUE, Line, Span, wrap_line
from store.safe_text import TERMINAL_UNSAFE

Purpose = Literal["note", "reference_wrong", "find", "go_to"]
QUESTIONS: dict[Purpose, str] = {
    "note": "Note: Enter or Esc keeps it, an empty one is removed",
    "reference_wrong": "The right answer: Enter marks the reference wrong, Esc leaves it as it is",
    "find": "Find: Enter looks for it, Esc goes back",
    "go_to": "Go to item number: Enter goes there, Esc goes back",
}
PADDING = 2
"""Cells left and right of the text, together."""
MOST_ROWS = 7
"""Rows of the text that are shown at once."""
_PICTURES = {code: 0x2400 + code for code in range(32)}


class Answer(NamedTuple):
    """What was written.

    Attributes:
        kept: False after Esc.
        touched: False when it is the text the prompt began with.
    """

    purpose: Purpose
    text: str
    kept: bool
    touched: bool


class Prompt(Lines):
    """Asks one question. It takes no focus: the screen hands it every key, so that none can overtake another.

    Attributes:
        purpose: what it asks for; None while it is closed.
    """

    DEFAULT_CSS = """
    Prompt { display: none; dock: bottom; layer: prompt; max-height: 8; padding: 0 1; background: $surface; }
    Prompt.-open { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.purpose: Purpose | None = None
        self._editor = Editor()

    @property
    def is_open(self) -> bool:
        return self.purpose is not None

    def ask(self, purpose: Purpose, text: str = "") -> None:
        """Open with a text to start from."""
        self.purpose = purpose
        self._editor = Editor(text)
        self.add_class("-open")
        self._show_text()

    def take(self, event: events.Key) -> Answer | None:
        """One key; the answer when it closes the prompt."""
        event.stop()
        event.prevent_default()
        if event.key in ("enter", "escape"):
            return self.close(kept=event.key == "enter")
        self._editor.key(event.key, event.character)
        self._show_text()
        return None

    def paste(self, text: str) -> None:
        """A text pasted by the terminal."""
        self._editor.insert(text)
        self._show_text()

    def close(self, *, kept: bool) -> Answer | None:
        """Close and hand over what was written; None when it is not open."""
        if self.purpose is None:
            return None
        answer = Answer(self.purpose, self._editor.text, kept, self._editor.touched)
        self.purpose = None
        self.remove_class("-open")
        self.app.cursor_position = Offset(0, 0)
        return answer

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        if self.is_open:
            self._show_text()

    def _show_text(self) -> None:
        """The question, the text with its caret, and the terminal's cursor there, where input methods open."""
        if self.purpose is None:
            return
        text, (first, last) = _visible(self._editor.text), self._editor.caret_span
        under = text[first:last].replace(" ", GLUE) or GLUE
        written: Line = [Span(text[:first]), Span(under, "caret"), Span(text[last:])]
        rows = wrap_line(written, max(self.app.size.width - PADDING, 1))
        at = next(number for number, row in enumerate(rows) if any(span.role == "caret" for span in row))
        shown = rows[max(at - MOST_ROWS + 1, 0) :][:MOST_ROWS]
        self.show([[Span(QUESTIONS[self.purpose], "title")], *shown])
        self.call_after_refresh(self._place_cursor)

    def _place_cursor(self) -> None:
        for number, row in enumerate(self.rows):
            before = ""
            for span in row:
                if span.role == "caret":
                    x, y = self.content_region.offset
                    self.app.cursor_position = Offset(x + cell_width(before), y + number)
                    return
                before += span.text


def _visible(text: str) -> str:
    """The text with every control character as its picture, as many characters as before."""
    return TERMINAL_UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text.translate(_PICTURES))
