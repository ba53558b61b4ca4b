"""Reads answer sheets: one user an object; items of all four tasks by the routing of the official script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judges.benchmarks.halumem.items import Session, build_item, dialogue_text, id_of, list_text, natural_key
from judges.benchmarks.halumem.ledger import Known, Ledger, User, fingerprint, fingerprints
from judges.benchmarks.halumem.sessions import session_fact
from judges.benchmarks.halumem.shapes import (
    KEY_FIELD,
    SESSION,
    UUID,
    Task,
    flatten,
    is_distractor,
    task_of_point,
)
from judges.benchmarks.json_stream import Element, iter_objects
from store.records import FactRecord, Problem, Record, TextRecord

SESSION_LISTS = ("memory_points", "dialogue", "extracted_memories")

TIMINGS = {
    "add_dialogue_duration_ms",
    "add_dialogue_start_time",
    "add_dialogue_end_time",
    "search_duration_ms",
    "response_duration_ms",
}
"""Fields that tell when, not what: two copies of a user that differ in these alone have the same answers."""


def read_answers(path: Path, ledger: Ledger) -> Iterator[Record]:
    """The texts and items of an answer sheet, its timings as facts, its faults as problems.

    Raises:
        OSError: the file cannot be read.
    """
    for found in iter_objects(path):
        if isinstance(found, Problem):
            yield found
        else:
            yield from _user(found, str(path), ledger)


def _user(element: Element, file: str, ledger: Ledger) -> Iterator[Record]:
    uuid, sessions = element.value.get(UUID), element.value.get("sessions")
    if not isinstance(uuid, str) or not isinstance(sessions, list):
        what = "the user has no text uuid" if not isinstance(uuid, str) else "the user has no list of sessions"
        yield Problem(file, element.line, element.column, what, "give the answer sheet as the adapter wrote it")
        return
    prints = [fingerprint(_without_timings(session)) for session in sessions]
    first = ledger.users.get(uuid)
    yield _timings(uuid, sessions, first.copies if first else 0, ledger)
    if first:
        first.copies += 1
        yield from _second_copy(uuid, prints, first, element, file, ledger)
        return
    user = ledger.users[uuid] = User(file, element.line, prints)
    yield session_fact(ledger.system, uuid, sessions, len(ledger.users))
    before = ledger.items
    for number, session in enumerate(sessions):
        yield from _session(uuid, number, session, element, file, ledger)
    user.items = ledger.items - before


def _without_timings(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_timings(part) for name, part in value.items() if name not in TIMINGS}
    return [_without_timings(part) for part in value] if isinstance(value, list) else value


def _timings(uuid: str, sessions: list[Any], copies: int, ledger: Ledger) -> FactRecord:
    """Durations in ms in the order the official script adds them up; a repeated user counts again, as it does there."""
    plain = [session for session in sessions if isinstance(session, dict)]
    questions = [q for session in plain for q in _questions(session) if isinstance(q, dict)]
    order = sum(user.copies for user in ledger.users.values())
    payload = {
        "uuid": uuid,
        "order": order,
        "add_dialogue_duration_ms": [
            session["add_dialogue_duration_ms"] for session in plain if "add_dialogue_duration_ms" in session
        ],
        "search_duration_ms": [q["search_duration_ms"] for q in questions if "search_duration_ms" in q],
    }
    return FactRecord(ledger.system, "timings", f"{uuid}#{copies + 1}" if copies else uuid, payload, order)


def _second_copy(
    uuid: str, prints: list[int], first: User, element: Element, file: str, ledger: Ledger
) -> Iterator[Record]:
    there = f"line {first.line}" if first.file == file else f"{first.file}, line {first.line}"
    longer, shorter = sorted((prints, first.sessions), key=len, reverse=True)
    differing = [n for n, found in enumerate(longer) if n >= len(shorter) or shorter[n] != found]
    lines = {"first": [first.file, first.line], "again": [file, element.line], "same": not differing}
    key = f"{uuid}#{first.copies}"
    yield FactRecord(ledger.system, "repeated_user", key, lines)
    if differing:
        named = ", ".join(str(number) for number in differing[:8]) + (" …" if len(differing) > 8 else "")
        what = f"user {uuid} is here again with other content than {there}: sessions {named} differ"
        yield Problem(file, element.line, element.column, what, "keep one of the two lines; the first one was read")
        return
    what = f"user {uuid} is here again with the same content as {there}"
    remedy = "nothing; it was read once (the official script counts its durations twice, and so do the scores as coded)"
    yield Problem(file, element.line, element.column, what, remedy, fatal=False)


def _session(uuid: str, number: int, session: Any, element: Element, file: str, ledger: Ledger) -> Iterator[Record]:
    if isinstance(session, dict) and session.get("is_generated_qa_session"):
        return
    missing = [
        name for name in SESSION_LISTS if not isinstance(session, dict) or not isinstance(session.get(name), list)
    ]
    if missing:
        what = f"session {number} of user {uuid} has no list {' and no list '.join(missing)}"
        yield Problem(file, element.line, element.column, what, "run the adapter again for this user")
        return
    if not isinstance(session.get("questions", []), list):
        what = f"the questions in session {number} of user {uuid} are no list"
        yield Problem(file, element.line, element.column, what, "correct the session, or run the adapter again")
    place, texts = _session_texts(uuid, number, session)
    for text in texts:
        yield from ledger.text(text)
    for task, record, ordinal in _records(session):
        wanted = KEY_FIELD[task]
        if not isinstance(record, dict) or wanted not in record or ("memory_content" not in record and task != "qa"):
            what = f"a record for {task} in session {number} of user {uuid} has no {wanted} or no memory_content"
            yield Problem(file, element.line, element.column, what, "correct the session, or run the adapter again")
            continue
        yield from _item(task, place, record, ordinal, element, file, ledger)


def _session_texts(uuid: str, number: int, session: Mapping[str, Any]) -> tuple[Session, list[TextRecord]]:
    extracted = flatten("list", session["extracted_memories"]) or []
    points = [point for point in session["memory_points"] if isinstance(point, dict)]
    gold = flatten("list", [p.get("memory_content", "") for p in points if not is_distractor(p)]) or []
    texts = {
        "dialogue": dialogue_text([turn for turn in session["dialogue"] if isinstance(turn, dict)]),
        "extracted": list_text(list(extracted)),
        "gold": list_text(list(gold)),
    }
    empty = "\n".join(extracted).strip() == ""
    hashes = {name: text.text_hash for name, text in texts.items()}
    return Session(uuid, number, hashes, empty), list(texts.values())


def _records(session: Mapping[str, Any]) -> Iterator[tuple[Task, Any, int]]:
    for point in session["memory_points"]:
        yield task_of_point(point) if isinstance(point, dict) else "integrity", point, 0
    seen: Counter[str] = Counter()
    for memory in flatten("list", session["extracted_memories"]) or []:
        yield "accuracy", {"memory_content": memory}, seen[memory]
        seen[memory] += 1
    for question in _questions(session):
        yield "qa", question, 0


def _questions(session: Mapping[str, Any]) -> list[Any]:
    questions = session.get("questions")
    return questions if isinstance(questions, list) else []


def _item(
    task: Task, place: Session, record: Mapping[str, Any], ordinal: int, element: Element, file: str, ledger: Ledger
) -> Iterator[Record]:
    names = tuple(record)
    prints = fingerprints(record)
    same_key = ledger.find(id_of(task, ledger.system, natural_key(task, place, record, ordinal)))
    if same_key:
        same = (same_key.names, same_key.prints) == (names, prints)
        what = f"two records for {task} in session {place.number} of user {place.uuid} have the same {KEY_FIELD[task]}"
        remedy = "nothing; they are equal and were read once" if same else "correct one of them; the first was read"
        yield Problem(file, element.line, element.column, what, remedy, fatal=not same)
        return
    shape = (*names, UUID, SESSION) if task != "accuracy" else (UUID, SESSION, *names)
    built = build_item(task, ledger.system, place, record, ordinal=ordinal, position=ledger.items, shape=shape)
    known = Known(built.content_hash, names, prints, empty=bool(place.empty))
    yield from ledger.add(built, known)
