"""Makes items of the benchmark's records and queries, and the record of an item again.

Shared texts are JSON arrays of strings: `retrieved`, `key_points`. An item's `extra` holds what nobody is shown:

- `record`: the record as JSON text in its own order; what the payload, a text or the verdict holds is null there, and
  named in `moved`.
- `memories`: retrieved memories as JSON text, each [moved, entry], without the text where it is moved.
- `position`: place among the file's records. `query_id`.
- `gold`: correct answers of an entity match, correct letters of a multiple choice; null where they cannot be told.
- `rule`: the verdict fields of a string rule as JSON text, since a rule is part of the benchmark whoever judges.
- `evidence`: session ids of the key points. `retrieval`: of each memory its session ids, length and noise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judges.benchmarks.medmemorybench.questions import Node, Query
from judges.benchmarks.medmemorybench.rules import gold_letters, letters_as_coded
from judges.benchmarks.medmemorybench.shapes import (
    BENCHMARK_NAME,
    MEMORIES,
    SEEN,
    VERDICT_FIELDS,
    Answer,
    Memory,
    Task,
    answer_of,
    as_text,
    json_text,
    memory_of,
    trap_kind,
    verdict_fields,
)
from judges.benchmarks.medmemorybench.verdict_labels import by_rule
from store.records import ItemRecord, TextRecord, canonical_json, item_id

JUDGE_NEEDS: Mapping[str, str] = {"ig": "trap", "mcd": "chain"}
"""What the judge saw that only a query file has, by the name of the item's field."""


@dataclass(frozen=True, slots=True)
class Run:
    """The run an item is of: its system's id, and what every item of it says in its slices."""

    system: str
    slices: Mapping[str, str]


class Built(NamedTuple):
    item: ItemRecord
    texts: list[TextRecord]
    answer: Answer
    late: bool
    """A key point is of a later session than the checkpoint."""


def build_item(
    run: Run, task: Task, persona: str, record: Mapping[str, Any], query: Query | None, position: int
) -> Built:
    """The item of a record.

    Args:
        record: as its scorer left it.
        query: None when no query file has it; what the judge saw of it is then named in `missing_inputs`.
    """
    answer = answer_of(record)
    query_id = str(record["query_id"])
    nodes = query.chain if query and task == "mcd" else []
    payload = {name: as_text(record.get(field)) for field, name in SEEN.items() if field in record}
    payload |= _shown(task, query, nodes, answer)
    texts, extra = _memories(record)
    if query and query.key_points:
        texts["key_points"] = _list_text([point.text for point in query.key_points])
        extra["evidence"] = list(dict.fromkeys(point.session for point in query.key_points if point.session))
    extra |= _kept(record) | {"position": position, "query_id": query_id}
    extra |= _rule_extra(task, record, query, answer)
    late = _late(query_id, query)
    slices = {
        **run.slices,
        **_slices(query_id, query, extra),
        **({"leakage": "yes" if late else "no"} if query and query.key_points else {}),
    }
    key = [persona, query_id]
    item = ItemRecord(
        item_id=item_id(BENCHMARK_NAME, task, run.system, key),
        task=task,
        system=run.system,
        natural_key=canonical_json(key),
        cluster=persona,
        group="",
        payload=payload,
        texts={name: text.text_hash for name, text in texts.items()},
        slices=slices,
        extra=extra,
        position=position,
    )
    return Built(item, list(texts.values()), answer, late)


def _list_text(entries: Sequence[str]) -> TextRecord:
    return TextRecord.of(canonical_json(list(entries)))


# What is shown


def _shown(task: Task, query: Query | None, nodes: Sequence[Node], answer: Answer) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if explanation := _explanation(query, answer):
        shown["explanation"] = explanation
    if query and task == "mq":
        shown["options"] = [_option(option) for option in query.answers]
    if query and task in ("mq", "ig") and (trap := list(_trap(query))):
        shown["trap"] = trap
    if task == "mcd":
        shown["nodes"] = [{"id": n.id, "title": f"Node {n.id}", "text": _node_text(n)} for n in nodes]
        if nodes:
            shown["chain"] = [_node_text(node) for node in nodes]
        if query and (required := query.metadata.get("required_memory_nodes")):
            shown["required"] = (
                [as_text(entry) for entry in required] if isinstance(required, list) else [str(required)]
            )
    if JUDGE_NEEDS.get(task) and JUDGE_NEEDS[task] not in shown:
        shown["missing_inputs"] = [JUDGE_NEEDS[task]]
    return shown


def _explanation(query: Query | None, answer: Answer) -> str:
    own = answer.details.get("explanation")
    if isinstance(own, str) and own:
        return own
    found = [a.get("explanation") for a in query.answers if a.get("is_correct")] if query else []
    return next((text for text in found if isinstance(text, str) and text), "")


def _option(option: Mapping[str, Any]) -> str:
    head = f"{as_text(option.get('content'))} ({'right' if option.get('is_correct') else 'wrong'})"
    return ": ".join(text for text in (head, as_text(option.get("explanation"))) if text)


def _trap(query: Query) -> Iterator[str]:
    """What makes a trap of the question; the judge of an inference sees all of it."""
    wrong = query.metadata.get("common_wrong_answer")
    wrong = wrong if isinstance(wrong, dict) else {}
    info = query.trap.get("required_patient_info")
    lines = (
        ("Inference", query.metadata.get("inference_type")),
        ("How the trap works", query.trap.get("trap_mechanism")),
        ("To be remembered", "; ".join(map(as_text, info)) if isinstance(info, list) else info),
        ("Why others fail", query.trap.get("why_others_fail")),
        ("Common wrong answer", wrong.get("content")),
        ("Why it is wrong", wrong.get("why_wrong")),
    )
    return (f"{title}: {text}" for title, value in lines if (text := as_text(value)))


def _node_text(node: Node) -> str:
    source = f"session {node.session}" if node.session else "medical knowledge"
    about = ", ".join(text for text in (node.role, source, node.source) if text)
    return f"{node.content} ({about})"


# What is kept


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    moved = [name for name in SEEN if isinstance(record.get(name), str)]
    moved += [name for name in (MEMORIES, *VERDICT_FIELDS) if name in record]
    if not isinstance(record.get(MEMORIES, []), list):
        moved.remove(MEMORIES)
    kept = {name: None if name in moved else value for name, value in record.items()}
    return {"record": json_text(kept), "moved": moved}


def _memories(record: Mapping[str, Any]) -> tuple[dict[str, TextRecord], dict[str, Any]]:
    entries = record.get(MEMORIES)
    if not isinstance(entries, list):
        return {}, {}
    memories = [memory_of(entry) for entry in entries]
    kept = [_kept_memory(entry) for entry in entries]
    retrieval = [[list(m.sessions), len(m.text), m.noise] for m in memories]
    texts = {"retrieved": _list_text([memory.text for memory in memories])}
    return texts, {"memories": json_text(kept), "retrieval": retrieval, "noise": _noise(memories)}


def _kept_memory(entry: Any) -> list[Any]:
    if isinstance(entry, dict) and isinstance(entry.get("memory"), str):
        return [True, {**entry, "memory": None}]
    return [False, entry]


def _noise(memories: Sequence[Memory]) -> str:
    """Which noise was retrieved: a kind, "both", "none" where memories say their source, "" where they do not."""
    kinds = {memory.noise for memory in memories if memory.noise}
    if kinds:
        return "both" if len(kinds) > 1 else kinds.pop()
    return "none" if memories and all(memory.sessions for memory in memories) else ""


def _rule_extra(task: Task, record: Mapping[str, Any], query: Query | None, answer: Answer) -> dict[str, Any]:
    if not by_rule(task, answer):
        return {}
    gold = _entity_gold(record, query, answer) if task == "eem" else _choice_gold(record, query, answer)
    return {"gold": gold, "rule": json_text(verdict_fields(record))}


def _entity_gold(record: Mapping[str, Any], query: Query | None, answer: Answer) -> list[str] | None:
    """The correct answers; without a query file only as far as their joined text can be taken apart."""
    if query and query.correct_answers:
        return query.correct_answers
    joined, count = as_text(record.get("expected_answer")), answer.details.get("total_expected")
    if count == 1:
        return [joined]
    parts = joined.split(", ")
    return parts if isinstance(count, int) and len(parts) == count else None


def _choice_gold(record: Mapping[str, Any], query: Query | None, answer: Answer) -> list[str] | None:
    letters = gold_letters(query.correct_answers) if query else frozenset[str]()
    stored = answer.details.get("correct_options")
    if not letters and isinstance(stored, list):
        return [str(letter) for letter in stored]
    return sorted(letters or letters_as_coded(as_text(record.get("expected_answer")))) or None


# Slices


def checkpoint_of(query_id: str, query: Query | None) -> str:
    """The session after which a query is asked; its id says it too ("session_20_sua_1")."""
    pieces = query_id.split("_")
    stated = pieces[1] if len(pieces) > 1 and pieces[0] == "session" and pieces[1].isdecimal() else ""
    return (query.checkpoint if query else "") or stated


def _slices(query_id: str, query: Query | None, extra: Mapping[str, Any]) -> dict[str, str]:
    metadata = query.metadata if query else {}
    found = {
        "checkpoint": checkpoint_of(query_id, query),
        "trap_kind": trap_kind(query.trap.get("trap_type")) if query else "",
        "difficulty": as_text(metadata.get("difficulty")),
        "hops": as_text(metadata.get("hop_count")),
        "retrieved_noise": str(extra.get("noise", "")),
    }
    return {name: value for name, value in found.items() if value}


def _late(query_id: str, query: Query | None) -> bool:
    checkpoint = checkpoint_of(query_id, query)
    sessions = [point.session for point in query.key_points if point.session.isdecimal()] if query else []
    return checkpoint.isdecimal() and any(int(session) > int(checkpoint) for session in sessions)


# The record again


def restore_record(
    *, payload: Mapping[str, Any], texts: Mapping[str, str], extra: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """The benchmark's record of an item, its fields in their order.

    Args:
        texts: the item's long texts themselves by name.
        answer: the verdict fields; those that the record did not have are added behind the others.
    """
    record: dict[str, Any] = json.loads(extra["record"])
    for name in extra["moved"]:
        if name in SEEN:
            record[name] = payload[SEEN[name]]
        elif name == MEMORIES:
            record[name] = _restore_memories(json.loads(extra["memories"]), json.loads(texts["retrieved"]))
        elif name in answer:
            record[name] = answer[name]
        else:
            del record[name]
    return record | {name: value for name, value in answer.items() if name not in record}


def _restore_memories(kept: Sequence[Sequence[Any]], shown: Sequence[str]) -> list[Any]:
    pairs = zip(kept, shown, strict=True)
    return [{**entry, "memory": text} if moved else entry for (moved, entry), text in pairs]
