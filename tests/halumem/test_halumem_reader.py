"""Reading a HaluMem run: items, judge inputs, joins, duplicates and faults."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from halumem_records import (
    MARTIN,
    SHEET,
    VERDICTS,
    Imported,
    read,
    stat,
    users,
    write_stat,
    write_users,
)

from store.records import ItemRecord, canonical_json, item_id

NORA = "00000000-aaaa-4000-8000-000000000001"
TEO = "00000000-bbbb-4000-8000-000000000002"
TASK_COUNTS = {"integrity": 11, "accuracy": 8, "update": 3, "qa": 5}


def text_of(imported: Imported, item: ItemRecord, name: str) -> Any:
    return json.loads(imported.texts[item.texts[name]])


@pytest.fixture(scope="module")
def pair() -> Imported:
    return read(VERDICTS, answers=[SHEET])


# Items


def test_a_pair_of_files_gives_every_item_once_with_its_verdict(pair: Imported) -> None:
    assert pair.counts() == TASK_COUNTS
    assert len(pair.verdicts) == 27
    assert pair.problems == []
    assert [system.system for system in pair.systems] == ["synthetic"]
    assert {(judge.task, judge.name) for judge in pair.judges.values()} == {(task, "judge") for task in TASK_COUNTS}


def test_ids_are_those_of_the_natural_keys(pair: Imported) -> None:
    keys = {
        "integrity": [NORA, 2, 3],
        "update": [TEO, 0, 2],
        "qa": [NORA, 2, "What is Nora Quill's middle name?"],
        "accuracy": [NORA, 2, "Nora has a twin brother.", 0],
    }
    for task, key in keys.items():
        item = pair.items[item_id("halumem", task, "synthetic", key)]
        assert (item.task, item.natural_key) == (task, canonical_json(key))
        assert (item.cluster, item.group) == (key[0], f"{key[0]}/{key[1]}")


def test_integrity_gets_the_extracted_list_the_judge_compared_with(pair: Imported) -> None:
    item = pair.find("integrity", "Nora Quill lives in Porto")
    assert item.payload == {"memory_content": "Nora Quill lives in Porto"}
    assert text_of(pair, item, "extracted") == ["The user is called Nora Quill.", "Nora is based in Portugal."]
    assert text_of(pair, item, "dialogue")[2] == {
        "content": "I live in Porto.",
        "role": "user",
        "timestamp": "Mar 01, 2027, 09:06:00",
    }


def test_accuracy_gets_the_dialogue_and_the_gold_list_without_distractors(pair: Imported) -> None:
    item = pair.find("accuracy", "Nora has a twin brother.")
    assert item.payload == {"memory_content": "Nora has a twin brother."}
    gold = text_of(pair, item, "gold")
    assert len(gold) == 4
    assert not any("plant-based" in point or "map shop" in point for point in gold)
    assert len(text_of(pair, item, "dialogue")) == 4


def test_update_gets_the_retrieved_memories_and_both_versions(pair: Imported) -> None:
    item = pair.find("update", "Teo Brandt's running partner")
    assert item.payload == {
        "memory_content": "Teo Brandt's running partner changed from Max to Lena.",
        "original_memories": ["Teo Brandt runs with Max"],
    }
    assert len(text_of(pair, item, "retrieved")) == 2


def test_qa_gets_question_reference_evidence_and_response_and_keeps_the_context_apart(pair: Imported) -> None:
    item = pair.find("qa", "Who lent Nora Quill")
    assert item.payload == {
        "question": "Who lent Nora Quill the label printer?",
        "reference": "Her friend Ilse.",
        "evidence": ["Nora Quill's friend Ilse lent her a label printer."],
        "response": "Unknown",
    }
    assert pair.texts[item.texts["context"]] == ""
    assert pair.find("qa", "What is Nora Quill's middle name").payload["evidence"] == []


def test_what_tells_points_apart_is_in_the_slices_and_not_in_the_payload(pair: Imported) -> None:
    distractor = pair.find("integrity", "Nora Quill plans to open a map shop.")
    assert distractor.slices == {
        "memory_type": "Event Memory",
        "source": "interference",
        "kind": "distractor",
        "extraction": "present",
    }
    assert pair.find("integrity", "Nora Quill's job title").slices["kind"] == "rerouted_update"
    assert pair.find("integrity", "Nora Quill felt calm").slices["extraction"] == "empty"
    assert pair.find("integrity", "User's name").slices["kind"] == "gold"
    assert pair.find("update", "Teo Brandt's weekly").slices["kind"] == "update"
    question = pair.find("qa", "Does Teo Brandt still run")
    assert question.slices == {"question_type": "Memory Conflict", "difficulty": "medium"}
    assert pair.find("integrity", "Nora Quill's friend Ilse").weight == 0.25


def test_no_payload_or_text_holds_a_verdict_a_duration_or_what_makes_a_distractor(pair: Imported) -> None:
    for item in pair.items.values():
        assert item.payload.keys() <= {
            "memory_content", "original_memories", "question", "reference", "evidence", "response"
        }  # fmt: skip
        shown = json.dumps(item.payload) + "".join(pair.texts[text] for text in item.texts.values())
        assert "interference" not in shown
        assert "duration" not in shown


def test_verdicts_and_timings_do_not_change_what_an_item_is(pair: Imported, tmp_path: Path) -> None:
    people = users()
    for user in people:
        for session in user["sessions"]:
            session["add_dialogue_duration_ms"] = 7.0
            for question in session.get("questions", []):
                question |= {"search_duration_ms": 7.0, "response_duration_ms": 7.0}
    other = read(write_users(tmp_path, people), system="synthetic")
    assert {i: item.content_hash for i, item in other.items.items()} == {
        i: item.content_hash for i, item in pair.items.items()
    }


def test_a_shared_text_is_stored_once(pair: Imported) -> None:
    session = [item for item in pair.items.values() if item.group == f"{NORA}/2"]
    assert len({item.texts["dialogue"] for item in session}) == 1
    assert len(session) == 13


def test_items_do_not_depend_on_the_order_of_records(pair: Imported, tmp_path: Path) -> None:
    shuffled = stat()
    for name, records in shuffled.items():
        if name != "overall_score":
            random.Random(7).shuffle(records)
    other = read(write_stat(tmp_path, shuffled), answers=[SHEET], system="synthetic")
    assert other.items == pair.items
    assert {i: v.verdict_hash for i, v in other.verdicts.items()} == {
        i: v.verdict_hash for i, v in pair.verdicts.items()
    }


# Verdicts


def test_verdicts_are_read_exactly_and_keep_their_own_fields(pair: Imported) -> None:
    partly = pair.verdicts[pair.find("integrity", "Nora Quill lives").item_id]
    assert (partly.label, partly.score, partly.failure, partly.route) == ("1", 1.0, "", "judged")
    assert json.loads(partly.raw) == {"is_valid": True, "memory_integrity_score": 1}
    failed = pair.verdicts[pair.find("integrity", "Teo Brandt registered for the Ghent half").item_id]
    assert (failed.label, failed.failure) == (None, "missing")
    boolean = pair.verdicts[pair.find("accuracy", "Teo now runs").item_id]
    assert boolean.parts == {"included": "true"}
    assert json.loads(boolean.raw)["is_included_in_golden_memories"] is True
    unjudged = pair.verdicts[pair.find("accuracy", "Teo signed up").item_id]
    assert (unjudged.label, unjudged.parts) == (None, {}), "the flag of a failed verdict is a default, not an answer"


def test_what_nobody_was_asked_about_is_told_from_what_was_judged(pair: Imported) -> None:
    routes = {item.payload["memory_content"]: pair.verdicts[i].route for i, item in pair.items.items() if i in
              pair.verdicts and item.task == "integrity"}  # fmt: skip
    unasked = {content for content, route in routes.items() if route == "empty_extraction"}
    assert unasked == {
        "Nora Quill felt calm after the exhibition opened.",
        "Nora Quill felt anxious about the exhibition reviews.",
    }


def test_positions_follow_the_judges_file(pair: Imported) -> None:
    order = sorted(pair.verdicts.values(), key=lambda verdict: verdict.position)
    assert [pair.items[verdict.item_id].task for verdict in order] == (
        ["integrity"] * 11 + ["accuracy"] * 8 + ["update"] * 3 + ["qa"] * 5
    )
    assert [verdict.position for verdict in order] == list(range(27))


def test_the_judges_words_are_kept_where_a_fork_kept_them(tmp_path: Path) -> None:
    value = stat()
    value["question_answering_records"][0]["reasoning"] = "Same drink."
    value["memory_accuracy_records"][0]["reason"] = "说了名字"
    imported = read(write_stat(tmp_path, value), answers=[SHEET])
    assert imported.verdicts[imported.find("qa", "What does Nora").item_id].rationale == "Same drink."
    assert imported.verdicts[imported.find("accuracy", "The user is called").item_id].rationale == "说了名字"
    distractor = imported.verdicts[imported.find("integrity", "Nora Quill plans").item_id]
    assert distractor.rationale == "", "a distractor's reason is the benchmark's"


# Any combination of files


def test_verdicts_alone_make_usable_items_that_say_what_is_missing(pair: Imported) -> None:
    alone = read(VERDICTS)
    assert alone.counts() == TASK_COUNTS
    assert alone.items.keys() == pair.items.keys()
    assert alone.problems == []
    assert alone.find("integrity", "Nora Quill lives").payload["missing_inputs"] == ["extracted"]
    assert alone.find("accuracy", "Nora has a twin").payload["missing_inputs"] == ["dialogue", "gold"]
    update = alone.find("update", "Teo Brandt's running")
    assert "missing_inputs" not in update.payload
    assert update.texts.keys() == {"retrieved"}
    assert "extraction" not in alone.find("integrity", "Nora Quill felt calm").slices


def test_slimmed_records_say_which_of_their_own_fields_are_missing() -> None:
    martin = read(MARTIN)
    assert martin.counts() == {"integrity": 7, "accuracy": 6, "update": 5, "qa": 5}
    assert martin.find("update", "update 8").payload["missing_inputs"] == ["original_memories", "retrieved"]
    assert martin.find("qa", "q0").payload["missing_inputs"] == ["reference", "evidence", "response"]


def test_a_sheet_alone_gives_the_items_the_official_script_would_judge(pair: Imported) -> None:
    alone = read(SHEET)
    assert alone.items == pair.items
    assert alone.verdicts == {}
    assert alone.judges == {}
    assert read(answers=[SHEET]).items == pair.items


def test_files_are_told_apart_whatever_argument_they_come_in(pair: Imported) -> None:
    swapped = read(SHEET, answers=[VERDICTS])
    assert swapped.items == pair.items
    assert swapped.verdicts == pair.verdicts


def test_cached_users_make_one_run_and_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "memzero-long" / "tmp2"
    folder.mkdir(parents=True)
    value = stat()
    for uuid in (NORA, TEO):
        own = {
            name: [{k: v for k, v in r.items() if k != "is_valid"} for r in records if r["uuid"] == uuid]
            for name, records in value.items()
            if name != "overall_score"
        }
        write_stat(folder, own, f"{uuid}.json")
    imported = read(folder, answers=[SHEET])
    assert imported.problems == []
    assert read(folder).systems[0].system == "memzero-long"
    assert len(imported.verdicts) == 27
    assert sorted(v.position for v in imported.verdicts.values()) == list(range(27))
    assert imported.as_coded() == value["overall_score"]


def test_an_answer_sheet_may_be_one_pretty_object_or_an_array(pair: Imported, tmp_path: Path) -> None:
    array = write_stat(tmp_path, users(), "synthetic_eval_results.json")
    assert read(VERDICTS, answers=[array]).items == pair.items
    single = write_stat(tmp_path, users()[1], "synthetic_eval_results_1.json")
    assert {item.cluster for item in read(single, system="synthetic").items.values()} == {TEO}


@pytest.mark.parametrize(
    ("of_user", "of_session"),
    [
        ({}, {}),
        ({}, {"conv_id": "nora_0"}),
        ({"memobase_user_id": "u-1"}, {"add_dialogue_start_time": 1.0, "add_dialogue_end_time": 2.0}),
        ({}, {"response_id_ls": ["a", "b"]}),
        ({"user_id": "zep-1"}, {"zep_thread_id": "t-1"}),
        ({"timing": {"total": 3.5}, "token_cost": {}}, {}),
    ],
    ids=["mem0", "memos", "memobase", "supermemory", "zep", "others"],
)
def test_every_adapters_sheet_gives_the_same_items(
    pair: Imported, tmp_path: Path, of_user: dict[str, Any], of_session: dict[str, Any]
) -> None:
    people = users()
    for user in people:
        user |= of_user
        for session in user["sessions"]:
            session |= of_session
    imported = read(VERDICTS, answers=[write_users(tmp_path, people)], system="synthetic")
    assert imported.items == pair.items
    assert imported.verdicts.keys() == pair.verdicts.keys()
    assert imported.problems == []


def test_the_system_is_named_by_the_user_or_by_the_files(tmp_path: Path) -> None:
    assert read(VERDICTS, system="mem0").systems[0].system == "mem0"
    path = write_stat(tmp_path, stat(), "scores.json")
    assert read(path).systems[0].system == "scores"
    assert {judge.name for judge in read(path, judge="gpt-4o").judges.values()} == {"gpt-4o"}


# Repeats


def test_a_user_twice_in_the_sheet_is_read_once_and_told(pair: Imported, tmp_path: Path) -> None:
    nora, teo = users()
    rerun = json.loads(json.dumps(nora))
    rerun["sessions"][0]["add_dialogue_duration_ms"] = 1.0
    path = write_users(tmp_path, [nora, teo, rerun])
    imported = read(VERDICTS, answers=[path], system="synthetic")
    assert imported.items == pair.items
    (warning,) = imported.problems
    assert (warning.line, warning.fatal) == (3, False)
    assert "line 1" in warning.what
    assert NORA in warning.what
    (fact,) = imported.facts["repeated_user"].values()
    assert fact["same"] is True


def test_a_user_twice_with_other_answers_names_both_lines_and_the_sessions(pair: Imported, tmp_path: Path) -> None:
    nora, teo = users()
    rerun = json.loads(json.dumps(nora))
    rerun["sessions"][2]["questions"][0]["system_response"] = "Tea"
    imported = read(VERDICTS, answers=[write_users(tmp_path, [nora, teo, rerun])], system="synthetic")
    (problem,) = imported.fatal
    assert problem.line == 3
    assert "line 1" in problem.what
    assert "sessions 2 differ" in problem.what
    assert "keep one" in problem.remedy
    assert imported.items == pair.items, "the first line counts"


def test_verdicts_there_twice_are_read_once_and_told_once_per_user(pair: Imported, tmp_path: Path) -> None:
    value = stat()
    for name in list(value)[1:]:
        value[name] = value[name] + [r for r in value[name] if r["uuid"] == NORA]
    for answers in ([SHEET], []):
        imported = read(write_stat(tmp_path, value), answers=answers, system="synthetic")
        assert imported.items.keys() == pair.items.keys()
        assert len(imported.verdicts) == 27
        (warning,) = imported.problems
        assert not warning.fatal
        assert "19 records" in warning.what
        assert NORA in warning.what


def test_contradicting_verdicts_name_their_lines_and_the_first_is_kept(tmp_path: Path) -> None:
    value = stat()
    again = dict(value["memory_integrity_records"][1], memory_integrity_score=2)
    value["memory_integrity_records"].append(again)
    other = dict(value["memory_accuracy_records"][3], memory_accuracy_score=0)
    value["memory_accuracy_records"].append(other)
    path = write_stat(tmp_path, value)
    lines = path.read_text(encoding="utf-8").splitlines()
    where = [n for n, line in enumerate(lines, 1) if '"Nora Quill lives in Porto"' in line]
    for answers in ([SHEET], []):
        imported = read(path, answers=answers)
        (problem,) = imported.fatal
        assert "2 records of user" in problem.what
        named = [int(n) for n in problem.what.partition("lines ")[2].partition(";")[0].split(" and ")]
        assert [abs(n - at) <= 3 for n, at in zip(sorted(named), where, strict=True)] == [True, True]
        assert imported.verdicts[imported.find("integrity", "Nora Quill lives").item_id].label == "1"
        assert len(imported.verdicts) == 27


def test_the_same_user_in_two_verdict_files(pair: Imported, tmp_path: Path) -> None:
    value = stat()
    copy = {name: [r for r in value[name] if r["uuid"] == TEO] for name in list(value)[1:]}
    same = read(VERDICTS, write_stat(tmp_path, copy, "teo.json"), answers=[SHEET])
    assert [p.fatal for p in same.problems] == [False]
    assert "8 records" in same.problems[0].what
    copy["question_answering_records"][0]["result_type"] = "Correct"
    differing = read(VERDICTS, write_stat(tmp_path, copy, "teo.json"), answers=[SHEET])
    (problem,) = differing.fatal
    assert "of an earlier file" in problem.what


@pytest.mark.parametrize("with_sheet", [True, False])
def test_a_memory_extracted_twice_is_two_items(tmp_path: Path, with_sheet: bool) -> None:
    people, value = users(), stat()
    people[1]["sessions"][0]["extracted_memories"].append("Teo now runs with Lena.")
    twin = dict(value["memory_accuracy_records"][6], memory_accuracy_score=1)
    value["memory_accuracy_records"].append(twin)
    sheets = [write_users(tmp_path, people)] if with_sheet else []
    imported = read(write_stat(tmp_path, value), answers=sheets, system="synthetic")
    twins = [item for item in imported.items.values() if item.payload.get("memory_content", "").startswith("Teo now")]
    assert [json.loads(item.natural_key)[3] for item in twins] == [0, 1]
    assert sorted(imported.verdicts[item.item_id].label or "" for item in twins) == ["1", "2"]
    assert imported.fatal == []


# Files that do not belong together


def test_a_verdict_on_another_text_is_not_attached(tmp_path: Path) -> None:
    value = stat()
    value["memory_integrity_records"][1]["memory_content"] = "Nora Quill lives in Lisbon"
    value["question_answering_records"][0]["system_response"] = "Tea"
    value["memory_update_records"][0]["memories_from_system"] = []
    value["memory_accuracy_records"][0]["memory_content"] = "Never extracted."
    path = write_stat(tmp_path, value)
    imported = read(path, answers=[SHEET])
    assert len(imported.verdicts) == 23
    assert imported.counts() == TASK_COUNTS
    told = [problem.what for problem in imported.fatal]
    assert ["memory_content differ" in told[0], "no record for accuracy" in told[1]] == [True, True]
    assert ["memories_from_system differ" in told[2], "system_response differ" in told[3]] == [True, True]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert all(lines[problem.line - 1].strip() == "{" for problem in imported.fatal)
    assert not any("Lisbon" in what or "Tea" in what for what in told), "no item text in a message"
    assert any("4 of 27" in problem.what or "4 of 19" in problem.what for problem in imported.warnings)


def test_an_update_judged_under_the_other_task_says_so(tmp_path: Path) -> None:
    people = users()
    people[1]["sessions"][0]["memory_points"][0]["memories_from_system"] = []
    imported = read(VERDICTS, answers=[write_users(tmp_path, people)])
    (problem,) = imported.fatal
    assert "sends this point to integrity, not to update" in problem.what


def test_a_user_the_sheet_does_not_have_is_told_once_and_kept(tmp_path: Path) -> None:
    imported = read(VERDICTS, answers=[write_users(tmp_path, users()[:1])])
    (warning,) = imported.problems
    assert not warning.fatal
    assert TEO in warning.what
    assert "8 records" in warning.what
    teo = imported.find("integrity", "Teo Brandt registered for the Ghent half")
    assert teo.payload["missing_inputs"] == ["extracted"]
    assert imported.verdicts[teo.item_id].failure == "missing"


def test_users_without_all_their_verdicts_are_told(tmp_path: Path) -> None:
    value = stat()
    for name in list(value)[1:]:
        value[name] = [r for r in value[name] if r["uuid"] == NORA]
    imported = read(write_stat(tmp_path, value), answers=[SHEET])
    assert [(p.line, p.fatal) for p in imported.problems] == [(2, False)]
    assert "8 of 8" in imported.problems[0].what


def test_other_values_beside_the_text_are_the_verdict_files(tmp_path: Path) -> None:
    value = stat()
    value["memory_integrity_records"][0]["importance"] = 0.25
    imported = read(write_stat(tmp_path, value), answers=[SHEET])
    (warning,) = imported.problems
    assert "importance differs from the answer sheet in 1 records" in warning.what
    assert imported.as_coded()["memory_integrity"]["memory_importance_sum"] == 4.25


# Faults


def test_a_bad_line_costs_its_user_only(tmp_path: Path) -> None:
    lines = SHEET.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "run_eval_results.jsonl"
    path.write_text(f"{lines[0]}\n{{bad}}\n{lines[1][:1500]}\n{lines[1]}\n{lines[1][:2000]}", encoding="utf-8")
    imported = read(path, system="synthetic")
    assert [problem.line for problem in imported.fatal] == [2, 3, 5]
    assert imported.items == read(SHEET).items


def test_a_truncated_verdict_file_keeps_the_records_before_the_cut(tmp_path: Path) -> None:
    whole = VERDICTS.read_text(encoding="utf-8")
    path = tmp_path / "cut_eval_stat_result.json"
    path.write_text(whole[: whole.index("Nora has a twin")], encoding="utf-8")
    imported = read(path)
    assert imported.counts() == {"integrity": 11, "accuracy": 5}
    assert "ends in the middle" in imported.fatal[0].what


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "gb18030"])
def test_other_encodings_are_refused_by_name(tmp_path: Path, encoding: str) -> None:
    people = users()
    people[0]["sessions"][0]["dialogue"][0]["content"] = "糖尿病患者的血压控制"
    path = tmp_path / "run_eval_results.jsonl"
    path.write_bytes("".join(json.dumps(u, ensure_ascii=False) + "\n" for u in people).encode(encoding))
    imported = read(path)
    assert any({"utf-16": "UTF-16", "utf-16-le": "UTF-16"}.get(encoding, "GB18030") in p.what for p in imported.fatal)


def test_a_byte_order_mark_is_no_fault(pair: Imported, tmp_path: Path) -> None:
    sheet = tmp_path / "synthetic_eval_results.jsonl"
    sheet.write_bytes(b"\xef\xbb\xbf" + SHEET.read_bytes())
    verdicts = tmp_path / "synthetic_eval_stat_result.json"
    verdicts.write_bytes(b"\xef\xbb\xbf" + VERDICTS.read_bytes())
    imported = read(verdicts, answers=[sheet])
    assert imported.items == pair.items
    assert imported.problems == []


def test_broken_characters_are_replaced_and_told_and_the_item_kept(tmp_path: Path) -> None:
    people = users()
    people[0]["sessions"][0]["dialogue"][0]["content"] = "bad \ud83d end"
    people[0]["sessions"][0]["memory_points"][1]["memory_content"] = "Porto\x00"
    path = tmp_path / "run_eval_results.jsonl"
    path.write_text("".join(json.dumps(u) + "\n" for u in people), encoding="utf-8")
    imported = read(path)
    assert imported.fatal == []
    assert [problem.line for problem in imported.warnings] == [1, 1]
    assert "sessions[0].memory_points[1].memory_content" in imported.warnings[0].what
    assert "sessions[0].dialogue[0].content" in imported.warnings[1].what
    item = imported.find("integrity", "Porto")
    assert item.payload["memory_content"] == "Porto␀"
    assert text_of(imported, item, "dialogue")[0]["content"] == "bad \ufffd end"


def test_hostile_text_passes_through_unchanged(tmp_path: Path) -> None:
    hostile = "\x1b]52;c;aGk=\x07 [@click=app.quit]x[/] \u202eabc =cmd|' /C calc'!A0"
    people = users()
    people[0]["sessions"][2]["questions"][0]["system_response"] = hostile
    imported = read(write_users(tmp_path, people))
    assert imported.find("qa", "What does Nora").payload["response"] == hostile
    assert imported.problems == []


@pytest.mark.parametrize(
    ("member", "record", "told"),
    [
        ("memory_integrity_records", {"uuid": "u", "ssession_id": 0, "memory_integrity_score": 2}, "no index"),
        ("memory_accuracy_records", {"uuid": "u", "memory_content": "x"}, "no ssession_id"),
        ("memory_accuracy_records", {"uuid": "u", "ssession_id": 0, "memory_content": 3}, "wrong type"),
        ("memory_update_records", {"uuid": 3, "ssession_id": 0, "index": 1}, "uuid that is no text"),
        ("question_answering_records", {"uuid": "u", "ssession_id": "0", "question": "q"}, "no whole number"),
        ("question_answering_records", "a text", "not an object"),
    ],
)
def test_records_that_cannot_be_placed_are_faults_with_their_line(
    tmp_path: Path, member: str, record: Any, told: str
) -> None:
    value = stat()
    value[member].insert(0, record)
    imported = read(write_stat(tmp_path, value), answers=[SHEET])
    (problem,) = imported.fatal
    assert told in problem.what
    assert problem.line > 1
    assert len(imported.verdicts) == 27


@pytest.mark.parametrize(
    ("session", "told"),
    [
        ({"memory_points": [], "dialogue": []}, "no list extracted_memories"),
        ("not a session", "no list memory_points"),
        ({"memory_points": [{"index": 1}], "dialogue": [], "extracted_memories": []}, "no index or no memory_content"),
        ({"memory_points": [7], "dialogue": [], "extracted_memories": []}, "no index or no memory_content"),
        (
            {"memory_points": [], "dialogue": [], "extracted_memories": [], "questions": [{"answer": "a"}]},
            "no question",
        ),
        ({"memory_points": [], "dialogue": [], "extracted_memories": [], "questions": 3}, "are no list"),
    ],
)
def test_sessions_that_are_not_whole_are_faults(pair: Imported, tmp_path: Path, session: Any, told: str) -> None:
    people = users()
    people[0]["sessions"].append(session)
    imported = read(write_users(tmp_path, people), system="synthetic")
    (problem,) = imported.fatal
    assert told in problem.what
    assert "session 4" in problem.what
    assert imported.items == pair.items


def test_two_points_with_one_index_are_a_fault(tmp_path: Path) -> None:
    people = users()
    points = people[1]["sessions"][0]["memory_points"]
    points.append(dict(points[2]))
    points.append(dict(points[2], memory_content="Other."))
    imported = read(write_users(tmp_path, people))
    assert [problem.fatal for problem in imported.problems] == [False, True]
    assert "same index" in imported.problems[1].what


def test_files_that_are_no_run_are_refused_with_what_to_give(tmp_path: Path) -> None:
    benchmark_input = write_users(
        tmp_path, [{"uuid": "u", "persona_info": "Name: X", "sessions": [{"memory_points": [], "dialogue": []}]}]
    )
    other = write_stat(tmp_path, {"queries": []}, "other.json")
    imported = read(benchmark_input, other, tmp_path / "absent.json")
    assert imported.items == {}
    told = {Path(p.file).name: p for p in imported.fatal}
    assert "input data" in told["run_eval_results.jsonl"].what
    assert "no HaluMem file" in told["other.json"].what
    assert "cannot be read" in told["absent.json"].what
    assert all(p.remedy for p in imported.fatal)
