"""The MIST sample that ships with the program, and its known truth."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Sample, Source
from judges.benchmarks.mist.shapes import NOBODY
from judges.benchmarks.mist.tasks import ANSWER, FIRST_PASS, MEMORY
from store.records import LabelState


def sample(folder: Path) -> Sample:
    """Items and results in one import. Of the items' validity the sample states no truth but the key's."""
    answers, memories = _answers(folder), _memories(folder)

    def true_label(system: str, task: str, key: Sequence[Any], extra: Mapping[str, Any]) -> LabelState | None:
        if task == ANSWER.task:
            found = answers.get((system, str(key[0])))
            return LabelState(found["answer"], {FIRST_PASS: found["first_pass_answer"]}) if found else None
        if task == MEMORY.task:
            kind = memories.get((system, str(key[0]), int(extra["place"])))
            return LabelState(kind) if kind else None
        return None

    about = "24 invented questions, two models, three memory systems, a harness whose misreadings are known"
    return Sample(about, (Source((folder / "items.jsonl", folder / "results.jsonl")),), true_label)


def _answers(folder: Path) -> Mapping[tuple[str, str], Mapping[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for row in _rows(folder / "truth.csv"):
        found.setdefault((_system(row), row["item_id"]), {})[row["field"]] = row["truth"] or NOBODY
    return found


def _memories(folder: Path) -> Mapping[tuple[str, str, int], str]:
    rows = _rows(folder / "truth_memory.csv")
    return {(_system(row), row["item_id"], int(row["place"])): row["kind"] for row in rows}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _system(row: Mapping[str, str]) -> str:
    return f"{row['model']} / {row['setting']} / {row['regime']} / run {row['run']}"
