"""Versions of a judge's rubrics: each is kept and journaled; the newest of a task is the one that judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from store.records import canonical_json, digest

if TYPE_CHECKING:
    from store.study import Study

Origin = Literal["benchmark", "edited", "retuned"]


@dataclass(frozen=True, slots=True)
class StoredRubric:
    """A version of the rubric of a task: its text by language, and where it came from."""

    task: str
    version: str
    texts: Mapping[str, str]
    origin: Origin
    at: str = ""


def rubric_version(texts: Mapping[str, str]) -> str:
    """12 hex digits that name a rubric by its content."""
    return digest("judge rubric", dict(texts))[:12]


def add_rubric(study: Study, task: str, texts: Mapping[str, str], origin: Origin, at: str) -> StoredRubric:
    """Make these texts the task's current rubric. Nothing is written when they are it already.

    Raises:
        SaveError: as for `Study.record`.
    """
    current = current_rubric(study, task)
    version = rubric_version(texts)
    if current is not None and current.version == version:
        return current
    record = {
        "type": "judge_rubric",
        "task": task,
        "version": version,
        "texts": dict(texts),
        "origin": origin,
        "at": at,
    }
    study.record([record])
    return StoredRubric(task, version, dict(texts), origin, at)


def rubric_versions(study: Study, task: str) -> list[StoredRubric]:
    """Every version of a task's rubric, oldest first; one that was taken up again stands there again."""
    rows = study.rows(
        "SELECT task, version, texts, origin, added_at::VARCHAR FROM judge_rubrics WHERE task = ?"
        " ORDER BY added_at, rowid",
        [task],
    )
    return [StoredRubric(row[0], row[1], json.loads(row[2]), row[3], row[4]) for row in rows]


def current_rubric(study: Study, task: str) -> StoredRubric | None:
    """The newest version; None when the study has none yet."""
    versions = rubric_versions(study, task)
    return versions[-1] if versions else None


def apply(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled rubric into its table."""
    connection.execute(
        "INSERT INTO judge_rubrics VALUES (?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
        [record["task"], record["version"], canonical_json(record["texts"]), record["origin"], record["at"]],
    )
