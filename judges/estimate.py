"""What a run would need, without calling anybody: calls, tokens and money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from judges.run import JudgeRun
from store.study import Study

TYPICAL_ANSWER = 150
"""Tokens of an answer, until this judge's own are known."""
SCHEMA_TOKENS = 120


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run of one task would need.

    Attributes:
        slots: items × repetitions. before: of these judged already. linked: identical inputs. given: need no call.
        kept: answered in a search before, which is not paid for again.
        calls: to be made, samples counted. tokens_in, tokens_out: estimated.
        cost: estimated, cost_at_most: whatever the answers are; None where nobody knows the price.
        shards: full ones that the calls make on a cluster; None without one.
    """

    task: str
    judge: str
    slots: int
    before: int
    linked: int
    given: int
    skipped: int
    flagged: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    cost_at_most: float | None
    shards: int | None = None
    kept: int = 0

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def estimate(study: Study, run: JudgeRun, samples: int, in_shard: int = 0) -> Estimate:
    """Go through all items as the run would, and count.

    Args:
        in_shard: calls of a full shard; 0 for a run without shards.
    """
    asked: set[tuple[int, int]] = set()
    answered: set[tuple[int, int]] = set()
    linked = given = flagged = tokens = slots_open = kept = 0
    at_most = 0.0
    for jobs, known in run.pages():
        for job in jobs:
            slots_open += 1
            flagged += bool(job.prepared.signs)
            if job.prepared.given is not None:
                given += 1
                continue
            key = (int(job.prepared.hash[:15], 16), job.repetition)
            if key in asked or key in answered or (job.prepared.hash, job.repetition) in known.same:
                linked += 1
                continue
            if (job.prepared.hash, job.repetition) in known.kept:
                kept += 1
                answered.add(key)
                continue
            asked.add(key)
            tokens += tokens_of(job.prepared.content.messages) + SCHEMA_TOKENS
            at_most += job.prepared.most
    calls, budget = len(asked) * samples, run.asker.budget
    out = calls * _typical_answer(study, run.asker.judge.model)
    price = budget.price
    share = budget.share
    return Estimate(
        run.scope.task, run.asker.judge.name, run.slots, run.slots - slots_open - run.state.skipped, linked, given,
        run.state.skipped, flagged, calls, tokens * samples, out,
        price.of(tokens * samples, out) * share if price else None, at_most if price else None,
        -(-calls // in_shard) if in_shard else None, kept,
    )  # fmt: skip


def tokens_of(messages: list[dict[str, str]]) -> int:
    """A rough count: four characters a token, one for each Chinese character."""
    text = "".join(message["content"] for message in messages)
    wide = sum(char > "\u2e7f" for char in text)
    return wide + (len(text) - wide) // 4


def _typical_answer(study: Study, model: str) -> int:
    rows = study.rows(
        """SELECT avg(v.tokens_out) FROM verdicts v JOIN judges j USING (judge_id)
        WHERE j.model = ? AND v.tokens_out IS NOT NULL""",
        [model],
    )
    return round(rows[0][0]) if rows[0][0] is not None else TYPICAL_ANSWER
