"""What tracing keeps of a run, user by user: a full one has 118,000 items and, of them, 18,000 points and questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from judges.benchmarks.benchmark import ScoredItem
from judges.benchmarks.halumem.matching import QuotedTexts, normal_text
from judges.benchmarks.halumem.sessions import Facts, users_of
from judges.benchmarks.halumem.shapes import flatten

Basis = Literal["verdicts", "final labels"]
PointKind = Literal["gold", "rerouted_update", "update"]


class Point(NamedTuple):
    """A gold point; distractors are none.

    Attributes:
        judged, decided: its value by the judge and with a person's final label put in; None where it cannot be read.
        old: normal texts of the old versions that it replaces.
        asked: for an update without retrieval: the system was asked, and returned nothing.
    """

    item_id: str
    kind: PointKind
    session: int
    judged: str | None
    decided: str | None
    old: tuple[str, ...] = ()
    asked: bool = False

    def value(self, basis: Basis) -> str | None:
        return self.judged if basis == "verdicts" else self.decided


class Question(NamedTuple):
    """A question with the normal texts of its evidence."""

    item_id: str
    session: int
    judged: str | None
    decided: str | None
    evidence: tuple[str, ...]

    def value(self, basis: Basis) -> str | None:
        return self.judged if basis == "verdicts" else self.decided


def session_of(group: str) -> int:
    """The session a group names, "user/session"; 0 when it names none."""
    tail = group.rpartition("/")[2]
    return int(tail) if tail.isascii() and tail.isdecimal() else 0


@dataclass(slots=True)
class UserIndex:
    """A user's points, their texts under the same numbers, and questions.

    Attributes:
        unextracted: sessions from which nothing was extracted.
    """

    unextracted: frozenset[int] = frozenset()
    points: list[Point] = field(default_factory=list)
    texts: QuotedTexts = field(default_factory=QuotedTexts)
    questions: list[Question] = field(default_factory=list)


class TraceIndex:
    """The index of a system's run.

    Attributes:
        labelled: whether a person's final label is among the items that count here.
    """

    def __init__(self, facts: Facts) -> None:
        self._unextracted = {user.uuid: user.unextracted for user in users_of(facts)}
        self.users: dict[str, UserIndex] = {}
        self.labelled = False

    def add(self, item: ScoredItem) -> None:
        if item.task == "accuracy" or item.slices.get("kind") == "distractor":
            return
        user = self.users.get(item.cluster)
        if user is None:
            user = self.users[item.cluster] = UserIndex(self._unextracted.get(item.cluster, frozenset()))
        judged = item.verdict.label if item.verdict is not None else None
        decided = judged if item.label is None or item.label.value is None else item.label.value
        self.labelled = self.labelled or (item.label is not None and item.label.value is not None)
        session = session_of(item.group)
        if item.task == "qa":
            evidence = _normal(item.payload.get("evidence"))
            user.questions.append(Question(item.item_id, session, judged, decided, evidence))
            return
        point = _point(item, session, judged, decided)
        user.texts.add(normal_text(str(item.payload.get("memory_content", ""))))
        user.points.append(point)


def _point(item: ScoredItem, session: int, judged: str | None, decided: str | None) -> Point:
    kind = item.slices.get("kind", "gold")
    if kind == "update":
        return Point(item.item_id, "update", session, judged, decided, _normal(item.payload.get("original_memories")))
    if kind == "rerouted_update":
        fields: Mapping[str, Any] = item.extra.get("fields", {})
        asked = "memories_from_system" in fields
        old = _normal(flatten("list", fields.get("original_memories")))
        return Point(item.item_id, "rerouted_update", session, judged, decided, old, asked)
    return Point(item.item_id, "gold", session, judged, decided)


def _normal(texts: Any) -> tuple[str, ...]:
    return tuple(normal_text(str(text)) for text in texts or ())
