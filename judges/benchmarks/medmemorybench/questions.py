"""The benchmark's queries (`generated_queries.json`): answers with reasons, key points, chains, trap designs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from judges.benchmarks.json_stream import ArrayStart, iter_members
from judges.benchmarks.medmemorybench.run_file import Row
from judges.benchmarks.medmemorybench.shapes import as_text, session_id
from store.records import Problem

PERSONA_IN_PATH = re.compile(r"persona[_-]?(\d+)", re.I)


class KeyPoint(NamedTuple):
    """A fact of the patient's record that a query rests on; `session` is "" where the file names none."""

    text: str
    session: str


class Node(NamedTuple):
    """A node of a reasoning chain; `session` "" stands for medical knowledge."""

    id: str
    role: str
    session: str
    content: str
    source: str


@dataclass(frozen=True, slots=True)
class Query:
    """One query of the benchmark, as its file has it."""

    record: Mapping[str, Any]

    @property
    def question(self) -> str:
        return as_text(self.record.get("question"))

    @property
    def metadata(self) -> Mapping[str, Any]:
        value = self.record.get("metadata")
        return value if isinstance(value, dict) else {}

    @property
    def answers(self) -> list[Mapping[str, Any]]:
        """Answers or options; a cleaned release has one flat `correct_answer` instead."""
        listed = self.record.get("answers")
        if isinstance(listed, list):
            return [answer for answer in listed if isinstance(answer, dict)]
        flat = self.record.get("correct_answer")
        return (
            [{"content": flat, "is_correct": True, "explanation": self.record.get("explanation", "")}] if flat else []
        )

    @property
    def correct_answers(self) -> list[str]:
        return [as_text(answer.get("content")) for answer in self.answers if answer.get("is_correct")]

    @property
    def key_points(self) -> list[KeyPoint]:
        entries = self.record.get("source_key_points")
        return [_key_point(entry) for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []

    @property
    def chain(self) -> list[Node]:
        nodes = self.metadata.get("reasoning_chain")
        entries = [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
        return [_node(entry, number) for number, entry in enumerate(entries, start=1)]

    @property
    def trap(self) -> Mapping[str, Any]:
        value = self.metadata.get("trap_design")
        return value if isinstance(value, dict) else {}

    @property
    def checkpoint(self) -> str:
        return session_id(self.record.get("session_id"))


def _key_point(entry: Mapping[str, Any]) -> KeyPoint:
    session = session_id(entry.get("session_id", entry.get("source_session_id")))
    where = ", ".join(text for text in (f"session {session}" if session else "", as_text(entry.get("time"))) if text)
    name = " · ".join(text for text in (as_text(entry.get("category")), as_text(entry.get("name"))) if text)
    head = f"{name} ({where})" if where else name
    return KeyPoint(": ".join(text for text in (head, as_text(entry.get("content"))) if text), session)


def _node(entry: Mapping[str, Any], number: int) -> Node:
    return Node(
        str(entry.get("node_id", number)),
        as_text(entry.get("role")),
        session_id(entry.get("session_id")),
        as_text(entry.get("content")),
        as_text(entry.get("source_info")),
    )


@dataclass(slots=True)
class Questions:
    """All query files of one import, by persona.

    Attributes:
        unnamed: files whose persona nobody told; `place` finds it by their questions.
    """

    by_persona: dict[str, list[dict[str, Query]]] = field(default_factory=lambda: defaultdict(list))
    unnamed: list[tuple[Path, dict[str, Query]]] = field(default_factory=list)
    _asking: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def __bool__(self) -> bool:
        return bool(self.by_persona or self.unnamed)

    def add(self, path: Path) -> Iterator[Problem]:
        """Read a file.

        Raises:
            OSError: the file cannot be read.
        """
        persona, queries = "", dict[str, Query]()
        for found in iter_members(path):
            if isinstance(found, Problem):
                yield found
            elif isinstance(found, ArrayStart):
                continue
            elif found.member == "persona_id":
                persona = str(found.value)
            elif found.member == "queries" and found.index >= 0:
                yield from _add_query(queries, found.value, path, found.line, found.column)
        persona = persona or _persona_of_path(path)
        if persona:
            self._settle(persona, queries)
        else:
            self.unnamed.append((path, queries))

    def _settle(self, persona: str, queries: dict[str, Query]) -> None:
        self.by_persona[persona].append(queries)
        for query_id, query in queries.items():
            self._asking[query_id, query.question].add(persona)

    def find(self, persona: str, query_id: str, question: str) -> Query | None:
        """The query a record answers: the same persona, id and question (one persona may be there in two languages)."""
        for queries in self.by_persona.get(persona, ()):
            if query_id in queries and queries[query_id].question == question:
                return queries[query_id]
        return None

    def has(self, persona: str, query_id: str) -> bool:
        return any(query_id in queries for queries in self.by_persona.get(persona, ()))

    def personas_asking(self, query_id: str, question: str) -> frozenset[str]:
        return frozenset(self._asking.get((query_id, question), ()))

    def place(self, rows: Iterable[Row], by_position: Mapping[int, str]) -> None:
        """Give the files without a persona the one whose records ask their questions, if there is exactly one best."""
        owned = [(by_position[row.position], row) for row in rows if row.position in by_position]
        waiting, self.unnamed = self.unnamed, []
        for path, queries in waiting:
            matches = Counter(p for p, row in owned if _asks(queries, row)).most_common(2)
            if matches and (len(matches) == 1 or matches[0][1] > matches[1][1]):
                self._settle(matches[0][0], queries)
            else:
                self.unnamed.append((path, queries))

    def unplaced(self) -> Iterator[Problem]:
        for path, queries in self.unnamed:
            what = f"whose {len(queries)} queries these are cannot be told: no run that was given asks them"
            yield Problem(str(path), 0, 0, what, "keep the file in its folder persona_N, or give its run", fatal=False)


def _asks(queries: Mapping[str, Query], row: Row) -> bool:
    return row.query_id in queries and queries[row.query_id].question == row.question


def _add_query(queries: dict[str, Query], value: Any, path: Path, line: int, column: int) -> Iterator[Problem]:
    if not isinstance(value, dict) or not isinstance(value.get("query_id"), str):
        yield Problem(str(path), line, column, "a query has no text query_id", "correct the query")
    elif value["query_id"] in queries:
        same = queries[value["query_id"]].record == value
        remedy = "nothing; they are equal and were read once" if same else "keep one of the two; the first was read"
        yield Problem(str(path), line, column, f"{value['query_id']} is there twice", remedy, fatal=not same)
    else:
        queries[value["query_id"]] = Query(value)


def _persona_of_path(path: Path) -> str:
    """The persona named nearest to the file: in its own name, then in its folders from the inside out."""
    parts: Sequence[str] = [path.name, *reversed(path.absolute().parent.parts)]
    return next((match.group(1) for part in parts if (match := PERSONA_IN_PATH.search(part))), "")
