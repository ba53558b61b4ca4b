"""Reading runs: whose query it is, what the judge saw, verdicts exactly or not at all, and every place that is bad."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from medmem_records import (
    NAME,
    SHAPE,
    SHAPE_RESULT,
    TYPES,
    Imported,
    Json,
    chain_query,
    key_point,
    query_of,
    read,
    record_of,
    result_of,
    run_of,
    shape,
    whole_shape,
    write,
    write_queries,
)

from judges.benchmarks.medmemorybench import derived
from judges.benchmarks.medmemorybench.doubts import rule_doubts
from judges.benchmarks.medmemorybench.shapes import trap_kind

# --- persona ---------------------------------------------------------------------------------------------------------


def test_the_persona_comes_from_walking_by_context_in_step_with_queries(tmp_path: Path) -> None:
    imported = read(write(tmp_path, whole_shape()))
    assert not imported.fatal
    assert [json.loads(item.natural_key) for item in imported.items.values()] == [
        [persona, f"session_{at}_{task}_1"] for persona, at in (("1", 10), ("1", 20), ("2", 20)) for task in TYPES
    ]
    assert {item.cluster for item in imported.items.values()} == {"1", "2"}
    assert imported.find("eem", "2", "20").item_id != imported.find("eem", "1", "20").item_id
    assert {item.group for item in imported.items.values()} == {""}


def test_a_shortened_file_is_read_as_far_as_it_goes_and_said() -> None:
    imported = read(SHAPE)
    assert len(imported.items) == 6 and not imported.fatal
    assert "by_context lists 18 queries, but 6 records are there" in imported.warnings


def test_interleaved_personas_are_told_by_their_questions_or_not_at_all(tmp_path: Path) -> None:
    first, second = record_of("eem"), {**record_of("eem"), "question": "血压是多少？"}
    other, again = record_of("sua"), {**record_of("sua"), "question": "现在呢？"}
    run = run_of([("1", first), ("1", other), ("2", second), ("2", again)])
    run["queries"] = [first, second, again, other]
    path = write(tmp_path, run)
    imported = read(path)
    (problem,) = imported.fatal
    assert "whose queries these are cannot be told for 4 of 4 records" in problem.what and problem.line
    assert imported.items == {}
    queries = {"1": [query_of("eem"), query_of("sua")],
               "2": [query_of("eem", question="血压是多少？"), query_of("sua", question="现在呢？")]}  # fmt: skip
    files = [write_queries(tmp_path, listed, persona) for persona, listed in queries.items()]
    told = read(path, answers=files)
    assert not told.fatal
    assert [item.cluster for item in told.items.values()] == ["1", "2", "2", "1"]


def test_a_fork_that_names_the_persona_needs_no_walk(tmp_path: Path) -> None:
    run = run_of([("1", record_of("eem")), ("2", record_of("eem"))])
    run["queries"] = [{**record, "persona_id": number} for number, record in enumerate(run["queries"], start=7)]
    del run["by_context"]
    assert [item.cluster for item in read(write(tmp_path, run)).items.values()] == ["7", "8"]


def test_by_context_may_come_after_the_queries(tmp_path: Path) -> None:
    run = whole_shape()
    run["by_context"] = run.pop("by_context")
    assert list(run)[-1] == "by_context"
    assert len(read(write(tmp_path, run)).items) == 18


# --- queries of the benchmark ----------------------------------------------------------------------------------------


def test_key_points_chain_and_trap_are_joined_by_persona_and_query_id(tmp_path: Path) -> None:
    run = write(tmp_path, run_of([("1", record_of("mcd")), ("1", record_of("ig")), ("2", record_of("mcd"))]))
    wrong = {"content": "Eat more of it.", "why_wrong": "Salt."}
    trap = {"trap_type": "diet", "trap_mechanism": "It sounds healthy.", "required_patient_info": ["salt", "pressure"]}
    metadata = {"trap_design": trap, "inference_type": "diet", "common_wrong_answer": wrong, "difficulty": "hard"}
    files = [
        write_queries(tmp_path, [chain_query(), query_of("ig", metadata=metadata)], "1"),
        write_queries(tmp_path, [chain_query(nodes=3)], "2"),
    ]
    imported = read(run, answers=files)
    assert all("noise sessions" in warning for warning in imported.warnings)
    deduction = imported.find("mcd")
    assert [node["id"] for node in deduction.payload["nodes"]] == ["1", "2", "3", "4"]
    assert deduction.payload["chain"][0] == "n1 (step, session 1, s)"
    assert deduction.payload["required"] == ["Session 1: x"]
    assert "missing_inputs" not in deduction.payload
    assert deduction.slices["hops"] == "3"
    points = json.loads(imported.texts[deduction.texts["key_points"]])
    assert points[0] == "生理指标 · 空腹血糖 (session 1, 2024-01-15): 空腹血糖 8.2 mmol/L"
    assert len(imported.find("mcd", "2").payload["nodes"]) == 3
    inference = imported.find("ig")
    assert inference.payload["trap"] == [
        "Inference: diet",
        "How the trap works: It sounds healthy.",
        "To be remembered: salt; pressure",
        "Common wrong answer: Eat more of it.",
        "Why it is wrong: Salt.",
    ]
    assert inference.slices["trap_kind"] == "diet_preference"
    assert inference.slices["difficulty"] == "hard"


def test_without_a_query_file_what_the_judge_saw_and_we_have_not_is_named() -> None:
    imported = read(SHAPE)
    assert imported.find("mcd").payload["missing_inputs"] == ["chain"]
    assert imported.find("mcd").payload["nodes"] == []
    assert imported.find("ig").payload["missing_inputs"] == ["trap"]
    assert "missing_inputs" not in imported.find("tla").payload
    assert any("without generated_queries.json" in warning for warning in imported.warnings)


def test_the_options_of_a_choice_come_with_their_reasons(tmp_path: Path) -> None:
    answers = [{"content": "A. 睡前饮酒", "is_correct": False, "explanation": "she drinks"},
               {"content": "B. 固定起床时间", "is_correct": True, "explanation": "it helps"}]  # fmt: skip
    imported = read(SHAPE, answers=[write_queries(tmp_path, [query_of("mq", answers=answers)])])
    item = imported.find("mq")
    assert item.payload["options"] == ["A. 睡前饮酒 (wrong): she drinks", "B. 固定起床时间 (right): it helps"]
    assert item.payload["explanation"] == "it helps"
    assert item.extra["gold"] == ["B"]


def test_query_files_without_a_persona_in_their_path_are_placed_by_their_questions(tmp_path: Path) -> None:
    run = run_of([("1", record_of("sua")), ("2", {**record_of("sua"), "question": "别的问题？"})])
    value = {"queries": [query_of("sua", question="别的问题？", source_key_points=[key_point(3)])]}
    placed = read(write(tmp_path, run), write(tmp_path, value, "queries.json"))
    assert "key_points" in placed.find("sua", "2").texts
    assert "key_points" not in placed.find("sua", "1").texts
    value["queries"][0]["question"] = "谁也没问？"
    unplaced = read(write(tmp_path, run), write(tmp_path, value, "queries.json"))
    assert any("cannot be told" in warning and "no run" in warning for warning in unplaced.warnings)


def test_another_language_is_not_joined_and_said(tmp_path: Path) -> None:
    english = write_queries(tmp_path, [query_of("sua", question="What is the latest value?")])
    imported = read(write(tmp_path, run_of([("1", record_of("sua"))])), answers=[english])
    assert "key_points" not in imported.find("sua").texts
    assert any("another question" in warning for warning in imported.warnings)


def test_both_languages_of_one_persona_go_each_to_its_run(tmp_path: Path) -> None:
    english = {**record_of("sua"), "question": "Latest?"}
    runs = [write(tmp_path, run_of([("1", record_of("sua"))]), f"zh/{NAME}_query_answer.json"),
            write(tmp_path, run_of([("1", english)]), f"en/{NAME}_query_answer.json")]  # fmt: skip
    files = [write_queries(tmp_path / "zh", [query_of("sua", source_key_points=[key_point(1, "中文")])]),
             write_queries(tmp_path / "en", [query_of("sua", question="Latest?",
                                                      source_key_points=[key_point(1, "English")])])]  # fmt: skip
    imported = read(*runs, answers=files)
    points = {item.slices["language"]: imported.texts[item.texts["key_points"]] for item in imported.items.values()}
    assert "中文" in points["zh"] and "English" in points["en"]
    assert [system.system for system in imported.systems] == ["bm25_fake/zh", "bm25_fake/en"]


def test_the_cleaned_releases_flat_answer_is_an_answer(tmp_path: Path) -> None:
    query = query_of("eem", correct_answer="8.2 mmol/L")
    del query["answers"]
    imported = read(SHAPE, answers=[write_queries(tmp_path, [query])])
    assert imported.find("eem").extra["gold"] == ["8.2 mmol/L"]


def test_key_points_after_the_checkpoint_are_leakage(tmp_path: Path) -> None:
    queries = [
        query_of("sua", source_key_points=[key_point(3), key_point(12)]),
        query_of("tla", source_key_points=[key_point(10), key_point(0)]),
    ]
    imported = read(SHAPE, answers=[write_queries(tmp_path, queries)])
    assert imported.find("sua").slices["leakage"] == "yes"
    assert imported.find("tla").slices["leakage"] == "no", "session 0 is medical knowledge"
    assert "leakage" not in imported.find("eem").slices
    assert any("1 queries rest on key points of sessions after their checkpoint" in w for w in imported.warnings)
    assert imported.as_described()["leakage"] == {"checked": 2, "violations": 1}


@pytest.mark.parametrize(
    ("words", "kind"),
    [("allergy_cross", "allergy"), ("过敏交叉反应", "allergy"), ("drug_interaction", "medication_history"),
     ("medication_history", "medication_history"), ("Contraindication", "disease_history"),
     ("preference_compliance", "medication_preference"), ("diet preference", "diet_preference"),
     ("lifestyle", "lifestyle_economic"), ("economic", "lifestyle_economic"), ("temporal_change", "other"),
     ("Time/State Change", "other"), ("", ""), (None, "")],
)  # fmt: skip
def test_the_six_kinds_of_traps(words: Any, kind: str) -> None:
    assert trap_kind(words) == kind


# --- regime, language, system ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise", "regime"), [(False, "Efficient"), (True, "Mixed")])
def test_the_regime_is_in_the_result_file(tmp_path: Path, noise: bool, regime: str) -> None:
    imported = read(write(tmp_path, whole_shape()), write(tmp_path, result_of(noise=noise), f"{NAME}_result.json"))
    (system,) = imported.systems
    assert (system.system, system.name) == (f"bm25_fake/{regime}/zh", "bm25_fake")
    assert (system.regime, system.condition, system.run) == (regime, "zh", "20261130_003148")
    assert imported.find("eem").slices["regime"] == regime


def test_a_regime_that_is_no_boolean_is_not_guessed(tmp_path: Path) -> None:
    imported = read(write(tmp_path, whole_shape()), write(tmp_path, result_of(noise="false"), f"{NAME}_result.json"))
    assert imported.systems[0].regime == ""
    assert any("Efficient or Mixed" in warning for warning in imported.warnings)


def test_the_user_may_say_the_regime_but_not_against_the_file(tmp_path: Path) -> None:
    run = write(tmp_path, whole_shape())
    assert read(run, regime="mixed").systems[0].regime == "Mixed"
    (problem,) = read(run, regime="noisy").fatal
    assert "no regime 'noisy'" in problem.what
    result = write(tmp_path, result_of(noise=True), f"{NAME}_result.json")
    (problem,) = read(run, result, regime="Efficient").fatal
    assert "says Mixed" in problem.what


def test_both_regimes_of_a_system_are_two_systems_with_the_same_pairs(tmp_path: Path) -> None:
    files: list[Path] = []
    for stamp, noise in (("20261130_010000", False), ("20261130_020000", True)):
        stem = f"medmemorybench_bm25_fake_{stamp}"
        files += [write(tmp_path, whole_shape(), f"{stem}_query_answer.json"),
                  write(tmp_path, result_of(noise=noise), f"{stem}_result.json")]  # fmt: skip
    imported = read(*files, system="BM25")
    assert [system.system for system in imported.systems] == ["BM25/Efficient/zh", "BM25/Mixed/zh"]
    keys = {s.system: [i.pair_key for i in imported.items.values() if i.system == s.system] for s in imported.systems}
    assert keys["BM25/Efficient/zh"] == keys["BM25/Mixed/zh"]
    assert len(imported.items) == 36


def test_two_runs_of_one_system_are_told_apart_by_their_time_or_refused(tmp_path: Path) -> None:
    names = ("a_20261130_010000_query_answer.json", "a_20261130_020000_query_answer.json")
    imported = read(*(write(tmp_path, whole_shape(), name) for name in names), regime="Mixed")
    assert [s.system for s in imported.systems] == ["bm25_fake/Mixed/zh", "bm25_fake/Mixed/zh/20261130_020000"]
    bare = [write(tmp_path, whole_shape(), name) for name in ("a_query_answer.json", "b_query_answer.json")]
    (problem,) = read(*bare, regime="Mixed").fatal
    assert "of the same system" in problem.what


def test_one_name_for_different_systems_is_refused(tmp_path: Path) -> None:
    runs = [write(tmp_path, {**whole_shape(), "method_name": name}, f"{name}_query_answer.json") for name in ("a", "b")]
    (problem,) = read(*runs, system="X").fatal
    assert "different systems" in problem.what


def test_the_architecture_follows_from_the_method_or_the_user(tmp_path: Path) -> None:
    run = write(tmp_path, {**whole_shape(), "method_name": "graph_rag"})
    assert read(run).systems[0].metadata["architecture"] == "graph retrieval"
    assert read(run, architecture="own").systems[0].metadata["architecture"] == "own"


def test_a_result_or_queries_alone_hold_nothing_to_judge(tmp_path: Path) -> None:
    (problem,) = read(SHAPE_RESULT).fatal
    assert "no answer to judge" in problem.what
    (problem,) = read(write_queries(tmp_path, [query_of("eem")])).fatal
    assert "no answer to judge" in problem.what


# --- verdicts --------------------------------------------------------------------------------------------------------


def test_the_shapes_verdicts() -> None:
    imported = read(SHAPE, judge="claude")
    told = {task: (v.label, v.failure, v.route) for task in TYPES for v in [imported.verdict(task)]}
    assert told == {
        "eem": ("correct", "", "rule"),
        "mq": ("correct", "", "rule"),
        "tla": (None, "malformed", "judged"),
        "sua": (None, "missing", "judge_failed"),
        "ig": ("correct", "", "judged"),
        "mcd": ("correct", "", "judged"),
    }
    names = {task: imported.judges[imported.verdict(task).judge_id].name for task in TYPES}
    assert names == dict.fromkeys(TYPES, "claude") | {"eem": "rule", "mq": "rule"}
    assert imported.verdict("eem").rationale == "1 of 1 answers found in the output"
    assert imported.verdict("mq").rationale == "read B; right is B"
    assert imported.verdict("ig").rationale == "ok"
    assert [v.position for v in imported.verdicts.values()] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("value", "label", "failure"),
    [(True, "correct", ""), (False, "incorrect", ""), ("false", None, "malformed"), ("true", None, "malformed"),
     ("Incorrect.", None, "malformed"), (1, None, "malformed"), (0, None, "malformed"), (None, None, "missing"),
     ([], None, "malformed")],
)  # fmt: skip
def test_only_json_booleans_are_verdicts(tmp_path: Path, value: Any, label: str | None, failure: str) -> None:
    record = {**record_of("ig"), "is_correct": value}
    imported = read(write(tmp_path, run_of([("1", record)])))
    verdict = imported.verdict("ig")
    assert (verdict.label, verdict.failure) == (label, failure)
    assert json.loads(verdict.raw)["is_correct"] == value
    assert imported.as_coded()["summary"]["correct_count"] == int(bool(value)), "as coded: whatever is truthy"
    assert any("no JSON boolean" in w for w in imported.warnings) == (failure == "malformed")


@pytest.mark.parametrize(
    ("task", "fields", "route"),
    [
        ("ig", {"evaluation_details": {"judge_reason": "Judge failed", "metric": "llm_judge"}}, "judge_failed"),
        ("tla", {"model_output": "", "evaluation_details": {"judge_reason": "Model provided no response"}},
         "no_response"),
        ("sua", {"model_output": "[API_ERROR] x", "evaluation_details": {"api_error": True, "error_type": "T"}},
         "api_error"),
        ("eem", {"model_output": "[API_ERROR] x", "evaluation_details": {"api_error": True}}, "api_error"),
    ],
)  # fmt: skip
def test_what_nobody_judged_is_a_failed_verdict(tmp_path: Path, task: str, fields: Json, route: str) -> None:
    record = {**record_of(task), **fields, "is_correct": False, "score": 0.0}
    imported = read(write(tmp_path, run_of([("1", record)])))
    verdict = imported.verdict(task)
    assert (verdict.label, verdict.failure, verdict.route) == (None, "missing", route)
    assert imported.as_described()["strict"]["left_out"] == {route: 1}


def test_a_reason_that_only_mentions_a_failure_is_no_failure(tmp_path: Path) -> None:
    details = {"judge_reason": "Judge failed to see why, yet: wrong.", "metric": "llm_judge"}
    record = {**record_of("ig"), "is_correct": False, "evaluation_details": details}
    assert read(write(tmp_path, run_of([("1", record)]))).verdict("ig").label == "incorrect"


def test_a_fork_that_judges_entities_by_a_model_is_no_rule(tmp_path: Path) -> None:
    details = {"judge_reason": "same value", "metric": "llm_judge", "matched_answers": []}
    record = {**record_of("eem"), "evaluation_details": details, "metric_groups": {"x": 1}}
    imported = read(write(tmp_path, run_of([("1", record)])), judge="claude")
    assert imported.judges[imported.verdict("eem").judge_id].name == "claude"
    assert derived.slices_of_verdict(imported.judged("eem")) == {}
    assert json.loads(imported.find("eem").extra["record"])["metric_groups"] == {"x": 1}


def test_the_judges_grid_becomes_parts_as_far_as_it_goes(tmp_path: Path) -> None:
    imported = read(SHAPE, answers=[write_queries(tmp_path, [chain_query()])])
    parts = imported.verdict("mcd").parts
    assert parts["cc"] == "0.5"
    assert json.loads(parts["nodes"]) == {"1": {"stated": "y", "causal": "y"}, "2": {"stated": "n", "causal": "n"}}
    assert "conclusion" not in parts, "a judge says nothing of it"


def doubt(imported: Imported, task: str) -> str:
    """The slice that the verdict on the only item of a task falls into."""
    return derived.slices_of_verdict(imported.judged(task))["rule_doubt"]


def test_rule_doubts_are_slices_of_the_verdict(tmp_path: Path) -> None:
    record = {**record_of("mq"), "model_output": "BD", "is_correct": False}
    record["evaluation_details"] = {"selected_options": [], "correct_options": ["B", "D"], "metric": "option_match"}
    imported = read(write(tmp_path, run_of([("1", record_of("eem")), ("1", record)])))
    assert doubt(imported, "eem") == "number_cut", "18.2 for 8.2"
    assert doubt(imported, "mq") == "letters_missed"
    stored = {**record_of("eem"), "model_output": "8.2 mmol/L", "is_correct": False}
    assert doubt(read(write(tmp_path, run_of([("1", stored)]))), "eem") == "stored_differs"
    several = {**record_of("eem"), "expected_answer": "a, b, c"}
    several["evaluation_details"] = {**several["evaluation_details"], "total_expected": 2}
    assert doubt(read(write(tmp_path, run_of([("1", several)]))), "eem") == "cannot_recompute"
    assert "rule_doubt" not in imported.find("eem").slices, "an item says nothing of its verdict"


def test_the_list_of_doubts_holds_18_2_for_8_2_and_bd(tmp_path: Path) -> None:
    answers = [{"content": f"{letter}. x", "is_correct": letter in "BD", "explanation": ""} for letter in "ABCD"]
    choice = {**record_of("mq"), "model_output": "BD", "is_correct": False, "score": 0.0}
    queries = write_queries(tmp_path, [query_of("mq", answers=answers), query_of("eem")])
    imported = read(write(tmp_path, run_of([("1", record_of("eem")), ("1", choice)])), answers=[queries])
    entity, letters = rule_doubts(imported.scored())
    assert (entity.task, entity.persona, entity.query_id) == ("eem", "1", "session_10_eem_1")
    assert (entity.kind, entity.stored, entity.as_coded, entity.read_better) == ("number_cut", True, True, False)
    assert (letters.kind, letters.stored, letters.as_coded, letters.read_better) == (
        "letters_missed", False, False, True,
    )  # fmt: skip
    assert letters.why == "the rule reads no letter, the answer says B, D"
    assert [doubt.kind for doubt in rule_doubts(read(SHAPE).scored())] == ["number_cut"]


def test_query_files_that_come_later_leave_the_verdicts_what_they_are(tmp_path: Path) -> None:
    run = write(tmp_path, whole_shape())
    before = read(run)
    after = read(run, answers=[write_queries(tmp_path, [chain_query()])])
    assert {i: v.verdict_hash for i, v in before.verdicts.items()} == {
        i: v.verdict_hash for i, v in after.verdicts.items()
    }
    assert before.find("mcd").content_hash != after.find("mcd").content_hash


# --- memories --------------------------------------------------------------------------------------------------------


def test_memories_say_where_they_come_from_where_they_can(tmp_path: Path) -> None:
    memories = [
        {"memory": "a", "type": "note", "session_id": 3},
        {"memory": "b", "provenance": {"source_session_id": "7"}},
        {"memory": "c", "session_id": 9, "noise_family_id": 1},
        {"memory": "d", "noise_type": "health_knowledge", "noise_id": 2},
    ]
    query = query_of("sua", source_key_points=[key_point(3), key_point(7), key_point(9), key_point(0)])
    record = {**record_of("sua"), "retrieved_memories": memories, "retrieved_count": 4}
    imported = read(write(tmp_path, run_of([("1", record)])), answers=[write_queries(tmp_path, [query])])
    item = imported.find("sua")
    assert json.loads(imported.texts[item.texts["retrieved"]]) == ["a", "b", "c", "d"]
    assert item.slices["retrieved_noise"] == "both"
    retrieval = imported.as_described()["retrieval"]
    assert retrieval["recall_at_k"] == 2 / 3, (
        "3 and 7 of 3, 7 and 9: a noise session's number is no session of the patient"
    )
    assert (retrieval["recall_n"], retrieval["mean_memories"], retrieval["mean_characters"]) == (1, 4.0, 1.0)


def test_a_memory_without_a_source_leaves_recall_out(tmp_path: Path) -> None:
    record = {**record_of("sua"), "retrieved_memories": [{"memory": "a", "session_id": 3}, {"memory": "b"}]}
    query = query_of("sua", source_key_points=[key_point(3)])
    imported = read(write(tmp_path, run_of([("1", record)])), answers=[write_queries(tmp_path, [query])])
    retrieval = imported.as_described()["retrieval"]
    assert retrieval["recall_at_k"].status == "unavailable"
    assert (retrieval["recall_n"], retrieval["without_ids"]) == (0, 1)
    assert "retrieved_noise" not in imported.find("sua").slices


# --- duplicates ------------------------------------------------------------------------------------------------------


def resumed() -> Json:
    """Persona 2 was half done: its first record is there twice, the restored copy without memories."""
    restored = {**record_of("sua"), "retrieved_memories": [], "retrieved_count": 0, "model_output": "old"}
    asked = {**record_of("sua"), "model_output": "new", "is_correct": True, "score": 1.0}
    return run_of([("1", record_of("sua")), ("2", restored), ("2", asked), ("2", record_of("ig"))])


def test_duplicates_are_said_with_both_places_and_neither_is_read(tmp_path: Path) -> None:
    imported = read(write(tmp_path, resumed()))
    (problem,) = imported.fatal
    assert "session_10_sua_1 of persona 2 is there 2 times: record 2 and record 3, lines" in problem.what
    assert "duplicates" in problem.remedy
    text = (tmp_path / f"{NAME}_query_answer.json").read_text(encoding="utf-8").splitlines()
    lines = problem.what.rpartition("lines ")[2].split(" and ")
    assert all('"query_id": "session_10_sua_1"' in text[int(line)] for line in lines)
    assert [item.cluster for item in imported.items.values()] == ["1", "2"]
    assert {item.task for item in imported.items.values() if item.cluster == "2"} == {"ig"}


@pytest.mark.parametrize(("choice", "output"), [("first", "old"), ("last", "new")])
def test_the_user_chooses_which_copy_is_judged(tmp_path: Path, choice: str, output: str) -> None:
    imported = read(write(tmp_path, resumed()), duplicates=choice)
    assert not imported.fatal
    assert any("there 2 times: record 2 and record 3" in w for w in imported.warnings), "still said"
    assert imported.find("sua", "2").payload["response"] == output
    assert len(imported.items) == 3


def test_as_coded_counts_both_copies_as_the_file_does(tmp_path: Path) -> None:
    run = resumed()
    imported = read(write(tmp_path, run), duplicates="last")
    coded = imported.as_coded()
    assert coded["query_answer"] == run["summary"]
    assert coded["by_context"]["2"] == {"total": 3, "correct": 2}
    once = imported.as_described()["each_query_once"]
    assert once == {"overall_accuracy": 2 / 3, "repeats_left_out": 1}


def test_the_other_choice_replaces_the_copy_that_was_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, resumed())
    first, last = read(path, duplicates="first"), read(path, duplicates="last")
    kept = [imported.facts()["second_copy"] for imported in (first, last)]
    assert list(kept[0]) == list(kept[1]) == ["2/session_10_sua_1#1"]
    assert [copy["2/session_10_sua_1#1"]["position"] for copy in kept] == [2, 1]


def test_an_unknown_choice_is_no_choice(tmp_path: Path) -> None:
    imported = read(write(tmp_path, resumed()), duplicates="both")
    assert any("no choice 'both'" in problem.what for problem in imported.fatal)
    assert len(imported.items) == 2


# --- checkpoints -----------------------------------------------------------------------------------------------------


def test_a_checkpoint_names_its_personas_and_keeps_details_elsewhere(tmp_path: Path) -> None:
    results: Json = {"1": [], "2": []}
    for persona, task in (("1", "eem"), ("1", "mcd"), ("2", "tla")):
        record = {**record_of(task), "memory_construction_time": 0.5, "extra": {}}
        record["details"] = record.pop("evaluation_details")
        del record["retrieved_memories"]
        results[persona].append(record)
    value = {"checkpoint_id": "x", "method_name": "bm25", "model_name": "fake", "dataset_name": "medmemorybench",
             "status": "in_progress", "completed_results": results}  # fmt: skip
    imported = read(write(tmp_path, value, "checkpoint.json"))
    assert not imported.fatal
    assert [(item.task, item.cluster) for item in imported.items.values()] == [("eem", "1"), ("mcd", "1"), ("tla", "2")]
    assert imported.verdict("mcd").rationale == "综合"
    assert imported.find("tla", "2").payload["explanation"] == "x"
    assert imported.as_coded()["summary"]["by_type"]["multi_hop_clinical_deduction"]["avg_ncr"] == 0.5
    assert imported.stated() is None


# --- bad input -------------------------------------------------------------------------------------------------------


def test_every_bad_record_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    run = whole_shape()
    run["queries"][1] = {**run["queries"][1], "query_type": "riddle"}
    run["queries"][2] = "not a record"
    run["queries"][3] = {**run["queries"][3], "query_type": ["state_update"]}
    imported = read(write(tmp_path, run))
    assert [problem.what.partition(" has")[0] for problem in imported.fatal] == [
        "query session_10_mq_1",
        "a record is not an object",
        "query session_10_sua_1",
    ]
    assert all(problem.line and problem.remedy for problem in imported.fatal)
    assert len(imported.items) == 15
    assert imported.find("mcd", "2", "20").cluster == "2", "whose they are does not shift"


def test_a_cut_file_gives_what_is_whole_and_says_where_it_ends(tmp_path: Path) -> None:
    path = write(tmp_path, whole_shape())
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex('"model_output"')], encoding="utf-8")
    imported = read(path)
    assert any("ends in the middle" in problem.what for problem in imported.fatal)
    assert len(imported.items) == 17


def test_half_a_surrogate_and_a_nul_are_replaced_and_said(tmp_path: Path) -> None:
    path = write(tmp_path, run_of([("1", {**record_of("ig"), "model_output": "HERE"})]))
    path.write_text(path.read_text(encoding="utf-8").replace("HERE", "bad \\ud83d \\u0000 end"), encoding="utf-8")
    imported = read(path)
    assert imported.find("ig").payload["response"] == "bad \ufffd \u2400 end"
    assert len([warning for warning in imported.warnings if "replaced" in warning]) == 2


def test_odd_values_are_shown_and_kept(tmp_path: Path) -> None:
    record = {**record_of("ig"), "model_output": None, "expected_answer": ["a", 1], "evaluation_details": "none"}
    imported = read(write(tmp_path, run_of([("1", record)])))
    item = imported.find("ig")
    assert (item.payload["response"], item.payload["reference"]) == ("", '["a",1]')
    (name, text), *_ = imported.written().items()
    assert json.loads(text)["queries"] == [record], name


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
                    max_leaves=8))  # fmt: skip
def test_whatever_stands_in_a_record_nothing_is_raised(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    folder = tmp_path_factory.mktemp("odd")
    for name in ("is_correct", "evaluation_details", "retrieved_memories", "model_output", "score", "query_time"):
        run = {
            **shape(),
            "queries": [{**record_of("mcd"), name: value}],
            "by_context": {"1": {"query_ids": ["session_10_mcd_1"]}},
        }
        imported = read(write(folder, run))
        imported.as_coded()
        imported.as_described()
        imported.written()


def test_payloads_hold_no_verdict(tmp_path: Path) -> None:
    queries = write_queries(tmp_path, [chain_query(), *(query_of(task) for task in TYPES if task != "mcd")])
    imported = read(write(tmp_path, whole_shape()), answers=[queries])
    words = ("judge_reason", "string false", "综合", "Judge failed", "ncr", "is_correct", "0.35")
    for item in imported.items.values():
        shown = json.dumps([item.payload, [imported.texts[text] for text in item.texts.values()]], ensure_ascii=False)
        assert not any(word in shown for word in words), shown
