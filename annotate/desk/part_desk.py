"""Decisions that take more than one key: opening, giving, keeping and taking a grid, a ranking, a number.

Every answer on an item without a label is stored at once, as a half-given label that another sitting goes on with. A
label that is there already is changed as a whole, once the part is complete again.
"""

from __future__ import annotations

from collections.abc import Mapping

from annotate.desk.actions import PartAct
from annotate.desk.entries import Entry, Grid, Number, Ranking, open_entry, order_id
from annotate.desk.half_label import HalfLabel, keys_first
from annotate.desk.ledger import Reading
from annotate.desk.walk import Walk
from judges.benchmarks.decisions import Decision, decision_of, decisions_of, is_asked, is_long
from store.records import canonical_json


class PartDesk(Walk):
    """A walk on which parts are given.

    Attributes:
        entry: the grid, ranking or number that is open and takes the keys; None for none.
    """

    def open_part(self) -> None:
        """Open the next part that takes more than one key, after the one that is open; around at the end."""
        if self.phase == "done" or self._finish_owed():
            return
        found = self._long_parts()
        if not found:
            self.message = "this item has no grid, ranking or number"
            return
        ids = [decision.id for decision in found]
        place = ids.index(self.entry.decision.id) + 1 if self.entry is not None else self._first_open(found)
        if self._entry_is_kept():
            self._open(found[place % len(found)])

    def act_on_part(self, act: PartAct) -> None:
        """What a key does to the open part. A `show` is the screen's own affair."""
        entry = self.entry
        if entry is None or self._finish_owed():
            return
        if act.kind == "close":
            self.entry = None
            self.message = self._close_words(entry)
        elif act.kind == "done":
            self._take_entry(entry)
        elif act.kind == "unsure":
            self._toggle_unsure(entry)
        elif act.kind != "show":
            self._answer(entry, changed(entry, act))

    @property
    def part_is_unsure(self) -> bool:
        """Whether the open part was said to be unsure."""
        return self.entry is not None and self.entry.decision.id in self._half.unsure

    # Inside: giving

    def _settle(self) -> None:
        """Something was given: ask for what is missing, or store the label."""
        reading = self._subject
        if missing := self._half.missing(reading.task, reading.item.payload):
            self._keep_half(self._half)
            self.entry = None
            self._ask_next()
            self.message = f"now: {'; '.join(keys_first(reading.task, part) for part in missing)}"
        else:
            self._decide_half(reading)

    def _decide_half(self, reading: Reading) -> None:
        """The half label is whole: store it."""
        raise NotImplementedError

    def _answer(self, entry: Entry, now: Entry) -> None:
        if not isinstance(now, Number) and now.text != entry.text and self._keeps_half:
            half = self._half.copy()
            half.put(now.decision.id, now.text)
            self._note_order(half, now)
            self._keep_half(half)
            self._half = half
        self.entry = now

    def _take_entry(self, entry: Entry) -> None:
        """Enter on the open part: take it when it is whole."""
        if entry.lacks:
            self.message = entry.lacks
            return
        if not self._half.given:
            self._half.start_from(self._subject.state)
        self._half.put(entry.decision.id, entry.text)
        self._note_order(self._half, entry)
        self._settle()

    def _fold_in(self) -> bool:
        """A label key comes while a part is open: take along what is whole; False when something would get lost."""
        entry = self.entry
        if entry is None or not self._is_unkept(entry):
            return True
        if entry.lacks:
            self.message = f"first the part that is open: {entry.lacks}; Esc leaves it"
            return False
        if not self._half.given:
            self._half.start_from(self._subject.state)
        self._half.put(entry.decision.id, entry.text)
        self._note_order(self._half, entry)
        return True

    def _toggle_unsure(self, entry: Entry) -> None:
        half = self._half.copy()
        if not half.given:
            half.start_from(self._subject.state)
        half.unsure ^= {entry.decision.id}
        if self._keeps_half and half.given:
            self._keep_half(half)
        self._half = half
        self.message = "unsure" if entry.decision.id in half.unsure else "sure again"

    def _keep_half(self, half: HalfLabel) -> None:
        """Store a half-given label, where the item has no label yet and its parts take more than a key each."""
        reading = self._subject
        if self._keeps_half:
            state = half.kept_in(reading.state)
            if state != reading.state:
                self.ledger.store("mark", state, reading.item)

    def _note_order(self, half: HalfLabel, entry: Entry) -> None:
        """With a ranking goes the order in which its entries were shown."""
        if isinstance(entry, Ranking):
            half.put(
                order_id(entry.decision.id), canonical_json([row.id for row in entry.entries]) if entry.text else ""
            )

    # Inside: opening

    def _take_up(self) -> None:
        """An item or a line comes to hand: a half-given label goes on where it was left."""
        self.entry = None
        reading = self._subject
        if self._keeps_half:
            self._half.start_from(reading.state)
            if self.mode != "assisted":
                self._ask_next()

    def _ask_next(self) -> None:
        """Open the next missing part if it is one that takes more than a key."""
        reading = self._subject
        missing = self._half.missing(reading.task, reading.item.payload)
        decision = decision_of(reading.task, missing[0]) if missing else None
        if decision is not None and decision.is_long:
            self._open(decision)

    def _open(self, decision: Decision) -> None:
        reading = self._subject
        self.entry = open_entry(
            decision, reading.item.payload, self._given_text(decision), reading.orders.get(decision.id, ())
        )
        if isinstance(self.entry, Number):
            self.message = f"{decision.title} {self.entry.lacks or self.entry.text}"

    def _given_text(self, decision: Decision) -> str:
        """What is given of a decision so far: half-given, else in the label that is there."""
        state = self._subject.state
        given: Mapping[str, str] = self._half.given or ({"": state.value, **state.parts} if state.value else {})
        return given.get(decision.id, "")

    def _long_parts(self) -> list[Decision]:
        reading = self._subject
        return [d for d in decisions_of(reading.task) if d.is_long and is_asked(d, reading.item.payload)]

    def _first_open(self, found: list[Decision]) -> int:
        """The first of these that is missing, else the first."""
        reading = self._subject
        half = self._half.copy()
        if not half.given:
            half.start_from(reading.state)
        missing = half.missing(reading.task, reading.item.payload)
        return next((place for place, decision in enumerate(found) if decision.id in missing), 0)

    # Inside: what would get lost

    @property
    def _keeps_half(self) -> bool:
        """Whether what is given on the item in hand is stored part by part."""
        if self.phase == "done" or not len(self.queue):
            return False
        reading = self._subject
        return is_long(reading.task) and not reading.state.decided

    def _is_unkept(self, entry: Entry) -> bool:
        """Whether the open part holds what would get lost: an unfinished number, a change of a label that is there."""
        apart = entry.text != self._given_text(entry.decision)
        if isinstance(entry, Number):
            return bool(entry.typed) and (apart or bool(entry.lacks))
        return apart and not self._keeps_half

    @property
    def _drops_by_leaving(self) -> bool:
        return super()._drops_by_leaving or (self.entry is not None and self._is_unkept(self.entry))

    def _entry_is_kept(self) -> bool:
        """False, with a word, when the open part would get lost."""
        if self.entry is None or not self._is_unkept(self.entry):
            return True
        self.message = f"first the part that is open: {self.entry.lacks or 'Enter takes it'}; Esc leaves it"
        return False

    def _close_words(self, entry: Entry) -> str:
        return "closed: the change was not kept" if self._is_unkept(entry) else "closed: what is given of it stays"


def changed(entry: Entry, act: PartAct) -> Entry:
    """The entry after an answer; the same one where the act means nothing to it."""
    match entry, act.kind:
        case _, "back":
            return entry.back()
        case Grid(), "answer":
            return entry.answer(act.value)
        case Grid(), "fill":
            return entry.fill(act.value)
        case Grid(), "move":
            return entry.move(act.down, act.right)
        case Ranking(), "place":
            return entry.place(act.value)
        case Ranking(), "tie":
            return entry.tie()
        case Number(), "type":
            return entry.add(act.value)
    return entry
