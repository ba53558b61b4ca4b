"""Answers that were paid for while a prompt was searched for, by the hash of the question: a run that was stopped
replays them and goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from store.database import in_transaction, told
from store.records import canonical_json, has_broken_pair, mend_pairs

if TYPE_CHECKING:
    from store.study import Study


class KeptAnswer(NamedTuple):
    """An answer as JSON members, and what it cost (None where nobody knows)."""

    answer: Mapping[str, Any]
    cost: float | None


def kept_answers(study: Study, keys: Iterable[str]) -> dict[str, KeptAnswer]:
    """What is known of these questions."""
    rows = study.rows(
        "SELECT answer_key, answer, cost FROM answers WHERE answer_key IN (SELECT unnest(?::VARCHAR[]))", [list(keys)]
    )
    return {key: KeptAnswer(json.loads(answer), cost) for key, answer, cost in rows}


def keep_answers(study: Study, kind: str, task: str, found: Sequence[tuple[str, KeptAnswer]], at: str) -> None:
    """Store answers in one transaction, behind whatever labels wait; one that is there already stays.

    Raises:
        OverreadError: they cannot be written.
    """
    rows = [[key, kind, task, _text(kept.answer), kept.cost, at] for key, kept in found]

    def write(connection: Any) -> None:
        with told(study.path):
            in_transaction(connection, lambda: _insert(connection, rows))

    study.writer.do(write, urgent=False)


def _insert(connection: Any, rows: Sequence[Sequence[Any]]) -> None:
    for row in rows:
        connection.execute(
            """INSERT INTO answers SELECT ?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ)
            WHERE ? NOT IN (SELECT answer_key FROM answers)""",
            [*row, row[0]],
        )


def _text(answer: Mapping[str, Any]) -> str:
    text = canonical_json(dict(answer))
    return mend_pairs(text) if has_broken_pair(text) else text


def spent_on(study: Study, task: str) -> tuple[int, float]:
    """Answers kept for a task's searches, and what they cost together."""
    count, cost = study.rows("SELECT count(*), coalesce(sum(cost), 0) FROM answers WHERE task = ?", [task])[0]
    return int(count), float(cost)
