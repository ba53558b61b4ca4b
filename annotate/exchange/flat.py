"""A label entry as one flat row, for CSV. Every cell is safe in a spreadsheet and comes back as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotate.exchange.entries import LabelEntry
from store.records import canonical_json
from store.safe_text import csv_safe, csv_unsafe

_JSON = ("parts", "tags", "evidence", "blind", "shown")
_WORDS = ("value_given", "unsure", "reference_wrong", "skipped", "flagged")
_TEXTS = ("note", "harm", "cannot_judge", "right_answer", "mode", "at", "draw_id", "rubric_version")
COLUMNS = (
    "item_id", "content_hash", "task", "system", "key", "annotator", "round", "label", "value_given", "parts",
    "unsure", "cannot_judge", "reference_wrong", "right_answer", "harm", "tags", "note", "evidence", "skipped",
    "flagged", "mode", "at", "active_ms", "draw_id", "rubric_version", "blind", "shown", "judge", "judge_label",
    "judge_parts", "judge_failure", "judge_rationale", "linked_to", "judge_forced",
)  # fmt: skip
"""`value_given` tells an empty label from none; `judge…` columns are for readers and are not read back."""


def row_of_entry(entry: LabelEntry, item: Mapping[str, str], verdict: Mapping[str, str]) -> list[str]:
    """The cells of an entry in the order of `COLUMNS`; `item` and `verdict` fill what the entry does not hold."""
    given = entry.state.value is not None
    flat: dict[str, Any] = {**entry.as_json(), **item, **verdict, "value_given": given}
    flat |= {"item_id": entry.item_id, "content_hash": entry.content_hash}
    return [_cell(name, flat.get(name)) for name in COLUMNS]


def _cell(name: str, value: Any) -> str:
    if name in _JSON:
        return csv_safe(canonical_json(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)  # a number runs nothing, the -1 of practice neither
    return "" if value is None else csv_safe(str(value))


def entry_of_row(row: Mapping[str, str | None]) -> LabelEntry:
    """Read a row back.

    Raises:
        KeyError: a column is missing. ValueError: a cell cannot be read; names the column.
    """
    cells = {name: csv_unsafe(row[name] or "") for name in COLUMNS[:27]}
    entry: dict[str, Any] = {"annotator": cells["annotator"]}
    entry.update({name: _json(name, cells[name]) for name in _JSON})
    entry.update({name: _yes(name, cells[name]) for name in _WORDS})
    entry.update({name: cells[name] for name in _TEXTS})
    entry["linked_to"] = csv_unsafe(row.get("linked_to") or "")
    entry["round"], entry["active_ms"] = int(cells["round"]), int(cells["active_ms"])
    entry["label"] = cells["label"] if entry["value_given"] else None
    return LabelEntry.from_json(cells["item_id"], cells["content_hash"], entry)


def _json(name: str, cell: str) -> Any:
    try:
        return json.loads(cell)
    except json.JSONDecodeError as error:
        raise ValueError(f"column {name} holds no JSON") from error


def _yes(name: str, cell: str) -> bool:
    if cell not in ("yes", "no"):
        raise ValueError(f"column {name} must be yes or no")
    return cell == "yes"
