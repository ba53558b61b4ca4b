"""What is lost when lines of the journal are damaged: which of them the study holds, and which stand nowhere else."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from store.journal import Entry

_CLAIM = re.compile(rb'"event_id":"([^"]{0,64})')
"""Where a line says its id: an intact part of a damaged line, as a rule."""
_HALF = 32
_SHORTEST = 80
"""Bytes that every line of an act has at least: the name of its id, the id, and something it says."""
_SEARCHED = 200
"""So many damaged lines at most are looked for in all that the study holds; with more, length alone tells."""


class Loss(NamedTuple):
    """What of damaged lines stands nowhere else.

    Attributes:
        acts: acts that can be told from the lines. lines: lines of which not even that can be told.
    """

    acts: int
    lines: int

    @property
    def nothing(self) -> bool:
        return not (self.acts or self.lines)

    def words(self) -> str:
        """The loss as a clause."""
        if self.nothing:
            return "nothing is lost"
        said = []
        if self.acts:
            said.append("1 act stands nowhere else and is lost" if self.acts == 1 else
                        f"{self.acts} acts stand nowhere else and are lost")  # fmt: skip
        if self.lines:
            said.append("of 1 line nothing can be made out, and what it said is lost" if self.lines == 1 else
                        f"of {self.lines} lines nothing can be made out, and what they said is lost")  # fmt: skip
        return ", ".join(said)


def loss_of(damaged: Sequence[tuple[int, bytes]], absent: Sequence[Entry], intact: Collection[str]) -> Loss:
    """What the damaged lines (number, bytes) said that stands nowhere else.

    It may stand in `absent`, the entries that only the study has, or in `intact`, the ids of whole lines of the
    journal.

    A line is known by its id, or by half of it; by standing whole in an entry (a line that was cut in two); or, when
    nothing in it can be read, by the study having entries of at least its length that no other line accounts for: an
    overwritten stretch of a file keeps its length. A line too short for an act says nothing that could be lost.
    """
    found = _Search(absent, intact)
    acts = 0
    unread: list[bytes] = []
    for line, raw in damaged:
        claims = _CLAIM.findall(raw)
        if line == 1:
            claims = claims[1:]  # the header is written anew; an act may have run into it
        elif not claims and len(raw) >= _SHORTEST and not (len(damaged) <= _SEARCHED and found.holds(raw)):
            unread.append(raw)
        acts += sum(1 for claim in claims if not found.knows(claim))
    return Loss(acts, _beyond(unread, found.unclaimed_bytes()))


def _beyond(unread: Sequence[bytes], room: int) -> int:
    """How many of the lines have no entry in whose place they could stand."""
    count = 0
    for raw in sorted(unread, key=len):
        room -= len(raw)
        count += room <= -_SHORTEST
    return count


class _Search:
    """Entries that are safe, found by what is left of a line of theirs."""

    def __init__(self, absent: Sequence[Entry], intact: Collection[str]) -> None:
        self._lines = {entry.event_id: entry.line_bytes() for entry in absent}
        self._by_half = {
            half: event_id
            for event_id in (*intact, *self._lines)
            for half in (event_id[:_HALF].encode(), event_id[_HALF:].encode())
        }
        self._all = b"".join(self._lines.values())
        self._claimed: set[str] = set()

    def knows(self, claim: bytes) -> bool:
        event_id = self._by_half.get(claim[:_HALF]) or self._by_half.get(claim[_HALF:])
        if event_id is not None:
            self._claimed.add(event_id)
        return event_id is not None

    def holds(self, raw: bytes) -> bool:
        return raw.strip() in self._all

    def unclaimed_bytes(self) -> int:
        return sum(len(line) for event_id, line in self._lines.items() if event_id not in self._claimed)
