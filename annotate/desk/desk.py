"""The reading desk's state: what is read, what was said, what may be shown. No screen, no event loop.

Every method that changes a label returns only when the act is fsync'd in the journal and committed in the study; on
`SaveError` nothing of the desk has moved and the same call may be made again: it completes exactly once.

In a review the methods that label and mark act on the line at the cursor, otherwise on the item that is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from annotate.desk import marks
from annotate.desk.actions import REASONS, Choice
from annotate.desk.half_label import HalfLabel, completed, is_label, part_prompt, required_parts
from annotate.desk.ledger import Ledger, Reading, Restored
from annotate.desk.lessons import Lesson, Lessons
from annotate.desk.pace import ActiveClock, Sitting
from annotate.desk.part_desk import PartDesk
from annotate.desk.queue import Queue
from annotate.desk.verdict_view import VerdictView, label_words
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import is_long
from store.draws import Draw, DrawnItem, RevealPolicy
from store.events import Kind
from store.records import LabelState
from store.study import Study


class Desk(PartDesk):
    """One person reading one draw.

    Attributes: those of `PartDesk` and `Walk`, and
        policy: when verdicts are shown in this sitting.
        active: active time by item; whoever feeds keys ticks it.
        lessons: what people settled on the items of a practice draw.
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
        self.clock = clock
        self.active = ActiveClock(clock())
        self.lessons = Lessons(study, annotator, draw)
        queue = Queue(items)
        ledger = Ledger(study, annotator, draw, policy, tasks, self.active, queue)
        super().__init__(queue, ledger, Sitting(clock, minutes))

    # What is on the desk

    def shown_verdicts(self) -> list[VerdictView]:
        """The verdicts this person may see beside the current item: none while it is blind, or never shown."""
        if self.mode == "blind":
            return []
        return self.ledger.views(self.current)

    def lesson(self) -> Lesson | None:
        """What people settled on the current item, for practice; None before this person's own label is safe."""
        return self.lessons.of(self.current) if self.lessons.explained else None

    def derived(self) -> Sequence[tuple[str, str]]:
        """(title, words) that the benchmark derives from the label of the subject; () before it is given."""
        return self.ledger.derived(self._subject)

    @property
    def pending(self) -> Mapping[str, str]:
        """Parts of the label pressed but not complete ("" is the value itself)."""
        return self._half.given

    def missing_parts(self) -> list[str]:
        """Required parts not yet pressed ("" is the value itself)."""
        reading = self._subject
        return self._half.missing(reading.task, reading.item.payload)

    @property
    def labelled(self) -> int:
        """Items of this queue that need nothing more from this person."""
        return self.ledger.waiting.labelled

    @property
    def left(self) -> int:
        return len(self.queue) - self.labelled

    def pace_words(self) -> str:
        """Pace and time left; only shown when asked for."""
        seconds = [self.active.spent.get(item_id, 0.0) for item_id in self._labelled_now()]
        return self.sitting.pace(seconds, self.left)

    def summary(self) -> list[str]:
        """What was done, in words; never mentions the judge."""
        skipped, tally = self.ledger.waiting.skipped, self.lessons.tally
        return [
            f"{self.labelled} of {len(self.queue)} items are labelled.",
            f"This sitting: {len(self._labelled_now())} labelled in {round(self.sitting.worked)} min.",
            *([f"{skipped} skipped; they come back at the end."] if skipped else []),
            *([f"Practice: {tally.words} at the first try."] if tally.of else []),
        ]

    # Labelling

    def choose(self, *choices: Choice) -> None:
        """A label key, or several typed at once: set parts; with all required parts given the label is stored and the
        desk goes on.

        On a label that is there already one key changes its part, stored at once. The desk then goes on, or where a
        label has several parts, waits for the others: Enter keeps them.
        """
        if self._is_away() or self._finish_owed():
            return
        if not self._fold_in():
            return
        if not self._half.given:
            self._half.start_from(self._subject.state)
        for choice in choices:
            self._half.press(choice)
        self._settle()

    def confirm(self) -> None:
        """Enter: keep and go on; in assisted mode take the judge's label; nothing on an unlabelled item."""
        if self.phase == "done" or self._finish_owed():
            return
        reading = self._subject
        assisted = self.policy == "assisted" and self.mode == "assisted" and not reading.state.decided
        if self.guard.armed and (refusal := self._refusal_of_enter(assisted)):
            self.message = refusal
        elif assisted:
            self._confirm_verdict()
        elif self._half.given:
            self._ask_next()
            stored = "what you gave is kept" if self._keeps_half else "nothing stored of it yet"
            self.message = f"not complete, {stored}: {self._asked_for()}"
        elif self.review is not None:
            self._advance_review()
        elif reading.state.decided:
            self._go_on_saying(f"kept: {label_words(reading.task, reading.state)}")
        else:
            self.message = "choose a label first: Enter only keeps what you have labelled"

    def cannot_judge(self, reason_key: str) -> None:
        """The second key of `cannot judge`: its reason."""
        if self._is_away() or self._finish_owed():
            return
        if reason_key not in REASONS:
            self.message = "cannot judge: no such reason, nothing changed"
            return
        state = replace(
            self._subject.state, value=None, parts={}, unsure=False, skipped=False, cannot_judge=REASONS[reason_key][0]
        )
        self._decide(state, whole=True)

    def skip(self) -> None:
        """Set the item aside; it comes back at the end of the queue."""
        if self._is_away() or self._finish_owed() or self._is_review("skip"):
            return
        if self.state.decided:
            self.message = "already labelled: nothing to skip"
            return
        if not self.state.skipped:
            self.ledger.store("skip", replace(self.state, skipped=True), self.current.item)
        self._go_on_saying("skipped: it comes back at the end")

    def clear(self) -> None:
        """Back to unlabelled; tags, note and marks stay."""
        if self._is_away() or self._is_review("clear"):
            return
        if self._drop_half() or not (self.state.decided or self.state.skipped or self._half.given):
            self.message = self.message or "nothing to clear"
            return
        empty = replace(self.state, value=None, parts={}, unsure=False, cannot_judge="", skipped=False)
        self._mark("clear", empty, "label taken off (undo brings it back)")
        self.phase = "label"
        self._half.leave()
        self._take_up()

    def undo(self) -> None:
        """Take back the last act, wherever it was in this queue; a half-given label first."""
        if self.ledger.is_unfinished:
            self._half.clear()  # what was pressed is in the journal: an act to undo, no half label
        if not self._finish_owed() and not self._drop_half():
            self._show_restored(self.ledger.undo(), "undone", "nothing to undo")

    def redo(self) -> None:
        """Do the last undone act again."""
        if not self._finish_owed():
            self._show_restored(self.ledger.redo(), "done again", "nothing to redo")

    # Marks beside the label

    def set_harm(self, key: str) -> None:
        """The second key of harm: its degree."""
        self._change(lambda reading: marks.harm(reading.state, key))

    def toggle_tag(self, digit: str) -> None:
        """The second key of a tag: its digit, 1-based."""
        self._change(lambda reading: marks.tag(reading.state, reading.task, digit))

    def set_note(self, note: str) -> None:
        """Store the note as it stands; an unchanged note stores nothing."""
        self._change(lambda reading: marks.note(reading.state, note))

    def set_reference_wrong(self, right_answer: str) -> None:
        """Mark the reference wrong, with what it should say ("" when the person does not know)."""
        self._change(lambda reading: marks.reference_wrong(reading.state, right_answer))

    def withdraw_reference_wrong(self) -> None:
        """Take the mark off again."""
        self._change(lambda reading: marks.reference_right(reading.state))

    def toggle_evidence(self, turn: int) -> None:
        """Mark or unmark a dialogue turn (0-based) as evidence."""
        if not self._is_review("evidence"):
            self._change(lambda reading: marks.evidence(reading.state, turn))

    def flag(self) -> None:
        """Flag the item for the lead, or take the flag off."""
        self._change(lambda reading: marks.flag(reading.state), "flag")

    # Inside: deciding

    def _decide_half(self, reading: Reading) -> None:
        required = required_parts(reading.task, reading.item.payload)
        self._decide(self._half.applied_to(reading.state), whole=self._half.pressed.issuperset(required))

    def _decide(self, state: LabelState, *, whole: bool) -> None:
        """A decision: stored, then revealed where the policy says so, then on when it is whole."""
        reading = self._subject
        fresh = not reading.state.decided
        revealed = False
        if state != reading.state:
            revealed = self._store_decision(state, reading, fresh=fresh)
        said = "kept" if state == reading.state else "saved" if fresh else "changed and saved"
        message = f"{said}: {label_words(reading.task, state)}{self._derived_words(replace(reading, state=state))}"
        self._half.clear()
        self.entry = None
        if revealed:
            self._leave()
            self.phase, self.message = "revealed", message
        elif not (fresh or whole):
            self.message = f"{message} (Enter goes on)"
        elif self.review is not None:
            self._advance_review()
            self.message = message
        else:
            self._go_on_saying(message)

    def _derived_words(self, reading: Reading) -> str:
        """The last thing that the benchmark derives from a label: the desk may go on before it can be read there."""
        lines = self.ledger.derived(reading)
        return f" · {lines[-1][0]}: {lines[-1][1]}" if lines else ""

    def _store_decision(self, state: LabelState, reading: Reading, *, fresh: bool) -> bool:
        """Store a label; True when it brings what is looked at now: its verdicts, revealed in the same write, or what
        people settled."""
        item = reading.item
        kind: Kind = "label" if fresh else "revise"
        reveals = fresh and self.policy == "item" and self._may_reveal(reading)
        if reveals:
            self.ledger.store_and_reveal(kind, state, reading)
        else:
            self.ledger.store(kind, state, item)
        if fresh:
            self.sitting.labelled.add(item.item_id)
            self.lessons.take(item.item_id, state)
        self._refresh_line()
        return reveals or (fresh and self.lessons.explained)

    def _may_reveal(self, reading: Reading) -> bool:
        item_id = reading.item.item_id
        unseen = bool(reading.verdicts) and self.ledger.exposure(item_id) == "blind"
        return unseen and not self.ledger.stays_hidden(item_id)

    def _confirm_verdict(self) -> None:
        """Take the one verdict that can be read, with the parts pressed before Enter in place of the judge's."""
        reading = self.current
        answers = {(view.value, tuple(sorted(view.parts.items()))) for view in self.shown_verdicts()}
        value, parts = answers.pop() if len(answers) == 1 else (None, ())
        said = {part: label for part, label in {"": value, **dict(parts)}.items() if label is not None}
        half = HalfLabel(completed(reading.task, said, self._half.given), set(self._half.unsure))
        missing = half.missing(reading.task, reading.item.payload)
        if is_label(reading.task, reading.item.payload, half.given):
            self._decide(half.applied_to(reading.state), whole=True)
        elif value is not None and missing and is_long(reading.task):
            asked = "; ".join(part_prompt(reading.task, part) for part in missing)
            self.message = f"the verdict says too little to confirm; give yourself: {asked}"
        else:
            self.message = "there is no single readable verdict to confirm: press a label key"

    def _refusal_of_enter(self, assisted: bool) -> str:
        """Enter that labels is guarded as a label key is; in a review a held Enter does not run through the lines."""
        if assisted:
            return self.guard.refusal("enter", self.clock())
        held = self.guard.is_held("enter", self.clock())
        return "Enter held down: ignored" if held and self.review is not None else ""

    def _change(self, change: Callable[[Reading], marks.Change], kind: Kind = "mark") -> None:
        """Set a mark beside the label of the subject."""
        if not self._is_away() and not self._finish_owed():
            changed = change(self._subject)
            self._mark(kind, changed.state, changed.words)

    def _mark(self, kind: Kind, state: LabelState, words: str) -> None:
        reading = self._subject
        if state != reading.state:
            self.ledger.store(kind, state, reading.item)
            self._refresh_line()
        self.message = words

    def _refresh_line(self) -> None:
        if self.review is not None:
            self.review.refresh(self.ledger.read(self.review.line.reading.item.item_id))

    def _show_restored(self, restored: Restored | None, done: str, nothing: str) -> None:
        if restored is None:
            self.message = nothing
            return
        self._carry_on(lambda: self._arrive_restored(restored.item_id))
        what = marks.what_differs(restored.before, restored.after)
        self.message = f"{done}: {what}" if what else done

    def _arrive_restored(self, item_id: str) -> None:
        review = self.review
        if review is not None and item_id in review.item_ids and self.ledger.is_decided(item_id):
            self._leave()
            review.place = review.item_ids.index(item_id)
            review.refresh(self.ledger.read(item_id))
            self._arrive_at_line()
        else:
            self.review = None
            self._arrive(self.queue.place_of[item_id])

    # Inside: words

    def _go_on_saying(self, message: str) -> None:
        self.go_on()
        self.message = f"{message} · {self.passed}" if self.passed else message

    def _drop_half(self) -> bool:
        """Forget a half-given label; False when there is none."""
        unsaved = bool(self._half.given) and not self._keeps_half
        if not unsaved and self._entry_is_kept():
            return False
        self._leave()
        self._take_up()
        self.message = "half-given label taken back"
        return True

    def _is_away(self) -> bool:
        """Nothing can be labelled at the end of a queue or a sitting."""
        if self.phase != "done":
            return False
        self.message = "no item is on the desk: go back to one first"
        return True

    def _asked_for(self) -> str:
        return "; ".join(part_prompt(self._subject.task, part) for part in self.missing_parts())

    def _labelled_now(self) -> list[str]:
        """Items labelled in this sitting, as far as they still are."""
        return [item_id for item_id in self.sitting.labelled if self.ledger.is_decided(item_id)]
