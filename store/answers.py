"""Answers that were paid for while a prompt was searched for, by the hash of the question: a run that was stopped
replays them and goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from store.call_log import line_of
from store.paid_calls import ANSWER, put_answer
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
    rows = [{"answer_key": key, "kind": kind, "task": task, "answer": _text(kept.answer), "cost": kept.cost,
             "answered_at": at} for key, kept in found]  # fmt: skip

    def store(connection: Any) -> tuple[None, list[str]]:
        return None, [line_of(ANSWER, row) for row in rows if put_answer(connection, row)]

    study.keep_paid(store).result()


def _text(answer: Mapping[str, Any]) -> str:
    text = canonical_json(dict(answer))
    return mend_pairs(text) if has_broken_pair(text) else text
