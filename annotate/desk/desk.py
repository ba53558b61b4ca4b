"""The reading desk's state: what is read, what was said, what may be shown. No screen, no event loop.

Every method that changes a label returns only when the act is fsync'd in the journal and committed in the study; on
`SaveError` nothing of the desk has moved and the same call may be made again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from annotate.desk.actions import HARMS, REASONS, Choice
from annotate.desk.ledger import Ledger, Reading
from annotate.desk.pace import ActiveClock, KeyGuard, Pace
from annotate.desk.queue import Queue
from annotate.desk.review import BlockReview, due_review, with_choice
from annotate.desk.verdict_view import VerdictView, view_verdicts
from judges.benchmarks.benchmark import TaskDefinition
from store.draws import Draw, DrawnItem, RevealPolicy
from store.events import Kind, Mode
from store.records import LabelState
from store.study import Study

Phase = Literal["label", "revealed", "review", "done"]
"""label: the item waits; revealed: the verdict stands beside the label; review: end of a block; done: nothing is left,
or the sitting's time is up."""


class Desk:
    """One person reading one draw.

    Attributes:
        ledger: the person's labels.
        phase: see `Phase`.
        place: index of the current item in the queue.
        pending: parts of the current label pressed but not complete ("" is the value itself).
        review: set in phase `review`.
        message: the last thing to tell the person, one line.
        time_is_up: phase `done` because the sitting's minutes are over, not the queue.
    """

    def __init__(
        self,
        study: Study,
        annotator: str,
        draw: Draw,
        items: Sequence[DrawnItem],
        tasks: Mapping[str, tuple[TaskDefinition, str]],
        *,
        policy: RevealPolicy,
        minutes: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`tasks` maps a task's name to its definition and version; `policy` may be tighter than the draw's."""
        self.annotator, self.draw, self.policy = annotator, draw, policy
        self.queue = Queue(items)
        self.clock = clock
        self.started = clock()
        self.minutes = minutes
        self.active = ActiveClock(self.started)
        self.ledger = Ledger(study, annotator, draw, policy, tasks, self.active)
        self.guard = KeyGuard()
        self.pace = Pace()
        self.pending: dict[str, str] = {}
        self.pending_unsure = False
        self.message = ""
        self.phase: Phase = "label"
        self.time_is_up = False
        self.review: BlockReview | None = None
        self.place = 0
        self._reading: Reading | None = None
        self._resume()

    # What is on the desk

    @property
    def current(self) -> Reading:
        """The item at `place`; only `shown_verdicts` may show its verdicts."""
        if self._reading is None:
            self._reading = self.ledger.read(self.queue.items[self.place].item_id)
        return self._reading

    @property
    def state(self) -> LabelState:
        """The label of the current item so far."""
        return self.current.state

    @property
    def mode(self) -> Mode:
        """The mode a label given now would have."""
        return self.ledger.exposure(self.queue.items[self.place].item_id)

    def shown_verdicts(self) -> list[VerdictView]:
        """The verdicts this person may see beside the current item: none while it is blind, or never shown."""
        if self.mode == "blind":
            return []
        return view_verdicts(self.current.task, self.current.verdicts, self.state)

    @property
    def labelled(self) -> int:
        """Items of this queue that need nothing more from this person; always counted from the labels."""
        return sum(
            1 for item_id, state in self.ledger.states.items() if state.decided and item_id in self.queue.place_of
        )

    @property
    def left(self) -> int:
        return len(self.queue) - self.labelled

    def missing_parts(self) -> list[str]:
        """Required decisions of the current item not yet pressed ("" is the value itself)."""
        required = ["", *(part.id for part in self.current.task.parts if part.required)]
        return [part for part in required if part not in self.pending]

    def pace_words(self) -> str:
        """Pace and time left; only shown when asked for."""
        return self.pace.words(self.left)

    def summary(self) -> list[str]:
        """What was done, in words; never mentions the judge."""
        minutes = round((self.clock() - self.started) / 60)
        states = (self.ledger.state_of(item.item_id) for item in self.queue.items)
        skipped = sum(1 for state in states if state.skipped)
        return [
            f"{self.labelled} of {len(self.queue)} items are labelled.",
            f"This sitting: {len(self.pace.seconds)} labelled in {minutes} min.",
            *([f"{skipped} skipped; they come back at the end."] if skipped else []),
        ]

    # Labelling

    def choose(self, choice: Choice) -> None:
        """A label key: set a part; with all required parts given the label is stored and the desk goes on."""
        if self.phase == "done":
            return
        if self.review is not None:
            self.review.choose(choice)
            self._advance_review()
        elif self.state.value is not None:
            self._change(choice)
        else:
            self._press_part(choice)

    def confirm(self) -> None:
        """Enter: keep and go on; in assisted mode take the judge's label; nothing on an unlabelled item."""
        if self.review is not None:
            self._advance_review()
        elif self.phase == "done":
            return
        elif self.state.decided:
            self.go_on()
        elif self.policy == "assisted" and self.mode == "assisted":
            self._confirm_verdict()
        else:
            self.message = "choose a label first: Enter only keeps what you have labelled"

    def cannot_judge(self, reason_key: str) -> None:
        """The second key of `cannot judge`: its reason."""
        if reason_key not in REASONS:
            self.message = "cannot judge: no such reason, nothing changed"
            return
        reason = REASONS[reason_key][0]
        self._decide(replace(self.state, value=None, parts={}, unsure=False, skipped=False, cannot_judge=reason))

    def set_harm(self, key: str) -> None:
        """The second key of harm: its degree."""
        if key not in HARMS:
            self.message = "harm: no such degree, nothing changed"
            return
        self._store("mark", replace(self.state, harm=HARMS[key][0]), f"harm: {HARMS[key][1]}")

    def toggle_tag(self, digit: str) -> None:
        """The second key of a tag: its digit, 1-based."""
        tags = self.current.task.tags
        if not (digit.isascii() and digit.isdecimal() and 1 <= int(digit) <= len(tags)):
            self.message = "tag: no such digit, nothing changed"
            return
        tag, before = tags[int(digit) - 1], self.state.tags
        after = tuple(t for t in before if t != tag) if tag in before else (*before, tag)
        self._store("mark", replace(self.state, tags=after), f"tag {tag}: {'off' if tag in before else 'on'}")

    def set_note(self, note: str) -> None:
        """Store the note as it stands; an unchanged note stores nothing."""
        if self.review is not None:
            self.review.note(note)
            self.message = "note saved"
        elif note != self.state.note:
            self._store("mark", replace(self.state, note=note), "note saved" if note else "note removed")

    def set_reference_wrong(self, right_answer: str) -> None:
        """Mark the reference wrong, with what it should say ("" when the person does not know)."""
        state = replace(self.state, reference_wrong=True, right_answer=right_answer)
        if state != self.state:
            self._store("mark", state, "reference marked wrong")

    def withdraw_reference_wrong(self) -> None:
        """Take the mark off again."""
        self._store("mark", replace(self.state, reference_wrong=False, right_answer=""),
                    "reference no longer marked wrong")  # fmt: skip

    def toggle_evidence(self, turn: int) -> None:
        """Mark or unmark a dialogue turn (0-based) as evidence."""
        before = set(self.state.evidence)
        word = "no longer evidence" if turn in before else "marked as evidence"
        after = tuple(sorted(before ^ {turn}))
        self._store("mark", replace(self.state, evidence=after), f"turn {turn + 1}: {word}")

    def skip(self) -> None:
        """Set the item aside; it comes back at the end of the queue."""
        if self.state.decided:
            self.message = "already labelled: nothing to skip"
            return
        self._store("skip", replace(self.state, skipped=True), "")
        self.go_on()
        self.message = "skipped: it comes back at the end"

    def flag(self) -> None:
        """Flag the item for the lead, or take the flag off."""
        flagged = not self.state.flagged
        words = "flagged for the lead" if flagged else "flag taken off"
        self._store("flag", replace(self.state, flagged=flagged), words)

    def clear(self) -> None:
        """Back to unlabelled; tags, note and marks stay."""
        if self._drop_pending() or not (self.state.decided or self.state.skipped):
            self.message = self.message or "nothing to clear"
            return
        empty = replace(self.state, value=None, parts={}, unsure=False, cannot_judge="", skipped=False)
        self._store("clear", empty, "label taken off (u brings it back)")
        self.phase = "label"

    def undo(self) -> None:
        """Take back the last act, wherever it was; a half-given label first."""
        if not self._drop_pending():
            self._show_restored(self.ledger.undo(), "undone", "nothing to undo")

    def redo(self) -> None:
        """Do the last undone act again."""
        self._show_restored(self.ledger.redo(), "done again", "nothing to redo")

    # Moving

    def go_on(self) -> None:
        """The next open item; the review of a block that is complete; the end."""
        self._leave()
        if self._start_review([self.queue.block_of[self.place]]):
            return
        if self.queue.ends_group(self.place) and self._time_over():
            self.phase, self.time_is_up = "done", True
            return
        self._arrive_or_end(self._next_open(self.place + 1))

    def move(self, step: int) -> None:
        """Back and forth without labelling; in a review, along its lines."""
        if self.review is not None:
            self.review.move(step)
            self.guard.new_item()
            return
        target = self.place + step if self.phase != "done" else self.place
        if 0 <= target < len(self.queue):
            self._arrive(target)
        else:
            self.message = "this is the first item" if step < 0 else "this is the last item"

    def go_to(self, number: int) -> None:
        """To the item of that number, 1-based."""
        if self.review is None and 1 <= number <= len(self.queue):
            self._arrive(number - 1)
        else:
            self.message = f"there are items 1 to {len(self.queue)}"

    def first_open(self) -> None:
        """To the first item that still needs a label."""
        place = self._next_open(0)
        if place is None:
            self.message = "every item is labelled"
        elif self.review is None:
            self._arrive(place)

    def look_ahead(self) -> Reading | None:
        """The item that most likely comes next, read while the current one is read; None when there is none."""
        place = self._next_open(self.place + 1) if self.phase != "done" and len(self.queue) else None
        if place is None or place == self.place:
            return None
        return self.ledger.read_ahead(self.queue.items[place].item_id)

    # Inside

    def _resume(self) -> None:
        if not len(self.queue):
            self.phase = "done"
        elif not self._start_review(self.queue.blocks):
            self.place = len(self.queue) - 1
            self._arrive_or_end(self._next_open(0))

    def _next_open(self, start: int) -> int | None:
        items, ledger = self.queue.items, self.ledger
        return self.queue.next_open(
            start,
            lambda place: ledger.is_decided(items[place].item_id),
            lambda place: ledger.state_of(items[place].item_id).skipped,
        )

    def _arrive_or_end(self, place: int | None) -> None:
        if place is None:
            self.phase = "done"
        else:
            self._arrive(place)

    def _arrive(self, place: int) -> None:
        reading = self.ledger.read(self.queue.items[place].item_id)
        if self.policy == "assisted" and not reading.state.decided:
            self.ledger.reveal([reading])
        self._leave()
        self.place, self._reading = place, reading
        self.time_is_up = False
        self.guard.new_item()
        self.phase = "revealed" if self.mode != "blind" and reading.state.decided else "label"

    def _leave(self) -> None:
        self.pending, self.pending_unsure = {}, False
        self.message = ""

    def _drop_pending(self) -> bool:
        if not self.pending:
            return False
        self._leave()
        self.message = "half-given label taken back"
        return True

    def _time_over(self) -> bool:
        return self.minutes is not None and self.clock() - self.started >= self.minutes * 60

    def _press_part(self, choice: Choice) -> None:
        self.pending[choice.part] = choice.value
        self.pending_unsure = self.pending_unsure or choice.unsure
        if missing := self.missing_parts():
            self.message = "now: " + ", ".join(self._part_title(part) for part in missing)
        else:
            self._store_parts(self.pending)

    def _store_parts(self, given: Mapping[str, str]) -> None:
        parts = {part: value for part, value in given.items() if part}
        self._decide(replace(self.state, value=given[""], parts=parts, unsure=self.pending_unsure, cannot_judge="",
                             skipped=False))  # fmt: skip

    def _decide(self, state: LabelState) -> None:
        """A decision on the current item: stored, then revealed where the policy says so, then on."""
        fresh = not self.state.decided
        kind: Kind = "label" if fresh else "revise"
        item_id = self.current.item.item_id
        reveals = (self.policy == "item" and bool(self.current.verdicts) and self.mode == "blind"
                   and not self.ledger.stays_hidden(item_id))  # fmt: skip
        save = self.ledger.store_and_reveal if reveals else None
        event = save(kind, state, self.current) if save else self.ledger.store(kind, state, self.current.item)
        if fresh:
            self.pace.add(event.act.active_ms)
        self._reading = replace(self.current, state=state)
        if reveals:
            self._leave()
            self.phase = "revealed"
        else:
            self.go_on()
        self.message = "saved"

    def _change(self, choice: Choice) -> None:
        """A label key on an item that has a label: one key overrides, as one key confirms."""
        state = with_choice(self.state, choice)
        changed = state != self.state
        if changed:
            self._store("revise", state, "")
        self.go_on()
        self.message = "changed and saved" if changed else "kept"

    def _confirm_verdict(self) -> None:
        readable = [view for view in self.shown_verdicts() if view.value is not None]
        required = {part.id for part in self.current.task.parts if part.required}
        if len(readable) != 1 or not required <= readable[0].parts.keys():
            self.message = "there is no single readable verdict to confirm: press a label key"
            return
        self._store_parts({"": str(readable[0].value), **readable[0].parts, **self.pending})

    def _store(self, kind: Kind, state: LabelState, message: str) -> None:
        self.ledger.store(kind, state, self.current.item)
        self._reading = replace(self.current, state=state)
        self.message = message

    def _show_restored(self, item_id: str | None, done: str, nothing: str) -> None:
        if item_id is None:
            self.message = nothing
            return
        self.review = None
        if (place := self.queue.place_of.get(item_id)) is None:
            self.message = f"{done}, on an item outside this queue"
            return
        self._arrive(place)
        self.message = done

    def _part_title(self, part: str) -> str:
        if not part:
            return self.current.task.title
        return next(p.title for p in self.current.task.parts if p.id == part)

    def _start_review(self, blocks: Iterable[int]) -> bool:
        if self.policy != "block":
            return False
        self.review = due_review(self.ledger, self.queue, blocks)
        if self.review is None:
            return False
        self.phase = "review"
        self.guard.new_item()
        return True

    def _advance_review(self) -> None:
        self._leave()
        if self.review is None:
            return
        if self.review.advance():
            self.guard.new_item()
            return
        self.review = None
        if self._time_over():
            self.phase, self.time_is_up = "done", True
        else:
            self._arrive_or_end(self._next_open(self.place + 1))
