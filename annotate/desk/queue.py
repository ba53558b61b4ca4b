"""The order in which items are read: a draw's order, skipped ones again at the end, blocks for review."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, groupby

from store.draws import DrawnItem

BLOCK_SIZE = 10
"""Items without a shared text that make a block."""


class Queue:
    """Places 0 … n−1 of a draw, each with its block. Knows no labels: it is told which places are settled."""

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

    def next_open(self, start: int, decided: Callable[[int], bool], skipped: Callable[[int], bool]) -> int | None:
        """The next place to read at or after `start`, from the front when the end is reached; skipped ones last."""
        first_skipped = None
        for place in chain(range(start, len(self.items)), range(min(start, len(self.items)))):
            if decided(place):
                continue
            if not skipped(place):
                return place
            if first_skipped is None:
                first_skipped = place
        return first_skipped

    def ends_group(self, place: int) -> bool:
        """True when no later place shares this place's long text."""
        return place + 1 >= len(self.items) or self.items[place + 1].group_number != self.items[place].group_number


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
