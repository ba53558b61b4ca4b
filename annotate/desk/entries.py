"""A decision that takes more than one key while it is being given: a grid, a ranking, a number. Pure state.

Nothing is ever changed in place: an answer gives a new entry, so that one that could not be saved has changed nothing.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judges.benchmarks.decisions import (
    Decision,
    Row,
    cells_text,
    is_whole,
    number_text,
    ranking_text,
    read_cells,
    read_number,
    read_ranking,
    rows_of,
)
from store.records import SHOWN_ORDER, digest

_KEPT_LETTERS = "qux"
"""Leaving, undo and "cannot judge" keep their letters while responses are ranked."""
LETTERS = "".join(letter for letter in string.ascii_letters if letter.lower() not in _KEPT_LETTERS)
"""What the responses to rank are called, in the order they are shown."""
MOST_CHARACTERS = 24
NUMBER_KEYS = "0123456789.,-"
"""What a number is typed with; a comma is a point."""
_TENTHS = frozenset("23456789")


def order_id(decision_id: str) -> str:
    """The part of a label that records in which order the entries of a ranking were shown."""
    return decision_id + SHOWN_ORDER


def read_order(text: str) -> tuple[str, ...]:
    """A recorded order; () for none."""
    found = json.loads(text) if text.startswith("[") else []
    return tuple(map(str, found)) if isinstance(found, list) else ()


def shuffled(ids: Sequence[str], item_id: str, annotator: str, seed: int) -> tuple[str, ...]:
    """The order in which a person is shown the entries of an item: computed, so that it is the same each time."""
    order = sorted(ids)
    random.Random(digest("order of entries", item_id, annotator, seed)).shuffle(order)
    return tuple(order)


@dataclass(frozen=True, slots=True)
class Grid:
    """A checklist: rows × columns, every cell unset until it is answered.

    Attributes:
        row, column: where the cursor is.
    """

    decision: Decision
    rows: tuple[Row, ...]
    cells: Mapping[tuple[str, str], str]
    row: int = 0
    column: int = 0

    @classmethod
    def of(cls, decision: Decision, payload: Mapping[str, Any], text: str) -> Grid:
        """From what is given so far, the cursor on the first cell that is not; foreign rows and labels are left out."""
        rows = tuple(rows_of(decision, payload))
        values, given = {label.value for label in decision.labels}, read_cells(text)
        cells = {
            (row.id, column): value
            for row in rows
            for column, _ in decision.columns
            if (value := given.get(row.id, {}).get(column)) in values and value is not None
        }
        return cls(decision, rows, cells)._to_open()

    def cell(self, row: int, column: int) -> str | None:
        """The label of a cell; None while it is unset."""
        return self.cells.get(self._key(row, column))

    @property
    def here(self) -> Row:
        """The row of the cursor."""
        return self.rows[self.row]

    def answer(self, value: str) -> Grid:
        """Set the cell at the cursor; the cursor goes to the next one that is unset."""
        return replace(self, cells={**self.cells, self._key(self.row, self.column): value})._step()._to_open()

    def fill(self, value: str) -> Grid:
        """Set the whole row."""
        row = {self._key(self.row, column): value for column in range(self._width)}
        return replace(self, cells={**self.cells, **row}, column=self._width - 1)._step()._to_open()

    def back(self) -> Grid:
        """Unset the cell at the cursor; where it is unset, the last one before it that is not."""
        for place in range(self._place, -1, -1):
            at = replace(self, row=place // self._width, column=place % self._width)
            if at.cell(at.row, at.column) is not None:
                key = self._key(at.row, at.column)
                return replace(at, cells={cell: value for cell, value in self.cells.items() if cell != key})
        return self

    def move(self, down: int, right: int) -> Grid:
        """Move the cursor, staying inside."""
        return replace(
            self,
            row=max(0, min(self.row + down, len(self.rows) - 1)),
            column=max(0, min(self.column + right, self._width - 1)),
        )

    @property
    def unset(self) -> int:
        return len(self.rows) * self._width - len(self.cells)

    @property
    def text(self) -> str:
        by_row: dict[str, dict[str, str]] = {}
        for (row, column), value in self.cells.items():
            by_row.setdefault(row, {})[column] = value
        return cells_text(by_row)

    @property
    def lacks(self) -> str:
        """What is still to be given, in words; "" when it is whole."""
        return f"{self.unset} of {len(self.rows) * self._width} cells are not answered yet" if self.unset else ""

    @property
    def _width(self) -> int:
        return len(self.decision.columns)

    @property
    def _place(self) -> int:
        return self.row * self._width + self.column

    def _key(self, row: int, column: int) -> tuple[str, str]:
        return self.rows[row].id, self.decision.columns[column][0]

    def _step(self) -> Grid:
        """The next cell in reading order; the last one stays."""
        place = min(self._place + 1, len(self.rows) * self._width - 1)
        return replace(self, row=place // self._width, column=place % self._width)

    def _to_open(self) -> Grid:
        """The first unset cell at or after the cursor, from the front when there is none; stays when all are set."""
        size = len(self.rows) * self._width
        for place in (*range(self._place, size), *range(self._place)):
            row, column = divmod(place, self._width)
            if self.cell(row, column) is None:
                return replace(self, row=row, column=column)
        return self


@dataclass(frozen=True, slots=True)
class Ranking:
    """Entries put in order, best first.

    Attributes:
        entries: in the order they are shown. groups: what is placed, ties together.
        tying: the next entry ties with the last one.
    """

    decision: Decision
    entries: tuple[Row, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    tying: bool = False

    @classmethod
    def of(cls, decision: Decision, payload: Mapping[str, Any], text: str, order: Sequence[str]) -> Ranking:
        """From what is placed so far; entries that the item does not have are left out."""
        rows = {row.id: row for row in rows_of(decision, payload)}
        kept = [tuple(entry for entry in group if entry in rows) for group in read_ranking(text)]
        return cls(decision, tuple(rows[entry] for entry in order), tuple(group for group in kept if group))

    @property
    def letters(self) -> dict[str, str]:
        """Letter → entry; entries beyond the letters there are have none."""
        return {letter: entry.id for letter, entry in zip(LETTERS, self.entries, strict=False)}

    @property
    def placed(self) -> set[str]:
        return {entry for group in self.groups for entry in group}

    @property
    def left(self) -> list[Row]:
        """What is not placed yet, in the order shown."""
        return [entry for entry in self.entries if entry.id not in self.placed]

    def place(self, entry: str) -> Ranking:
        """Put an entry behind the last one, or beside it after `tie`; one that is placed already stays."""
        if entry in self.placed:
            return self
        if self.tying:
            return replace(self, groups=(*self.groups[:-1], (*self.groups[-1], entry)), tying=False)
        return replace(self, groups=(*self.groups, (entry,)))

    def tie(self) -> Ranking:
        """The next entry ties with the last; once more takes that back."""
        return replace(self, tying=not self.tying) if self.groups and self.left else self

    def back(self) -> Ranking:
        """Take the tie sign, else the last entry back."""
        if self.tying or not self.groups:
            return replace(self, tying=False)
        last = self.groups[-1][:-1]
        return replace(self, groups=(*self.groups[:-1], *((last,) if last else ())))

    @property
    def text(self) -> str:
        return ranking_text(self.groups)

    @property
    def lacks(self) -> str:
        """What is still to be given, in words; "" when it is whole."""
        if not self.entries:
            return "this item has nothing to rank"
        return f"{len(self.left)} of {len(self.entries)} are not placed yet" if self.left else ""


@dataclass(frozen=True, slots=True)
class Number:
    """A number while it is typed.

    Attributes:
        typed: as it was typed; on a scale from 0 to 1 one digit from 2 to 9 means tenths.
    """

    decision: Decision
    typed: str = ""

    def add(self, character: str) -> Number:
        """One more character; what no number has is left out."""
        character = "." if character == "," else character
        fits = character in NUMBER_KEYS and len(self.typed) < MOST_CHARACTERS
        return replace(self, typed=self.typed + character) if fits else self

    def back(self) -> Number:
        return replace(self, typed=self.typed[:-1])

    @property
    def text(self) -> str:
        """The number as it is stored; "" when it is none or out of bounds."""
        value = self._value
        return "" if value is None or self.lacks else number_text(value)

    @property
    def lacks(self) -> str:
        """Why it is no number yet, in words; "" when it is one within its bounds."""
        low, high = self.decision.low, self.decision.high
        if self._value is None:
            return f"type a number from {low:g} to {high:g}" if not self.typed else f"{self.typed} is not a number"
        return "" if low <= self._value <= high else f"{self.typed} is not from {low:g} to {high:g}"

    @property
    def _value(self) -> float | None:
        if (self.decision.low, self.decision.high) == (0.0, 1.0) and self.typed in _TENTHS:
            return int(self.typed) / 10
        return read_number(self.typed)


Entry = Grid | Ranking | Number


def open_entry(decision: Decision, payload: Mapping[str, Any], text: str, order: Sequence[str]) -> Entry:
    """The entry of a long decision from what is given of it.

    Args:
        order: entry ids of a ranking in the order they are shown.
    """
    if decision.kind == "checklist":
        return Grid.of(decision, payload, text)
    if decision.kind == "ranking":
        return Ranking.of(decision, payload, text, order)
    return Number(decision, text)


def is_given(decision: Decision, payload: Mapping[str, Any], given: Mapping[str, str]) -> bool:
    """Whether a label that holds these parts answers the decision wholly."""
    return decision.id in given and is_whole(decision, payload, given[decision.id])


def letters_of(order: Iterable[str]) -> dict[str, str]:
    """Entry → letter, for entries in the order they are shown."""
    return dict(zip(order, LETTERS, strict=False))
