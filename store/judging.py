"""What a judge run reads and writes: items by the page, verdicts as they come, and what was called for them.

Verdicts are bulk work for the writer: labels overtake them. Each batch is one transaction, so that a killed run has
every verdict that was stored before and nothing of one that was not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from store.call_log import line_of
from store.events import DECIDED, NOT_PRACTICE
from store.items import ITEM_COLUMNS, VERDICT_COLUMNS, StoredItem, item_of_row, verdict_of_row
from store.judged_rows import Judged, line_members, put, row_of, text_of
from store.paid_calls import JUDGE, PUT, REQUEST, RUN, RUN_END, VERDICT, put_requests
from store.records import JudgeRecord, VerdictRecord, canonical_json

if TYPE_CHECKING:
    from store.study import Study

Which = Literal["all", "drawn", "labelled"]
_LOG = "4MB"

_LABELLED = f"""SELECT item_id FROM all_current_labels
    WHERE {DECIDED} AND {NOT_PRACTICE}"""
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


def told_changes(study: Study, judge_ids: Sequence[str]) -> set[str]:
    """Judges that servers became in runs of these, and whose anchors were judged to the end."""
    rows = study.rows(
        """SELECT counts FROM runs WHERE kind = 'judge' AND judge_id IN (SELECT unnest(?::VARCHAR[]))
        AND counts LIKE '%"changes":[{%'""",
        [list(judge_ids)],
    )
    names = {change["judge"] for row in rows for change in json.loads(row[0])["changes"]}
    found = study.rows(
        """SELECT judge_id FROM judges WHERE judge_id IN (SELECT unnest(?::VARCHAR[]))
        AND name IN (SELECT unnest(?::VARCHAR[]))""",
        [list(judge_ids), sorted(names)],
    )
    return {row[0] for row in found}


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
    members = {
        "judge_id": judge.judge_id, "task": judge.task, "name": judge.name, "model": judge.model,
        "prompt_version": judge.prompt_version, "parameters": canonical_json(dict(judge.parameters)),
    }  # fmt: skip
    _keep(study, JUDGE, members)


def begin_run(study: Study, run_id: str, task: str, judge_id: str, settings: Mapping[str, Any], at: str) -> None:
    """Note that a run begins; a run without an end was killed.

    From here on the log is folded into the file early: what it holds is in memory as well, and would grow with the run.
    """
    study.limit_log(_LOG)
    members = {"run_id": run_id, "task": task, "judge_id": judge_id, "settings": canonical_json(dict(settings)),
               "started_at": at}  # fmt: skip
    _keep(study, RUN, members)


def end_run(study: Study, run_id: str, outcome: str, counts: Mapping[str, Any], at: str) -> None:
    """Note how a run ended."""
    members = {"run_id": run_id, "outcome": outcome, "counts": canonical_json(dict(counts)), "ended_at": at}
    _keep(study, RUN_END, members)


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
    rows = [row_of(run_id, one) for one in judged]
    text = text_of(rows)

    def store(connection: Any) -> tuple[set[str], list[str]]:
        stored = put(connection, text)
        return stored, [line_of(VERDICT, line_members(row)) for row in rows if row["verdict_id"] in stored]

    return study.keep_paid(store)


def write_requests(study: Study, requests: Sequence[BatchRequest]) -> None:
    """Remember what the lines of a batch file are for."""
    rows = [asdict(one) for one in requests]

    def store(connection: Any) -> tuple[None, list[str]]:
        put_requests(connection, rows)
        return None, [line_of(REQUEST, row) for row in rows]

    study.keep_paid(store).result()


def _keep(study: Study, kind: str, members: Mapping[str, Any]) -> None:
    def store(connection: Any) -> tuple[None, list[str]]:
        changed = PUT[kind](connection, members)
        return None, [line_of(kind, members)] if changed else []

    study.lay_out_paid_calls()
    study.keep_paid(store).result()
