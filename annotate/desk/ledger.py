"""One person's labels in one study: reading them, storing acts, undo and redo, and what may be shown to whom."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from annotate.desk.derived import Lines, derived_lines, derived_of_verdict
from annotate.desk.entries import order_id, read_order, shuffled
from annotate.desk.history import History, Step, load_history
from annotate.desk.item_reader import ItemReader
from annotate.desk.linked import Links, copied, taken_over
from annotate.desk.pace import ActiveClock
from annotate.desk.past import REVIEW, load_past, round_of
from annotate.desk.queue import Queue, Waiting
from annotate.desk.verdict_view import VerdictView, view_verdicts
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import decisions_of, rows_of
from judges.calibration.sampling import is_never_shown
from store.draws import Draw, RevealPolicy
from store.errors import SaveError
from store.events import STATE_COLUMNS, Event, EventDraft, Kind, Mode, state_of_row
from store.items import StoredItem, StoredVerdict
from store.records import LabelState
from store.study import Study, now

NEVER_SHOWN_POLICIES: frozenset[RevealPolicy] = frozenset({"item", "block"})
"""Policies under which a random share of items keeps its verdict hidden."""
_GIVEN: frozenset[Kind] = frozenset({"label", "revise"})


@dataclass(frozen=True, slots=True)
class Reading:
    """An item as this person reads it: its task, their label so far, and the verdicts (shown only where allowed).

    Attributes:
        orders: of a ranking, by its decision's id: the entries in the order this person is shown them.
    """

    item: StoredItem
    task: TaskDefinition
    state: LabelState
    verdicts: Sequence[StoredVerdict]
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Restored(NamedTuple):
    """What an undo or redo brought back: the item it was on, and the person's label before and after it."""

    item_id: str
    before: LabelState
    after: LabelState


class Ledger:
    """The acts of one person under one draw.

    A method that stores returns when the act is safe; on `SaveError` nothing here has moved, and the same call may be
    made again: an act that the journal has already is completed, not doubled.

    Attributes:
        waiting: which places of the queue still need a label.
        unreviewed: items whose verdict a review has shown that has not come to its end.
    """

    def __init__(
        self,
        study: Study,
        annotator: str,
        draw: Draw,
        policy: RevealPolicy,
        tasks: Mapping[str, tuple[TaskDefinition, str]],
        active: ActiveClock,
        queue: Queue,
    ) -> None:
        self.study, self.annotator, self.draw, self.policy = study, annotator, draw, policy
        self.tasks, self.active = tasks, active
        self._queue = queue
        self._items = ItemReader(study, queue)
        past = load_past(study, annotator, draw)
        self._states, self._block_labels, self._hidden = past.states, past.block_labels, past.hidden
        self.unreviewed: set[str] = past.unreviewed
        self.links = Links(study, annotator, draw, queue)
        self.waiting = Waiting(len(queue))
        places = queue.place_of
        self.waiting.load({places[item]: state for item, state in past.states.items() if item in places})
        self._panels: dict[str, list[str]] = {}
        self._unfinished: list[Event] = []

    @cached_property
    def history(self) -> History:
        """What this person can undo and do again on the items of this queue."""
        return load_history(self.study, self.annotator, self._queue.place_of, round_of(self.draw))

    # What is said and what may be shown

    def read(self, item_id: str) -> Reading:
        """The item, this person's label of it, and its verdicts."""
        item, verdicts = self._items.read(item_id)
        task, state = self.tasks[item.task][0], self.state_of(item_id)
        return Reading(item, task, state, verdicts, self._orders(item, task, state))

    def views(self, reading: Reading) -> list[VerdictView]:
        """The verdicts of an item in words; only for an item whose verdicts may be shown."""
        return view_verdicts(
            reading.task, reading.verdicts, reading.state, reading.item.payload,
            lambda verdict: derived_of_verdict(self.study.benchmark, reading, verdict),
        )  # fmt: skip

    def derived(self, reading: Reading) -> Lines:
        """What the benchmark derives from the person's label; () before it is given."""
        return derived_lines(self.study.benchmark, reading)

    def _orders(self, item: StoredItem, task: TaskDefinition, state: LabelState) -> dict[str, tuple[str, ...]]:
        """The order the label was given in, if it still fits the item; else the one of this person's draw."""
        orders = {}
        for decision in decisions_of(task):
            if decision.kind == "ranking":
                ids = [row.id for row in rows_of(decision, item.payload)]
                recorded = read_order(state.parts.get(order_id(decision.id), ""))
                fits = sorted(recorded) == sorted(ids)
                drawn = shuffled(ids, item.item_id, self.annotator, self.draw.seed)
                orders[decision.id] = recorded if fits else drawn
        return orders

    def state_of(self, item_id: str) -> LabelState:
        return self._states.get(item_id, LabelState())

    def is_decided(self, item_id: str) -> bool:
        state = self._states.get(item_id)
        return state is not None and state.decided

    def exposure(self, item_id: str) -> Mode:
        """The mode a label given now would have. A reveal that is not safe yet has shown nothing."""
        if any(event.act.kind == "reveal" and event.act.item_id == item_id for event in self._unfinished):
            return "blind"
        return self.study.exposure(self.annotator, item_id)

    @property
    def is_unfinished(self) -> bool:
        """Whether the journal has an act that the study has still to take."""
        return bool(self._unfinished)

    def stays_hidden(self, item_id: str) -> bool:
        """Whether this person never sees the verdict on this item; a promise of another draw holds here too."""
        item_id = self.links.first_read(item_id)
        return self.policy in NEVER_SHOWN_POLICIES and (
            item_id in self._hidden or is_never_shown(item_id, self.annotator, self.draw.seed)
        )

    def awaits_review(self, item_id: str) -> bool:
        """Whether the review of its block has still to show this item: labelled under `block`, not yet gone through."""
        if item_id in self.links.leader_of:
            return False  # shown on the line of the item that was read
        given = self.is_decided(item_id) and item_id in self._block_labels and not self.stays_hidden(item_id)
        return given and (item_id in self.unreviewed or self.exposure(item_id) == "blind")

    @property
    def block_labels(self) -> set[str]:
        """Items labelled under this draw with policy `block`."""
        return self._block_labels

    # Storing

    def link(self, item_id: str) -> str:
        """Give an untouched item the label of one with the same content; returns that item, "" where there is none."""
        if self.state_of(item_id) != LabelState() or self.exposure(item_id) != "blind":
            return ""
        leader = next((other for other in self.links.candidates(item_id) if self.is_decided(other)), "")
        if not leader:
            return ""
        leading = replace(self._draft("label", self.state_of(leader), self._items.read(leader).item), active_ms=0)
        acts = taken_over(self.study, replace(leading, panels=()), self.exposure(leader))
        self._append([replace(act, item_id=item_id, linked_to=leader) for act in acts])
        return leader

    def store(self, kind: Kind, state: LabelState, item: StoredItem) -> Event:
        """Store one act."""
        return self._append([self._draft(kind, state, item)])[0]

    def store_and_reveal(self, kind: Kind, state: LabelState, reading: Reading) -> Event:
        """Store a label and, in the same write, that its verdicts are shown now."""
        acts = [self._draft(kind, state, reading.item), self._reveal_draft(replace(reading, state=state))]
        return self._append(acts)[0]

    def reveal(self, readings: Sequence[Reading]) -> None:
        """Store that verdicts are shown, before they are."""
        blind = [reading for reading in readings if reading.verdicts and self.exposure(reading.item.item_id) == "blind"]
        if blind:
            self._append([self._reveal_draft(reading) for reading in blind])

    def reveal_for_review(self, readings: Sequence[Reading]) -> None:
        """Store that a review shows these verdicts; they await it until `finish_review`."""
        self.unreviewed.update(reading.item.item_id for reading in readings)
        self.reveal(readings)

    def finish_review(self, item_ids: Collection[str]) -> None:
        """Store that a review of these items was gone through to its end."""
        if not self.unreviewed.intersection(item_ids):
            self.study.flush()
            return
        record = {"type": REVIEW, "annotator": self.annotator, "draw_id": self.draw.draw_id,
                  "items": sorted(item_ids), "at": now().isoformat(timespec="microseconds")}  # fmt: skip
        try:
            self.study.record([record])
        except SaveError as error:
            if error.journaled:
                self.unreviewed.difference_update(item_ids)
            raise
        self.unreviewed.difference_update(item_ids)

    def undo(self) -> Restored | None:
        """Take back the last act; returns what it was on, or None when there is nothing to undo."""
        self._complete_others("undo")
        if not self.history.done:
            return None
        step = self.history.done[-1]
        return self._restore("undo", step, self._state_before(step))

    def redo(self) -> Restored | None:
        """Do the last undone act again; returns what it was on, or None when there is nothing to redo."""
        self._complete_others("redo")
        if not self.history.undone:
            return None
        step = self.history.undone[-1]
        rows = self.study.rows(f"SELECT {STATE_COLUMNS} FROM label_events WHERE event_id = ?", [step.event_id])
        return self._restore("redo", step, state_of_row(rows[0]))

    def turn_to(self, item_id: str) -> None:
        """An item comes to the front: time and opened panels are its own from now on."""
        self.active.turn_to(item_id)

    def open_panels(self, task: TaskDefinition, sections: Iterable[str]) -> None:
        """Note which of the panels opened the judge did not see; stored with the next act on the item in front."""
        unseen = {panel.field for panel in task.panels if not panel.judge_saw}
        opened = self._panels.setdefault(self.active.item, [])
        opened += [section for section in sections if section in unseen.difference(opened)]

    # Inside

    def _restore(self, kind: Kind, step: Step, state: LabelState) -> Restored:
        reading = self.read(step.item_id)
        self._append([replace(self._draft(kind, state, reading.item), undoes=step.event_id)])
        return Restored(step.item_id, reading.state, state)

    def _draft(self, kind: Kind, state: LabelState, item: StoredItem) -> EventDraft:
        version = self.tasks[item.task][1] if item.task in self.tasks else ""
        return EventDraft(
            kind=kind, annotator=self.annotator, item_id=item.item_id, content_hash=item.content_hash, state=state,
            policy=self.policy, draw_id=self.draw.draw_id, rubric_version=version, round=round_of(self.draw),
            active_ms=self.active.pending_ms(item.item_id), panels=tuple(self._panels.get(item.item_id, ())),
        )  # fmt: skip

    def _reveal_draft(self, reading: Reading) -> EventDraft:
        shown = tuple(verdict.record.verdict_id for verdict in reading.verdicts)
        draft = self._draft("reveal", reading.state, reading.item)
        return replace(draft, verdicts_shown=shown, active_ms=0, panels=())

    def _append(self, acts: Sequence[EventDraft]) -> list[Event]:
        acts = [*acts, *copied(acts, self.links, self.is_decided)]
        events = self._complete_unfinished(acts)
        if not events:
            events = self._append_new(acts)
            self._take_over(events)
        return events

    def _append_new(self, acts: Sequence[EventDraft]) -> list[Event]:
        try:
            return self.study.append(acts)
        except SaveError as error:
            self._unfinished = list(error.events)
            raise

    def _complete_unfinished(self, acts: Sequence[EventDraft]) -> list[Event]:
        """Finish acts the journal has already; [] when they are not the ones asked for now."""
        if not self._unfinished:
            return []
        self.study.flush()
        finished, self._unfinished = self._unfinished, []
        self._take_over(finished)
        return finished if [_gist(event.act) for event in finished] == [_gist(act) for act in acts] else []

    def _complete_others(self, kind: Kind) -> None:
        """Before the last act is looked up: finish acts that the journal has, unless this is that very call again."""
        if self._unfinished and self._unfinished[0].act.kind != kind:
            self._complete_unfinished([])

    def _take_over(self, events: Sequence[Event]) -> None:
        """Bring everything here in line with events that are safe."""
        for event in events:
            act = event.act
            if "history" in self.__dict__:
                self.history.add_event(event)
            if act.kind in _GIVEN:
                (self._block_labels.add if act.policy == "block" else self._block_labels.discard)(act.item_id)
            self._states[act.item_id] = act.state
            if (place := self._queue.place_of.get(act.item_id)) is not None:
                self.waiting.update(place, act.state)
            if act.linked_to:
                self.links.bind(act.item_id, act.linked_to)
            elif act.kind != "reveal":
                self.active.settle(act.item_id)
                self._panels.pop(act.item_id, None)

    def _state_before(self, step: Step) -> LabelState:
        rows = self.study.rows(
            f"""SELECT {STATE_COLUMNS} FROM label_events
            WHERE item_id = ? AND content_hash = ? AND annotator = ? AND round = ? AND (clock, copy_id, seq) < (
                SELECT (clock, copy_id, seq) FROM label_events WHERE event_id = ?)
            ORDER BY clock DESC, copy_id DESC, seq DESC LIMIT 1""",
            [
                step.item_id,
                self._items.read(step.item_id).item.content_hash,
                self.annotator,
                round_of(self.draw),
                step.event_id,
            ],
        )
        return state_of_row(rows[0]) if rows else LabelState()


def _gist(act: EventDraft) -> tuple[str, str, str, LabelState]:
    return act.kind, act.item_id, act.undoes, act.state
