"""Verdicts with their calls as rows: into the study as they come, and again from the file of paid calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.records import VerdictRecord, canonical_json, has_broken_pair, mend_pairs


@dataclass(frozen=True, slots=True)
class Call:
    """How a verdict came about.

    Attributes:
        same_as: id of the verdict whose identical input was judged in its place; "" for one that was judged itself.
        served_model, fingerprint: as the server named itself. answer_format: schema, json or text.
        failure, why: of the verdict. signs: what the item tried. remarks: what is odd about the answer.
        samples: labels of the samples of a self-consistency vote.
    """

    prompt_hash: str = ""
    same_as: str = ""
    served_model: str = ""
    fingerprint: str = ""
    finish_reason: str = ""
    answer_format: str = ""
    language: str = ""
    attempts: int = 0
    latency_ms: int | None = None
    why: str = ""
    signs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    samples: tuple[str | None, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict and its call."""

    verdict: VerdictRecord
    call: Call = field(default_factory=Call)


_TEXTS = (
    "verdict_id", "verdict_hash", "item_id", "content_hash", "judge_id", "label", "parts", "failure", "raw", "route",
    "confidence_source", "rationale", "model_returned", "run_id", "prompt_hash", "same_as", "served_model",
    "fingerprint", "finish_reason", "answer_format", "language", "why", "signs", "remarks", "samples", "at_time",
)  # fmt: skip
ROW: Mapping[str, str] = {
    **dict.fromkeys(_TEXTS, "VARCHAR"), "repetition": "INTEGER", "score": "DOUBLE", "confidence": "DOUBLE",
    "position": "BIGINT", "tokens_in": "BIGINT", "tokens_out": "BIGINT", "cost": "DOUBLE", "attempts": "INTEGER",
    "latency_ms": "BIGINT",
}  # fmt: skip
"""A verdict with its call: column → its type."""


def shape_of(columns: Mapping[str, str]) -> str:
    """The structure for DuckDB's `from_json`: a list of such objects."""
    return json.dumps([dict(columns)])


def row_of(run_id: str, judged: Judged) -> dict[str, Any]:
    """A verdict and its call as one row, its members those of `ROW`."""
    verdict, call = judged.verdict, judged.call
    return {
        "verdict_id": verdict.verdict_id, "verdict_hash": verdict.verdict_hash, "item_id": verdict.item_id,
        "content_hash": verdict.content_hash, "judge_id": verdict.judge_id, "label": verdict.label,
        "parts": canonical_json(dict(verdict.parts)), "failure": verdict.failure, "raw": verdict.raw,
        "route": verdict.route, "confidence_source": verdict.confidence_source, "rationale": verdict.rationale,
        "model_returned": verdict.model_returned, "repetition": verdict.repetition, "score": verdict.score,
        "confidence": verdict.confidence, "position": verdict.position, "tokens_in": verdict.tokens_in,
        "tokens_out": verdict.tokens_out, "cost": verdict.cost, "run_id": run_id, "prompt_hash": call.prompt_hash,
        "same_as": call.same_as, "served_model": call.served_model, "fingerprint": call.fingerprint,
        "finish_reason": call.finish_reason, "answer_format": call.answer_format, "language": call.language,
        "attempts": call.attempts, "latency_ms": call.latency_ms, "why": call.why,
        "signs": canonical_json(list(call.signs)), "remarks": canonical_json(list(call.remarks)),
        "samples": canonical_json(list(call.samples)), "at_time": call.at,
    }  # fmt: skip


def text_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as the JSON list that `stage` takes."""
    text = json.dumps(rows, ensure_ascii=False)
    return mend_pairs(text) if has_broken_pair(text) else text


def line_members(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row as the file of paid calls has it: a reply stands there once, with the verdict it was given for."""
    if row["same_as"] and not row["failure"]:
        return {name: value for name, value in row.items() if name not in _OF_THE_LEADER}
    return row


_OF_THE_LEADER = ("raw", "rationale")


def put(connection: Any, text: str) -> set[str]:
    """Put rows, a JSON list, into the study; returns the ids of the verdicts stored. The caller holds the transaction.

    A slot that holds a failure takes the new answer, and the failed one stays with its call. A slot that holds a label
    keeps it.
    """
    stage(connection, text)
    return put_staged(connection)


def put_again(connection: Any, rows: Iterable[Mapping[str, Any]]) -> int:
    """Put rows that the file of paid calls has into the study, as far as it lacks them; returns how many it took.

    The caller holds the transaction.
    """
    return sum(_put_missing(connection, part) for part in _without_repeats(rows))


def _without_repeats(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Stretches in which no slot stands twice: a failure comes before what took its place."""
    part: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    for row in rows:
        if row["verdict_id"] in seen:
            yield part
            part, seen = [], set()
        part.append(row)
        seen.add(row["verdict_id"])
    if part:
        yield part


def _put_missing(connection: Any, rows: Sequence[Mapping[str, Any]]) -> int:
    stage(connection, json.dumps(rows, ensure_ascii=False))
    drop_known(connection)
    connection.execute(
        """UPDATE stage_judged SET raw = l.raw, rationale = l.rationale FROM (
            SELECT verdict_id, prompt_hash, raw, rationale FROM stage_judged WHERE same_as = '' AND label IS NOT NULL
            UNION ALL
            SELECT c.verdict_id, c.prompt_hash, v.raw, v.rationale FROM calls c
            JOIN verdicts v USING (verdict_id, content_hash) WHERE c.same_as = '' AND v.label IS NOT NULL) l
        WHERE stage_judged.raw IS NULL AND l.verdict_id = same_as AND l.prompt_hash = stage_judged.prompt_hash"""
    )
    # Whose reply is lost is asked about again.
    connection.execute("DELETE FROM stage_judged WHERE raw IS NULL")
    return len(put_staged(connection))


def drop_known(connection: Any) -> None:
    """Leave out of `stage_judged` what the study has a call for."""
    connection.execute(f"DELETE FROM stage_judged s WHERE EXISTS ({_CALL_OF})")


def count_differences(connection: Any, rows: Sequence[Mapping[str, Any]]) -> int:
    """How many of these rows of the file the study has no call for."""
    stage(connection, json.dumps(rows, ensure_ascii=False))
    query = f"SELECT count(*) FROM stage_judged s WHERE NOT EXISTS ({_CALL_OF})"
    count: int = connection.execute(query).fetchone()[0]
    connection.execute("DROP TABLE stage_judged")
    return count


def stored_rows(connection: Any) -> Iterator[dict[str, Any]]:
    """All verdicts with calls as the file has them, oldest first, those that gave way to a later answer included.

    In stretches of calls, so that only their texts are in memory.
    """
    after = -1  # numbers leap: a transaction's own rows have theirs far beyond
    while found := connection.execute(_STORED, [after]).fetchall():
        after = found[-1][-1]
        for values in found:
            row = dict(zip(ROW, values[:-1], strict=True))
            yield {name: value for name, value in row.items() if name not in _OF_THE_LEADER or value is not None}


def stage(connection: Any, text: str) -> None:
    """Lay rows, a JSON list, out as the temporary table `stage_judged` with the columns of `ROW`."""
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE stage_judged AS
        SELECT r.* FROM (SELECT unnest(from_json(?, '{shape_of(ROW)}')) AS r)""",
        [text],
    )


def staged_rows(connection: Any) -> list[dict[str, Any]]:
    """What `stage_judged` holds, as `row_of` makes it."""
    found = connection.execute(f"SELECT {', '.join(ROW)} FROM stage_judged").fetchall()
    return [dict(zip(ROW, values, strict=True)) for values in found]


def put_staged(connection: Any) -> set[str]:
    """Put what `stage_judged` holds into the study, as `put` does."""
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE stage_held AS
        SELECT v.verdict_id, v.content_hash, v.failure, v.raw FROM verdicts v
        WHERE (v.verdict_id, v.content_hash) IN (SELECT (verdict_id, content_hash) FROM stage_judged)"""
    )
    if connection.execute("SELECT count(*) FROM stage_held").fetchone()[0]:
        _give_way(connection)
    connection.execute(
        """INSERT INTO verdicts SELECT verdict_id, verdict_hash, item_id, content_hash, judge_id, repetition, label,
        parts, failure, raw, route, score, confidence, confidence_source, rationale, position, model_returned,
        tokens_in, tokens_out, cost, run_id FROM stage_judged"""
    )
    connection.execute(
        """INSERT INTO calls SELECT verdict_id, content_hash, run_id, item_id, judge_id, repetition, prompt_hash,
        same_as, served_model, fingerprint, finish_reason, answer_format, language, attempts, latency_ms, failure,
        why, signs, remarks, samples, NULL, CAST(nullif(at_time, '') AS TIMESTAMPTZ) FROM stage_judged"""
    )
    stored = {row[0] for row in connection.execute("SELECT verdict_id FROM stage_judged").fetchall()}
    connection.execute("DROP TABLE stage_held")
    connection.execute("DROP TABLE stage_judged")
    return stored


def _give_way(connection: Any) -> None:
    """Failures make room, their text kept with their call; where a label stands the newcomer is dropped."""
    connection.execute(
        """UPDATE calls SET superseded = h.raw FROM stage_held h WHERE h.failure <> '' AND calls.superseded IS NULL
        AND calls.verdict_id = h.verdict_id AND calls.content_hash = h.content_hash"""
    )
    connection.execute(
        """DELETE FROM verdicts WHERE failure <> ''
        AND (verdict_id, content_hash) IN (SELECT (verdict_id, content_hash) FROM stage_held)"""
    )
    connection.execute(
        """DELETE FROM stage_judged WHERE (verdict_id, content_hash) IN
        (SELECT (verdict_id, content_hash) FROM stage_held WHERE failure = '')"""
    )


_CALL_OF = """SELECT 1 FROM calls c
    WHERE c.verdict_id = s.verdict_id AND c.content_hash = s.content_hash AND c.run_id = s.run_id
        AND c.called_at IS NOT DISTINCT FROM CAST(nullif(s.at_time, '') AS TIMESTAMPTZ)"""
_BATCH = 1000
_OF_CALL = {"run_id", "prompt_hash", "same_as", "served_model", "fingerprint", "finish_reason", "answer_format",
            "language", "attempts", "latency_ms", "why", "signs", "remarks", "samples", "verdict_id", "item_id",
            "content_hash", "judge_id", "repetition", "failure"}  # fmt: skip
_SPECIAL = {
    "at_time": "coalesce(c.called_at::VARCHAR, '')",
    "raw": "CASE WHEN l.verdict_id IS NOT NULL THEN NULL ELSE coalesce(c.superseded, v.raw, '') END",
    "rationale": "CASE WHEN l.verdict_id IS NOT NULL THEN NULL ELSE coalesce(v.rationale, '') END",
    "verdict_hash": "coalesce(v.verdict_hash, '')",
    "parts": "coalesce(v.parts, '{}')",
    "route": "coalesce(v.route, '')",
    "confidence_source": "coalesce(v.confidence_source, '')",
    "model_returned": "coalesce(v.model_returned, '')",
}
_STORED = f"""WITH part AS (SELECT rowid AS number, * FROM calls WHERE rowid > ? ORDER BY rowid LIMIT {_BATCH})
    SELECT {
    ", ".join(f"c.{name}" if name in _OF_CALL else _SPECIAL.get(name, f"v.{name}") for name in ROW)
}, c.number FROM part c
    LEFT JOIN (SELECT * FROM verdicts WHERE verdict_id IN (SELECT verdict_id FROM part)) v
        ON c.superseded IS NULL AND v.verdict_id = c.verdict_id AND v.content_hash = c.content_hash
    LEFT JOIN (
        SELECT c.verdict_id, c.prompt_hash, v.raw, v.rationale FROM calls c
        JOIN verdicts v USING (verdict_id, content_hash)
        WHERE c.same_as = '' AND c.superseded IS NULL AND v.label IS NOT NULL
            AND v.verdict_id IN (SELECT same_as FROM part)) l
    ON l.verdict_id = nullif(c.same_as, '') AND l.prompt_hash = c.prompt_hash AND c.failure = ''
        AND l.raw = v.raw AND l.rationale = v.rationale
    ORDER BY c.number"""
"""The members of `ROW`, then the number of the call, of the calls behind the number given.

A call whose failure gave way has its text still, and no verdict of its own.
"""
