"""The files of the HaluMem sample, read once, for its tests."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parents[2] / "sample_data" / "halumem"
SYSTEMS = ("northwind-mem", "tidepool")
BUILT = (
    "README.md",
    "truth.csv",
    *(f"{system}_eval_{kind}" for system in SYSTEMS for kind in ("results.jsonl", "stat_result.json")),
)
TASKS = {
    "integrity": ("memory_integrity_records", "memory_integrity_score"),
    "accuracy": ("memory_accuracy_records", "memory_accuracy_score"),
    "update": ("memory_update_records", "memory_update_type"),
    "qa": ("question_answering_records", "result_type"),
}
LABELS = {
    "integrity": ["2", "1", "0"],
    "accuracy": ["2", "1", "0"],
    "update": ["Correct", "Hallucination", "Omission", "Other"],
    "qa": ["Correct", "Hallucination", "Omission"],
}
CHINESE_USERS = ("周慧兰", "陈志远")

Json = dict[str, Any]
Row = dict[str, str]


@cache
def sheet(system: str) -> list[Json]:
    lines = (SAMPLE / f"{system}_eval_results.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@cache
def result(system: str) -> Json:
    loaded: Json = json.loads((SAMPLE / f"{system}_eval_stat_result.json").read_text(encoding="utf-8"))
    return loaded


@cache
def truth() -> list[Row]:
    with (SAMPLE / "truth.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def names() -> dict[str, str]:
    return {user["uuid"]: user["user_name"] for user in sheet(SYSTEMS[0])}


def judged_sessions(system: str) -> list[tuple[str, int, Json]]:
    return [
        (user["uuid"], number, session)
        for user in sheet(system)
        for number, session in enumerate(user["sessions"])
        if "is_generated_qa_session" not in session
    ]


def records(system: str, task: str) -> list[Json]:
    array: list[Json] = result(system)[TASKS[task][0]]
    return array


def truth_of(system: str, task: str) -> list[Row]:
    return [row for row in truth() if row["system"] == system and row["task"] == task]


def rows_with_records() -> Iterator[tuple[Row, Json]]:
    """Rows of truth.csv and records stand in the same order within system and task."""
    for system in SYSTEMS:
        for task in TASKS:
            yield from zip(truth_of(system, task), records(system, task), strict=True)


def readme_tables(heading: str) -> list[list[list[str]]]:
    """The Markdown tables of a section, without their rules; cells stripped of backticks."""
    text = (SAMPLE / "README.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\|\n?)+", section, flags=re.MULTILINE)
    cells = [[[cell.strip(" `") for cell in line[1:-1].split("|")] for line in table.splitlines()] for table in tables]
    return [[table[0], *table[2:]] for table in cells]
