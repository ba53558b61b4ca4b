"""The MedMemoryBench sample that ships with the program, and its known truth."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Sample, Source
from store.records import LabelState

PARTS = ("conclusion", "nodes", "cc", "abstained", "evidence")


def sample(folder: Path) -> Sample:
    """All runs in one import: two systems, with and without noise, in Chinese and in English."""
    files = tuple(sorted(path for name in ("outputs", "data") for path in (folder / name).rglob("*.json")))
    truth = _truth(folder)

    def true_label(system: str, task: str, key: Sequence[Any], extra: Mapping[str, Any]) -> LabelState | None:  # noqa: ARG001
        return truth.get((system, *map(str, key)))

    about = "four invented patients, two memory systems, Chinese and English, a judge whose errors are known"
    return Sample(about, (Source(files, (), "", "sample-judge"),), true_label)


def _truth(folder: Path) -> Mapping[tuple[str, ...], LabelState]:
    """By system as the reader names it, persona and query."""
    with (folder / "truth.csv").open(encoding="utf-8", newline="") as stream:
        return {(_system(row), row["persona"], row["query_id"]): _state(row) for row in csv.DictReader(stream)}


def _system(row: Mapping[str, str]) -> str:
    return f"{row['system']}_sample-model/{row['regime']}/{row['language']}"


def _state(row: Mapping[str, str]) -> LabelState:
    parts = {name: row[name] for name in PARTS if row[name]}
    tags = (row["tag"],) if row["tag"] else ()
    return LabelState(value=row["truth"], parts=parts, harm=row["harm"], tags=tags)
