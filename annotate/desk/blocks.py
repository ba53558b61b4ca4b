"""Blocks of rows: what a section is laid out into. The pieces of a row are made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, Protocol

from annotate.desk.cells import cell_width, cut_to_width
from annotate.desk.layout import WrappedText
from annotate.desk.sections import Unit

Role = Literal["gutter", "title", "count", "badge", "head", "time", "repeat", "number", "text", "note", "rule", "mark"]
"""What a piece of a line is; the screen decides how it looks."""

INDENT: Final = 2
RULE: Final = " │ "


class Piece(NamedTuple):
    """Part of a row.

    Attributes:
        unit: the unit whose text this is, so that its highlights show; -1 for the program's own words and for labels.
        start: offset of `text` in the unit's text.
    """

    text: str
    role: Role
    unit: int = -1
    start: int = 0


MARGIN: Final = Piece(" " * INDENT, "text")


class Place(NamedTuple):
    """Where a row is in its section, whatever the width: the unit (-1: the title) and the offset of its first character
    (-1: the unit's head)."""

    unit: int
    offset: int


class Block(Protocol):
    """Consecutive rows about one unit."""

    @property
    def unit(self) -> int:
        """The unit the rows are about; -1 for a title."""
        ...

    @property
    def rows(self) -> int: ...

    @property
    def head(self) -> bool:
        """True for the row that names a unit and can carry its marks in words."""
        ...

    def pieces(self, row: int, /) -> list[Piece]: ...

    def place(self, row: int, /) -> Place:
        """What the row starts with, so that `row_at` finds it again."""
        ...

    def row_at(self, unit: int, offset: int) -> int | None:
        """The row that shows the character at `offset` of `unit`; None when it is not in this block."""
        ...


class WordsBlock(NamedTuple):
    """One row that holds no text of a unit: `words`, as many as fit in `width` cells."""

    unit: int
    width: int
    words: tuple[Piece, ...]
    head: bool = False
    rows: int = 1

    def pieces(self, _row: int, /) -> list[Piece]:
        return fit(self.words, self.width)

    def place(self, _row: int, /) -> Place:
        return Place(self.unit, -1)

    def row_at(self, unit: int, offset: int) -> int | None:
        return 0 if unit == self.unit and offset < 0 else None


class TurnHeadBlock(NamedTuple):
    """The row above a turn: its number, who speaks, the time if it is another than before, how often it was said.

    Made by the thousand when a dialogue opens, so the words come only when the row is shown.
    """

    unit: int
    width: int
    turn: Unit
    total: int
    new_time: bool
    said: int
    head: bool = True
    rows: int = 1

    def pieces(self, _row: int, /) -> list[Piece]:
        words = [MARGIN, number_piece(self.unit, self.total), Piece(self.turn.head or "(no speaker)", "head")]
        if self.new_time:
            words.append(Piece(f"  {self.turn.time}", "time"))
        if self.said > 1:
            words.append(Piece(f"  × {self.said} (repeated)", "repeat"))
        return fit(words, self.width)

    def place(self, _row: int, /) -> Place:
        return Place(self.unit, -1)

    def row_at(self, unit: int, offset: int) -> int | None:
        return 0 if unit == self.unit and offset < 0 else None


class TextBlock(NamedTuple):
    """A unit's text: `label` left of its first row, blanks as wide left of the others."""

    unit: int
    wrapped: WrappedText
    label: tuple[Piece, ...]
    indent: int
    head: bool = False

    @property
    def rows(self) -> int:
        return len(self.wrapped)

    def pieces(self, row: int, /) -> list[Piece]:
        left = list(self.label) if row == 0 else [Piece(" " * self.indent, "text")]
        return [*left, text_piece(self.unit, self.wrapped, row)]

    def place(self, row: int, /) -> Place:
        return Place(self.unit, self.wrapped.starts[row])

    def row_at(self, unit: int, offset: int) -> int | None:
        return self.wrapped.line_at(max(offset, 0)) if unit == self.unit else None


class ColumnsBlock(NamedTuple):
    """Texts side by side, as many rows as the longest needs."""

    columns: tuple[WrappedText, ...]
    width: int
    unit: int = 0
    head: bool = False

    @property
    def rows(self) -> int:
        return max(len(column) for column in self.columns)

    def pieces(self, row: int, /) -> list[Piece]:
        pieces = [MARGIN]
        for unit, column in enumerate(self.columns):
            piece = text_piece(unit, column, row) if row < len(column) else Piece("", "text")
            pieces.append(piece)
            if unit + 1 < len(self.columns):
                pieces += [Piece(" " * (self.width - cell_width(piece.text)), "text"), Piece(RULE, "rule")]
        return pieces

    def place(self, row: int, /) -> Place:
        longest = max(range(len(self.columns)), key=lambda unit: len(self.columns[unit]))
        return Place(longest, self.columns[longest].starts[row])

    def row_at(self, unit: int, offset: int) -> int | None:
        return self.columns[unit].line_at(max(offset, 0)) if 0 <= unit < len(self.columns) else None


def text_piece(unit: int, wrapped: WrappedText, row: int) -> Piece:
    """What a row shows of its unit's text."""
    start, end = wrapped.shown(row)
    return Piece(wrapped.text[start:end], "text", unit, start)


def pad(text: str, width: int, least: int = 1) -> str:
    """`text` followed by blanks up to `width` cells, and by `least` blanks at least."""
    return text + " " * max(width - cell_width(text), least)


def fit(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """The pieces that fit in `width` cells, the last of them cut with "…"."""
    fitted: list[Piece] = []
    for piece in pieces:
        text = cut_to_width(piece.text, width)
        width -= cell_width(text)
        if text:
            fitted.append(piece._replace(text=text))
        if text != piece.text:
            break
    return fitted


def number_piece(index: int, total: int) -> Piece:
    return Piece(f"{index + 1:>{len(str(total))}}  ", "number")
