"""The shipped HaluMem sample: built from its source, in HaluMem's shape, with what its README promises."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from halumem_sample_files import (
    BUILT,
    SAMPLE,
    SYSTEMS,
    TASKS,
    Json,
    judged_sessions,
    readme_tables,
    records,
    result,
    rows_with_records,
    sheet,
    truth,
)

# --- files -----------------------------------------------------------------------------------------------------------


def test_building_again_gives_the_shipped_bytes(tmp_path: Path) -> None:
    script = SAMPLE / "source" / "build.py"
    subprocess.run([sys.executable, "-B", str(script), "--into", str(tmp_path)], check=True, timeout=60)

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(BUILT)
    for name in BUILT:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_the_sample_is_small() -> None:
    assert sum((SAMPLE / name).stat().st_size for name in BUILT) < 1_000_000


@pytest.mark.parametrize("system", SYSTEMS)
def test_result_file_is_laid_out_as_the_official_one(system: str) -> None:
    text = (SAMPLE / f"{system}_eval_stat_result.json").read_text(encoding="utf-8")

    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=4)
    assert list(json.loads(text)) == ["overall_score", *(array for array, _ in TASKS.values())]


# --- shape -----------------------------------------------------------------------------------------------------------

POINT = {
    "index": int,
    "memory_content": str,
    "memory_type": str,
    "memory_source": str,
    "is_update": str,
    "original_memories": list,
    "timestamp": str,
    "importance": float,
}
DISTRACTOR = {
    **POINT,
    "reason": str,
    "source_memory_index": int,
    "reference_memory_content": str,
    "reference_memory_index": int,
    "reference_memory_type": str,
}
QUESTION = {
    "question": str,
    "answer": str,
    "evidence": list,
    "difficulty": str,
    "question_type": str,
    "context": str,
    "search_duration_ms": float,
    "system_response": str,
    "response_duration_ms": float,
}
SESSION = {
    "memory_points": list,
    "dialogue": list,
    "extracted_memories": list,
    "add_dialogue_duration_ms": float,
    "questions": list,
}
TURN = {"role": str, "content": str, "timestamp": str, "dialogue_turn": int}
PLACE = {"uuid": str, "ssession_id": int}


def assert_shape(given: Json, expected: dict[str, type], optional: Sequence[str] = ()) -> None:
    assert {key: type(value) for key, value in given.items() if key not in optional} == expected


def point_shape(point: Json) -> dict[str, type]:
    return DISTRACTOR if point["memory_source"] == "interference" else POINT


@pytest.mark.parametrize("system", SYSTEMS)
def test_answer_sheet_has_the_official_keys(system: str) -> None:
    for user in sheet(system):
        assert_shape(user, {"uuid": str, "user_name": str, "sessions": list})
    for _, _, session in judged_sessions(system):
        assert_shape(session, SESSION)
        for turn in session["dialogue"]:
            assert_shape(turn, TURN)
        for point in session["memory_points"]:
            assert_shape(point, point_shape(point), optional=("event_source", "memories_from_system"))
            assert (
                ("memories_from_system" in point) == (point["is_update"] == "True") == bool(point["original_memories"])
            )
        for question in session["questions"]:
            assert_shape(question, QUESTION)
            assert (question["evidence"] == []) == (question["question_type"] == "Memory Boundary")


@pytest.mark.parametrize("system", SYSTEMS)
def test_verdict_records_have_the_official_keys_and_perhaps_a_rationale(system: str) -> None:
    for record in records(system, "integrity"):
        shape = {**point_shape(record), **PLACE, "memory_integrity_score": int, "is_valid": bool}
        assert_shape(record, shape, optional=("event_source", "memories_from_system", "rationale"))
    for record in records(system, "accuracy"):
        flag = {"memory_accuracy_score": int, "is_included_in_golden_memories": str}
        assert_shape(record, {**PLACE, "memory_content": str, **flag, "is_valid": bool}, optional=("rationale",))
    for record in records(system, "update"):
        shape = {**POINT, "memories_from_system": list, **PLACE, "memory_update_type": str, "is_valid": bool}
        assert_shape(record, shape, optional=("rationale",))
    for record in records(system, "qa"):
        shape = {**QUESTION, **PLACE, "result_type": str if record["is_valid"] else type(None), "is_valid": bool}
        assert_shape(record, shape, optional=("rationale",))


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_record_joins_to_the_answer_sheet_and_takes_the_official_route(system: str) -> None:
    expected: dict[str, list[tuple[str, int, Json]]] = {task: [] for task in TASKS}
    for uuid, number, session in judged_sessions(system):
        for point in session["memory_points"]:
            expected["update" if point.get("memories_from_system") else "integrity"].append((uuid, number, point))
        expected["accuracy"] += [(uuid, number, {"memory_content": text}) for text in session["extracted_memories"]]
        expected["qa"] += [(uuid, number, question) for question in session["questions"]]
    added = {"uuid", "ssession_id", "is_valid", "rationale", "is_included_in_golden_memories"}

    for task, (_, verdict) in TASKS.items():
        got = [
            (r["uuid"], r["ssession_id"], {key: value for key, value in r.items() if key not in {*added, verdict}})
            for r in records(system, task)
        ]
        assert got == expected[task]


def test_both_systems_were_given_the_same() -> None:
    given_points = set(POINT) | set(DISTRACTOR) | {"event_source"}
    given_questions = ("question", "answer", "evidence", "difficulty", "question_type")

    def given(system: str) -> list[Any]:
        return [
            (
                uuid,
                number,
                session["dialogue"],
                [{key: point[key] for key in point if key in given_points} for point in session["memory_points"]],
                [[question[key] for key in given_questions] for question in session["questions"]],
            )
            for uuid, number, session in judged_sessions(system)
        ]

    assert given(SYSTEMS[0]) == given(SYSTEMS[1])


def test_evidence_and_distractors_name_points_of_the_same_user() -> None:
    for user in sheet(SYSTEMS[0]):
        sessions = [session for session in user["sessions"] if "memory_points" in session]
        points = [point for session in sessions for point in session["memory_points"]]
        real = {(p["memory_content"], p["memory_type"]) for p in points if p["memory_source"] != "interference"}
        evidence = [e for session in sessions for q in session["questions"] for e in q["evidence"]]
        assert real >= {(e["memory_content"], e["memory_type"]) for e in evidence}
        distractors = [point for point in points if point["memory_source"] == "interference"]
        assert real >= {(d["reference_memory_content"], d["reference_memory_type"]) for d in distractors}


# --- what the sample promises to contain -----------------------------------------------------------------------------


def test_counts_are_those_of_the_readme() -> None:
    head, *rows = readme_tables("Files")[1]
    counts = {row[0]: [int(cell) for cell in row[1:]] for row in rows}

    for system in SYSTEMS:
        per_task = [len(records(system, task)) for task in TASKS]
        assert counts[system] == [*per_task, sum(per_task)]
    assert head == ["system", *TASKS, "all"]
    assert counts["both"] == [sum(pair) for pair in zip(*(counts[system] for system in SYSTEMS), strict=True)]
    assert counts["both"][-1] == len(truth())
    assert f"{len(truth())} verdicts" in (SAMPLE / "README.md").read_text(encoding="utf-8")


def test_sessions_are_of_a_readable_length_and_one_is_padded() -> None:
    lengths = [len(session["dialogue"]) for _, _, session in judged_sessions(SYSTEMS[0])]
    texts = [[turn["content"] for turn in session["dialogue"]] for _, _, session in judged_sessions(SYSTEMS[0])]

    assert len(sheet(SYSTEMS[0])) == 6
    assert all(2 <= len(user["sessions"]) <= 4 for user in sheet(SYSTEMS[0]))
    assert all(6 <= length <= 16 for length in lengths)
    assert [len(text) - len(set(text)) for text in texts if len(text) != len(set(text))] == [4]


def test_the_special_cases_of_the_format_are_there() -> None:
    generated = [s for user in sheet("tidepool") for s in user["sessions"] if "is_generated_qa_session" in s]
    empty = {system: [s for *_, s in judged_sessions(system) if not s["extracted_memories"]] for system in SYSTEMS}
    rerouted = {s: [r for r in records(s, "integrity") if r["is_update"] == "True"] for s in SYSTEMS}
    failed = [record for _, record in rows_with_records() if not record["is_valid"]]
    types = {question["question_type"] for *_, s in judged_sessions("tidepool") for question in s["questions"]}

    assert [set(session) for session in generated] == [{"add_dialogue_duration_ms", "is_generated_qa_session"}]
    assert [len(empty[system]) for system in SYSTEMS] == [0, 1]
    assert [[r["memories_from_system"] for r in rerouted[system]] for system in SYSTEMS] == [[], [[]]]
    assert len(failed) == 1 and failed[0]["result_type"] is None
    assert len(types) == 6


def test_points_of_an_empty_extraction_are_zero_and_carry_no_rationale() -> None:
    places = {(uuid, number) for uuid, number, s in judged_sessions("tidepool") if not s["extracted_memories"]}
    shortcut = [r for r in records("tidepool", "integrity") if (r["uuid"], r["ssession_id"]) in places]

    assert shortcut and {r["memory_integrity_score"] for r in shortcut} == {0}
    assert not any("rationale" in record for record in shortcut)


def test_every_verdict_the_judge_gave_has_a_rationale() -> None:
    silent = [(row, record) for row, record in rows_with_records() if "rationale" not in record]

    assert all(row["system"] == "tidepool" for row, _ in silent)
    assert len(silent) == 5, "four points of an empty extraction and one failure"
    assert all(record["rationale"].strip() for _, record in rows_with_records() if "rationale" in record)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from (key, *strings(entry))
    elif isinstance(value, list):
        for entry in value:
            yield from strings(entry)


def test_texts_hold_no_control_characters_and_three_scripts() -> None:
    texts = [text for system in SYSTEMS for text in strings([sheet(system), result(system)])]
    letters = {character for text in texts for character in text}

    assert {c for c in letters if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn")} == {"\n"}
    for script in ("LATIN", "CJK UNIFIED", "ARABIC LETTER"):
        assert any(unicodedata.name(c, "").startswith(script) for c in letters), script
