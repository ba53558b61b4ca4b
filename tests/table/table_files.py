"""Small tables for the tests of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Source
from judges.benchmarks.table import BENCHMARK
from tests.imported import Imported, imported


def row(number: int | str, label: Any = "pass", verdict: Any = "pass", **more: Any) -> dict[str, Any]:
    """A row with one person's label and one judge's verdict; a field given as None is left out."""
    values: dict[str, Any] = {
        "item_id": f"i{number}" if isinstance(number, int) else number,
        "question": f"Question {number}?",
        "response": f"Response {number}.",
        "human": [{"annotator": "A1", "label": label}],
        "judge": [{"judge": "gpt", "label": verdict}],
        **more,
    }
    return {name: value for name, value in values.items() if value is not None}


def rows(labels: str = "pass fail pass fail", verdicts: str = "pass pass pass fail") -> list[dict[str, Any]]:
    pairs = zip(labels.split(), verdicts.split(), strict=True)
    return [row(number, label, verdict) for number, (label, verdict) in enumerate(pairs)]


def write_rows(path: Path, values: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return path


def write_tasks(folder: Path, text: str) -> str:
    path = folder / "tasks.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def read(*files: Path, tasks: str = "", system: str = "", judge: str = "", **options: str) -> Imported:
    chosen = options | ({"tasks": tasks} if tasks else {})
    return imported(BENCHMARK, Source(files, system=system, judge=judge, options=chosen))


def read_values(folder: Path, values: list[dict[str, Any]], tasks: str = "", **more: Any) -> Imported:
    """Rows written as `run.jsonl` and read; `tasks` is the text of a task file."""
    named = write_tasks(folder, tasks) if tasks else ""
    return read(write_rows(folder / "run.jsonl", values), tasks=named, **more)


def source(path: Path, tasks: str = "") -> Source:
    return Source((path,), options={"tasks": tasks} if tasks else {})
