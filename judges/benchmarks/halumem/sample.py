"""The HaluMem sample that ships with the program, and its known truth."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Sample, Source
from store.records import LabelState

RESULTS = "_eval_stat_result.json"


def sample(folder: Path) -> Sample:
    """Two systems, one import each."""
    names = sorted(path.name.removesuffix(RESULTS) for path in folder.glob(f"*{RESULTS}"))
    sources = tuple(
        Source((folder / f"{name}{RESULTS}", folder / f"{name}_eval_results.jsonl"), (), name, "sample-judge")
        for name in names
    )
    truth = _truth(folder)

    def true_label(system: str, task: str, key: Sequence[Any], extra: Mapping[str, Any]) -> LabelState | None:  # noqa: ARG001
        uuid, session, point, *_ = key
        return truth.get((system, task, f"{uuid}/{session}/{point}"))

    return Sample("six invented people, two memory systems, a judge whose errors are known", sources, true_label)


def _truth(folder: Path) -> Mapping[tuple[str, str, str], LabelState]:
    with (folder / "truth.csv").open(encoding="utf-8", newline="") as source:
        return {(row["system"], row["task"], _row_key(row)): _state(row) for row in csv.DictReader(source)}


def _state(row: Mapping[str, str]) -> LabelState:
    return LabelState(value=row["truth"], parts={"included": row["truth_flag"]} if row["truth_flag"] else {})


def _row_key(row: Mapping[str, str]) -> str:
    return f"{row['uuid']}/{row['ssession_id']}/{row['key']}"
