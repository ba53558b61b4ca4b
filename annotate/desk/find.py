"""Literal search that ignores case and compatibility forms, and says where in the text it found something."""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from annotate.desk.document import Document, Highlight, Position
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


class Hit(NamedTuple):
    """Characters `start` up to `end` of a unit that were searched for."""

    section: str
    unit: int
    start: int
    end: int


class Finder:
    """A search in everything a document holds, folded sections too; a repeated turn is searched once.

    Attributes:
        hits: what was found, in the order of the document. current: index of the hit that is looked at.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._folded: dict[tuple[str, int], FoldedText] = {}
        self.hits: list[Hit] = []
        self.current: int | None = None

    def search(self, query: str) -> int:
        """Look for `query` and say how often it occurs; no hit is current yet."""
        self.current = None
        self.hits = [
            Hit(section.id, unit, *span)
            for section in self._document.sections
            for unit in self._document.distinct_units(section.id)
            for span in self._fold(section.id, unit).find(query)
        ]
        return len(self.hits)

    def _fold(self, section: str, unit: int) -> FoldedText:
        folded = self._folded.get((section, unit))
        if folded is None:
            folded = self._folded[section, unit] = fold_text(self._document.text(section, unit))
        return folded

    def step(self, by: int, near: Position | None = None) -> Hit | None:
        """Go `by` hits on, round the ends; None when there is no hit.

        With no current hit, +1 goes to the first hit at or behind `near` and -1 to the one before it.
        """
        if not self.hits:
            return None
        if self.current is None:
            following = self._first_from(near) if near is not None else 0
            self.current = (following + (by - 1 if by > 0 else by)) % len(self.hits)
        else:
            self.current = (self.current + by) % len(self.hits)
        return self.hits[self.current]

    def _first_from(self, position: Position) -> int:
        order = {section.id: index for index, section in enumerate(self._document.sections)}
        place = (order[position.section], *position.place)
        return bisect_left(self.hits, place, key=lambda hit: (order[hit.section], hit.unit, hit.start))

    def highlights(self) -> list[Highlight]:
        """All hits as highlights."""
        return [Highlight(*hit, "find") for hit in self.hits]

    def current_highlight(self) -> list[Highlight]:
        """The current hit, if any, as a highlight on top of its own."""
        return [] if self.current is None else [Highlight(*self.hits[self.current], "find-current")]
