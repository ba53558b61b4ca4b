"""One file of answers (*_query_answer.json or checkpoint.json): its frame in one pass, its records in another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from judges.benchmarks.json_stream import ArrayStart, Element, iter_members
from judges.benchmarks.medmemorybench.recognise import FileKind
from judges.benchmarks.medmemorybench.shapes import as_text
from store.records import Problem

PERSONA_FIELDS = ("persona_id", "context_id")
"""Forks put the persona into the record; the official file does not."""

CONTEXTS, QUERIES, RESULTS = "by_context", "queries", "completed_results"


class Placed(NamedTuple):
    """A record where it stands; `position` is its place in the file, `persona` what the file says there."""

    position: int
    record: Any
    line: int
    column: int
    persona: str = ""


class Row(NamedTuple):
    """What tells a record from others."""

    position: int
    query_id: str
    question: str
    persona: str
    line: int


class Context(NamedTuple):
    """One entry of `by_context`: a persona, the ids of its queries in order, and the sums the file states of it."""

    persona: str
    query_ids: tuple[str, ...]
    total: Any
    correct: Any


@dataclass(slots=True)
class RunFile:
    """The frame of a file.

    Attributes:
        contexts: of `by_context` in file order; empty in a checkpoint. by_context: the member itself.
        rows: the records that can be told from others.
        members: names at the top in order. others: values of those that hold no records.
    """

    path: Path
    kind: FileKind
    contexts: list[Context] = field(default_factory=list)
    by_context: Any = None
    rows: list[Row] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        return as_text(self.others.get("method_name"))

    @property
    def model(self) -> str:
        return as_text(self.others.get("model_name"))


def read_frame(path: Path, kind: FileKind) -> RunFile:
    """Everything of a file but its answers; faults are left for the pass that reads the records.

    Raises:
        OSError: the file cannot be read.
    """
    run = RunFile(path, kind)
    for found in _scan(path):
        if isinstance(found, Placed):
            if (row := _row(found)) is not None:
                run.rows.append(row)
        elif isinstance(found, Problem):
            continue
        else:
            name, value = found
            run.members.append(name)
            if name == CONTEXTS:
                run.contexts, run.by_context = list(_contexts(value)), value
            elif name not in (QUERIES, RESULTS):
                run.others[name] = value
    return run


def records(path: Path) -> Iterator[Placed | Problem]:
    """The records of a file, and its faults.

    Raises:
        OSError: the file cannot be read.
    """
    for found in _scan(path):
        if isinstance(found, Placed | Problem):
            yield found


class _Member(NamedTuple):
    name: str
    value: Any


def _scan(path: Path) -> Iterator[Placed | Problem | _Member]:
    for found in iter_members(path):
        if isinstance(found, Problem):
            yield found
        elif isinstance(found, ArrayStart):
            yield _Member(found.member, None)
        elif found.member == QUERIES and found.index >= 0:
            persona = _own_persona(found.value)
            yield Placed(found.index, found.value, found.line, found.column, persona)
        elif found.member == RESULTS:
            yield _Member(found.member, None)
            yield from _results(found)
        elif found.index < 0:
            yield _Member(found.member, found.value)


def _results(element: Element) -> Iterator[Placed]:
    """The records of a checkpoint: persona → list; their line is that of the member."""
    position = 0
    for persona, entries in element.value.items() if isinstance(element.value, dict) else ():
        for record in entries if isinstance(entries, list) else ():
            yield Placed(position, record, element.line, element.column, str(persona))
            position += 1


def _own_persona(record: Any) -> str:
    if not isinstance(record, dict):
        return ""
    return next((str(record[name]) for name in PERSONA_FIELDS if isinstance(record.get(name), int | str)), "")


def _row(placed: Placed) -> Row | None:
    record = placed.record
    if not isinstance(record, dict) or not isinstance(record.get("query_id"), str):
        return None
    return Row(placed.position, record["query_id"], as_text(record.get("question")), placed.persona, placed.line)


def _contexts(value: Any) -> Iterator[Context]:
    for persona, entry in value.items() if isinstance(value, dict) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("query_ids"), list):
            ids = tuple(str(query_id) for query_id in entry["query_ids"])
            yield Context(str(persona), ids, entry.get("total"), entry.get("correct"))
