"""Items of different systems that no reader can tell apart: read once, and the one label counts for all of them.

An item is linked when the queue reaches it, not before: what was served of a draw stays what its design says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from annotate.desk.past import round_of
from annotate.desk.queue import Queue
from store.draws import Draw
from store.events import IS_LINKED, STATE_COLUMNS, EventDraft, Kind, Mode, state_of_row
from store.study import Study


class _Of(NamedTuple):
    """Where an item belongs: its system, and all items of the queue with its task and content."""

    system: str
    members: tuple[str, ...]


class Links:
    """Who shares a label with whom in one queue of one person.

    Items of one system are never linked: each counts in its system's numbers. Nor are repeats: they ask again.

    Attributes:
        leader_of: copy → the item that was read in its place.
    """

    def __init__(self, study: Study, annotator: str, draw: Draw, queue: Queue) -> None:
        self.leader_of: dict[str, str] = {}
        self._bound: dict[str, set[str]] = {}
        self._alike = _alike(study, draw, queue) if draw.stream != "check" else {}
        if self._alike:
            for copy, leader in _stored(study, annotator, round_of(draw)):
                if copy in self._alike and leader in self._alike:
                    self.bind(copy, leader)

    def bind(self, copy: str, leader: str) -> None:
        """A copy has taken the leader's label: from now on they move together."""
        together = self._bound.get(copy, {copy}) | self._bound.get(leader, {leader})
        if leader not in self._bound.get(copy, ()):
            self.leader_of[copy] = leader
        for member in together:
            self._bound[member] = together

    def bound(self, item_id: str) -> list[str]:
        """The other items that share this one's label."""
        return sorted(self._bound.get(item_id, set()) - {item_id})

    def first_read(self, item_id: str) -> str:
        """The item that was read in this one's place; itself where none was."""
        while item_id in self.leader_of:
            item_id = self.leader_of[item_id]
        return item_id

    def candidates(self, item_id: str) -> Iterator[str]:
        """Items whose label this one may take: alike, of another system, and not yet bound to one of this system."""
        if item_id not in self._alike:
            return
        system, members = self._alike[item_id]
        for other in members:
            bound = self._bound.get(other, {other})
            if system not in {self._alike[one].system for one in bound - {item_id}}:
                yield other


def copied(acts: Sequence[EventDraft], links: Links, is_decided: Callable[[str], bool]) -> list[EventDraft]:
    """The same acts on the items bound to theirs. `is_decided` tells which items have a label before them.

    What restores a label is told by what it does; time and opened panels are the read item's own.
    """
    decided: dict[str, bool] = {}
    found = []
    for act in acts:
        for twin in links.bound(act.item_id) if not act.linked_to else ():
            kind = _kind(act, decided.get(twin, is_decided(twin)))
            decided[twin] = act.state.decided
            found.append(
                replace(act, item_id=twin, kind=kind, undoes="", active_ms=0, panels=(), linked_to=act.item_id)
            )
    return found


def _kind(act: EventDraft, decided: bool) -> Kind:
    if act.kind not in ("undo", "redo"):
        return act.kind
    if act.state.decided:
        return "revise" if decided else "label"
    return "clear" if decided else "mark"


def taken_over(study: Study, leader: EventDraft, exposure: Mode) -> list[EventDraft]:
    """The acts that bring a copy to where its leader is: the blind label, that verdicts were shown, the label now.

    Args:
        leader: a draft of the leader's label as it is now. exposure: the mode a new label of the leader would have.
    """
    if exposure == "blind":
        return [leader]
    key = [leader.annotator, leader.round, leader.item_id]
    blind = study.rows(
        f"SELECT {STATE_COLUMNS} FROM blind_labels WHERE annotator = ? AND round = ? AND item_id = ?", key
    )
    shown = study.rows(
        """SELECT policy, verdicts_shown FROM label_events WHERE annotator = ? AND round = ? AND item_id = ?
        AND kind = 'reveal' ORDER BY clock, copy_id, seq LIMIT 1""",
        key,
    )
    before = state_of_row(blind[0]) if blind else None
    acts = [] if before is None or not before.decided else [replace(leader, state=before)]
    for policy, verdicts in shown:
        state = acts[-1].state if acts else replace(leader.state, value=None, parts={}, cannot_judge="", unsure=False)
        acts.append(
            replace(leader, kind="reveal", state=state, policy=policy, verdicts_shown=tuple(json.loads(verdicts)))
        )
    if not acts or acts[-1].state != leader.state:
        acts.append(replace(leader, kind="revise" if acts and acts[-1].state.decided else "label"))
    return acts


def _alike(study: Study, draw: Draw, queue: Queue) -> dict[str, _Of]:
    """Items of the queue whose task and content an item of another system has too."""
    rows = study.rows(
        """WITH drawn AS (
            SELECT item_id, task, content_hash, system FROM current_items
            WHERE item_id IN (SELECT item_id FROM draw_items WHERE draw_id = ?))
        SELECT system, item_id, task, content_hash FROM drawn
        JOIN (SELECT task, content_hash FROM drawn GROUP BY ALL HAVING count(DISTINCT system) > 1)
            USING (task, content_hash)""",
        [draw.draw_id],
    )
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for system, item_id, *content in rows:
        if item_id in queue.place_of:
            groups.setdefault((content[0], content[1]), []).append((system, item_id))
    return {
        item_id: _Of(system, tuple(other for _, other in sorted(group, key=lambda one: queue.place_of[one[1]])))
        for group in groups.values()
        for system, item_id in group
    }


def _stored(study: Study, annotator: str, round_number: int) -> list[tuple[str, str]]:
    """(copy, leader) of this person's linked labels, oldest first."""
    rows: list[tuple[str, str]] = study.rows(
        f"""SELECT item_id, body->>'linked_to' FROM label_events
        WHERE annotator = ? AND round = ? AND {IS_LINKED} ORDER BY clock, copy_id, seq""",
        [annotator, round_number],
    )
    return rows
