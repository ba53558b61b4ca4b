"""Text broken into lines of a given cell width, as spans of the text: every character is in exactly one line."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from annotate.desk.cells import cell_widths

NARROWEST: Final = 2
"""Cells of the narrowest line: the width of one wide character."""

_NOT_FIRST: Final = frozenset(
    "，。、；：！？）】》」』〉〕］｝”’…—％‰℃～·,.;:!?)]}%ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
)
_NOT_LAST: Final = frozenset("（【《「『〈〔［｛“‘([{$¥￥#＃")
# Scripts and marks on whose width, order or joining terminals disagree.
_DISPUTED: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0590-\u08ff\u0900-\u109f\u1100-\u11ff\u1780-\u17ff\u200c-\u200f\u20d0-\u20f0"
    "\ufb1d-\ufdff\ufe00-\ufe0f\ufe20-\ufe2f\ufe70-\ufefe\U0001f000-\U000effff]"
)
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


class Span(NamedTuple):
    """Characters `start` up to, not including, `end` of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WrappedText:
    """A text and where its lines start.

    Attributes:
        starts: code point offsets, ascending, the first 0; the lines tile the text.
    """

    text: str
    starts: array[int]

    def __len__(self) -> int:
        return len(self.starts)

    def span(self, line: int) -> Span:
        """The whole of a line, its newline and the blanks that hang over its end included."""
        following = line + 1
        return Span(self.starts[line], self.starts[following] if following < len(self.starts) else len(self.text))

    def shown(self, line: int) -> Span:
        """What of a line is seen: never wider than the width it was wrapped to."""
        start, end = self.span(line)
        return Span(start, start + len(self.text[start:end].rstrip(" \n")))

    def line_at(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        return max(bisect_right(self.starts, offset) - 1, 0)


def wrap(text: str, width: int) -> WrappedText:
    """Break `text` into lines of at most `width` cells.

    Lines break at newlines, after blanks (which may hang over the end), between wide characters where neither side is
    punctuation that must not start or end a line, and, when a word is longer than a line, anywhere between clusters.

    Raises:
        ValueError: `width` is less than `NARROWEST`.
    """
    if width < NARROWEST:
        raise ValueError(f"a line of {width} cells cannot hold every character")
    starts = array("I")
    start, length = 0, len(text)
    break_paragraph = _break_narrow if text.isascii() else _break_mixed
    while True:
        end = text.find("\n", start)
        end = length if end < 0 else end
        starts.append(start)
        if (end - start) * 2 > width:
            break_paragraph(text, Span(start, end), width, starts)
        if end >= length:
            return WrappedText(text, starts)
        start = end + 1


def _break_narrow(text: str, paragraph: Span, width: int, starts: array[int]) -> None:
    """Append the further line starts of a paragraph whose characters all take one cell."""
    start, end = paragraph
    while end - start > width:
        blank = text.rfind(" ", start, start + width + 1)
        if blank <= start or text[start:blank].isspace():
            start += width
        else:
            start = _after_blanks(text, blank, end)
            if start == end:
                return
        starts.append(start)


def _after_blanks(text: str, start: int, end: int) -> int:
    while start < end and text[start] == " ":
        start += 1
    return start


def _break_mixed(text: str, paragraph: Span, width: int, starts: array[int]) -> None:
    """Append the further line starts of a paragraph of any characters."""
    part = text[paragraph.start : paragraph.end]
    if part.isascii():
        _break_narrow(text, paragraph, width, starts)
        return
    widths = cell_widths(part)
    filled = array("I", accumulate(widths))
    start = before = 0
    while filled[-1] - before > width:
        end = bisect_right(filled, before + width, start)
        if widths[end] == 2 and part[end] not in _NOT_FIRST and part[end - 1] not in _NOT_LAST:
            start = end
        else:
            start = _break_before(part, widths, start, end)
        if start == len(part):
            return
        before = filled[start - 1]
        starts.append(paragraph.start + start)


def _break_before(text: str, widths: bytearray, start: int, end: int) -> int:
    """Where the next line starts, when characters `start` up to `end` are what fits in this one."""
    if text[end] == " " and not text[start:end].isspace():
        return _after_blanks(text, end, len(text))
    blank = text.rfind(" ", start, end)
    word = blank + 1 if blank > start and not text[start:blank].isspace() and widths[blank + 1] else start
    for index in range(end, word, -1):
        if _may_break(text, widths, index):
            return index
    return word if word > start else end


def _may_break(text: str, widths: bytearray, index: int) -> bool:
    """True between two clusters of which one is wide, when typography allows a line to end there."""
    if not widths[index] or (widths[index] == 1 and widths[index - 1] != 2):
        return False
    return text[index] not in _NOT_FIRST and text[index - 1] not in _NOT_LAST


def is_right_to_left(text: str) -> bool:
    """True when `text` holds Arabic, Hebrew or another right-to-left script, which the terminal may reorder."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def has_disputed_width(text: str) -> bool:
    """True when terminals disagree on how wide `text` is, so that nothing may stand to its right on a line."""
    return not text.isascii() and _DISPUTED.search(text) is not None
