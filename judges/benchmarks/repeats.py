"""Rows that are there twice, as an append-only run leaves them after a resume: found first, never resolved silently."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from judges.benchmarks.benchmark import Source
from store.records import Problem

OPTION = "duplicates"
"""The name in `Source.options`."""

LINES_NAMED = 8


class Seen(NamedTuple):
    """One row: its file, its line, and a fingerprint of what it says."""

    file: str
    line: int
    says: int


class Repeats:
    """Which rows of a source count.

    Attributes:
        choice: "" (rows that differ are refused), "first", "last" or "both".
    """

    def __init__(self, source: Source, choices: Sequence[str]) -> None:
        self.choice = source.options.get(OPTION, "")
        self._choices = choices
        self._rows: dict[Hashable, list[Seen]] = {}

    def see(self, key: Hashable, row: Seen) -> None:
        """Note a row; call it for every row before any is read for good."""
        self._rows.setdefault(key, []).append(row)

    def ordinal(self, key: Hashable, file: str, line: int) -> int | None:
        """0 for the row that counts, None for one that does not; with "both", its place among those that differ."""
        rows = self._rows[key]
        differing = _distinct(rows)
        place = next((n for n, row in enumerate(differing) if (row.file, row.line) == (file, line)), None)
        if place is None or len(differing) == 1 or self.choice == "both":
            return place
        return 0 if place == (len(differing) - 1 if self.choice == "last" else 0) else None

    def problems(self) -> Iterator[Problem]:
        """What to tell of them: one problem for each file that rows are repeated in."""
        if self.choice and self.choice not in self._choices:
            yield Problem(
                "", 0, 0, f"{OPTION} is one of {', '.join(self._choices)}", f"say --option {OPTION}={self._choices[0]}"
            )
        same: dict[str, list[tuple[int, int]]] = {}
        differ: dict[str, list[tuple[int, int]]] = {}
        for rows in self._rows.values():
            first, *others = rows
            distinct = {row.says for row in rows}
            for row in others:
                kind = same if len(distinct) == 1 else differ
                kind.setdefault(row.file, []).append((first.line, row.line))
        for file, lines in same.items():
            what = f"{len(lines)} rows are there twice, the same both times, and were read once: {_named(lines)}"
            yield Problem(file, lines[0][1], 0, what, "nothing", fatal=False)
        for file, lines in differ.items():
            yield self._differing(file, lines)

    def _differing(self, file: str, lines: Sequence[tuple[int, int]]) -> Problem:
        what = f"{len(lines)} rows are of an item that is there before, and say something else: {_named(lines)}"
        if self.choice in self._choices:
            taken = "both count" if self.choice == "both" else f"the {self.choice} one counts"
            return Problem(file, lines[0][1], 0, f"{what}; {taken}, as was asked for", "nothing", fatal=False)
        remedy = f"keep one row of each, or say which: --option {OPTION}=…, one of {', '.join(self._choices)}"
        return Problem(file, lines[0][1], 0, what, remedy)


def _distinct(rows: Sequence[Seen]) -> list[Seen]:
    """The first row of each that says something else."""
    found: dict[int, Seen] = {}
    for row in rows:
        found.setdefault(row.says, row)
    return list(found.values())


def _named(lines: Sequence[tuple[int, int]]) -> str:
    named = "; ".join(f"{first} and {again}" for first, again in lines[:LINES_NAMED])
    return f"lines {named}{'; …' if len(lines) > LINES_NAMED else ''}"
