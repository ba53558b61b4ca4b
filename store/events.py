"""Label events: one act of one person, carrying the person's whole label after the act.

Events form chains: one annotator in one copy of a study has `seq` 1, 2, 3 …, a Lamport `clock`, and `prev_hash`, the id
of the event before. Order over chains is (clock, copy_id, annotator, seq).
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, get_args

from store.journal import Entry
from store.records import LabelState, canonical_json

Mode = Literal["blind", "revised", "assisted"]
Kind = Literal["label", "revise", "mark", "clear", "skip", "flag", "reveal", "undo", "redo", "adjudicate", "import"]
"""mark: tags, note, harm, evidence or reference changed without a new value."""

ACTS: frozenset[str] = frozenset({"label", "revise", "mark", "clear", "skip", "flag"})
"""The kinds that undo takes back. A reveal cannot be unseen, an import is undone by its own command."""

EVENT = "label_event"
"""The journal's type name of a label event."""


PRACTICE = -1
"""The round of labels given for practice. Numbers rest on round 0, self-consistency on the repeats above it."""
NOT_PRACTICE = f"round <> {PRACTICE}"
"""SQL: a label that is not for practice; for readers that take more than round 0."""
_DECIDED = "({0}value IS NOT NULL OR {0}cannot_judge <> '')"
DECIDED = _DECIDED.format("")
"""SQL: a label that is given, or "cannot judge"; not what was skipped, cleared or only marked."""


def decided_of(table: str) -> str:
    """`DECIDED` of one of several tables of labels in a query."""
    return _DECIDED.format(f"{table}.")


@dataclass(frozen=True, slots=True)
class EventDraft:
    """What a person did, before the store gives it its place in the chain and its mode.

    Attributes:
        state: the whole label after the act.
        round: 0; of a repeat its number; `PRACTICE` for practice.
        policy: the reveal policy of the sitting; for `reveal` the one under which the verdict was shown.
        verdicts_shown: ids of the verdicts the person has been shown by this act.
        panels: ids of panels opened that the judge did not see.
        active_ms: active time on the item since the last event of it.
        mode: only for `import`: the mode the file states.
        at: only for `import`: when the label was given, ISO 8601 with offset.
        linked_to: the item with the same content that the person acted on; this item only follows it. "" for an act
            on the item itself.
    """

    kind: Kind
    annotator: str
    item_id: str
    content_hash: str
    state: LabelState
    undoes: str = ""
    round: int = 0
    policy: str = ""
    verdicts_shown: tuple[str, ...] = ()
    draw_id: str = ""
    rubric_version: str = ""
    active_ms: int = 0
    panels: tuple[str, ...] = ()
    mode: Mode | Literal[""] = ""
    at: str = ""
    linked_to: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"unknown kind of event: {self.kind}")
        if self.state.value is not None and self.state.cannot_judge:
            raise ValueError("`cannot judge` stands instead of a value, not beside one")


@dataclass(frozen=True, slots=True)
class Event:
    """A label event in its chain. `event_id` is the hash of all the rest."""

    event_id: str
    study_id: str
    copy_id: str
    seq: int
    clock: int
    prev_hash: str
    mode: Mode
    at: str
    act: EventDraft = field(repr=False)

    @property
    def chain(self) -> tuple[str, str]:
        return (self.copy_id, self.act.annotator)

    @property
    def order(self) -> tuple[int, str, str, int]:
        return (self.clock, self.copy_id, self.act.annotator, self.seq)

    @property
    def state(self) -> LabelState:
        return self.act.state


def seal(
    act: EventDraft, *, study_id: str, copy_id: str, seq: int, clock: int, prev_hash: str, mode: Mode, now: dt.datetime
) -> tuple[Event, Entry]:
    """Give an act its place; returns the event and its journal entry.

    Raises:
        ValueError: a time without UTC offset.
    """
    at = act.at or now.isoformat(timespec="microseconds")
    if dt.datetime.fromisoformat(at).tzinfo is None:
        raise ValueError(f"a time needs its UTC offset: {at}")
    body = {
        "type": EVENT, "study_id": study_id, "copy_id": copy_id, "annotator": act.annotator, "seq": seq, "clock": clock,
        "prev_hash": prev_hash, "kind": act.kind, "undoes": act.undoes, "round": act.round, "item_id": act.item_id,
        "content_hash": act.content_hash, "state": act.state.as_json(), "mode": mode, "policy": act.policy,
        "verdicts_shown": list(act.verdicts_shown), "draw_id": act.draw_id, "rubric_version": act.rubric_version,
        "active_ms": act.active_ms, "panels": list(act.panels), "at": at,
    }  # fmt: skip
    if act.linked_to:
        body["linked_to"] = act.linked_to
    entry = Entry.of(body)
    return event_of(entry), entry


def event_of(entry: Entry, record: Mapping[str, Any] | None = None) -> Event:
    """Read an event back from its journal entry; `record` is the entry's record if it is parsed already."""
    body = entry.record if record is None else record
    act = EventDraft(
        kind=body["kind"], annotator=body["annotator"], item_id=body["item_id"], content_hash=body["content_hash"],
        state=LabelState.from_json(body["state"]), undoes=body["undoes"], round=body["round"], policy=body["policy"],
        verdicts_shown=tuple(body["verdicts_shown"]), draw_id=body["draw_id"], rubric_version=body["rubric_version"],
        active_ms=body["active_ms"], panels=tuple(body["panels"]), at=body["at"],
        linked_to=body.get("linked_to", ""),
    )  # fmt: skip
    return Event(
        event_id=entry.event_id, study_id=body["study_id"], copy_id=body["copy_id"], seq=body["seq"],
        clock=body["clock"], prev_hash=body["prev_hash"], mode=body["mode"], at=body["at"], act=act,
    )  # fmt: skip


COLUMNS = (
    "event_id, study_id, copy_id, annotator, seq, clock, prev_hash, kind, undoes, round, item_id, content_hash, value,"
    " parts, tags, note, unsure, harm, cannot_judge, reference_wrong, right_answer, evidence, skipped, flagged, mode,"
    " policy, verdicts_shown, draw_id, rubric_version, active_ms, panels, happened_at, utc_offset_minutes, body"
)


def row_of(event: Event, body: str) -> list[Any]:
    """The event as a row of `label_events`; the time goes in as epoch microseconds (see `insert_events`)."""
    act, state = event.act, event.act.state
    moment = dt.datetime.fromisoformat(event.at)
    offset = moment.utcoffset() or dt.timedelta()
    micros = (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    return [
        event.event_id, event.study_id, event.copy_id, act.annotator, event.seq, event.clock, event.prev_hash, act.kind,
        act.undoes, act.round, act.item_id, act.content_hash, state.value, canonical_json(dict(state.parts)),
        canonical_json(list(state.tags)), state.note, state.unsure, state.harm, state.cannot_judge,
        state.reference_wrong, state.right_answer, canonical_json(list(state.evidence)), state.skipped, state.flagged,
        event.mode, act.policy, canonical_json(list(act.verdicts_shown)), act.draw_id, act.rubric_version,
        act.active_ms, canonical_json(list(act.panels)), micros, offset // dt.timedelta(minutes=1), body,
    ]  # fmt: skip


_NAMES = COLUMNS.replace(" ", "").split(",")
_TYPES: Mapping[str, str] = {
    **dict.fromkeys(_NAMES, "VARCHAR"),
    **dict.fromkeys(("seq", "clock", "active_ms", "happened_at"), "BIGINT"),
    **dict.fromkeys(("round", "utc_offset_minutes"), "INTEGER"),
    **dict.fromkeys(("unsure", "reference_wrong", "skipped", "flagged"), "BOOLEAN"),
}
"""How values go in; `happened_at` as epoch microseconds."""
_FEW = 4
"""Up to here plain parameters are the fastest way in on DuckDB 2; beyond, and always on 1.5, one JSON parameter is."""


def insert_events(connection: Any, events: Sequence[tuple[Event, Entry]]) -> None:
    """Put events into `label_events`; the caller holds the transaction."""
    rows = [row_of(event, entry.body) for event, entry in events]
    if len(rows) <= _FEW and _parameters_are_fast():
        connection.execute(_insert_values(len(rows)), [value for row in rows for value in row])
    else:
        block = json.dumps([dict(zip(_NAMES, row, strict=True)) for row in rows], ensure_ascii=False)
        connection.execute(_insert_json(), [block])


@lru_cache(maxsize=1)
def _parameters_are_fast() -> bool:
    from store.engine import duckdb

    return not duckdb.__version__.startswith("1.")


@lru_cache(maxsize=_FEW)
def _insert_values(rows: int) -> Any:
    """The statement for that many rows, parsed once."""
    from store.engine import duckdb

    marks = ", ".join("make_timestamptz(?)" if name == "happened_at" else "?" for name in _NAMES)
    query = f"INSERT INTO label_events ({COLUMNS}) VALUES {', '.join([f'({marks})'] * rows)}"
    return duckdb.extract_statements(query)[0]


@lru_cache(maxsize=1)
def _insert_json() -> str:
    shape = json.dumps([dict(_TYPES)])
    chosen = ", ".join(f"make_timestamptz(e.{name})" if name == "happened_at" else f"e.{name}" for name in _NAMES)
    source = f"(SELECT unnest(from_json(?, '{shape}')) AS e)"
    return f"INSERT INTO label_events ({COLUMNS}) SELECT {chosen} FROM {source}"


def state_of_row(row: Sequence[Any]) -> LabelState:
    """A `LabelState` from the columns of `STATE_COLUMNS`, in that order."""
    return LabelState(
        value=row[0], parts=json.loads(row[1]), tags=tuple(json.loads(row[2])), note=row[3], unsure=row[4],
        harm=row[5], cannot_judge=row[6], reference_wrong=row[7], right_answer=row[8],
        evidence=tuple(json.loads(row[9])), skipped=row[10], flagged=row[11],
    )  # fmt: skip


IS_LINKED = """contains(body, '"linked_to":')"""
"""SQL: the event only follows an act on another item. In a text of the body the quotation marks are escaped."""

STATE_COLUMNS = (
    "value, parts, tags, note, unsure, harm, cannot_judge, reference_wrong, right_answer, evidence, skipped, flagged"
)
