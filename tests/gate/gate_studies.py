"""A judge of known quality in a study of its own: labels and verdicts by plan, through the real import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotate.cli.study import create_study, read_into
from store.study import Study

AT = "2026-03-01T09:00:00+01:00"
RIGHT, WRONG = "right", "wrong"
TASKS = """
[task]
name = "check"
title = "Check"
question = "Is it right?"
show = [{ field = "response" }]
[[task.labels]]
value = "right"
key = "y"
[[task.labels]]
value = "wrong"
key = "b"
"""


def rows_of(pairs: Sequence[tuple[str, str | None]], **more: Sequence[Any]) -> list[dict[str, Any]]:
    """One item a (label, verdict) pair; `more` gives further columns."""
    return [
        {
            "item_id": f"i{number}", "response": f"Answer number {number}.",
            "human": [{"annotator": "A1", "label": label, "mode": "blind"}] if label else [],
            "judge": [{"judge": "gpt", "label": verdict}],
            **{name: values[number] for name, values in more.items()},
        }
        for number, (label, verdict) in enumerate(pairs)
    ]  # fmt: skip


def pairs_of(right: int, missed_right: int, wrong: int, missed_wrong: int) -> list[tuple[str, str | None]]:
    """So many items that people call right and wrong, some of each missed by the judge."""
    return [
        *[(RIGHT, RIGHT)] * (right - missed_right), *[(RIGHT, WRONG)] * missed_right,
        *[(WRONG, WRONG)] * (wrong - missed_wrong), *[(WRONG, RIGHT)] * missed_wrong,
    ]  # fmt: skip


def study_of(path: Path, rows: Sequence[dict[str, Any]], task_file: str = TASKS) -> Study:
    """An open study of these rows."""
    tasks = path.with_name("tasks.toml")
    tasks.write_text(task_file, encoding="utf-8")
    study = create_study(path, "table")
    add_rows(study, path.with_name("rows.jsonl"), rows)
    return study


def add_rows(study: Study, file: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Import rows as a user would."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = {"tasks": str(study.path.with_name("tasks.toml"))}
    read_into(study, [file], [], system="", judge="", skip_bad=False, options=options, sampled="census")
