"""What a judge run reads and writes: items by the page, verdicts as they come, and what was called for them.

Verdicts are bulk work for the writer: labels overtake them. Each batch is one transaction, so that a killed run has
every verdict that was stored before and nothing of one that was not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from store.database import in_transaction, told
from store.items import ITEM_COLUMNS, VERDICT_COLUMNS, StoredItem, item_of_row, verdict_of_row
from store.records import JudgeRecord, VerdictRecord, canonical_json, has_broken_pair, mend_pairs

if TYPE_CHECKING:
    from store.study import Study

Which = Literal["all", "drawn", "labelled"]
RUN_ENDED, RUN_STOPPED = "done", "stopped"

_LABELLED = """SELECT item_id FROM all_current_labels WHERE value IS NOT NULL OR cannot_judge <> ''"""
_WHICH: Mapping[str, str] = {
    "all": "",
    "drawn": "AND item_id IN (SELECT item_id FROM draw_items)",
    "labelled": f"AND item_id IN ({_LABELLED})",
}


class PageKey(NamedTuple):
    """Where a page ends: items are read in the order (system, position, id)."""

    system: str = ""
    position: int = -1
    item_id: str = ""


class Slot(NamedTuple):
    """What the study has for one repetition of one judge on one item: the label, or the kind of failure."""

    label: str | None
    failure: str


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


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A line of a batch file, and the verdict it is for."""

    custom_id: str
    run_id: str
    task: str
    item_id: str
    content_hash: str
    judge_id: str
    repetition: int
    prompt_hash: str


# Reading


def count_items(study: Study, task: str, which: Which) -> int:
    """Items of a task that a run is about."""
    rows = study.rows(f"SELECT count(*) FROM current_items WHERE task = ? {_WHICH[which]}", [task])
    return int(rows[0][0])


def items_page(study: Study, task: str, which: Which, after: PageKey, limit: int) -> list[StoredItem]:
    """The next items of a task behind `after`."""
    rows = study.rows(
        f"""SELECT {ITEM_COLUMNS} FROM current_items WHERE task = ? {_WHICH[which]}
        AND (system > ? OR (system = ? AND (position > ? OR (position = ? AND item_id > ?))))
        ORDER BY system, position, item_id LIMIT {int(limit)}""",
        [task, after.system, after.system, after.position, after.position, after.item_id],
    )
    return [item_of_row(row) for row in rows]


def slots_of(study: Study, items: Sequence[StoredItem], judge_ids: Sequence[str]) -> dict[tuple[str, int], list[Slot]]:
    """(item, repetition) → what any of these judges said of the item's current content."""
    rows = study.rows(
        """SELECT item_id, content_hash, repetition, label, failure FROM verdicts
        WHERE item_id IN (SELECT unnest(?::VARCHAR[])) AND judge_id IN (SELECT unnest(?::VARCHAR[]))""",
        [[item.item_id for item in items], list(judge_ids)],
    )
    contents = {item.item_id: item.content_hash for item in items}
    found: dict[tuple[str, int], list[Slot]] = {}
    for item_id, content_hash, repetition, label, failure in rows:
        if contents[item_id] == content_hash:
            found.setdefault((item_id, repetition), []).append(Slot(label, failure))
    return found


def same_inputs(
    study: Study, prompt_hashes: Iterable[str], judge_ids: Sequence[str]
) -> dict[tuple[str, int], VerdictRecord]:
    """(prompt, repetition) → a verdict that one of these judges gave on it, on whatever item; only read ones."""
    columns = ", ".join(f"v.{name.strip()}" for name in VERDICT_COLUMNS.split(","))
    rows = study.rows(
        f"""SELECT c.prompt_hash, {columns} FROM calls c
        JOIN verdicts v ON v.verdict_id = c.verdict_id AND v.content_hash = c.content_hash
        WHERE c.prompt_hash IN (SELECT unnest(?::VARCHAR[])) AND c.same_as = '' AND v.label IS NOT NULL
            AND v.judge_id IN (SELECT unnest(?::VARCHAR[]))""",
        [list(prompt_hashes), list(judge_ids)],
    )
    verdicts = ((row[0], verdict_of_row(row[1:])) for row in rows)
    return {(prompt, verdict.repetition): verdict for prompt, verdict in verdicts}


def count_done(study: Study, task: str, which: Which, judge_ids: Sequence[str], repeats: int,
               ask_again: Sequence[str]) -> int:  # fmt: skip
    """Slots of a run that need no call any more."""
    rows = study.rows(
        f"""SELECT count(DISTINCT (v.item_id, v.repetition)) FROM verdicts v
        JOIN (SELECT item_id, content_hash FROM current_items WHERE task = ? {_WHICH[which]}) i
            USING (item_id, content_hash)
        WHERE v.judge_id IN (SELECT unnest(?::VARCHAR[])) AND v.repetition < ?
            AND v.failure NOT IN (SELECT unnest(?::VARCHAR[]))""",
        [task, list(judge_ids), repeats, list(ask_again)],
    )
    return int(rows[0][0])


def judges_of_task(study: Study, task: str) -> dict[str, JudgeRecord]:
    """All judges of a task by id, in the order they came."""
    rows = study.rows(
        "SELECT judge_id, task, name, model, prompt_version, parameters FROM judges WHERE task = ? ORDER BY rowid",
        [task],
    )
    return {row[0]: JudgeRecord(row[1], row[2], row[3], row[4], json.loads(row[5])) for row in rows}


def served_by(study: Study, judge_id: str) -> list[tuple[str, str]]:
    """(model, fingerprint) of the server behind a judge's verdicts, in the order in which they came up."""
    rows = study.rows(
        """SELECT served_model, fingerprint FROM calls WHERE judge_id = ? AND same_as = '' AND attempts > 0
        AND (served_model <> '' OR fingerprint <> '')
        GROUP BY served_model, fingerprint ORDER BY min(rowid)""",
        [judge_id],
    )
    return [(row[0], row[1]) for row in rows]


def labels_of_judge(study: Study, judge_id: str, repetition: int = 0) -> dict[str, str | None]:
    """Item → this judge's label on labelled items' current content; None for a failure."""
    rows = study.rows(
        f"""SELECT v.item_id, v.label FROM verdicts v
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE v.judge_id = ? AND v.repetition = ? AND v.item_id IN ({_LABELLED})""",
        [judge_id, repetition],
    )
    return dict(rows)


def flagged_items(study: Study, judge_ids: Sequence[str], limit: int = 1000) -> list[tuple[str, str, str]]:
    """(item, natural key, signs) of items whose text tried to steer these judges, or that look like it."""
    return study.rows(
        """SELECT DISTINCT c.item_id, i.natural_key, c.signs FROM calls c JOIN current_items i USING (item_id)
        WHERE c.signs <> '[]' AND c.judge_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY ALL LIMIT ?""",
        [list(judge_ids), limit],
    )


def batch_requests(study: Study, custom_ids: Sequence[str]) -> dict[str, list[BatchRequest]]:
    """What these lines are for: the item that was asked about first, then those with the identical input."""
    rows = study.rows(
        "SELECT * FROM batch_requests WHERE custom_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY rowid",
        [list(custom_ids)],
    )
    found: dict[str, list[BatchRequest]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(BatchRequest(*row))
    return found


# Writing


def add_judge(study: Study, judge: JudgeRecord) -> None:
    """Make a judge known; one that is known already stays as it is."""
    row = [judge.judge_id, judge.task, judge.name, judge.model, judge.prompt_version,
           canonical_json(dict(judge.parameters))]  # fmt: skip
    _write(study, lambda c: c.execute(
        "INSERT INTO judges SELECT ?, ?, ?, ?, ?, ? WHERE ? NOT IN (SELECT judge_id FROM judges)", [*row, row[0]]
    )).result()  # fmt: skip


def begin_run(study: Study, run_id: str, task: str, judge_id: str, settings: Mapping[str, Any], at: str) -> None:
    """Note that a run begins; a run without an end was killed."""
    _write(study, lambda c: c.execute(
        "INSERT INTO runs VALUES (?, 'judge', ?, ?, ?, CAST(? AS TIMESTAMPTZ), NULL, '', '{}')",
        [run_id, task, judge_id, canonical_json(dict(settings)), at],
    )).result()  # fmt: skip


def end_run(study: Study, run_id: str, outcome: str, counts: Mapping[str, Any], at: str) -> None:
    """Note how a run ended."""
    _write(study, lambda c: c.execute(
        "UPDATE runs SET ended_at = CAST(? AS TIMESTAMPTZ), outcome = ?, counts = ? WHERE run_id = ?",
        [at, outcome, canonical_json(dict(counts)), run_id],
    )).result()  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A judge's run as the study has it.

    Attributes:
        judge: its name. ended: "" for one that was killed, or goes on. counts: how it ended, {} while it has not.
        stored: verdicts and failures that it stored.
    """

    run_id: str
    task: str
    judge: str
    settings: Mapping[str, Any]
    started: str
    ended: str
    outcome: str
    counts: Mapping[str, Any]
    stored: int


def judge_runs(study: Study) -> list[StoredRun]:
    """All runs of judges, the newest first."""
    rows = study.rows(
        """SELECT run_id, task, coalesce(name, judge_id), settings, started_at::VARCHAR,
            coalesce(ended_at::VARCHAR, ''), outcome, counts, coalesce(stored, 0)
        FROM runs LEFT JOIN (SELECT judge_id, any_value(name) AS name FROM judges GROUP BY judge_id) USING (judge_id)
        LEFT JOIN (SELECT run_id, count(*) AS stored FROM calls GROUP BY run_id) USING (run_id)
        WHERE kind = 'judge' ORDER BY started_at DESC, runs.rowid DESC"""
    )
    return [
        StoredRun(run, task, judge, json.loads(settings), started, ended, outcome, json.loads(counts), stored)
        for run, task, judge, settings, started, ended, outcome, counts, stored in rows
    ]


def write_judged(study: Study, run_id: str, judged: Sequence[Judged]) -> Future[Any]:
    """Store verdicts with their calls, in one transaction, behind whatever labels wait.

    A slot that holds a failure takes the new answer, and the failed one stays with its call. A slot that holds a label
    keeps it: nothing is ever judged over. The future's result are the ids of the verdicts stored.
    """
    text = judged_text(run_id, judged)
    return _write(study, lambda connection: _store(connection, text))


def judged_text(run_id: str, judged: Sequence[Judged]) -> str:
    """Verdicts with their calls as the JSON text that `stage_judged` reads."""
    text = json.dumps([_row(run_id, one) for one in judged], ensure_ascii=False)
    return mend_pairs(text) if has_broken_pair(text) else text


def write_requests(study: Study, requests: Sequence[BatchRequest]) -> None:
    """Remember what the lines of a batch file are for."""
    shape = _shape(dict.fromkeys(BatchRequest.__dataclass_fields__, "VARCHAR") | {"repetition": "INTEGER"})
    text = json.dumps([asdict(one) for one in requests])
    _write(study, lambda c: c.execute(
        f"""INSERT INTO batch_requests SELECT r.* FROM (SELECT unnest(from_json(?, '{shape}')) AS r)
        WHERE (r.custom_id, r.item_id) NOT IN (SELECT (custom_id, item_id) FROM batch_requests)""", [text],
    )).result()  # fmt: skip


_TEXTS = (
    "verdict_id", "verdict_hash", "item_id", "content_hash", "judge_id", "label", "parts", "failure", "raw", "route",
    "confidence_source", "rationale", "model_returned", "run_id", "prompt_hash", "same_as", "served_model",
    "fingerprint", "finish_reason", "answer_format", "language", "why", "signs", "remarks", "samples", "at_time",
)  # fmt: skip
JUDGED_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(_TEXTS, "VARCHAR"), "repetition": "INTEGER", "score": "DOUBLE", "confidence": "DOUBLE",
    "position": "BIGINT", "tokens_in": "BIGINT", "tokens_out": "BIGINT", "cost": "DOUBLE", "attempts": "INTEGER",
    "latency_ms": "BIGINT",
}  # fmt: skip
"""Columns of the temporary table `stage_judged` that `store_staged` reads."""


def _shape(columns: Mapping[str, str]) -> str:
    """The structure for DuckDB's `from_json`: a list of such objects."""
    return json.dumps([dict(columns)])


def _row(run_id: str, judged: Judged) -> dict[str, Any]:
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


def _store(connection: Any, text: str) -> set[str]:
    stage_judged(connection, text)
    return store_staged(connection)


def stage_judged(connection: Any, text: str) -> None:
    """Lay verdicts with their calls out as the temporary table `stage_judged`. Writer thread only."""
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE stage_judged AS
        SELECT r.* FROM (SELECT unnest(from_json(?, '{_shape(JUDGED_COLUMNS)}')) AS r)""",
        [text],
    )


def store_staged(connection: Any) -> set[str]:
    """Store what `stage_judged` holds; returns the ids of the verdicts that are new. Inside a transaction only."""
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


def _write(study: Study, work: Any) -> Future[Any]:
    def whole(connection: Any) -> Any:
        with told(study.path):
            return in_transaction(connection, lambda: work(connection))

    return study.writer.submit(whole, urgent=False)
