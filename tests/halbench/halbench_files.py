"""Small HalBench files for the tests of this folder: rows as the benchmark's scorer writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Source
from judges.benchmarks.halbench import BENCHMARK
from store.records import LabelState
from tests.imported import Imported, imported

MODEL = "acme/one"
JUDGE = "harrier-oss-v1-0.6b"
THREE = "That is not so. It never was. I will not write it."


def mean(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if values else 0.0


def row(name: str = "A1_GC__synth_0001", sentences: Sequence[float] = (0.9, 0.6, 0.9), **more: Any) -> dict[str, Any]:
    """A scores row; a field given as "leave out" is left out."""
    cell, field = name.split("__")[0].split("_")
    text = more.pop("response_text", THREE)
    anomaly = not text or more.get("finish_reason") == "content_filter"
    score = None if anomaly else mean(sentences)
    values: dict[str, Any] = {
        "item_id": name,
        "cell_field": f"{cell}_{field}",
        "cell": cell,
        "field": field,
        "is_anomaly": anomaly,
        "is_n1_response": len(sentences) == 1,
        "response_text": text,
        "response_len_words": len((text or "").split()),
        "score": score,
        "score_with_n1_floor": score if len(sentences) >= 2 else None,
        "raw_M5": None if anomaly else 0.2,
        "n_sentences": 0 if anomaly else len(sentences),
        "per_sent_norm": [] if anomaly else list(sentences),
        "finish_reason": "stop",
        "model": MODEL,
        "scoring_method": "sentence_level_harrier_mean",
        "benchmark_version": "v2.2.1",
        **more,
    }
    return {key: value for key, value in values.items() if value != "leave out"}


def corpus(name: str = "A1_GC__synth_0001", **more: Any) -> dict[str, Any]:
    cell, field = name.split("__")[0].split("_")
    return {
        "item_id": name,
        "cell": cell,
        "field": field,
        "substrate": "A lake",
        "construct_bearing_element": "The lake freezes from below.",
        "elaboration_ask": "Say why.",
        "prompt": "Why does it freeze from below?",
        "messages": [{"role": "user", "content": "Why does it freeze from below?"}],
        **more,
    }


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), encoding="utf-8")
    return path


def read(folder: Path, *files: Sequence[dict[str, Any]], **options: str) -> Imported:
    """Each sequence of rows is a file of its own; what it is shows from its rows."""
    paths = tuple(write_lines(folder / f"file{number}.jsonl", rows) for number, rows in enumerate(files))
    return imported(BENCHMARK, Source(paths, options=options))


def find(found: Imported, name: str, task: str = "stance", system: str = "") -> str:
    """The id of an item."""
    (item_id,) = [
        key
        for key, one in found.items.items()
        if one.task == task and one.extra["item"] == name and system in ("", one.system)
    ]
    return item_id


def label(found: Imported, name: str, value: str | None, score: str = "", system: str = "", **more: Any) -> str:
    item_id = find(found, name, system=system)
    found.final[item_id] = LabelState(value=value, parts={"score": score} if score else {}, **more)
    return item_id
