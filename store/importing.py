"""Bulk import of a reader's records: staged on disk, merged in one transaction, labels never touched."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.chains import now
from store.errors import InputError, NotWrittenError, SaveError
from store.events import DECIDED, NOT_PRACTICE
from store.files import not_written, sha256_of
from store.recorder import Bulk
from store.records import MAY_HOLD_VERDICTS, Problem, Record, canonical_json
from store.staging import LOADED, load_stages, stage, staging_folder, unload_stages

if TYPE_CHECKING:
    from store.study import Study

_MERGED_AT_ONCE = 20_000
"""Staged rows that are put in order and inserted together."""


@dataclass
class Tally:
    """How many records of a kind were new, the same, changed, or rejected."""

    new: int = 0
    same: int = 0
    changed: int = 0
    rejected: int = 0

    def as_json(self) -> dict[str, int]:
        return {"new": self.new, "same": self.same, "changed": self.changed, "rejected": self.rejected}


@dataclass
class ImportReport:
    """What an import did.

    Attributes:
        items: task → tally. verdicts: tally over all judges.
        labels: tally of people's labels that came with the files.
        problems: every bad place and every warning, in file order.
        stale_labels: labels whose item changed: they stay, flagged, and enter no number until given again.
    """

    items: dict[str, Tally] = field(default_factory=dict)
    verdicts: Tally = field(default_factory=Tally)
    labels: Tally = field(default_factory=Tally)
    problems: list[Problem] = field(default_factory=list)
    stale_labels: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "items": {task: tally.as_json() for task, tally in self.items.items()},
            "verdicts": self.verdicts.as_json(),
            "labels": self.labels.as_json(),
            "stale_labels": self.stale_labels,
            "problems": [
                {"file": p.file, "line": p.line, "column": p.column, "what": p.what, "remedy": p.remedy,
                 "fatal": p.fatal}
                for p in self.problems
            ],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file that was read: its path, its role (`results` or `answers`), and what the user said of it."""

    path: Path
    role: str
    system: str = ""
    judge: str = ""


class BadInputError(InputError):
    """Bad places were found and nothing was imported.

    Attributes:
        problems: every one of them, in file order.
    """

    def __init__(self, problems: list[Problem]) -> None:
        fatal = [problem for problem in problems if problem.fatal]
        places = "1 bad place" if len(fatal) == 1 else f"{len(fatal)} bad places"
        super().__init__(
            f"{places} found; nothing was imported.", "", "Mend the file, or import the rest with --skip-bad."
        )
        self.problems = problems


def import_records(
    study: Study,
    records: Iterable[Record],
    files: list[ImportedFile],
    *,
    skip_bad: bool = False,
    at: str = "",
    sampled: str = "unknown",
    tasks: Sequence[Mapping[str, Any]] = (),
) -> ImportReport:
    """Read a stream of records into the study, all or nothing.

    `sampled` says how the items whose labels come with the files were chosen: `srs`, `census` or `unknown`. `tasks` are
    the journal records of task definitions that come with the files.

    Raises:
        BadInputError: the stream holds fatal problems and `skip_bad` is off; the study is as it was.
        InputError: a file cannot be read; the study is as it was.
        SaveError: the disk is full or the folder cannot be written; the study is as it was.
    """
    report = ImportReport()
    try:
        with staging_folder(study.path) as folder:
            staged = stage(_readable(records), folder, report.problems)
            if not skip_bad and any(problem.fatal for problem in report.problems):
                raise BadInputError(report.problems)
            moment = at or now().isoformat()
            bulk = Bulk(lambda connection: load_stages(connection, folder, staged), unload_stages)
            _merge_into(study, bulk, files, report, skip_bad=skip_bad, at=moment, sampled=sampled, tasks=tasks)
    except (OSError, NotWrittenError) as error:
        raise _not_imported(study, error) from error
    return report


def _not_imported(study: Study, error: OSError | NotWrittenError) -> SaveError:
    told = not_written(study.path, error) if isinstance(error, OSError) else error
    return SaveError("Not imported.", f"{told.detail} Nothing was changed.", told.hint)


def _readable(records: Iterable[Record]) -> Iterator[Record]:
    """The records; a file that cannot be read is the input's fault, not the study's."""
    try:
        yield from records
    except OSError as error:
        raise InputError(
            "Not imported: a file cannot be read.", f"{error.filename}: {error.strerror}", "Check the file."
        ) from error


def _merge_into(
    study: Study,
    bulk: Bulk,
    files: list[ImportedFile],
    report: ImportReport,
    *,
    skip_bad: bool,
    at: str,
    sampled: str,
    tasks: Sequence[Mapping[str, Any]],
) -> None:
    import_id = secrets.token_hex(8)
    records = [_import_record(file, import_id, at) for file in files]
    before = copy.deepcopy(report)

    def work(connection: Any) -> None:
        vars(report).update(vars(copy.deepcopy(before)))  # it may be the second try
        _merge(connection, import_id, report, sampled)
        if not skip_bad and any(problem.fatal for problem in report.problems):
            raise BadInputError(report.problems)
        for record in records:
            connection.execute(
                "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
                [import_id, *(record[name] for name in ("path", "role", "sha256", "bytes", "system", "judge")),
                 canonical_json(report.as_json()["items"]), at],
            )  # fmt: skip

    study.change(work, [*tasks, *records], bulk)


def _import_record(file: ImportedFile, import_id: str, at: str) -> dict[str, Any]:
    return {
        "type": "import", "import_id": import_id, "path": str(file.path), "role": file.role,
        "sha256": sha256_of(file.path), "bytes": file.path.stat().st_size, "system": file.system, "judge": file.judge,
        "at": at,
    }  # fmt: skip


def _merge(connection: Any, import_id: str, report: ImportReport, sampled: str) -> None:
    for table, key in (("systems", "system"), ("texts", "text_hash"), ("judges", "judge_id")):
        connection.execute(
            f"""INSERT INTO {table} SELECT * FROM {LOADED}.{table}
            WHERE rowid IN (SELECT min(rowid) FROM {LOADED}.{table} GROUP BY {key})
                AND {key} NOT IN (SELECT {key} FROM {table})"""
        )
    _merge_items(connection, import_id, report)
    _merge_verdicts(connection, import_id, report)
    connection.execute(
        f"DELETE FROM facts USING {LOADED}.facts s WHERE facts.system = s.system AND facts.kind = s.kind"
        " AND facts.key = s.key"
    )
    connection.execute(
        f"INSERT INTO facts SELECT system, kind, key, position, payload, ? FROM {LOADED}.facts", [import_id]
    )
    _merge_labels(connection, import_id, report, sampled)


def _merge_items(connection: Any, import_id: str, report: ImportReport) -> None:
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE stage_fate AS
        WITH once AS (
            SELECT item_id, min(rowid) AS place, arg_min(task, rowid) AS task,
                arg_min(content_hash, rowid) AS content_hash, arg_min(meta_hash, rowid) AS meta_hash,
                count(DISTINCT content_hash) > 1 AS doubled
            FROM {LOADED}.items GROUP BY item_id)
        SELECT s.item_id, s.place, s.task, coalesce(c.version + 1, 0) AS version,
            CASE WHEN s.doubled THEN 'rejected' WHEN c.item_id IS NULL THEN 'new'
                 WHEN c.content_hash = s.content_hash AND c.meta_hash = s.meta_hash THEN 'same'
                 ELSE 'changed' END AS fate,
            c.content_hash <> s.content_hash AS content_changed, false AS renewed
        FROM once s LEFT JOIN current_items c USING (item_id)"""
    )
    _keep_what_verdicts_changed(connection)
    for task, fate, count in connection.execute(
        "SELECT task, fate, count(*) FROM stage_fate GROUP BY ALL ORDER BY ALL"
    ).fetchall():
        setattr(report.items.setdefault(task, Tally()), fate, count)
    _insert_by_pages(
        connection, "items",
        f"""INSERT INTO items
        SELECT s.item_id, f.version, s.content_hash, s.meta_hash, s.task, s.system, s.natural_key, s.pair_key,
            s.cluster_key, s.group_key, s.slices, s.weight, s.payload, s.texts, s.extra, s.position, ?
        FROM {LOADED}.items s JOIN stage_fate f ON f.place = s.rowid
        WHERE (f.fate IN ('new', 'changed') OR f.renewed) AND s.rowid BETWEEN ? AND ? AND f.place BETWEEN ? AND ?
        ORDER BY s.position""",
        import_id,
    )  # fmt: skip
    report.stale_labels = connection.execute(
        f"""SELECT count(DISTINCT (l.item_id, l.annotator, l.round)) FROM current_labels l
        JOIN stage_fate f USING (item_id) WHERE f.content_changed AND f.fate = 'changed' AND {NOT_PRACTICE}
            AND {DECIDED}"""
    ).fetchone()[0]
    if doubled := sum(tally.rejected for tally in report.items.values()):
        report.problems.append(_doubled(doubled, "items", "content"))
    connection.execute("DROP TABLE stage_fate")


def _keep_what_verdicts_changed(connection: Any) -> None:
    """An item is the same when only what came with a verdict differs; its new version keeps that for the writer."""
    nothing = canonical_json(dict.fromkeys(MAY_HOLD_VERDICTS))
    connection.execute(
        f"""UPDATE stage_fate SET fate = 'same', renewed = s.extra <> c.extra FROM {LOADED}.items s, current_items c
        WHERE fate = 'changed' AND NOT content_changed AND s.rowid = place AND c.item_id = stage_fate.item_id
            AND c.cluster_key = s.cluster_key AND c.group_key = s.group_key AND c.slices = s.slices
            AND c.weight = s.weight AND json_merge_patch(c.extra, ?) = json_merge_patch(s.extra, ?)""",
        [nothing, nothing],
    )


def _insert_by_pages(connection: Any, kind: str, insert: str, import_id: str) -> None:
    """Take over what was staged of a kind, some thousand rows at a time: an order or a join of all fills the memory."""
    first, last = connection.execute(f"SELECT min(rowid), max(rowid) FROM {LOADED}.{kind}").fetchone()
    for start in range(first, last + 1, _MERGED_AT_ONCE) if first is not None else ():
        end = start + _MERGED_AT_ONCE - 1
        connection.execute(insert, [import_id, start, end, start, end])


def _doubled(count: int, things: str, what: str) -> Problem:
    return Problem(
        "", 0, 0, f"{count} {things} stand more than once in the files, with different {what}",
        "Keep the right one of each; --skip-bad leaves them all out.",
    )  # fmt: skip


def _merge_verdicts(connection: Any, import_id: str, report: ImportReport) -> None:
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE stage_answers AS
        WITH once AS (
            SELECT verdict_id, min(rowid) AS place, arg_min(verdict_hash, rowid) AS verdict_hash,
                arg_min(content_hash, rowid) AS content_hash,
                count(DISTINCT (verdict_hash, content_hash)) > 1 AS doubled
            FROM {LOADED}.verdicts GROUP BY verdict_id)
        SELECT s.place, s.doubled, CASE
            WHEN s.doubled THEN 'rejected'
            WHEN max(v.verdict_id) IS NULL THEN 'new'
            WHEN bool_or(v.verdict_hash = s.verdict_hash AND v.content_hash = s.content_hash) THEN 'same'
            WHEN bool_or(v.content_hash = s.content_hash) THEN 'rejected'
            WHEN bool_and(v.verdict_hash = s.verdict_hash) THEN 'changed'
            ELSE 'rejected' END AS fate
        FROM once s LEFT JOIN verdicts v USING (verdict_id)
        GROUP BY s.place, s.doubled, s.verdict_hash, s.content_hash"""
    )
    doubled = 0
    for fate, twice, count in connection.execute(
        "SELECT fate, doubled, count(*) FROM stage_answers GROUP BY fate, doubled"
    ).fetchall():
        setattr(report.verdicts, fate, getattr(report.verdicts, fate) + count)
        doubled += count if twice else 0
    _insert_by_pages(
        connection, "verdicts",
        f"""INSERT INTO verdicts
        SELECT s.verdict_id, s.verdict_hash, s.item_id, s.content_hash, s.judge_id, s.repetition, s.label, s.parts,
            s.failure, s.raw, s.route, s.score, s.confidence, s.confidence_source, s.rationale, s.position,
            s.model_returned, s.tokens_in, s.tokens_out, s.cost, ?
        FROM {LOADED}.verdicts s JOIN stage_answers a ON a.place = s.rowid
        WHERE a.fate IN ('new', 'changed') AND s.rowid BETWEEN ? AND ? AND a.place BETWEEN ? AND ?
        ORDER BY s.position""",
        import_id,
    )  # fmt: skip
    if doubled:
        report.problems.append(_doubled(doubled, "verdicts", "answers"))
    if changed := report.verdicts.rejected - doubled:
        report.problems.append(
            Problem(
                "", 0, 0,
                f"{changed} verdicts differ from those the study has of the same judge",
                "Name the new judge with --judge NAME; both sets are then kept.",
            )
        )  # fmt: skip
    connection.execute("DROP TABLE stage_answers")


_LABEL = (
    "item_id, content_hash, annotator, value, parts, tags, note, unsure, harm, cannot_judge, reference_wrong,"
    " right_answer, evidence, skipped, flagged, mode, adjudicated, happened_at"
)


def _merge_labels(connection: Any, import_id: str, report: ImportReport, sampled: str) -> None:
    """Take over labels that are new; a person's label that differs from the one the study has is left out and told."""
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE stage_said AS
        SELECT s.rowid AS place, CASE
            WHEN row_number() OVER (PARTITION BY s.item_id, s.annotator, s.adjudicated ORDER BY s.rowid) > 1
                THEN 'rejected'
            WHEN f.item_id IS NULL THEN 'new'
            WHEN f.value IS NOT DISTINCT FROM s.value AND f.parts = s.parts AND f.cannot_judge = s.cannot_judge
                AND f.content_hash = s.content_hash THEN 'same'
            ELSE 'rejected' END AS fate
        FROM {LOADED}.labels s LEFT JOIN file_labels f USING (item_id, annotator, adjudicated)"""
    )
    for fate, count in connection.execute("SELECT fate, count(*) FROM stage_said GROUP BY fate").fetchall():
        setattr(report.labels, fate, count)
    connection.execute(
        f"""INSERT INTO file_labels SELECT {_LABEL}, ?, ? FROM {LOADED}.labels s JOIN stage_said a ON a.place = s.rowid
        WHERE a.fate = 'new' ORDER BY s.rowid""",
        [sampled, import_id],
    )
    if report.labels.rejected:
        report.problems.append(
            Problem(
                "", 0, 0,
                f"{report.labels.rejected} labels differ from what the study has of the same person on the same item",
                "Labels in a study are never changed by an import; give the person another name.", fatal=False,
            )
        )  # fmt: skip
    connection.execute("DROP TABLE stage_said")
