"""Which files are HaluMem's, and which label a verdict field holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from halumem_records import MARTIN, SHEET, VERDICTS, stat, users

from judges.benchmarks.benchmark import benchmark_names, get_benchmark
from judges.benchmarks.halumem import BENCHMARK
from judges.benchmarks.halumem.verdict_labels import read_label


def recognises(content: str | bytes) -> bool:
    head = content.encode("utf-8") if isinstance(content, str) else content
    return BENCHMARK.recognises(Path("any.json"), head[: 1 << 16])


def test_the_benchmark_is_found_by_its_folder() -> None:
    assert "halumem" in benchmark_names()
    assert get_benchmark("halumem") is BENCHMARK


@pytest.mark.parametrize("path", [SHEET, VERDICTS, MARTIN], ids=lambda path: path.name)
def test_result_files_are_recognised(path: Path) -> None:
    assert recognises(path.read_bytes())


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(stat(), indent=4),
        json.dumps({name: [] for name in stat() if name != "overall_score"}),
        json.dumps(users()),
        json.dumps(users()[0], indent=2),
        "\ufeff" + json.dumps(users()[1]),
        json.dumps({"uuid": "u", "sessions": [{"add_dialogue_duration_ms": 1, "is_generated_qa_session": True}]}),
        json.dumps(stat()).encode("utf-16"),
        json.dumps(users()[0]).encode("utf-16-be"),
    ],
    ids=["pretty", "cache", "array", "object", "bom", "generated-first", "utf-16", "utf-16-be"],
)
def test_every_way_of_writing_them_is_recognised(content: str | bytes) -> None:
    assert recognises(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "plain text",
        "[1, 2]",
        json.dumps({"uuid": "u", "persona_info": "p", "sessions": [{"start_time": "t", "memory_points": []}]}),
        json.dumps({"item_id": "1", "response": 'has "memory_integrity_records": [] inside'}),
        json.dumps({"sessions": [{"session_id": 1, "messages": []}], "metadata": {}}),
        json.dumps({"overall_score": 0.5, "summary": {"memory_integrity": 1}}),
        json.dumps({"deeper": {"memory_integrity_records": []}}),
        b"\x89PNG\r\n\x1a\n\x00\x00",
    ],
)
def test_other_files_are_not(content: str | bytes) -> None:
    assert not recognises(content)


@pytest.mark.parametrize(
    ("task", "value", "label", "failure"),
    [
        ("integrity", 2, "2", ""),
        ("integrity", 0, "0", ""),
        ("integrity", 2.0, "2", ""),
        ("integrity", "2", "2", ""),
        ("integrity", " 2", None, "malformed"),
        ("integrity", "2.0", None, "malformed"),
        ("integrity", 3, None, "off_menu"),
        ("integrity", -1, None, "off_menu"),
        ("integrity", 1.5, None, "off_menu"),
        ("integrity", "3", None, "off_menu"),
        ("integrity", True, None, "malformed"),
        ("integrity", None, None, "missing"),
        ("integrity", "judge_failed", None, "malformed"),
        ("integrity", [2], None, "malformed"),
        ("update", "Correct", "Correct", ""),
        ("update", "Other", "Other", ""),
        ("update", "correct", None, "off_menu"),
        ("update", "Incorrect.", None, "off_menu"),
        ("update", "Correct ", None, "off_menu"),
        ("update", "judge_failed", None, "malformed"),
        ("update", "", None, "malformed"),
        ("update", 2, None, "malformed"),
        ("update", ["Correct"], None, "malformed"),
        ("qa", "Omission", "Omission", ""),
        ("qa", "Other", None, "off_menu"),
        ("qa", None, None, "missing"),
    ],
)
def test_a_verdict_is_read_exactly_or_not_at_all(task: str, value: Any, label: str | None, failure: str) -> None:
    field = {"integrity": "memory_integrity_score", "update": "memory_update_type", "qa": "result_type"}[task]
    read = read_label(task, {field: value})
    assert (read.label, read.failure) == (label, failure)
    assert read.score == (float(label) if label and task == "integrity" else None)


@pytest.mark.parametrize(
    ("flag", "parts"),
    [
        ("true", {"included": "true"}),
        ("True", {"included": "true"}),
        (True, {"included": "true"}),
        ("false", {"included": "false"}),
        (False, {"included": "false"}),
        ("TRUE", {}),
        ("yes", {}),
        (1, {}),
        (None, {}),
    ],
)
def test_the_flag_is_read_in_three_states(flag: Any, parts: dict[str, str]) -> None:
    record = {"memory_accuracy_score": 1, "is_included_in_golden_memories": flag}
    assert read_label("accuracy", record).parts == parts
    assert read_label("accuracy", record | {"memory_accuracy_score": None}).parts == {}


def test_a_record_without_its_verdict_field_is_missing() -> None:
    assert read_label("qa", {}).failure == "missing"
