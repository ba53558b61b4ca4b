"""The shipped MedMemoryBench sample: built from its source, in the benchmark's shape, read without a fault."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from medmem_records import Imported, collect
from medmem_sample_files import (
    LANGUAGES,
    REGIMES,
    SAMPLE,
    SYSTEMS,
    TASK_OF,
    TASKS,
    Json,
    Run,
    answer_files,
    loaded,
    query_files,
    readme_tables,
    records,
    run_files,
    runs,
    truth,
)

from judges.benchmarks.benchmark import Source
from judges.benchmarks.medmemorybench import BENCHMARK
from judges.benchmarks.medmemorybench.shapes import TRAP_KINDS
from judges.scoring import differences, plain

BUILT = [SAMPLE / "README.md", SAMPLE / "truth.csv", *run_files(), *query_files()]


@pytest.fixture(scope="module")
def imported() -> Imported:
    return collect(BENCHMARK.read(Source((SAMPLE / "outputs",), (SAMPLE / "data",), judge="sample-judge")))


# --- files -----------------------------------------------------------------------------------------------------------


def test_building_again_gives_the_shipped_bytes(tmp_path: Path) -> None:
    script = SAMPLE / "source" / "build.py"
    subprocess.run([sys.executable, "-B", str(script), "--into", str(tmp_path)], check=True, timeout=60)

    built = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert built == sorted(path.relative_to(SAMPLE) for path in BUILT)
    for path in built:
        assert (tmp_path / path).read_bytes() == (SAMPLE / path).read_bytes(), path


def test_the_sample_is_small() -> None:
    assert sum(path.stat().st_size for path in BUILT) < 700_000


def test_there_are_two_systems_in_two_regimes_and_two_languages() -> None:
    assert {run.key for run in runs()} == {(s, r, n) for s in SYSTEMS for r in REGIMES for n in LANGUAGES}
    assert sum(len(run.answers["queries"]) for run in runs()) == len(truth()) == 120


@pytest.mark.parametrize("path", run_files() + query_files(), ids=lambda path: path.name)
def test_files_are_laid_out_as_the_official_ones(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=2)


# --- shape -----------------------------------------------------------------------------------------------------------

RECORD = {
    "query_id": str,
    "query_type": str,
    "question": str,
    "expected_answer": str,
    "model_output": str,
    "score": float,
    "is_correct": bool,
    "retrieved_memories": list,
    "retrieved_count": int,
    "query_time": float,
    "evaluation_details": dict,
}
DETAILS = {
    "string_contain": {"matched_answers", "total_expected", "total_matched"},
    "option_match": {"selected_options", "correct_options"},
    "llm_judge": {"judge_reason", "explanation"},
    "llm_judge_mcd": {"judge_reason", "ncr_score", "crc_score", "cc_score", "node_validations", "explanation"},
}
METRIC = {"eem": "string_contain", "mq": "option_match", "mcd": "llm_judge_mcd"}


@pytest.mark.parametrize("run", runs(), ids=lambda run: "/".join(run.key))
def test_answers_have_the_official_keys(run: Run) -> None:
    assert list(run.answers) == ["method_name", "model_name", "dataset_name", "summary", "by_context", "queries"]
    for _, record in records(run):
        shape = RECORD | {"is_correct": str if record["is_correct"] == "false" else bool}
        assert {name: type(value) for name, value in record.items()} == shape
        details = record["evaluation_details"]
        if "api_error" in details:
            assert record["model_output"].startswith("[API_ERROR]") and "metric" not in details
            continue
        assert details["metric"] == METRIC.get(TASK_OF[record["query_type"]], "llm_judge")
        extra = {"uses_patient_specific_info", "memory_retrieval_quality"} & details.keys()
        assert details.keys() == DETAILS[details["metric"]] | {"metric"} | extra
        assert record["retrieved_count"] == len(record["retrieved_memories"])


def test_memories_and_noise_are_as_the_readme_says() -> None:
    for run in runs():
        memories = [memory for _, record in records(run) for memory in record["retrieved_memories"]]
        noise = [m for m in memories if "noise_id" in m or "noise_family_id" in m]
        if run.system == "heron_notes":
            assert all(("session_id" in m) != (m in noise) for m in memories)
            assert bool(noise) == (run.regime == "Mixed")
        else:
            assert all(set(m) == {"memory", "type"} for m in memories)


def test_every_answer_is_to_a_query_of_its_persona() -> None:
    queries = {}
    for path in query_files():
        persona = path.parent.parent.name.removeprefix("persona_")
        assert path.parent.parent.parent.name == ("MedMemoryBench" if persona in "12" else "MedMemoryBench_EN")
        for query in loaded(path)["queries"]:
            queries[persona, query["query_id"]] = query
            sessions = [point["session_id"] for point in query["source_key_points"]]
            assert sessions and max(sessions) <= query["session_id"], "no leakage"
            assert all(n["session_id"] <= query["session_id"] for n in query["metadata"].get("reasoning_chain", []))
    for run in runs():
        for persona, record in records(run):
            query = queries[persona, record["query_id"]]
            assert (query["question"], query["query_type"]) == (record["question"], record["query_type"])
    assert len(queries) == 30


# --- read ------------------------------------------------------------------------------------------------------------


def test_the_sample_is_read_without_a_fault(imported: Imported) -> None:
    assert imported.fatal == []
    assert len(imported.warnings) == 1 and "is_correct is no JSON boolean in 1 records" in imported.warnings[0]
    assert sorted(system.system for system in imported.systems) == sorted(run.id for run in runs())
    assert len(imported.items) == len(imported.verdicts) == 120
    assert {judge.name for judge in imported.judges.values()} == {"sample-judge", "rule"}
    assert not any("missing_inputs" in item.payload for item in imported.items.values())


def test_as_coded_is_what_the_files_state(imported: Imported) -> None:
    for run in runs():
        coded, stated = imported.as_coded(run.id), imported.stated(run.id, "sample-judge")
        assert stated is not None and differences(plain(coded), stated) == []
        assert coded["summary"] == run.result["summary"]
        assert coded["query_answer"] == run.answers["summary"]


def test_without_labels_the_files_come_back_to_the_byte(imported: Imported) -> None:
    shipped = {path.name: path.read_text(encoding="utf-8") for path in run_files()}
    for run in runs():
        files = imported.written(system=run.id)
        changes = [files.pop(name) for name in list(files) if name.endswith(".changes.jsonl")]
        assert len(files) == 2 and changes == [""]
        assert files == {name: shipped[name] for name in files}


def test_all_types_trap_kinds_and_slices_are_there(imported: Imported) -> None:
    items = list(imported.items.values())
    assert {item.task for item in items} == set(TASKS)
    assert {i.slices["trap_kind"] for i in items if "trap_kind" in i.slices} == set(TRAP_KINDS)
    said = imported.slices_of_verdicts().values()
    assert {slices["self_contradicting"] for slices in said if "self_contradicting" in slices} == {"yes", "no"}
    doubts = {slices["rule_doubt"] for slices in said if "rule_doubt" in slices}
    assert doubts >= {"none", "number_cut", "negated", "spelling", "letters_missed", "letters_extra"}
    assert {i.slices.get("retrieved_noise", "") for i in items} >= {"", "none", "family", "health"}


def test_the_failures_are_those_of_the_readme(imported: Imported) -> None:
    (table,) = [t for t in readme_tables("Files") if t[0][0] == "what the file says"]
    failed = {item_id: v for item_id, v in imported.verdicts.items() if v.label is None}
    places = {(imported.items[i].cluster, json.loads(imported.items[i].natural_key)[1]) for i in failed}
    assert {(row[3], row[4]) for row in table[1:]} == places
    assert {v.route for v in failed.values()} == {"api_error", "no_response", "judge_failed", "judged"}


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from (key, *strings(entry))
    elif isinstance(value, list):
        for entry in value:
            yield from strings(entry)


def test_texts_hold_no_control_characters_and_two_scripts() -> None:
    files: list[Json] = [loaded(path) for path in (*answer_files(), *query_files())]
    letters = {character for text in strings(files) for character in text}
    assert {c for c in letters if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn")} == {"\n"}
    for script in ("LATIN", "CJK UNIFIED"):
        assert any(unicodedata.name(c, "").startswith(script) for c in letters), script
