"""One person's label of one item as an exchange entry: what goes out comes back in, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from store.events import IS_LINKED, STATE_COLUMNS, state_of_row
from store.records import LabelState
from store.study import Study


class LabelEntry(NamedTuple):
    """A label with where it came from.

    Attributes:
        state: the current label. mode, at: of its last act; `at` is ISO 8601 with the writer's offset.
        blind: the label given before any verdict was seen, with its time; None when there was none.
        shown: when and by which policy the verdict was first shown; None when it never was.
        linked_to: the item with the same content that was labelled in its place; "" for a label of its own.
    """

    item_id: str
    content_hash: str
    annotator: str
    round: int
    state: LabelState
    mode: str
    at: str
    draw_id: str
    rubric_version: str
    active_ms: int
    blind: tuple[LabelState, str] | None
    shown: tuple[str, str, tuple[str, ...]] | None
    linked_to: str = ""

    def as_json(self) -> dict[str, Any]:
        """The entry under an item's `human` list."""
        state = self.state.as_json()
        return {
            "annotator": self.annotator, "round": self.round, "label": state.pop("value"), **state, "mode": self.mode,
            "at": self.at, "draw_id": self.draw_id, "rubric_version": self.rubric_version,
            "active_ms": self.active_ms, "blind": _blind_json(self.blind), "shown": _shown_json(self.shown),
            **({"linked_to": self.linked_to} if self.linked_to else {}),
        }  # fmt: skip

    @classmethod
    def from_json(cls, item_id: str, content_hash: str, entry: dict[str, Any]) -> LabelEntry:
        """Read an entry back.

        Raises:
            KeyError, TypeError: it is no entry of ours; names the field.
        """
        blind, shown = entry["blind"], entry["shown"]
        return cls(
            item_id, content_hash, entry["annotator"], entry["round"], _state(entry), entry["mode"], entry["at"],
            entry["draw_id"], entry["rubric_version"], entry["active_ms"],
            None if blind is None else (_state(blind), blind["at"]),
            None if shown is None else (shown["policy"], shown["at"], tuple(shown["verdicts"])),
            entry.get("linked_to", ""),
        )  # fmt: skip


def _state(entry: dict[str, Any]) -> LabelState:
    return LabelState.from_json({**entry, "value": entry["label"]})


def _blind_json(blind: tuple[LabelState, str] | None) -> dict[str, Any] | None:
    if blind is None:
        return None
    state = blind[0].as_json()
    return {"label": state.pop("value"), **state, "at": blind[1]}


def _shown_json(shown: tuple[str, str, tuple[str, ...]] | None) -> dict[str, Any] | None:
    return None if shown is None else {"policy": shown[0], "at": shown[1], "verdicts": list(shown[2])}


_PREFIXED = ", ".join(f"l.{name.strip()}" for name in STATE_COLUMNS.split(","))
_BLIND = ", ".join(f"b.{name.strip()}" for name in STATE_COLUMNS.split(","))
_WIDTH = len(STATE_COLUMNS.split(","))

_QUERY = f"""
    SELECT l.item_id, l.content_hash, l.annotator, l.round, l.mode, l.body->>'at', l.draw_id, l.rubric_version,
        coalesce(t.active_ms, 0), b.body->>'at', r.policy, r.body->>'at', r.verdicts_shown,
        l.linked_to, {_PREFIXED}, {_BLIND}
    FROM (SELECT *, CASE WHEN {IS_LINKED} THEN body->>'linked_to' ELSE '' END AS linked_to FROM current_labels) l
    JOIN current_items i USING (item_id)
    LEFT JOIN blind_labels b ON b.item_id = l.item_id AND b.annotator = l.annotator AND b.round = l.round
    LEFT JOIN (SELECT item_id, annotator, round, sum(active_ms)::BIGINT AS active_ms FROM label_events GROUP BY ALL) t
        ON t.item_id = l.item_id AND t.annotator = l.annotator AND t.round = l.round
    LEFT JOIN (
        SELECT * FROM label_events WHERE kind = 'reveal' OR (kind = 'import' AND mode <> 'blind')
        QUALIFY row_number() OVER (PARTITION BY item_id, annotator ORDER BY clock, copy_id, seq) = 1) r
        ON r.item_id = l.item_id AND r.annotator = l.annotator
    ORDER BY i.system, i.task, i.position, i.item_id, l.annotator, l.round"""


def label_entries(study: Study) -> Iterator[LabelEntry]:
    """Every label of every person, by system, task, the benchmark's order of items, annotator and round."""
    for row in study.stream(_QUERY):
        head, current, blind = row[:14], row[14 : 14 + _WIDTH], row[14 + _WIDTH :]
        first = (state_of_row(blind), head[9]) if head[9] is not None else None
        shown = (head[10], head[11], tuple(json.loads(head[12]))) if head[11] is not None else None
        yield LabelEntry(
            item_id=head[0], content_hash=head[1], annotator=head[2], round=head[3], state=state_of_row(current),
            mode=head[4], at=head[5], draw_id=head[6], rubric_version=head[7], active_ms=head[8], blind=first,
            shown=shown, linked_to=head[13],
        )  # fmt: skip
