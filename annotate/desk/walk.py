"""Where a person is in the queue and how they get on: items, reviews of blocks, the end of a queue or a sitting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from annotate.desk.entries import Entry
from annotate.desk.half_label import HalfLabel
from annotate.desk.ledger import Ledger, Reading
from annotate.desk.pace import KeyGuard, Sitting
from annotate.desk.queue import Queue
from annotate.desk.review import BlockReview, due_review
from store.events import Mode
from store.records import LabelState

Phase = Literal["label", "revealed", "review", "done"]
"""label: the item waits; revealed: the verdict stands beside the label; review: end of a block; done: nothing is left,
or the sitting's time is up."""


class Walk:
    """A walk through a queue. To arrive or review may store that verdicts are shown, so moving may raise `SaveError`.

    Nothing has moved then, and the same call may be made again.

    Attributes:
        ledger: the person's labels.
        phase: see `Phase`.
        place: index of the current item in the queue.
        review: set in phase `review`.
        message: the last thing to tell the person, one line; may hold words of theirs or of the task.
        passed: the items that the last step passed, since their content is labelled already, in words.
        time_is_up: phase `done` because the sitting's minutes are over, not the queue.
    """

    def __init__(self, queue: Queue, ledger: Ledger, sitting: Sitting) -> None:
        self.queue, self.ledger, self.sitting = queue, ledger, sitting
        self.guard = KeyGuard()
        self.message = self.passed = ""
        self.phase: Phase = "label"
        self.time_is_up = False
        self.review: BlockReview | None = None
        self.place = 0
        self.entry: Entry | None = None
        self._half = HalfLabel()
        self._owed: Callable[[], None] | None = None
        self._next_from = 0
        self._resume()

    @property
    def current(self) -> Reading:
        """The item at `place`, with verdicts that may not be shown.

        Raises:
            IndexError: the queue is empty.
        """
        return self.ledger.read(self.queue.items[self.place].item_id)

    @property
    def state(self) -> LabelState:
        """The label of the current item so far."""
        return self.ledger.state_of(self.queue.items[self.place].item_id)

    @property
    def mode(self) -> Mode:
        """The mode a label of the current item would have now."""
        return self.ledger.exposure(self.queue.items[self.place].item_id)

    @property
    def _subject(self) -> Reading:
        """What a key is about: the line at the review's cursor, or the item that is read."""
        return self.review.line.reading if self.review is not None else self.current

    def look_ahead(self) -> Reading | None:
        """The item that most likely comes next; None when there is none."""
        place = self.ledger.waiting.next(self.place + 1) if self.phase != "done" else None
        if place is None or place == self.place:
            return None
        return self.ledger.read(self.queue.items[place].item_id)

    # By the person's wish

    def go_on(self) -> None:
        """The next open item; the review of a block that is complete; the end."""
        self._carry_on(self._go_on)

    def move(self, step: int) -> None:
        """Back and forth without labelling; in a review, along its lines."""
        if self.review is not None:
            dropped = self._drops_by_leaving
            self._leave()
            self.review.move(step)
            self._arrive_at_line()
            self.message = "the half-given label was not kept" if dropped else ""
            return
        target = self.place + step if self.phase != "done" else self.place
        if 0 <= target < len(self.queue):
            self._visit(target)
        else:
            self.message = "this is the first item" if step < 0 else "this is the last item"

    def go_to(self, number: int) -> None:
        """To the item of that number, 1-based."""
        if self._is_review("go to"):
            return
        if 1 <= number <= len(self.queue):
            self._visit(number - 1)
        else:
            self.message = f"there are items 1 to {len(self.queue)}"

    def first_open(self) -> None:
        """To the first item that still needs a label."""
        if self._is_review("go to"):
            return
        place = self.ledger.waiting.next(0)
        if place is None:
            self.message = "every item is labelled"
        else:
            self._visit(place)

    def _visit(self, place: int) -> None:
        dropped = self._drops_by_leaving
        self._owed = None
        self._arrive(place)
        if dropped:
            self.message = "the half-given label was not kept"

    # What is owed

    def _carry_on(self, step: Callable[[], None]) -> None:
        """Move after something was stored. If that fails it is owed: done first when the same call comes again."""
        self._owed = step
        step()
        self._owed = None

    def _finish_owed(self) -> bool:
        if self._owed is None:
            return False
        self._carry_on(self._owed)
        return True

    # Items

    def _resume(self) -> None:
        """The review that is due, else the first open item, else the end."""
        if not self._start_review(self._places(self.ledger.block_labels)):
            self._go_to_next()

    def _go_on(self) -> None:
        self._leave()
        self.passed = ""
        if not self._start_review({self.place, *self._places(self.ledger.unreviewed)}):
            self._go_to_next()

    def _go_to_next(self) -> None:
        linked: set[int] = set()
        while (place := self.ledger.waiting.next(self._next_from)) is not None and not self._ends_before(place):
            if not self.ledger.link(self.queue.items[place].item_id):
                break
            linked.add(place)
        if linked and self._start_review({self.place, *linked}):
            return
        if place is None:
            self._end(time_is_up=False)
        elif self._ends_before(place):
            self._end(time_is_up=True)
        else:
            self._arrive(place)
        self.message = self.passed = _passed_words(len(linked))

    def _ends_before(self, place: int) -> bool:
        """Whether the sitting is over, and the group it ended in read to its end."""
        return self.sitting.is_over and not self.queue.same_group(self.place, place)

    def _end(self, *, time_is_up: bool) -> None:
        self.phase, self.time_is_up = "done", time_is_up
        self.ledger.turn_to("")

    def _arrive(self, place: int) -> None:
        leader = self.ledger.link(self.queue.items[place].item_id)
        reading = self.ledger.read(self.queue.items[place].item_id)
        if self.ledger.policy == "assisted" and not reading.state.decided:
            self.ledger.reveal([reading])
        self._leave()
        self.place, self._next_from = place, place + 1
        self.time_is_up = False
        self.guard.new_item()
        self.ledger.turn_to(reading.item.item_id)
        self.phase = "revealed" if self.mode != "blind" and reading.state.decided else "label"
        self._take_up()
        if leader:
            self.message = f"identical to item {self.queue.place_of[leader] + 1}, and labelled with it"

    @property
    def _drops_by_leaving(self) -> bool:
        """Whether what was given on the item in hand is stored nowhere."""
        return bool(self._half.given) and not self.state.decided and not self._keeps_half

    @property
    def _keeps_half(self) -> bool:
        """Whether what is given on the item in hand is stored part by part."""
        return False

    def _take_up(self) -> None:
        """An item came to hand."""

    def _leave(self) -> None:
        self._half.leave()
        self.entry = None
        self.message = ""

    # The review

    def _places(self, item_ids: set[str]) -> set[int]:
        """Where these items stand in the queue, as far as they are in it."""
        return {self.queue.place_of[item_id] for item_id in item_ids & self.queue.place_of.keys()}

    def _start_review(self, places: set[int]) -> bool:
        """Begin the review that is due of the blocks of these places."""
        if self.ledger.policy != "block":
            return False
        self.review = due_review(self.ledger, self.queue, {self.queue.block_of[place] for place in places})
        if self.review is None:
            return False
        self.phase = "review"
        self._arrive_at_line()
        return True

    def _arrive_at_line(self) -> None:
        self.guard.new_item()
        self.ledger.turn_to(self._subject.item.item_id)

    def _advance_review(self) -> None:
        self._leave()
        if self.review is not None and self.review.advance():
            self._arrive_at_line()
        else:
            self._carry_on(self._end_review)

    def _end_review(self) -> None:
        if self.review is not None:
            self.ledger.finish_review(self.review.item_ids)
            self.review = None
        self._go_on()

    def _is_review(self, what: str) -> bool:
        if self.review is None:
            return False
        self.message = f"{what}: not in the review; Enter goes through it, then it works again"
        return True


def _passed_words(count: int) -> str:
    if not count:
        return ""
    items = "1 identical item" if count == 1 else f"{count} identical items"
    return f"the label also counts for {items} of another system"
