"""The order in which items are read: a draw's order, cut into blocks for review; and what of it still waits."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from itertools import groupby

from store.draws import DrawnItem
from store.records import LabelState

BLOCK_SIZE = 10
"""Items without a shared text that make a block."""


class Queue:
    """Places 0 … n−1 of a draw, each with its block. Knows no labels."""

    def __init__(self, items: Sequence[DrawnItem]) -> None:
        self.items = list(items)
        self.place_of = {item.item_id: place for place, item in enumerate(self.items)}
        self._starts = _block_starts(self.items)
        self.block_of = [0] * len(self.items)
        for number in range(len(self._starts)):
            for place in self.block(number):
                self.block_of[place] = number

    def __len__(self) -> int:
        return len(self.items)

    @property
    def blocks(self) -> range:
        """The numbers of all blocks."""
        return range(len(self._starts))

    def block(self, number: int) -> range:
        """The places of a block."""
        ends = [*self._starts[number + 1 : number + 2], len(self.items)]
        return range(self._starts[number], ends[0])

    def same_group(self, place: int, other: int) -> bool:
        """Whether two places share a long text."""
        return self.items[place].group_number == self.items[other].group_number


def _block_starts(items: Sequence[DrawnItem]) -> list[int]:
    """A shared group is a block of its own; single items make blocks of `BLOCK_SIZE`."""
    starts: list[int] = []
    place = singles = 0
    for _, members in groupby(items, key=lambda item: item.group_number):
        size = len(list(members))
        if size > 1 or singles in (0, BLOCK_SIZE):
            starts.append(place)
            singles = 0
        singles = singles + 1 if size == 1 else 0
        place += size
    return starts


class Waiting:
    """The places of a queue that still need a label, kept in step act by act: no key walks over the queue."""

    def __init__(self, size: int) -> None:
        self._open = list(range(size))
        self._skipped: list[int] = []
        self._size = size

    def load(self, states: Mapping[int, LabelState]) -> None:
        """Take over what is settled already."""
        settled = {place for place, state in states.items() if state.decided}
        self._skipped = sorted(place for place, state in states.items() if state.skipped and place not in settled)
        settled.update(self._skipped)
        self._open = [place for place in self._open if place not in settled]

    def update(self, place: int, state: LabelState) -> None:
        """A place has a new label, or none any more."""
        _discard(self._open, place)
        _discard(self._skipped, place)
        if not state.decided:
            insort(self._skipped if state.skipped else self._open, place)

    @property
    def labelled(self) -> int:
        """Places that need nothing more."""
        return self._size - len(self._open) - len(self._skipped)

    @property
    def skipped(self) -> int:
        return len(self._skipped)

    def next(self, start: int) -> int | None:
        """The next place to read at or after `start`, from the front when the end is reached; skipped ones last."""
        for places in (self._open, self._skipped):
            if places:
                index = bisect_left(places, start)
                return places[index if index < len(places) else 0]
        return None


def _discard(places: list[int], place: int) -> None:
    index = bisect_left(places, place)
    if index < len(places) and places[index] == place:
        del places[index]
