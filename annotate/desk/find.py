"""Literal search that ignores case and compatibility forms, and says where in the text it found something."""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from annotate.desk.layout import Span


class _FoldTable(dict[str, str]):
    """What a character is searched as: decomposed, without case."""

    def __missing__(self, character: str) -> str:
        folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
        self[character] = folded
        return folded


_FOLDS = _FoldTable()


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text as it is searched.

    Attributes:
        ends: for each character of `text` where what it folds to ends in `folded`; None when both are equally long.
    """

    text: str
    folded: str
    ends: array[int] | None

    def find(self, query: str) -> Iterator[Span]:
        """Where `query` occurs in `text`, without overlap. Nothing occurs where it is empty.

        Case, width (Ａ, A), ligatures and the ways to compose an accent make no difference; an accent itself does.
        """
        wanted = fold_text(query).folded
        at = self.folded.find(wanted) if wanted else -1
        while at >= 0:
            span = self._span(at, at + len(wanted))
            if span is not None:
                yield span
            at = self.folded.find(wanted, at + (len(wanted) if span else 1))

    def _span(self, start: int, end: int) -> Span | None:
        """The characters that folded to `start` … `end`; None when the match would cut one of them in two."""
        span = Span(start, end)
        if self.ends is not None:
            first, last = bisect_left(self.ends, start), bisect_left(self.ends, end)
            if (start and self.ends[first] != start) or self.ends[last] != end:
                return None
            span = Span(first + 1 if start else 0, last + 1)
        following = self.text[span.end : span.end + 1]
        return None if following and unicodedata.combining(following) else span


def fold_text(text: str) -> FoldedText:
    """Prepare `text` for searching; a megabyte takes some 10 ms, several times that when it is not ASCII."""
    if text.isascii():
        return FoldedText(text, text.lower(), None)
    parts = [_FOLDS[character] for character in text]
    folded = "".join(parts)
    # A character never folds to nothing, so equal lengths mean one to one.
    ends = None if len(folded) == len(text) else array("I", accumulate(map(len, parts)))
    return FoldedText(text, folded, ends)
