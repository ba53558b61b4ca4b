"""Undo and redo over a person's events: unlimited, across items and restarts, each itself an event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from store.events import ACTS, Event
from store.study import Study


class Act(NamedTuple):
    """What the history remembers of an event."""

    event_id: str
    kind: str
    item_id: str


class History:
    """The acts that can be undone, and those that can be done again; a pure fold over events in order."""

    def __init__(self, acts: Iterable[Act] = ()) -> None:
        self.done: list[Act] = []
        self.undone: list[Act] = []
        for act in acts:
            self.add(act)

    def add(self, act: Act) -> None:
        """Take the next event of this person."""
        if act.kind in ACTS:
            self.done.append(act)
            self.undone.clear()
        elif act.kind == "undo" and self.done:
            self.undone.append(self.done.pop())
        elif act.kind == "redo" and self.undone:
            self.done.append(self.undone.pop())

    def add_event(self, event: Event) -> None:
        """Take an event just stored."""
        self.add(Act(event.event_id, event.act.kind, event.act.item_id))


def load_history(study: Study, annotator: str) -> History:
    """The history of one person in one study."""
    rows = study.rows(
        """SELECT event_id, kind, item_id FROM label_events WHERE annotator = ? AND kind <> 'reveal'
        ORDER BY clock, copy_id, seq""",
        [annotator],
    )
    return History(Act(*row) for row in rows)
