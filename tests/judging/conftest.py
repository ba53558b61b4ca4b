"""Studies to judge: a table of questions, made by the real commands, and labels at the desk's own door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judges.benchmarks.benchmark import Source
from judges.benchmarks.table import BENCHMARK
from store.importing import ImportedFile, import_records
from store.study import Study
from store.tasks import add_tasks

TASKS = """
[task]
name = "qa"
title = "Question answering"
question = "Is the response right?"
labels = ["CORRECT", "INCORRECT"]
rubric = "Right means the same as the reference."
"""


def rows(count: int, **more: Any) -> list[dict[str, Any]]:
    """Rows whose texts tell them apart; every second one labelled CORRECT by a person."""
    return [
        {"item_id": f"i{n:05}", "question": f"Question {n}?", "response": f"Response {n}.", "reference": f"Truth {n}.",
         "human": [{"annotator": "A1", "label": "CORRECT" if n % 2 else "INCORRECT"}], **more}
        for n in range(count)
    ]  # fmt: skip


def make_study(folder: Path, values: list[dict[str, Any]], name: str = "judged.duckdb") -> Path:
    """A study of these rows; labels in them are people's."""
    table, tasks, path = folder / "rows.jsonl", folder / "tasks.toml", folder / name
    table.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    tasks.write_text(TASKS, encoding="utf-8")
    with Study.create(path, "table") as study:
        source = _source(folder)
        add_tasks(study, [task.as_json() for task in BENCHMARK.tasks_for(source)], "2026-01-01T00:00:00+00:00")
        import_rows(study, folder)
    return path


def import_rows(study: Study, folder: Path) -> None:
    """Import the rows that `make_study` has laid out (again)."""
    files = [ImportedFile(folder / "rows.jsonl", "results", "sys", "")]
    import_records(study, BENCHMARK.read(_source(folder)), files, sampled="srs")


def _source(folder: Path) -> Source:
    return Source((folder / "rows.jsonl",), system="sys", options={"tasks": str(folder / "tasks.toml")})


@pytest.fixture
def ten(tmp_path: Path) -> Iterator[Study]:
    """A study of ten labelled items, open."""
    with Study.open(make_study(tmp_path, rows(10))) as study:
        yield study
