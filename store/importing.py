"""Bulk import of a reader's records: staged on disk, merged in one transaction, labels never touched."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from store.errors import InputError, SaveError
from store.files import private_umask, sha256_of
from store.records import (
    FactRecord,
    ItemRecord,
    JudgeRecord,
    Problem,
    Record,
    SystemRecord,
    TextRecord,
    VerdictRecord,
    canonical_json,
)
from store.writer import in_transaction

if TYPE_CHECKING:
    from store.study import Study

_TEXT_MEMORY = 200_000
"""How many text hashes an import remembers so as not to stage a text twice; beyond, the merge removes doubles."""

_STAGES: dict[str, dict[str, str]] = {
    "systems": dict.fromkeys(("system", "name", "run", "condition", "regime", "metadata"), "VARCHAR"),
    "texts": {"text_hash": "VARCHAR", "body": "VARCHAR"},
    "judges": dict.fromkeys(("judge_id", "task", "name", "model", "prompt_version", "parameters"), "VARCHAR"),
    "items": {
        **dict.fromkeys(
            ("item_id", "content_hash", "meta_hash", "task", "system", "natural_key", "pair_key", "cluster_key",
             "group_key", "slices", "payload", "texts", "extra"), "VARCHAR"),
        "weight": "DOUBLE", "position": "BIGINT",
    },
    "verdicts": {
        **dict.fromkeys(
            ("verdict_id", "verdict_hash", "item_id", "content_hash", "judge_id", "label", "parts", "failure", "raw",
             "route", "confidence_source", "rationale", "model_returned"), "VARCHAR"),
        "repetition": "INTEGER", "score": "DOUBLE", "confidence": "DOUBLE", "position": "BIGINT",
        "tokens_in": "BIGINT", "tokens_out": "BIGINT", "cost": "DOUBLE",
    },
    "facts": {"system": "VARCHAR", "kind": "VARCHAR", "key": "VARCHAR", "position": "BIGINT", "payload": "VARCHAR"},
}  # fmt: skip


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
        problems: every bad place and every warning, in file order.
        stale_labels: labels whose item changed: they stay, flagged, and enter no number until given again.
    """

    items: dict[str, Tally] = field(default_factory=dict)
    verdicts: Tally = field(default_factory=Tally)
    problems: list[Problem] = field(default_factory=list)
    stale_labels: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "items": {task: tally.as_json() for task, tally in self.items.items()},
            "verdicts": self.verdicts.as_json(),
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
    study: Study, records: Iterable[Record], files: list[ImportedFile], *, skip_bad: bool = False, at: str = ""
) -> ImportReport:
    """Read a stream of records into the study, all or nothing.

    Raises:
        BadInputError: the stream holds fatal problems and `skip_bad` is off; the study is as it was.
        SaveError: the disk is full or the folder cannot be written; the study is as it was.
    """
    report = ImportReport()
    try:
        with _staging_folder(study.path.parent) as folder:
            staged = _stage(records, folder, report)
            if not skip_bad and any(problem.fatal for problem in report.problems):
                raise BadInputError(report.problems)
            _merge_into(study, staged, files, report, skip_bad=skip_bad, at=at)
    except OSError as error:
        raise SaveError(
            "Not imported.",
            f"{error.filename or study.path}: {error.strerror}",
            "Nothing was changed. Free disk space.",
        ) from error
    return report


@contextlib.contextmanager
def _staging_folder(parent: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=".overread-import-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _stage(records: Iterable[Record], folder: Path, report: ImportReport) -> dict[str, Path]:
    """Write records as NDJSON, one file a kind, and collect problems; returns the files that hold something."""
    paths = {kind: folder / f"{kind}.ndjson" for kind in _STAGES}
    with contextlib.ExitStack() as stack:
        stack.enter_context(private_umask())
        outs: dict[str, IO[str]] = {
            kind: stack.enter_context(path.open("w", encoding="utf-8")) for kind, path in paths.items()
        }
        seen_texts: set[str] = set()
        for record in records:
            if isinstance(record, Problem):
                report.problems.append(record)
                continue
            if isinstance(record, TextRecord):
                if record.text_hash in seen_texts:
                    continue
                if len(seen_texts) < _TEXT_MEMORY:
                    seen_texts.add(record.text_hash)
            kind, row = _row_of(record)
            outs[kind].write(json.dumps(row, ensure_ascii=False))
            outs[kind].write("\n")
    return {kind: path for kind, path in paths.items() if path.stat().st_size}


def _row_of(record: Record) -> tuple[str, Mapping[str, Any]]:
    match record:
        case TextRecord():
            return "texts", {"text_hash": record.text_hash, "body": record.text}
        case ItemRecord():
            return "items", _item_row(record)
        case VerdictRecord():
            return "verdicts", _verdict_row(record)
        case FactRecord():
            return "facts", {
                "system": record.system,
                "kind": record.kind,
                "key": record.key,
                "position": record.position,
                "payload": canonical_json(record.payload),
            }
        case JudgeRecord():
            return "judges", {
                "judge_id": record.judge_id,
                "task": record.task,
                "name": record.name,
                "model": record.model,
                "prompt_version": record.prompt_version,
                "parameters": canonical_json(dict(record.parameters)),
            }
        case SystemRecord():
            return "systems", {
                "system": record.system,
                "name": record.name,
                "run": record.run,
                "condition": record.condition,
                "regime": record.regime,
                "metadata": canonical_json(dict(record.metadata)),
            }
        case _:
            raise TypeError(f"not a record: {type(record).__name__}")  # fmt: skip


def _item_row(item: ItemRecord) -> dict[str, Any]:
    return {
        "item_id": item.item_id, "content_hash": item.content_hash, "meta_hash": item.meta_hash, "task": item.task,
        "system": item.system, "natural_key": item.natural_key, "pair_key": item.pair_key,
        "cluster_key": item.cluster, "group_key": item.group, "slices": canonical_json(dict(item.slices)),
        "payload": canonical_json(dict(item.payload)), "texts": canonical_json(dict(item.texts)),
        "extra": canonical_json(dict(item.extra)), "weight": item.weight, "position": item.position,
    }  # fmt: skip


def _verdict_row(verdict: VerdictRecord) -> dict[str, Any]:
    return {
        "verdict_id": verdict.verdict_id, "verdict_hash": verdict.verdict_hash, "item_id": verdict.item_id,
        "content_hash": verdict.content_hash, "judge_id": verdict.judge_id, "label": verdict.label,
        "parts": canonical_json(dict(verdict.parts)), "failure": verdict.failure, "raw": verdict.raw,
        "route": verdict.route, "confidence_source": verdict.confidence_source, "rationale": verdict.rationale,
        "model_returned": verdict.model_returned, "repetition": verdict.repetition, "score": verdict.score,
        "confidence": verdict.confidence, "position": verdict.position, "tokens_in": verdict.tokens_in,
        "tokens_out": verdict.tokens_out, "cost": verdict.cost,
    }  # fmt: skip


def _merge_into(
    study: Study,
    staged: Mapping[str, Path],
    files: list[ImportedFile],
    report: ImportReport,
    *,
    skip_bad: bool,
    at: str,
) -> None:
    described = [(file, sha256_of(file.path), file.path.stat().st_size) for file in files]
    import_id = secrets.token_hex(8)

    def work(connection: Any) -> None:
        def transaction() -> None:
            _load_stages(connection, staged)
            _merge(connection, import_id, report)
            if not skip_bad and any(problem.fatal for problem in report.problems):
                raise BadInputError(report.problems)
            for file, sha256, size in described:
                connection.execute(
                    "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
                    [import_id, str(file.path), file.role, sha256, size, file.system, file.judge,
                     canonical_json(report.as_json()["items"]), at],
                )  # fmt: skip

        try:
            in_transaction(connection, transaction)
        finally:
            for kind in _STAGES:
                connection.execute(f"DROP TABLE IF EXISTS temp.stage_{kind}")
        connection.execute("CHECKPOINT")

    study.writer.do(work, urgent=False)
    study.record([
        {"type": "import", "import_id": import_id, "path": str(file.path), "role": file.role, "sha256": sha256,
         "bytes": size, "system": file.system, "judge": file.judge, "at": at}
        for file, sha256, size in described
    ])  # fmt: skip


def _load_stages(connection: Any, staged: Mapping[str, Path]) -> None:
    for kind, columns in _STAGES.items():
        listed = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
        connection.execute(f"CREATE OR REPLACE TEMP TABLE stage_{kind} ({listed})")
        if (path := staged.get(kind)) is None:
            continue
        shape = ", ".join(f"'{name}': '{type_}'" for name, type_ in columns.items())
        names = ", ".join(columns)
        longest = max(_longest_line(path) * 2, 16 * 2**20)
        connection.execute(
            f"INSERT INTO stage_{kind} ({names}) SELECT {names} FROM read_json(?, format = 'newline_delimited',"
            f" columns = {{{shape}}}, maximum_object_size = {longest})",
            [str(path)],
        )


def _longest_line(path: Path) -> int:
    with path.open("rb") as lines:
        return max(map(len, lines), default=0)


def _merge(connection: Any, import_id: str, report: ImportReport) -> None:
    for table, key in (("systems", "system"), ("texts", "text_hash"), ("judges", "judge_id")):
        connection.execute(
            f"INSERT INTO {table} SELECT DISTINCT ON ({key}) * FROM stage_{table}"
            f" WHERE {key} NOT IN (SELECT {key} FROM {table})"
        )
    _merge_items(connection, import_id, report)
    _merge_verdicts(connection, import_id, report)
    connection.execute(
        "DELETE FROM facts USING stage_facts s WHERE facts.system = s.system AND facts.kind = s.kind"
        " AND facts.key = s.key"
    )
    connection.execute("INSERT INTO facts SELECT system, kind, key, position, payload, ? FROM stage_facts", [import_id])


def _merge_items(connection: Any, import_id: str, report: ImportReport) -> None:
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE stage_fate AS
        SELECT s.item_id, s.task, coalesce(c.version + 1, 0) AS version,
            CASE WHEN c.item_id IS NULL THEN 'new'
                 WHEN c.content_hash = s.content_hash AND c.meta_hash = s.meta_hash THEN 'same'
                 ELSE 'changed' END AS fate,
            c.content_hash <> s.content_hash AS content_changed
        FROM stage_items s LEFT JOIN current_items c USING (item_id)"""
    )
    for task, fate, count in connection.execute(
        "SELECT task, fate, count(*) FROM stage_fate GROUP BY ALL ORDER BY ALL"
    ).fetchall():
        setattr(report.items.setdefault(task, Tally()), fate, count)
    connection.execute(
        """INSERT INTO items
        SELECT s.item_id, f.version, s.content_hash, s.meta_hash, s.task, s.system, s.natural_key, s.pair_key,
            s.cluster_key, s.group_key, s.slices, s.weight, s.payload, s.texts, s.extra, s.position, ?
        FROM stage_items s JOIN stage_fate f USING (item_id) WHERE f.fate <> 'same' ORDER BY s.position""",
        [import_id],
    )
    report.stale_labels = connection.execute(
        """SELECT count(DISTINCT (l.item_id, l.annotator, l.round)) FROM current_labels l
        JOIN stage_fate f USING (item_id) WHERE f.content_changed AND (l.value IS NOT NULL OR l.cannot_judge <> '')"""
    ).fetchone()[0]
    connection.execute("DROP TABLE stage_fate")


def _merge_verdicts(connection: Any, import_id: str, report: ImportReport) -> None:
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE stage_answers AS
        SELECT s.*, CASE
            WHEN max(v.verdict_id) IS NULL THEN 'new'
            WHEN bool_or(v.verdict_hash = s.verdict_hash AND v.content_hash = s.content_hash) THEN 'same'
            WHEN bool_or(v.content_hash = s.content_hash) THEN 'rejected'
            WHEN bool_and(v.verdict_hash = s.verdict_hash) THEN 'changed'
            ELSE 'rejected' END AS fate
        FROM stage_verdicts s LEFT JOIN verdicts v USING (verdict_id) GROUP BY ALL"""
    )
    for fate, count in connection.execute("SELECT fate, count(*) FROM stage_answers GROUP BY fate").fetchall():
        setattr(report.verdicts, fate, count)
    connection.execute(
        """INSERT INTO verdicts
        SELECT verdict_id, verdict_hash, item_id, content_hash, judge_id, repetition, label, parts, failure, raw,
            route, score, confidence, confidence_source, rationale, position, model_returned, tokens_in, tokens_out,
            cost, ? FROM stage_answers WHERE fate IN ('new', 'changed') ORDER BY position""",
        [import_id],
    )
    if report.verdicts.rejected:
        report.problems.append(
            Problem(
                "", 0, 0,
                f"{report.verdicts.rejected} verdicts differ from those the study has of the same judge",
                "Name the new judge with --judge NAME; both sets are then kept.",
            )
        )  # fmt: skip
    connection.execute("DROP TABLE stage_answers")
