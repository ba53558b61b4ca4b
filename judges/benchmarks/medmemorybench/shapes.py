"""The shapes of MedMemoryBench's files: query types, field names, and how their values become what people read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from store.records import canonical_json

BENCHMARK_NAME = "medmemorybench"

Task = Literal["eem", "tla", "sua", "mq", "ig", "mcd"]
Regime = Literal["Efficient", "Mixed", ""]
"""Efficient: the patient's own sessions. Mixed: with sessions of relatives and of general knowledge between them."""

TASK_OF_TYPE: Mapping[str, Task] = {
    "entity_exact_match": "eem",
    "temporal_localization": "tla",
    "state_update": "sua",
    "multiple_choice": "mq",
    "inference_generation": "ig",
    "multi_hop_clinical_deduction": "mcd",
}
TYPE_OF_TASK: Mapping[str, str] = {task: query_type for query_type, task in TASK_OF_TYPE.items()}
RULE_TASKS: tuple[Task, ...] = ("eem", "mq")
"""Scored by string rules, without a judge."""

RULE = "rule"
"""Name of the judge of a verdict that a string rule gave."""
DEFAULT_JUDGE = "judge"
"""Name of the others where the user gives none: no file says who judged."""

CORRECT, INCORRECT = "correct", "incorrect"

DETAIL_FIELDS = ("evaluation_details", "details")
"""Where the scorer's own words are: in a query_answer file, in a checkpoint."""
VERDICT_FIELDS = ("is_correct", "score", *DETAIL_FIELDS)
OVERREAD_FIELD = "overread"
"""What a patched file keeps beside a person's label; it is never read back as the judge's."""

MEMORIES = "retrieved_memories"
SEEN: Mapping[str, str] = {"question": "question", "expected_answer": "reference", "model_output": "response"}
"""Fields of a record that everybody sees: name in the record → name in the item."""

JUDGE_FAILED, NO_RESPONSE = "Judge failed", "Model provided no response"
"""Reasons by which alone the official code tells that nobody judged."""

TRAP_KINDS = (
    "allergy",
    "medication_history",
    "disease_history",
    "medication_preference",
    "diet_preference",
    "lifestyle_economic",
)
"""The kinds of trap events that the benchmark plants in a patient's history."""

OTHER_TRAP = "other"
_TRAP_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("allergy", ("allerg", "过敏")),
    ("medication_history", ("medication_history", "drug_interaction", "interaction", "相互作用", "用药史")),
    ("disease_history", ("disease_history", "contraindication", "禁忌", "病史")),
    ("diet_preference", ("diet", "food", "饮食")),
    ("lifestyle_economic", ("lifestyle", "economic", "生活方式", "经济")),
    ("medication_preference", ("preference", "compliance", "偏好", "依从")),
)


def trap_kind(trap_type: Any) -> str:
    """The kind of trap event that a query's `trap_type` speaks of; "" when it has none.

    Queries name the trap in their generator's words, which are not the six kinds: an interaction rests on the
    medication history, a contraindication on the disease history, and what rests on none of the six (a change over
    time, a dose, a symptom) is `other`.
    """
    if not isinstance(trap_type, str) or not trap_type.strip():
        return ""
    words = trap_type.lower().replace(" ", "_").replace("-", "_")
    return next((kind for kind, found in _TRAP_WORDS if any(word in words for word in found)), OTHER_TRAP)


def as_text(value: Any) -> str:
    """A field as people read it."""
    return value if isinstance(value, str) else "" if value is None else canonical_json(value)


def json_text(value: Any) -> str:
    """JSON with members in their own order: what is kept to be written again."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Answer(NamedTuple):
    """What a record says of its verdict, as the official code reads it: nothing is checked or converted.

    Attributes:
        key: the name its details have in the file.
    """

    is_correct: Any
    score: Any
    details: Mapping[str, Any]
    key: str = DETAIL_FIELDS[0]


def details_of(record: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Name and value of a record's details; {} when it has none that are an object."""
    for name in DETAIL_FIELDS:
        if isinstance(record.get(name), dict):
            return name, record[name]
    return DETAIL_FIELDS[0], {}


def answer_of(record: Mapping[str, Any]) -> Answer:
    """The verdict fields of a record, with the defaults of the official code."""
    key, details = details_of(record)
    return Answer(record.get("is_correct", False), record.get("score", 0.0), details, key)


def verdict_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record that are the scorer's answer, in their order."""
    return {name: value for name, value in record.items() if name in VERDICT_FIELDS}


def as_judged(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The record as its scorer left it, also where a person's label stands in its place; whether one was patched."""
    patch = record.get(OVERREAD_FIELD)
    if not isinstance(patch, dict) or not isinstance(patch.get("judge", ""), dict | None):
        return record, False
    own = patch["judge"] or {}
    names = [name for name in record if name != OVERREAD_FIELD and (name not in VERDICT_FIELDS or name in own)]
    return {name: own.get(name, record[name]) for name in names}, True


class Memory(NamedTuple):
    """What a retrieved memory says of where it comes from.

    Attributes:
        text: what it says.
        sessions: ids of the sessions it names as its source, as texts; none for a noise session, whose number is not
            an id.
        noise: "family", "health" or "" (not noise, or not said).
    """

    text: str
    sessions: tuple[str, ...]
    noise: str


def memory_of(entry: Any) -> Memory:
    """A retrieved memory of any adapter or fork."""
    if not isinstance(entry, dict):
        return Memory(as_text(entry), (), "")
    text = entry.get("memory")
    noise = _noise_of(entry)
    sessions = () if noise else tuple(dict.fromkeys(_session_ids(entry)))
    return Memory(text if isinstance(text, str) else canonical_json(entry), sessions, noise)


def _noise_of(entry: Mapping[str, Any]) -> str:
    kind = str(entry.get("noise_type") or "")
    if entry.get("noise_family_id") is not None or entry.get("is_family_noise") is True or "family" in kind:
        return "family"
    return "health" if entry.get("noise_id") is not None or "health" in kind else ""


def _session_ids(entry: Mapping[str, Any]) -> list[str]:
    places = [entry, entry.get("provenance")]
    found = [p.get("source_session_id", p.get("session_id")) for p in places if isinstance(p, dict)]
    return [text for value in found if (text := session_id(value))]


def session_id(value: Any) -> str:
    """A session's id as text; "" when it is none, or 0, which stands for medical knowledge."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip() if isinstance(value, int | str) else ""
    return "" if text == "0" else text
