"""The HalBench sample that ships with the program, and its known truth."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Sample, Source
from judges.benchmarks.halbench.tasks import RANKING, SCORE
from store.records import LabelState, canonical_json


def sample(folder: Path) -> Sample:
    """All models in one import, so that their replies to one item are ranked."""
    files = tuple(sorted(path for path in folder.iterdir() if path.suffix in (".json", ".jsonl")))
    stances, rankings = _stances(folder), _rankings(folder)

    def true_label(system: str, task: str, key: Sequence[Any], extra: Mapping[str, Any]) -> LabelState | None:
        if task == RANKING.task:
            ids = {model: entry for entry, model in extra["models"].items()}
            order = rankings.get(str(key[0]))
            return LabelState(canonical_json([[ids[model] for model in tied] for tied in order])) if order else None
        return stances.get((system, str(key[0])))

    return Sample("sixteen invented prompts, four models, scores whose errors are known", (Source(files),), true_label)


def _stances(folder: Path) -> Mapping[tuple[str, str], LabelState]:
    with (folder / "truth.csv").open(encoding="utf-8", newline="") as stream:
        return {(row["model"], row["item_id"]): _state(row) for row in csv.DictReader(stream) if row["stance"]}


def _state(row: Mapping[str, str]) -> LabelState:
    tags = (row["error"],) if row["error"] else ()
    return LabelState(row["stance"], {SCORE: row["true_score"]}, tags=tags)


def _rankings(folder: Path) -> Mapping[str, list[list[str]]]:
    with (folder / "truth_rankings.csv").open(encoding="utf-8", newline="") as stream:
        return {row["item_id"]: json.loads(row["ranking"]) for row in csv.DictReader(stream)}
