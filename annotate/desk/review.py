"""The review at the end of a block: verdicts shown at last, disagreements first, each kept or revised with one key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from annotate.desk.actions import Choice
from annotate.desk.ledger import Ledger, Reading
from annotate.desk.queue import Queue
from annotate.desk.verdict_view import VerdictView, view_verdicts
from store.records import LabelState


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """One item of the block: the own label and the verdicts, now shown."""

    reading: Reading
    views: Sequence[VerdictView]

    @property
    def differs(self) -> bool:
        return any(view.differs for view in self.views)


class BlockReview:
    """The review of one or more completed blocks.

    Attributes:
        lines: disagreements first. place: the line at the cursor.
        labelled: items of the blocks that have a label. hidden: those whose verdict stays hidden.
    """

    def __init__(self, ledger: Ledger, readings: Sequence[Reading], labelled: int, hidden: int) -> None:
        self._ledger = ledger
        lines = [_line(reading) for reading in readings]
        self.lines = sorted(lines, key=lambda line: not line.differs)
        self.labelled, self.hidden = labelled, hidden
        self.place = 0

    @property
    def line(self) -> ReviewLine:
        """The line at the cursor."""
        return self.lines[self.place]

    @property
    def differing(self) -> int:
        return sum(1 for line in self.lines if line.differs)

    def choose(self, choice: Choice) -> bool:
        """Revise the line at the cursor with one label key; True when the label changed."""
        state = with_choice(self.line.reading.state, choice)
        if state == self.line.reading.state:
            return False
        self._store("revise", state)
        return True

    def note(self, note: str) -> None:
        """Why: the note of the line at the cursor."""
        if note != self.line.reading.state.note:
            self._store("mark", replace(self.line.reading.state, note=note))

    def move(self, step: int) -> None:
        """Move the cursor, staying inside."""
        self.place = max(0, min(len(self.lines) - 1, self.place + step))

    def advance(self) -> bool:
        """Keep and go to the next line; False when this was the last one."""
        if self.place + 1 >= len(self.lines):
            return False
        self.place += 1
        return True

    def _store(self, kind: str, state: LabelState) -> None:
        reading = self.line.reading
        self._ledger.store("revise" if kind == "revise" else "mark", state, reading.item)
        self.lines[self.place] = _line(replace(reading, state=state))


def _line(reading: Reading) -> ReviewLine:
    return ReviewLine(reading, view_verdicts(reading.task, reading.verdicts, reading.state))


def with_choice(state: LabelState, choice: Choice) -> LabelState:
    """The label after one label key on it."""
    if choice.part:
        return replace(state, parts={**state.parts, choice.part: choice.value}, unsure=choice.unsure)
    return replace(state, value=choice.value, cannot_judge="", unsure=choice.unsure, skipped=False)


def due_review(ledger: Ledger, queue: Queue, blocks: Iterable[int]) -> BlockReview | None:
    """The review of those of `blocks` that are complete and hold verdicts not yet shown; None when there are none.

    A block is complete when every item is labelled or skipped. The reveals are stored before this returns.
    """
    readings: list[Reading] = []
    labelled = hidden = 0
    for block in blocks:
        ids = [queue.items[place].item_id for place in queue.block(block)]
        decided = [item_id for item_id in ids if ledger.is_decided(item_id)]
        if any(not ledger.is_decided(item_id) and not ledger.state_of(item_id).skipped for item_id in ids):
            continue
        due = [item_id for item_id in decided
               if not ledger.stays_hidden(item_id) and ledger.exposure(item_id) == "blind"]  # fmt: skip
        found = [reading for reading in map(ledger.read, due) if reading.verdicts]
        if found:
            readings += found
            labelled += len(decided)
            hidden += sum(1 for item_id in decided if ledger.stays_hidden(item_id))
    if not readings:
        return None
    ledger.reveal(readings)
    return BlockReview(ledger, readings, labelled, hidden)
