"""A text being written, key by key: pure state, so that no key can ever mean anything else meanwhile."""

from __future__ import annotations

import re

from annotate.desk.cells import cell_widths
from store.safe_text import TERMINAL_UNSAFE

_WORD_BEFORE = re.compile(r"\S+\s*$|\s+$")


class Editor:
    """A text and a caret in it.

    Attributes:
        caret: offset of the character the caret is on; `len(text)` at the end.
    """

    def __init__(self, text: str = "") -> None:
        self._original = text
        self.text = text
        self.caret = len(text)

    @property
    def touched(self) -> bool:
        """True when the text is not what it was at the start."""
        return self.text != self._original

    @property
    def caret_span(self) -> tuple[int, int]:
        """The visible character the caret is on: its first offset and the one after its last; empty at the end."""
        return self.caret, self._after(self.caret)

    def insert(self, text: str) -> None:
        """Put text at the caret: a character, or a paste. Line ends become blanks; control characters stay out."""
        clean = TERMINAL_UNSAFE.sub("", " ".join(text.split("\n")) if "\n" in text else text)
        self.text = self.text[: self.caret] + clean + self.text[self.caret :]
        self.caret += len(clean)

    def key(self, name: str, character: str | None) -> None:
        """One key by name, with the character it gives; a key that edits nothing is swallowed."""
        if (edit := _EDITS.get(name)) is not None:
            edit(self)
        elif character is not None and not TERMINAL_UNSAFE.search(character):
            self.insert(character)

    def left(self) -> None:
        """One visible character back."""
        self.caret = self._before(self.caret)

    def right(self) -> None:
        """One visible character on."""
        self.caret = self._after(self.caret)

    def start(self) -> None:
        self.caret = 0

    def end(self) -> None:
        self.caret = len(self.text)

    def delete_back(self) -> None:
        """Take away the visible character before the caret, its marks included."""
        self._cut(self._before(self.caret), self.caret)

    def delete_on(self) -> None:
        """Take away the visible character at the caret."""
        self._cut(self.caret, self._after(self.caret))

    def delete_word(self) -> None:
        """Take away the word before the caret."""
        found = _WORD_BEFORE.search(self.text, 0, self.caret)
        self._cut(found.start() if found else self.caret, self.caret)

    def delete_to_start(self) -> None:
        self._cut(0, self.caret)

    def delete_to_end(self) -> None:
        self._cut(self.caret, len(self.text))

    def _cut(self, start: int, end: int) -> None:
        self.text = self.text[:start] + self.text[end:]
        self.caret = start

    def _before(self, caret: int) -> int:
        widths = cell_widths(self.text)
        caret = max(caret - 1, 0)
        while caret and not widths[caret]:
            caret -= 1
        return caret

    def _after(self, caret: int) -> int:
        widths = cell_widths(self.text)
        caret = min(caret + 1, len(self.text))
        while caret < len(self.text) and not widths[caret]:
            caret += 1
        return caret


_EDITS = {
    "left": Editor.left,
    "right": Editor.right,
    "home": Editor.start,
    "ctrl+a": Editor.start,
    "end": Editor.end,
    "ctrl+e": Editor.end,
    "backspace": Editor.delete_back,
    "delete": Editor.delete_on,
    "ctrl+d": Editor.delete_on,
    "ctrl+w": Editor.delete_word,
    "ctrl+u": Editor.delete_to_start,
    "ctrl+k": Editor.delete_to_end,
}
