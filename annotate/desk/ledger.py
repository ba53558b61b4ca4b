"""One person's labels in one study: reading them, storing acts, undo and redo, and what may be shown to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotate.desk.history import History, load_history
from annotate.desk.pace import ActiveClock
from judges.benchmarks.benchmark import TaskDefinition
from judges.calibration.sampling import is_never_shown
from store.draws import Draw, RevealPolicy
from store.errors import SaveError
from store.events import STATE_COLUMNS, Event, EventDraft, Kind, Mode, state_of_row
from store.items import StoredItem, StoredVerdict, get_item, verdicts_of
from store.records import LabelState
from store.study import Study

NEVER_SHOWN_POLICIES: frozenset[RevealPolicy] = frozenset({"item", "block"})
"""Policies under which a random share of items keeps its verdict hidden."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An item as this person reads it: its task, their label so far, and the verdicts (shown only where allowed)."""

    item: StoredItem
    task: TaskDefinition
    state: LabelState
    verdicts: Sequence[StoredVerdict]


class Ledger:
    """The acts of one person under one draw.

    A method that stores returns when the act is safe; on `SaveError` nothing here has moved, and the same call may be
    made again: an act that the journal has already is completed, not doubled.
    """

    def __init__(
        self,
        study: Study,
        annotator: str,
        draw: Draw,
        policy: RevealPolicy,
        tasks: Mapping[str, tuple[TaskDefinition, str]],
        active: ActiveClock,
    ) -> None:
        self.study, self.annotator, self.draw, self.policy = study, annotator, draw, policy
        self.tasks, self.active = tasks, active
        self.history: History = load_history(study, annotator)
        self.states: dict[str, LabelState] = _load_states(study, annotator)
        self._panels: dict[str, list[str]] = {}
        self._ahead: Reading | None = None
        self._unfinished: list[Event] = []

    def read(self, item_id: str) -> Reading:
        """The item, this person's label of it, and its verdicts."""
        if self._ahead is not None and self._ahead.item.item_id == item_id:
            return replace(self._ahead, state=self.state_of(item_id))
        item = get_item(self.study, item_id)
        return Reading(item, self.tasks[item.task][0], self.state_of(item_id), verdicts_of(self.study, item))

    def read_ahead(self, item_id: str) -> Reading:
        """Read an item and keep it for the next `read`, which then costs nothing."""
        self._ahead = self.read(item_id)
        return self._ahead

    def state_of(self, item_id: str) -> LabelState:
        return self.states.get(item_id, LabelState())

    def is_decided(self, item_id: str) -> bool:
        state = self.states.get(item_id)
        return state is not None and state.decided

    def exposure(self, item_id: str) -> Mode:
        """The mode a label given now would have."""
        return self.study.exposure(self.annotator, item_id)

    def stays_hidden(self, item_id: str) -> bool:
        """Whether this person never sees the verdict on this item."""
        return self.policy in NEVER_SHOWN_POLICIES and is_never_shown(item_id, self.annotator, self.draw.seed)

    def store(self, kind: Kind, state: LabelState, item: StoredItem) -> Event:
        """Store one act."""
        event = self._append([self._draft(kind, state, item)])[0]
        self.states[item.item_id] = state
        return event

    def store_and_reveal(self, kind: Kind, state: LabelState, reading: Reading) -> Event:
        """Store a label and, in the same write, that its verdicts are shown now."""
        acts = [self._draft(kind, state, reading.item), self._reveal_draft(replace(reading, state=state))]
        event = self._append(acts)[0]
        self.states[reading.item.item_id] = state
        return event

    def reveal(self, readings: Sequence[Reading]) -> None:
        """Store that verdicts are shown, before they are."""
        blind = [reading for reading in readings if reading.verdicts and self.exposure(reading.item.item_id) == "blind"]
        if blind:
            self._append([self._reveal_draft(reading) for reading in blind])

    def undo(self) -> str | None:
        """Take back the last act; returns the item it was on, or None when there is nothing to undo."""
        if not self.history.done:
            return None
        act = self.history.done[-1]
        return self._restore("undo", act.item_id, act.event_id, self._state_before(act.event_id, act.item_id))

    def redo(self) -> str | None:
        """Do the last undone act again; returns the item it was on, or None when there is nothing to redo."""
        if not self.history.undone:
            return None
        act = self.history.undone[-1]
        rows = self.study.rows(f"SELECT {STATE_COLUMNS} FROM label_events WHERE event_id = ?", [act.event_id])
        return self._restore("redo", act.item_id, act.event_id, state_of_row(rows[0]))

    def open_panel(self, item_id: str, field: str) -> None:
        """Note that a panel the judge did not see was opened; it is stored with the next act on this item."""
        opened = self._panels.setdefault(item_id, [])
        if field not in opened:
            opened.append(field)

    def _restore(self, kind: Kind, item_id: str, undoes: str, state: LabelState) -> str:
        item = get_item(self.study, item_id)
        self._append([replace(self._draft(kind, state, item), undoes=undoes)])
        self.states[item_id] = state
        return item_id

    def _draft(self, kind: Kind, state: LabelState, item: StoredItem) -> EventDraft:
        version = self.tasks[item.task][1] if item.task in self.tasks else ""
        return EventDraft(
            kind=kind, annotator=self.annotator, item_id=item.item_id, content_hash=item.content_hash, state=state,
            draw_id=self.draw.draw_id, rubric_version=version, active_ms=self.active.pending_ms,
            panels=tuple(self._panels.get(item.item_id, ())),
        )  # fmt: skip

    def _reveal_draft(self, reading: Reading) -> EventDraft:
        shown = tuple(verdict.record.verdict_id for verdict in reading.verdicts)
        draft = self._draft("reveal", reading.state, reading.item)
        return replace(draft, policy=self.policy, verdicts_shown=shown, active_ms=0, panels=())

    def _append(self, acts: Sequence[EventDraft]) -> list[Event]:
        events = self._complete_unfinished(acts) or self._append_new(acts)
        for event in events:
            self.history.add_event(event)
            self._panels.pop(event.act.item_id, None)
        self.active.settle()
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
        if [_gist(event.act) for event in finished] == [_gist(act) for act in acts]:
            return finished
        for event in finished:
            self.history.add_event(event)
            self.states[event.act.item_id] = event.state
        return []

    def _state_before(self, event_id: str, item_id: str) -> LabelState:
        rows = self.study.rows(
            f"""SELECT {STATE_COLUMNS} FROM label_events
            WHERE item_id = ? AND annotator = ? AND (clock, copy_id, seq) <
                (SELECT (clock, copy_id, seq) FROM label_events WHERE event_id = ?)
            ORDER BY clock DESC, copy_id DESC, seq DESC LIMIT 1""",
            [item_id, self.annotator, event_id],
        )
        return state_of_row(rows[0]) if rows else LabelState()


def _gist(act: EventDraft) -> tuple[str, str, str, LabelState]:
    return act.kind, act.item_id, act.undoes, act.state


def _load_states(study: Study, annotator: str) -> dict[str, LabelState]:
    rows = study.rows(
        f"SELECT item_id, {STATE_COLUMNS} FROM current_labels WHERE annotator = ? AND round = 0", [annotator]
    )
    return {row[0]: state_of_row(row[1:]) for row in rows}
