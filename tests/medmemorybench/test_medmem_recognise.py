"""Telling the benchmark's files from others by their first bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from medmem_records import SHAPE, SHAPE_RESULT, query_of, read, shape, whole_shape, write

from judges.benchmarks.benchmark import benchmark_names, get_benchmark
from judges.benchmarks.medmemorybench import BENCHMARK
from judges.benchmarks.medmemorybench.recognise import HEAD_BYTES, kind_of_head

CHECKPOINT = {"checkpoint_id": "x", "method_name": "bm25", "dataset_name": "medmemorybench", "completed_results": {}}
BUILD_LOG = {"method_name": "bm25", "model_name": "m", "dataset_name": "medmemorybench", "summary": {}, "units": []}
HALUMEM = Path(__file__).parent.parent / "fixtures" / "halumem" / "synthetic_eval_stat_result.json"


def head(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8")[:HEAD_BYTES]


def test_the_files_of_the_benchmark() -> None:
    assert kind_of_head(SHAPE.read_bytes()) == "answers"
    assert kind_of_head(SHAPE_RESULT.read_bytes()) == "result"
    assert kind_of_head(head(CHECKPOINT)) == "checkpoint"
    assert kind_of_head(head({"metadata": {}, "queries": [query_of("eem")]})) == "queries"
    assert kind_of_head(b"\xef\xbb\xbf" + SHAPE.read_bytes()) == "answers", "a byte-order mark"


def test_names_are_told_by_depth_not_by_words_in_texts() -> None:
    told = {"title": "has method_name, by_context and queries", "nested": {"method_name": "x", "by_context": {}}}
    assert kind_of_head(head(told)) == ""
    assert kind_of_head(HALUMEM.read_bytes()) == ""
    assert kind_of_head(b"") == kind_of_head(b"\x00\xff") == ""


def test_the_harness_runs_other_data_sets_too() -> None:
    other = shape()
    other["dataset_name"] = "locomo"
    other["queries"] = [{**record, "query_type": "single_hop"} for record in other["queries"]]
    assert kind_of_head(head(other)) == "other_benchmark"
    del other["dataset_name"]
    assert kind_of_head(head({**other, "queries": shape()["queries"]})) == "answers", "by its query types"


def test_the_registry_finds_it_and_it_takes_only_its_own() -> None:
    assert "medmemorybench" in benchmark_names()
    assert get_benchmark("medmemorybench") is BENCHMARK
    assert BENCHMARK.recognises(SHAPE, SHAPE.read_bytes())
    assert not BENCHMARK.recognises(HALUMEM, HALUMEM.read_bytes())
    assert not get_benchmark("halumem").recognises(SHAPE, SHAPE.read_bytes())
    assert not BENCHMARK.recognises(Path("x"), head(BUILD_LOG))


@pytest.mark.parametrize(
    ("value", "words"),
    [(BUILD_LOG, "log of building memories"), ({"a": 1}, "no MedMemoryBench file"), ([1, 2], "no MedMemoryBench file")],
)
def test_what_it_cannot_read_is_said(tmp_path: Path, value: Any, words: str) -> None:
    (problem,) = read(write(tmp_path, value, "file.json")).problems
    assert problem.fatal and words in problem.what and problem.remedy


def test_a_folder_stands_for_the_files_that_are_the_benchmarks(tmp_path: Path) -> None:
    write(tmp_path, whole_shape())
    write(tmp_path, BUILD_LOG, "run_memory_build.json")
    write(tmp_path, {"a": 1}, "deep/other.json")
    imported = read(tmp_path)
    assert len(imported.items) == 18 and not imported.fatal


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = read(tmp_path / "nothing.json").problems
    assert problem.fatal and "cannot be read" in problem.what
