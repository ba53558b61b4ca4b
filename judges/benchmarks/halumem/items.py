"""Makes items of the benchmark's records, and the record of an item again.

An item's `extra` holds what nobody is shown: `shape` names the order of the record's fields (a fact of kind
`record_shape`), `fields` the ones that are neither in the payload nor in a text, `evidence_types` the memory types of
evidence whose texts are in the payload.

Shared texts are JSON: lists are arrays of strings; a dialogue is an array of {"content", "role", "timestamp"}. The
context of a question is plain text.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judges.benchmarks.halumem.shapes import (
    SEEN,
    SESSION,
    SESSION_INPUTS,
    SESSION_TEXTS,
    UUID,
    Seen,
    evidence_types,
    flatten,
    is_distractor,
    is_update,
    restore_evidence,
    verdict_names,
)
from store.records import ItemRecord, TextRecord, canonical_json, digest, item_id

BENCHMARK_NAME = "halumem"


@dataclass(frozen=True, slots=True)
class Session:
    """A session as its items refer to it.

    Attributes:
        uuid: the user. number: 0-based place among the user's sessions.
        texts: hash by name of the texts that are known (`dialogue`, `extracted`, `gold`); empty without answer sheet.
        empty: whether nothing was extracted; None when it is not known.
    """

    uuid: str
    number: int
    texts: Mapping[str, str]
    empty: bool | None = None

    @property
    def group(self) -> str:
        return f"{self.uuid}/{self.number}"


class Built(NamedTuple):
    item: ItemRecord
    content_hash: str
    texts: list[TextRecord]
    shape: tuple[str, ...]


def natural_key(task: str, session: Session, record: Mapping[str, Any], ordinal: int = 0) -> list[Any]:
    """The key of a record within a system; only accuracy has an ordinal."""
    if task == "accuracy":
        return [session.uuid, session.number, record["memory_content"], ordinal]
    return [session.uuid, session.number, record["question" if task == "qa" else "index"]]


def id_of(task: str, system: str, key: Sequence[Any]) -> str:
    return item_id(BENCHMARK_NAME, task, system, list(key))


@functools.lru_cache(maxsize=1024)
def shape_id(shape: tuple[str, ...]) -> str:
    """Names an order of fields; a run has a handful of them."""
    return digest("halumem record", list(shape))[:8]


def list_text(entries: Sequence[str]) -> TextRecord:
    return TextRecord.of(canonical_json(list(entries)))


def dialogue_text(turns: Sequence[Mapping[str, Any]]) -> TextRecord:
    """The turns with what people read of them."""
    return TextRecord.of(
        canonical_json([{name: str(turn.get(name, "")) for name in ("role", "content", "timestamp")} for turn in turns])
    )


def build_item(
    task: str,
    system: str,
    session: Session,
    record: Mapping[str, Any],
    *,
    ordinal: int = 0,
    position: int = 0,
    shape: tuple[str, ...] | None = None,
) -> Built:
    """The item of a gold point, an extracted memory, a question, or a verdict record that has their fields.

    Args:
        record: the benchmark's own fields; verdict fields in it are left alone.
        shape: order of the fields in the record of a verdict file; by default as in `record`.
    """
    payload, texts, fields, extra = _split(task, record)
    missing = [name for name in SESSION_INPUTS[task] if name not in session.texts]
    missing += [
        field.name for field in SEEN[task] if field.judge and not (field.name in payload or field.name in texts)
    ]
    if missing:
        payload["missing_inputs"] = missing
    references = {name: session.texts[name] for name in SESSION_TEXTS[task] if name in session.texts}
    references |= {name: text.text_hash for name, text in texts.items()}
    shape = shape or tuple(record)
    extra |= {"shape": shape_id(shape), "fields": fields}
    key = natural_key(task, session, record, ordinal)
    item = ItemRecord(
        item_id=id_of(task, system, key),
        task=task,
        system=system,
        natural_key=canonical_json(key),
        cluster=session.uuid,
        group=session.group,
        payload=payload,
        texts=references,
        slices=_slices(task, session, record),
        weight=_weight(record),
        extra=extra,
        position=position,
    )
    return Built(item, item.content_hash, list(texts.values()), shape)


def _split(
    task: str, record: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, TextRecord], dict[str, Any], dict[str, Any]]:
    """Payload, long texts, fields nobody sees, and what else gives the record back."""
    payload: dict[str, Any] = {}
    texts: dict[str, TextRecord] = {}
    extra: dict[str, Any] = {}
    hidden = {UUID, SESSION, *verdict_names(task, record)}
    fields = {name: value for name, value in record.items() if name not in hidden}
    for field in SEEN[task]:
        value = record.get(field.source)
        seen = flatten(field.form, value)
        if seen is None:
            continue
        if field.long:
            texts[field.name] = list_text(seen) if isinstance(seen, list) else TextRecord.of(seen)
        else:
            payload[field.name] = seen
        if seen == value:
            del fields[field.source]
        elif field.form == "evidence" and (types := evidence_types(value)) is not None:
            extra["evidence_types"] = types
            del fields[field.source]
    return payload, texts, fields, extra


def _slices(task: str, session: Session, record: Mapping[str, Any]) -> dict[str, str]:
    names = {"qa": {"question_type": "question_type", "difficulty": "difficulty"}, "accuracy": {}}.get(
        task, {"memory_type": "memory_type", "source": "memory_source"}
    )
    slices = {name: str(record[source]) for name, source in names.items() if record.get(source) is not None}
    if task in ("integrity", "update"):
        slices["kind"] = kind_of(task, record)
    if task == "integrity" and session.empty is not None:
        slices["extraction"] = "empty" if session.empty else "present"
    return slices


def kind_of(task: str, record: Mapping[str, Any]) -> str:
    """What a memory point is to the task: `gold`, `distractor`, `rerouted_update` or `update`."""
    if task == "update":
        return "update"
    if is_distractor(record):
        return "distractor"
    return "rerouted_update" if is_update(record) else "gold"


def _weight(record: Mapping[str, Any]) -> float:
    importance = record.get("importance")
    if isinstance(importance, bool) or not isinstance(importance, int | float):
        return 1.0
    return float(importance) if abs(importance) <= sys.float_info.max else 1.0


def restore_record(
    task: str,
    *,
    payload: Mapping[str, Any],
    texts: Mapping[str, str],
    extra: Mapping[str, Any],
    shape: Sequence[str],
    uuid: str,
    number: int,
) -> dict[str, Any]:
    """The benchmark's fields of an item, in their order, without the verdict's.

    Args:
        texts: the item's long texts themselves by name.
        shape: order of the fields; those of verdicts in it are skipped.
    """
    fields = extra.get("fields", {})
    seen = {field.source: field for field in SEEN[task]}
    record: dict[str, Any] = {}
    for name in shape:
        if name == UUID:
            record[name] = uuid
        elif name == SESSION:
            record[name] = number
        elif name in fields:
            record[name] = fields[name]
        elif name in seen:
            record[name] = _restore(seen[name], payload, texts, extra)
    return record


def _restore(field: Seen, payload: Mapping[str, Any], texts: Mapping[str, str], extra: Mapping[str, Any]) -> Any:
    if not field.long:
        value = payload[field.name]
        return (
            restore_evidence(value, extra["evidence_types"])
            if "evidence_types" in extra and field.form == "evidence"
            else value
        )
    return json.loads(texts[field.name]) if field.form == "list" else texts[field.name]
