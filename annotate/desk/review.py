"""The review at the end of a block: verdicts shown at last, disagreements first, each kept or revised with one key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotate.desk.ledger import Ledger, Reading
from annotate.desk.queue import Queue
from annotate.desk.verdict_view import VerdictView


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """One item of the block: the own label with what is derived from it, and the verdicts, now shown."""

    reading: Reading
    views: Sequence[VerdictView]
    derived: Sequence[tuple[str, str]] = ()

    @property
    def differs(self) -> bool:
        return any(view.differs for view in self.views)


class BlockReview:
    """The review of one or more completed blocks. What it shows is stored as shown before it is made.

    Attributes:
        lines: disagreements first. place: the line at the cursor.
        labelled: items of the blocks that have a label. hidden: those whose verdict stays hidden.
    """

    def __init__(self, ledger: Ledger, readings: Iterable[Reading], labelled: int, hidden: int) -> None:
        self._ledger = ledger
        self.lines = sorted(map(self._line, readings), key=lambda line: not line.differs)
        self.labelled, self.hidden = labelled, hidden
        self.place = 0

    @property
    def line(self) -> ReviewLine:
        """The line at the cursor."""
        return self.lines[self.place]

    @property
    def item_ids(self) -> list[str]:
        return [line.reading.item.item_id for line in self.lines]

    @property
    def differing(self) -> int:
        return sum(1 for line in self.lines if line.differs)

    def move(self, step: int) -> None:
        """Move the cursor, staying inside."""
        self.place = max(0, min(len(self.lines) - 1, self.place + step))

    def advance(self) -> bool:
        """Go to the next line; False when this was the last one."""
        if self.place + 1 >= len(self.lines):
            return False
        self.place += 1
        return True

    def refresh(self, reading: Reading) -> None:
        """The label of a line has changed; lines keep their order."""
        self.lines[self.item_ids.index(reading.item.item_id)] = self._line(reading)

    def _line(self, reading: Reading) -> ReviewLine:
        return ReviewLine(reading, self._ledger.views(reading), self._ledger.derived(reading))


def due_review(ledger: Ledger, queue: Queue, blocks: Iterable[int]) -> BlockReview | None:
    """The review of those of `blocks` that are complete and hold verdicts to show; None when there are none.

    A block is complete when every item is labelled or skipped. The reveals are stored before this returns. A skipped
    item is reviewed when it is labelled at last, alone.
    """
    readings: list[Reading] = []
    labelled = hidden = 0
    for block in sorted(set(blocks)):
        ids = [queue.items[place].item_id for place in queue.block(block)]
        due = _due(ledger, ids)
        if due and not _was_reviewed(ledger, ids):
            decided = [item_id for item_id in ids if ledger.is_decided(item_id)]
            labelled += len(decided)
            hidden += sum(map(ledger.stays_hidden, decided))
        else:
            labelled += len(due)
        readings += due
    if not readings:
        return None
    ledger.reveal_for_review(readings)
    return BlockReview(ledger, readings, labelled, hidden)


def _due(ledger: Ledger, block: Sequence[str]) -> list[Reading]:
    """What the review of a block has still to show; nothing while an item of it waits."""
    if not all(ledger.is_decided(item_id) or ledger.state_of(item_id).skipped for item_id in block):
        return []
    due = (ledger.read(item_id) for item_id in block if ledger.awaits_review(item_id))
    return [reading for reading in due if reading.verdicts]


def _was_reviewed(ledger: Ledger, block: Sequence[str]) -> bool:
    """Whether verdicts of the block were gone through before, so that its counts have been said."""
    return any(ledger.exposure(item_id) != "blind" and item_id not in ledger.unreviewed for item_id in block)
