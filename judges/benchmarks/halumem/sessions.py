"""What an answer sheet tells of its sessions as a whole: repeats, empty extraction, adapter, generated sessions.

Kept as one fact of kind `sessions` a user, so that scoring reads no dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.halumem.shapes import flatten
from store.records import FactRecord

Facts = Mapping[str, Mapping[str, Any]]

FACT_KIND = "sessions"
NOT_OFFERED = "interface_not_offered"

ZEP_FIELD = "zep_thread_id"
"""Only Zep's adapter writes it. Its extracted list is what a context call returned, as the benchmark's README warns."""
ZEP_FILE = re.compile(r"zep(?:[-_].*)?_eval_", re.IGNORECASE)


class SessionCounts(NamedTuple):
    """One session.

    Attributes:
        number: 0-based place among the user's sessions.
        messages, distinct: messages, and those of them that differ in speaker or words.
        extracted: entries in the extracted list; 0 also when all of them are blank.
    """

    number: int
    messages: int
    distinct: int
    extracted: int

    @property
    def padded(self) -> bool:
        """Whether a message is there again, word for word and from the same speaker."""
        return self.distinct < self.messages


@dataclass(frozen=True, slots=True)
class UserSessions:
    """The sessions of one user that have a dialogue; `generated` counts the filler sessions, which have none."""

    uuid: str
    generated: int
    zep: bool
    sessions: tuple[SessionCounts, ...]

    @property
    def padded(self) -> frozenset[int]:
        return frozenset(session.number for session in self.sessions if session.padded)

    @property
    def unextracted(self) -> frozenset[int]:
        """The sessions from which nothing was extracted."""
        return frozenset(session.number for session in self.sessions if not session.extracted)

    @property
    def distinct_share(self) -> float | None:
        """Distinct messages by all messages, within sessions; None without a message."""
        messages = sum(session.messages for session in self.sessions)
        return sum(session.distinct for session in self.sessions) / messages if messages else None


def session_fact(system: str, uuid: str, sessions: Sequence[Any], position: int) -> FactRecord:
    """The fact of a user, from the user's sessions as the adapter wrote them."""
    plain = [(number, session) for number, session in enumerate(sessions) if isinstance(session, dict)]
    told = [(number, session) for number, session in plain if not session.get("is_generated_qa_session")]
    payload = {
        "uuid": uuid,
        "generated": len(plain) - len(told),
        "zep": any(ZEP_FIELD in session for _, session in plain),
        "sessions": [list(counts) for number, session in told if (counts := _counts(number, session))],
    }
    return FactRecord(system, FACT_KIND, uuid, payload, position)


def _counts(number: int, session: Mapping[str, Any]) -> SessionCounts | None:
    dialogue, extracted = session.get("dialogue"), session.get("extracted_memories")
    if not isinstance(dialogue, list) or not isinstance(extracted, list):
        return None
    messages = [(str(turn.get("role")), str(turn.get("content"))) for turn in dialogue if isinstance(turn, dict)]
    entries = flatten("list", extracted) or []
    return SessionCounts(number, len(messages), len(set(messages)), len(entries) if any(map(str.strip, entries)) else 0)


def users_of(facts: Facts) -> Iterator[UserSessions]:
    """The users of the answer sheets; none when no sheet was given, or one that was imported before this was kept."""
    for payload in facts.get(FACT_KIND, {}).values():
        counts = tuple(SessionCounts(*row) for row in payload["sessions"])
        yield UserSessions(payload["uuid"], payload["generated"], payload["zep"], counts)


def regime_of(facts: Facts) -> str:
    """`long` when all users have generated sessions, which only HaluMem-Long has, `medium` when none has, else ""."""
    generated = {user.generated > 0 for user in users_of(facts)}
    return "" if len(generated) != 1 else "long" if True in generated else "medium"


def padded_groups(facts: Facts) -> frozenset[str]:
    """Groups ("user/session") of the sessions that repeat messages."""
    return frozenset(f"{user.uuid}/{number}" for user in users_of(facts) for number in user.padded)


def extraction_not_offered(facts: Facts) -> Undefined | None:
    """Why nothing can be said of what was extracted; None when something can."""
    files = [str(payload["file"]) for payload in facts.get("verdict_file", {}).values()]
    users = list(users_of(facts))
    if any(user.zep for user in users) or any(map(ZEP_FILE.match, files)):
        why = "Zep has no call that lists what a session added; what its adapter stores there is recent context"
        return Undefined(NOT_OFFERED, why)
    counts = [session.extracted for user in users for session in user.sessions]
    if counts and not any(counts):
        why = f"all {len(counts)} extracted lists are empty: the system has no call for them, or nobody called it"
        return Undefined(NOT_OFFERED, why)
    return None
