"""A terminal's screen in memory: bytes in, rows of characters out, with a main and an alternate screen as in xterm."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyte
from pyte.screens import Char
from wcwidth import wcwidth

from tests.terminal.sequences import Token, tokens

UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?\Z")
UNDERSTOOD_CSI = re.compile(rb"\x1b\[(?:[0-9;]*[@-~]|\?[0-9;]*[hlJK])\Z")
ALTERNATE = re.compile(rb"\x1b\[\?(?:47|1047|1049)([hl])\Z")


class VirtualScreen:
    """What a person would see after the bytes fed so far."""

    def __init__(self, columns: int, rows: int) -> None:
        self._main = pyte.Screen(columns, rows)
        self._alternate: pyte.Screen | None = None
        self._stream = pyte.ByteStream(self._main)
        self._held = b""

    @property
    def _screen(self) -> pyte.Screen:
        return self._alternate or self._main

    @property
    def in_alternate(self) -> bool:
        """True while a full-screen program has the screen."""
        return self._alternate is not None

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column, 0-based."""
        return self._screen.cursor.y, self._screen.cursor.x

    @property
    def text(self) -> str:
        """The rows from top to bottom, without trailing blanks."""
        return "\n".join(_row_text(row).rstrip() for row in self.cells)

    @property
    def cells(self) -> list[list[Char]]:
        """Every cell with its colours, row by row. The cell after a wide character holds an empty text."""
        screen = self._screen
        return [[screen.buffer[row][column] for column in range(screen.columns)] for row in range(screen.lines)]

    def resize(self, columns: int, rows: int) -> None:
        """The window got another size."""
        for screen in (self._main, self._alternate):
            if screen is not None:
                screen.resize(rows, columns)

    def feed(self, data: bytes) -> None:
        """Take a chunk; a sequence or character cut at its end waits for the next chunk."""
        data = self._held + data
        unfinished = UNFINISHED.search(data)
        cut = unfinished.start() if unfinished else len(data)
        self._held = data[cut:]
        for token in tokens(data[:cut]):
            self._take(token)

    def _take(self, token: Token) -> None:
        if switch := ALTERNATE.match(token.data):
            self._switch(to_alternate=switch[1] == b"h")
        elif token.kind in ("text", "control", "escape") or UNDERSTOOD_CSI.match(token.data):
            self._stream.feed(token.data)

    def _switch(self, *, to_alternate: bool) -> None:
        if to_alternate == self.in_alternate:
            return
        self._alternate = pyte.Screen(self._main.columns, self._main.lines) if to_alternate else None
        self._stream = pyte.ByteStream(self._screen)


def _row_text(cells: Sequence[Char]) -> str:
    """A row's characters; half of a wide character whose other half was painted over is a blank, as terminals show it.

    pyte's own `display` fails on such halves.
    """
    pieces: list[str] = []
    halves = iter(range(len(cells)))
    for column in halves:
        text = cells[column].data
        wide = text != "" and wcwidth(text[0]) == 2
        if wide and column + 1 < len(cells) and cells[column + 1].data == "":
            next(halves)
            pieces.append(text)
        else:
            pieces.append(" " if wide or text == "" else text)
    return "".join(pieces)
