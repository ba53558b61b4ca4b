"""The shapes of HaluMem's files: which member holds which task, and which field of a record becomes what of an item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from store.records import canonical_json

Task = Literal["integrity", "accuracy", "update", "qa"]

TASK_OF_MEMBER: Mapping[str, Task] = {
    "memory_integrity_records": "integrity",
    "memory_accuracy_records": "accuracy",
    "memory_update_records": "update",
    "question_answering_records": "qa",
}
MEMBER_OF_TASK: Mapping[str, str] = {task: member for member, task in TASK_OF_MEMBER.items()}

VERDICT_FIELD: Mapping[str, str] = {
    "integrity": "memory_integrity_score",
    "accuracy": "memory_accuracy_score",
    "update": "memory_update_type",
    "qa": "result_type",
}
FLAG_FIELD = "is_included_in_golden_memories"
VALID_FIELD = "is_valid"
OVERREAD_FIELD = "overread"
"""What a patched file keeps beside a person's label; it is never read back as the judge's."""

RATIONALE_FIELDS = ("reasoning", "rationale", "judge_reasoning", "judge_reason", "explanation")
"""Forks keep the judge's words under these names, or `reason`; the official script throws them away."""

UUID, SESSION = "uuid", "ssession_id"
"""Misspelt in the benchmark."""

KEY_FIELD: Mapping[str, str] = {
    "integrity": "index",
    "accuracy": "memory_content",
    "update": "index",
    "qa": "question",
}
"""With user and session it names a record; accuracy adds an ordinal, since an extracted list may repeat itself."""

Form = Literal["text", "list", "evidence"]


class Seen(NamedTuple):
    """A field of a record that judge or reader sees.

    Attributes:
        source: its name in the benchmark's record. name: its name in the item.
        long: kept once as a shared text. judge: the judge saw it.
    """

    source: str
    name: str
    form: Form = "text"
    long: bool = False
    judge: bool = True


SEEN: Mapping[str, tuple[Seen, ...]] = {
    "integrity": (Seen("memory_content", "memory_content"),),
    "accuracy": (Seen("memory_content", "memory_content"),),
    "update": (
        Seen("memory_content", "memory_content"),
        Seen("original_memories", "original_memories", "list"),
        Seen("memories_from_system", "retrieved", "list", long=True),
    ),
    "qa": (
        Seen("question", "question"),
        Seen("answer", "reference"),
        Seen("evidence", "evidence", "evidence"),
        Seen("system_response", "response"),
        Seen("context", "context", long=True, judge=False),
    ),
}

SESSION_INPUTS: Mapping[str, tuple[str, ...]] = {
    "integrity": ("extracted",),
    "accuracy": ("dialogue", "gold"),
    "update": (),
    "qa": (),
}
"""What the judge saw of the session, by the name of the item's text: only the answer sheet has it."""

SESSION_TEXTS: Mapping[str, tuple[str, ...]] = {
    "integrity": ("extracted", "dialogue"),
    "accuracy": ("dialogue", "gold"),
    "update": ("dialogue",),
    "qa": ("dialogue",),
}
"""What an item refers to of the session, for judge or reader."""


def flatten(form: Form, value: Any) -> str | list[str] | None:
    """The value as people read it: a text or a list of texts; None when there is nothing."""
    if value is None:
        return None
    if form == "text":
        return value if isinstance(value, str) else canonical_json(value)
    if isinstance(value, str):
        return [value] if value else []
    entries = value if isinstance(value, list) else [value]
    return [_entry_text(form, entry) for entry in entries]


def _entry_text(form: Form, entry: Any) -> str:
    if form == "evidence" and isinstance(entry, dict) and isinstance(entry.get("memory_content"), str):
        return str(entry["memory_content"])
    return entry if isinstance(entry, str) else canonical_json(entry)


def evidence_types(value: Any) -> list[Any] | None:
    """The memory types of evidence, with which `restore_evidence` gives it back; None when it has more fields."""
    if not isinstance(value, list):
        return None
    plain = all(
        isinstance(entry, dict)
        and list(entry) == ["memory_content", "memory_type"]
        and isinstance(entry["memory_content"], str)
        for entry in value
    )
    return [entry["memory_type"] for entry in value] if plain else None


def restore_evidence(texts: list[str], types: list[Any]) -> list[dict[str, Any]]:
    return [{"memory_content": text, "memory_type": kind} for text, kind in zip(texts, types, strict=True)]


def is_update(point: Mapping[str, Any]) -> bool:
    """Whether the official script calls a gold point an update: the string "True", nothing else."""
    return bool(point.get("is_update") == "True")


def is_distractor(point: Mapping[str, Any]) -> bool:
    return bool(point.get("memory_source") == "interference")


def task_of_point(point: Mapping[str, Any]) -> Task:
    """Where the official script sends a gold point: an update whose retrieval is empty is judged for integrity."""
    return "update" if is_update(point) and point.get("memories_from_system") else "integrity"


def rationale_of(task: str, record: Mapping[str, Any]) -> tuple[str, str]:
    """Name and text of the judge's own words in a record, ("", "") when it kept none.

    A distractor's `reason` is the benchmark's (why the distractor is plausible), not the judge's.
    """
    names = RATIONALE_FIELDS if task == "integrity" and is_distractor(record) else (*RATIONALE_FIELDS, "reason")
    for name in names:
        if isinstance(record.get(name), str):
            return name, record[name]
    return "", ""


def verdict_names(task: str, record: Mapping[str, Any]) -> frozenset[str]:
    """The fields of a record that are the judge's answer."""
    names = {VERDICT_FIELD[task], VALID_FIELD, OVERREAD_FIELD, rationale_of(task, record)[0]}
    return frozenset(names | {FLAG_FIELD} if task == "accuracy" else names) - {""}
