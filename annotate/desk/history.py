"""Undo and redo over a person's acts: unlimited, across items and restarts, each itself an event."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

from store.events import ACTS, IS_LINKED, Event
from store.study import Study


class Act(NamedTuple):
    """What the history remembers of an event. `undoes` is the act that an undo or redo is about, else ""."""

    event_id: str
    kind: str
    item_id: str
    undoes: str = ""


class Step(NamedTuple):
    """An act that can be undone or done again."""

    event_id: str
    item_id: str


class History:
    """The acts that can be undone, and those that can be done again, last one last; a pure fold over acts in order."""

    def __init__(self, acts: Iterable[Act] = ()) -> None:
        self.done: list[Step] = []
        self.undone: list[Step] = []
        for act in acts:
            self.add(act)

    def add(self, act: Act) -> None:
        """Take the next act of this person."""
        if act.kind in ACTS:
            self.done.append(Step(act.event_id, act.item_id))
            self.undone.clear()
        elif act.kind == "undo" and _take(self.done, act.undoes):
            self.undone.append(Step(act.undoes, act.item_id))
        elif act.kind == "redo":
            _take(self.undone, act.undoes)
            self.done.append(Step(act.undoes, act.item_id))

    def add_event(self, event: Event) -> None:
        """Take an event just stored; one that follows an act on another item goes back with that act."""
        if not event.act.linked_to:
            self.add(Act(event.event_id, event.act.kind, event.act.item_id, event.act.undoes))


def _take(steps: list[Step], event_id: str) -> bool:
    """Remove an act; it need not be the last one: work on another queue leaves acts of its own between."""
    for index in range(len(steps) - 1, -1, -1):
        if steps[index].event_id == event_id:
            del steps[index]
            return True
    return False


def load_history(study: Study, annotator: str, items: Container[str], round_number: int = 0) -> History:
    """The history of one person on these items in one round, as far as their content is still the same."""
    rows = study.rows(
        f"""SELECT event_id, kind, item_id, undoes FROM label_events
        JOIN (SELECT item_id, content_hash FROM current_items) USING (item_id, content_hash)
        WHERE annotator = ? AND kind <> 'reveal' AND round = ? AND NOT {IS_LINKED}
        ORDER BY clock, copy_id, seq""",
        [annotator, round_number],
    )
    return History(Act(*row) for row in rows if row[2] in items)
