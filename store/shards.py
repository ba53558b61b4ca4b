"""Shards of a judge's run: verdicts as Parquet files in a folder beside the study, each taken in exactly once.

A shard stands under its name only when it is whole and safe on disk, and `verdict_shards` says which were taken in.
So a crash between the two loses nothing, and a shard that comes twice adds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.call_log import line_of
from store.chains import now
from store.database import told
from store.errors import InputError
from store.files import fsync_folder, sha256_of, told_of
from store.judged_rows import ROW, Judged, drop_known, line_members, put_staged, row_of, stage, staged_rows, text_of
from store.paid_calls import JUDGE, VERDICT, put_judge
from store.parquet import without_wildcards

if TYPE_CHECKING:
    from store.study import Study

SUFFIX = ".parquet"
_PART = ".part"
_JUDGE = {"judge_task": "task", "judge_name": "name", "judge_model": "model", "judge_prompt": "prompt_version",
          "judge_parameters": "parameters"}  # fmt: skip
"""Columns that describe a verdict's judge: column of the shard → column of `judges`."""
_COLUMNS = {"study_id": "VARCHAR", **dict.fromkeys(_JUDGE, "VARCHAR"), **ROW}


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What was taken in of shards that lay there: files, and verdicts that the study did not have."""

    shards: int = 0
    verdicts: int = 0


def shard_folder(study: Study) -> Path:
    """Where a study's shards are: `NAME.shards` beside it."""
    return study.path.with_name(f"{study.path.stem}.shards")


class ShardStore:
    """Stores verdicts by way of shards; to be called in the place of `store.judging.write_judged`.

    Attributes:
        written: shards so far.
    """

    def __init__(self) -> None:
        self.written = 0

    def __call__(self, study: Study, run_id: str, judged: Sequence[Judged]) -> Future[Any]:
        """Write a shard and take it in; the future's result are the ids of the verdicts stored."""
        self.written += 1
        path = shard_folder(study) / f"{run_id}-{self.written:06}{SUFFIX}"
        text = text_of([row_of(run_id, one) for one in judged])

        def work(connection: Any) -> tuple[set[str], list[str]]:
            _write(connection, study, path, text)
            return _take_in(connection, study, path)

        return study.keep_paid(work)


def write_shard(study: Study, run_id: str, number: int, judged: Sequence[Judged]) -> Path:
    """Write a shard and do not take it in.

    Raises:
        NotWrittenError: no space, no rights.
    """
    path = shard_folder(study) / f"{run_id}-{number:06}{SUFFIX}"
    text = text_of([row_of(run_id, one) for one in judged])
    study.writer.do(lambda connection: _write(connection, study, path, text), urgent=False)
    return path


def take_in_shards(study: Study) -> TakenIn:
    """Take in every shard that lies in the study's folder and was not taken in yet: a run was lost before it could.

    Raises:
        InputError: a file there is no shard of this study. StudyDamagedError, NotWrittenError: of the study.
    """
    folder = shard_folder(study)
    if not folder.is_dir():
        return TakenIn()
    for part in folder.glob(f"*{SUFFIX}{_PART}"):
        part.unlink(missing_ok=True)
    shards = verdicts = 0
    for path in waiting_shards(study):
        stored = study.keep_paid(partial(_take_in, study=study, path=path)).result()
        shards, verdicts = shards + bool(stored), verdicts + len(stored)
    return TakenIn(shards, verdicts)


def waiting_shards(study: Study) -> list[Path]:
    """Shards beside the study that were not taken in yet, by name."""
    known = {row[0] for row in study.rows("SELECT name FROM verdict_shards")}
    return sorted(path for path in shard_folder(study).glob(f"*{SUFFIX}") if path.name not in known)


def waiting_words(count: int) -> str:
    """The same in words."""
    what = "1 shard of a lost run waits" if count == 1 else f"{count:,} shards of a lost run wait"
    return f"{what} beside the study; the next overread judge takes in what it lacks"


def _write(connection: Any, study: Study, path: Path, text: str) -> None:
    """The file, whole and on disk before it has its name. Writer thread only."""
    part = path.with_name(f"{path.name}{_PART}")
    judge = ", ".join(f"j.{column} AS {name}" for name, column in _JUDGE.items())
    with told_of(path), told(study.path):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        stage(connection, text)
        study_id = study.study_id.replace("'", "''")
        connection.execute(
            f"""COPY (SELECT '{study_id}' AS study_id, {judge}, s.* FROM stage_judged s
            LEFT JOIN judges j USING (judge_id)) TO {_quoted(str(part))} (FORMAT parquet, COMPRESSION zstd)"""
        )
        connection.execute("DROP TABLE stage_judged")
        _make_durable(part)
        part.replace(path)
        fsync_folder(path.parent)


def _make_durable(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _take_in(connection: Any, study: Study, path: Path) -> tuple[set[str], list[str]]:
    """The ids of the verdicts stored, and the lines that the file of paid calls keeps of them. Inside a transaction."""
    with told_of(path):
        content = sha256_of(path)
    if connection.execute("SELECT 1 FROM verdict_shards WHERE sha256 = ?", [content]).fetchone():
        return set(), []
    _stage_file(connection, study, path)
    lines = [line_of(JUDGE, judge) for judge in _staged_judges(connection) if put_judge(connection, judge)]
    drop_known(connection)  # a study that was made anew has them from the file of paid calls
    rows = staged_rows(connection)
    stored = put_staged(connection)
    connection.execute(
        "INSERT INTO verdict_shards VALUES (?, ?, ?, CAST(? AS TIMESTAMPTZ))",
        [content, path.name, len(stored), now().isoformat()],
    )
    return stored, [*lines, *(line_of(VERDICT, line_members(row)) for row in rows if row["verdict_id"] in stored)]


def _staged_judges(connection: Any) -> list[dict[str, Any]]:
    names = {"judge_id": "judge_id", **_JUDGE}
    found = connection.execute(
        f"SELECT DISTINCT {', '.join(names)} FROM stage_judged WHERE judge_task IS NOT NULL ORDER BY judge_id"
    ).fetchall()
    return [dict(zip(names.values(), row, strict=True)) for row in found]


def _stage_file(connection: Any, study: Study, path: Path) -> None:
    """The shard as the temporary table `stage_judged`.

    Raises:
        InputError: it cannot be read, or belongs to another study.
    """
    from store.engine import duckdb

    columns = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in _COLUMNS.items())
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE stage_judged AS SELECT {columns} FROM read_parquet(?)",
            [without_wildcards(path)],
        )
    except duckdb.Error as error:
        raise _refused(path, f"{path.name} in {path.parent.name} is damaged, or no shard.") from error
    foreign = connection.execute("SELECT count(*) FROM stage_judged WHERE study_id <> ?", [study.study_id]).fetchone()
    if foreign[0]:
        raise _refused(path, f"{path.name} in {path.parent.name} is a shard of another study.")


def _refused(path: Path, title: str) -> InputError:
    return InputError(title, str(path), "Move it out of the folder; what it held is asked for again.")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
