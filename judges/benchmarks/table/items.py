"""Makes an item of a row.

An item's `extra` holds what nobody is shown: the row itself (`row_text`), its file, and the systems whose answer it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from judges.benchmarks.row_text import packed
from judges.benchmarks.table.columns import Columns, filled
from judges.benchmarks.table.definitions import PAIR, payload_fields
from judges.benchmarks.table.entries import WrongEntryError, plain_text, unpacked
from judges.benchmarks.table.plan import Plan, TaskPlan
from judges.benchmarks.table.references import References
from judges.benchmarks.table.rows import Row
from judges.benchmarks.table.scoring import BENCHMARK_NAME
from store.records import ItemRecord, TextRecord, canonical_json, digest, item_id

LONG = 2000
"""Characters above which a field is kept once as a shared text."""

GIVEN, SWAPPED = "as given", "swapped"
"""Orders of a pair of responses: the one it is in first, and the other."""


class Built(NamedTuple):
    item: ItemRecord
    texts: list[TextRecord]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands: its file's name, its place among all, its system, and the order of its pair."""

    file: str
    position: int
    system: str
    order: str = ""


def build_item(row: Row, task: TaskPlan, plan: Plan, references: References, place: Place) -> Built:
    """The item of a row.

    Raises:
        WrongEntryError: an id is no text, or another file does not have what the row refers to.
    """
    columns = plan.columns
    key = natural_key(row, task, plan)
    fields, seen, shared = _fields(row, task, plan, references)
    long = {name for name, value in fields.items() if _is_long(value, shared=name not in seen.values())}
    payload = {name: value for name, value in fields.items() if name not in long}
    texts = {name: TextRecord.of(fields[name]) for name in fields if name in long}
    group = shared or next((text.text_hash for text in texts.values()), "")
    systems = columns.systems(row)
    item = ItemRecord(
        item_id=item_id(BENCHMARK_NAME, task.spec.name, place.system, key),
        task=task.spec.name,
        system=place.system,
        natural_key=canonical_json(key),
        cluster=_named(row, plan.cluster) or group or canonical_json(key),
        group=group,
        payload=payload,
        texts={name: text.text_hash for name, text in texts.items()},
        slices=_slices(row, plan, place),
        extra={"file": place.file, **packed(row.values, seen), "systems": list(systems)},
        position=place.position,
    )
    return Built(item, list(texts.values()))


def natural_key(row: Row, task: TaskPlan, plan: Plan) -> list[str]:
    """What names the row in its task: the key columns, else its id, else a hash of what it shows.

    Raises:
        WrongEntryError: one of them is no text or number.
    """
    if plan.key:
        return [_named(row, column) for column in plan.key]
    named = plan.columns.text(row, "item_id")
    return [named or digest("row", {name: filled(row, plan.columns.of.get(name, name)) for name in _shown(task)})]


def pair_of(row: Row, columns: Columns) -> tuple[str, str] | None:
    """A pair of responses by what it compares, whichever comes first, and its order; None when it is no pair."""
    first, second = (columns.value(row, name) for name in PAIR)
    if first is None or second is None:
        return None
    asked = [columns.value(row, name) for name in ("context", "question")]
    texts = [canonical_json(first), canonical_json(second)]
    return digest("pair of responses", asked, sorted(texts)), digest("order", texts)


def _shown(task: TaskPlan) -> list[str]:
    return payload_fields(task.definition)


def _fields(row: Row, task: TaskPlan, plan: Plan, references: References) -> tuple[dict[str, Any], dict[str, str], str]:
    """The fields the desk shows, which column each came from, and the row of another file that the item shares."""
    fields: dict[str, Any] = {}
    seen: dict[str, str] = {}
    referred, shared = references.of(row)
    for name in _shown(task):
        column = plan.columns.of.get(name, name)
        value = filled(row, column)
        if value is not None:
            shown = _shown_value(value, row.flat)
            fields[name] = shown
            if shown == value:
                seen[column] = name
        elif name in referred:
            fields[name] = referred[name]
    return fields, seen, shared


def _shown_value(value: Any, flat: bool) -> Any:
    """Lists of a flat format as lists; a text that only looks like JSON stays one."""
    try:
        return unpacked(value, flat)
    except WrongEntryError:
        return value


def _is_long(value: Any, shared: bool) -> bool:
    """Whether a field is kept as a text of its own; what comes from another file always is."""
    return isinstance(value, str) and (shared or len(value) > LONG)


def _slices(row: Row, plan: Plan, place: Place) -> dict[str, str]:
    slices = {column: text for column in plan.slices if (text := _named(row, column))}
    return slices | ({"order": place.order} if place.order else {})


def _named(row: Row, column: str) -> str:
    return plain_text(filled(row, column)) if column else ""
