"""Styled lines as data: pieces of text with roles, wrapped and cut by terminal cells. No screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from annotate.desk.cells import cell_width, cut_to_width
from annotate.desk.layout import NARROWEST, wrap

Role = Literal["plain", "title", "key", "chosen", "muted", "judge", "differs", "warning", "caret"]

GLUE: Final = "\u00a0"
"""A blank at which a line is not broken; shown as an ordinary one."""


class Span(NamedTuple):
    """A piece of a line; the role gives style, never meaning alone."""

    text: str
    role: Role = "plain"


Line = list[Span]


def glued(text: str) -> str:
    """The text as one word: its line is not broken inside it."""
    return text.replace(" ", GLUE)


def text_of(line: Sequence[Span]) -> str:
    """A line without its roles, as it is shown."""
    return "".join(span.text for span in line).replace(GLUE, " ")


def line_width(line: Sequence[Span]) -> int:
    """Cells of a line."""
    return cell_width("".join(span.text for span in line))


def wrap_line(line: Line, width: int) -> list[Line]:
    """The line in rows of at most `width` cells; rows after the first are indented like the first one."""
    if line_width(line) <= width:
        return [line]
    text = "".join(span.text for span in line)
    indent = min(len(text) - len(text.lstrip(" ")), width // 2, max(width - NARROWEST, 0))
    wrapped = wrap(text[indent:], max(width - indent, NARROWEST))
    rows: list[Line] = []
    for number in range(len(wrapped)):
        start, end = wrapped.shown(number)
        rows.append([Span(" " * indent), *_slice(line, start + indent, end + indent)])
    return rows


def wrap_lines(lines: Sequence[Line], width: int) -> list[Line]:
    """All lines in rows of at most `width` cells; none where there is no width."""
    return [row for line in lines for row in wrap_line(line, width)] if width > 0 else []


def cut_line(line: Line, width: int) -> Line:
    """As much of the line as fits in `width` cells, "…" where it was cut."""
    text = "".join(span.text for span in line)
    cut = cut_to_width(text, width)
    return line if cut == text else [*_slice(line, 0, len(cut) - 1), Span(cut[-1:], "muted")]


def cut_rows(rows: list[Line], most: int, width: int, more: Line) -> list[Line]:
    """The first `most` rows; when that is not all of them the last of these ends in "…" and `more`."""
    if len(rows) <= most:
        return rows
    kept = rows[: max(most, 1)]
    kept[-1] = [*cut_line([*kept[-1], Span(" …")], max(width - line_width(more), 1)), *more]
    return kept


def push_right(left: Line, right: Line, width: int) -> Line:
    """`right` at the right end of a line of `width` cells, at least one blank after `left`."""
    gap = width - line_width(left) - line_width(right)
    return [*left, Span(" " * max(gap, 1)), *right]


def keys_line(keys: Sequence[tuple[str, str]], width: int) -> Line:
    """Keys and what they do, in a line: those that fit whole, the first ones first."""
    line: Line = [Span(" ")]
    for key, what in keys:
        more = [Span(key, "key"), Span(f" {what}  ", "muted")]
        if line_width([*line, *more]) - 2 > width:
            break
        line += more
    return cut_line(line, width)


def _slice(line: Line, start: int, end: int) -> Line:
    """Characters `start` up to `end` of a line."""
    pieces: Line = []
    for span in line:
        piece = span.text[max(start, 0) : max(end, 0)]
        if piece:
            pieces.append(span._replace(text=piece))
        start, end = start - len(span.text), end - len(span.text)
    return pieces
