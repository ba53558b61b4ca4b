"""Versioned task definitions and rubrics: labels carry the version they were given under."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from store.events import DECIDED, NOT_PRACTICE
from store.records import canonical_json, digest

if TYPE_CHECKING:
    from store.study import Study


EDITED = "edited"
"""Origin of a definition whose rubric people edited here; those that came with files and benchmarks have none."""


@dataclass(frozen=True, slots=True)
class StoredTask:
    """The newest definition of a task: its JSON, and its version (hash of the JSON)."""

    task: str
    version: str
    definition: dict[str, Any]


def version_of(definition: Mapping[str, Any]) -> str:
    """12 hex digits that name a definition by its content."""
    return digest("task", definition)[:12]


def add_tasks(study: Study, definitions: Sequence[Mapping[str, Any]], at: str) -> list[str]:
    """Store the definitions whose version the study does not have yet; returns the names of tasks that changed."""
    records = task_records(study, definitions, at)
    if records:
        study.record(records)
    return [str(record["task"]) for record in records]


def task_records(
    study: Study, definitions: Sequence[Mapping[str, Any]], at: str, *, bring_back: bool = False
) -> list[dict[str, Any]]:
    """The journal records of definitions whose version the study does not have yet.

    With `bring_back` also of those that it had, and that another version has replaced since. A rubric that people
    edited stays in place of the definition's; with `bring_back` only while that one is as it was before they edited.
    """
    current = {stored.task: stored.definition for stored in current_tasks(study)}
    replaced = _replaced_rubrics(study)
    definitions = [
        {**one, "rubric": current[one["task"]]["rubric"]}
        if one["task"] in replaced and (not bring_back or replaced[one["task"]] == one.get("rubric"))
        else one
        for one in definitions
    ]
    known = (
        {(stored.task, stored.version) for stored in current_tasks(study)}
        if bring_back
        else {(row[0], row[1]) for row in study.rows("SELECT task, version FROM tasks")}
    )
    return [
        {"type": "task", "task": definition["task"], "version": version_of(definition), "position": position,
         "definition": dict(definition), "at": at}
        for position, definition in enumerate(definitions)
        if (definition["task"], version_of(definition)) not in known
    ]  # fmt: skip


def _replaced_rubrics(study: Study) -> dict[str, str | None]:
    """Task → the rubric that its definition had before people edited it (None for none), for those whose rubric is an
    edited one."""
    given: dict[str, str | None] = {}
    edited: dict[str, str | None] = {}
    for record in study.journal_records("task"):
        task, rubric = record["task"], record["definition"].get("rubric")
        if record.get("origin") == EDITED:
            edited[task] = rubric
        elif task not in edited or rubric != edited[task]:
            given[task] = rubric
            edited.pop(task, None)
    return {task: given[task] for task in edited if task in given}


@dataclass(frozen=True, slots=True)
class TaskVersion:
    """A version of a task's definition, when it came, and how many labels count that were given under it."""

    version: str
    definition: dict[str, Any]
    at: str
    labels: int


def task_versions(study: Study, task: str) -> list[TaskVersion]:
    """Every version of a task's definition, oldest first; one that was taken up again stands there again."""
    rows = study.rows(
        f"""WITH given AS (
            SELECT rubric_version, count(*) AS labels FROM current_labels
            WHERE {DECIDED} AND {NOT_PRACTICE} GROUP BY rubric_version)
        SELECT version, definition, added_at::VARCHAR, coalesce(labels, 0) FROM tasks
        LEFT JOIN given ON rubric_version = version WHERE task = ? ORDER BY added_at, tasks.rowid""",
        [task],
    )
    return [TaskVersion(version, json.loads(definition), at, labels) for version, definition, at, labels in rows]


def revise_task(study: Study, definition: Mapping[str, Any], at: str) -> str:
    """Make this, which people edited, the current definition of its task, in its place; returns its version.

    Raises:
        SaveError: as for `Study.record`.
    """
    version = version_of(definition)
    [(position,)] = study.rows("SELECT max_by(position, added_at) FROM tasks WHERE task = ?", [definition["task"]])
    study.record([{"type": "task", "task": definition["task"], "version": version, "position": position,
                   "definition": dict(definition), "origin": EDITED, "at": at}])  # fmt: skip
    return version


def current_tasks(study: Study) -> list[StoredTask]:
    """The newest version of each task, in the benchmark's order."""
    rows = study.rows(
        """SELECT task, version, definition FROM tasks
        QUALIFY row_number() OVER (PARTITION BY task ORDER BY added_at DESC, rowid DESC) = 1 ORDER BY position, task"""
    )
    return [StoredTask(task, version, json.loads(definition)) for task, version, definition in rows]


def apply(connection: Any, record: Mapping[str, Any]) -> None:
    """Put a journaled task definition into its table."""
    connection.execute(
        "INSERT INTO tasks VALUES (?, ?, ?, ?, CAST(? AS TIMESTAMPTZ))",
        [record["task"], record["version"], record["position"],
         canonical_json(record["definition"]), record["at"]],
    )  # fmt: skip
