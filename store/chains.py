"""Chains of events: the next place of each annotator, the clock, and who has been shown which verdict."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from store.events import DECIDED, Event, EventDraft, Mode, seal
from store.journal import Entry


def now() -> dt.datetime:
    """This moment, with the machine's UTC offset."""
    return dt.datetime.now().astimezone()


class Chains:
    """The ends of this copy's chains. Used by the writer thread; `exposure` by anyone."""

    def __init__(self, connection: Any, study_id: str, copy_id: str) -> None:
        """Read where the chains of a study end."""
        self._study_id, self._copy_id = study_id, copy_id
        self._heads = _load_heads(connection, copy_id)
        self._clock: int = connection.execute("SELECT coalesce(max(clock), 0) FROM label_events").fetchone()[0]
        self._exposures = _load_exposures(connection)

    def exposure(self, annotator: str, item_id: str) -> Mode:
        """The mode a label of this person on this item would have now."""
        return self._exposures.get((annotator, item_id), "blind")

    def place(self, acts: Sequence[EventDraft]) -> list[tuple[Event, Entry]]:
        """Place acts at the end of their chains without advancing them: a failed write leaves no trace."""
        heads, clock, shown = dict(self._heads), self._clock, dict[tuple[str, str], Mode]()
        placed = []
        for act in acts:
            seq, head = heads.get(act.annotator, (0, self._study_id))
            mode = self._mode_of(act, shown)
            clock += 1
            event, entry = seal(
                act, study_id=self._study_id, copy_id=self._copy_id, seq=seq + 1, clock=clock, prev_hash=head,
                mode=mode, now=now(),
            )  # fmt: skip
            heads[act.annotator] = (event.seq, event.event_id)
            placed.append((event, entry))
        return placed

    def advance(self, events: Iterable[Event]) -> None:
        """Take events that are safe now."""
        for event in events:
            self._heads[event.act.annotator] = (event.seq, event.event_id)
            self._clock = max(self._clock, event.clock)
            exposure = exposed_by(event.act.kind, event.act.policy, event.state.decided, event.mode)
            if exposure is not None:
                self._exposures.setdefault((event.act.annotator, event.act.item_id), exposure)

    def _mode_of(self, act: EventDraft, shown: dict[tuple[str, str], Mode]) -> Mode:
        key = (act.annotator, act.item_id)
        known = shown.get(key) or self._exposures.get(key)
        mode: Mode = known or "blind"
        if act.kind == "import" and act.mode:
            mode = act.mode
        exposure = exposed_by(act.kind, act.policy, act.state.decided, mode)
        if exposure is None or known is not None:
            return mode
        shown[key] = exposure
        return "blind" if act.kind == "reveal" and act.state.decided else exposure


def exposed_by(kind: str, policy: str, decided: bool, mode: Mode) -> Mode | None:
    """The mode of every later label of an item after this event, or None when it shows nothing."""
    if kind == "import" and mode != "blind":
        return mode
    if kind != "reveal":
        return None
    return "assisted" if policy == "assisted" and not decided else "revised"


def _load_heads(connection: Any, copy_id: str) -> dict[str, tuple[int, str]]:
    rows = connection.execute(
        "SELECT annotator, max(seq), max_by(event_id, seq) FROM label_events WHERE copy_id = ? GROUP BY annotator",
        [copy_id],
    ).fetchall()
    return {annotator: (seq, event_id) for annotator, seq, event_id in rows}


def _load_exposures(connection: Any) -> dict[tuple[str, str], Mode]:
    rows = connection.execute(
        f"""SELECT annotator, item_id, kind, policy, {DECIDED}, mode FROM label_events
        WHERE kind = 'reveal' OR (kind = 'import' AND mode <> 'blind') ORDER BY clock, copy_id, annotator, seq"""
    ).fetchall()
    exposures: dict[tuple[str, str], Mode] = {}
    for annotator, item_id, kind, policy, decided, mode in rows:
        if (exposure := exposed_by(kind, policy, decided, mode)) is not None:
            exposures.setdefault((annotator, item_id), exposure)
    return exposures
