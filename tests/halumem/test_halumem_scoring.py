"""HaluMem's metrics: equal to the official numbers, quirks and crashes included, and right under people's labels."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from halumem_records import MARTIN, SHEET, VERDICTS, Imported, read, stat, users, write_stat, write_users
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.halumem.scoring import official_score
from judges.scoring import differences
from store.records import JudgeRecord, LabelState, VerdictRecord

VERDICT = {
    "integrity": "memory_integrity_score",
    "accuracy": "memory_accuracy_score",
    "update": "memory_update_type",
    "qa": "result_type",
}
MEMBER = {
    "integrity": "memory_integrity_records",
    "accuracy": "memory_accuracy_records",
    "update": "memory_update_records",
    "qa": "question_answering_records",
}


def changed(folder: Path, change: Callable[[dict[str, Any]], object], source: Path = VERDICTS) -> Imported:
    """The run of a verdict file after a change to it."""
    value = stat(source)
    change(value)
    return read(write_stat(folder, value), answers=[SHEET] if source == VERDICTS else [])


# As coded


@pytest.mark.parametrize("answers", [[SHEET], []], ids=["with-sheet", "verdicts-alone"])
def test_the_synthetic_run_has_the_official_scores_to_the_last_digit(answers: list[Path]) -> None:
    imported = read(VERDICTS, answers=answers)
    scores = imported.as_coded()
    assert scores == stat()["overall_score"]
    assert list(scores) == list(stat()["overall_score"])
    assert [list(block) for block in scores.values() if isinstance(block, dict)] == [
        list(block) for block in stat()["overall_score"].values() if isinstance(block, dict)
    ]
    assert official_score(imported.facts) == scores
    assert differences(scores, stat()["overall_score"]) == []


def test_martins_worked_example() -> None:
    scores = read(MARTIN).as_coded()
    assert scores == stat(MARTIN)["overall_score"]
    percent = {
        "recall": scores["memory_integrity"]["recall(all)"],
        "weighted": scores["memory_integrity"]["weighted_recall(all)"],
        "accuracy": scores["memory_accuracy"]["weighted_accuracy(all)"],
        "target": scores["memory_accuracy"]["target_accuracy(all)"],
        "resistance": scores["memory_accuracy"]["interference_accuracy(all)"],
        "f1": scores["memory_extraction_f1"],
        "update": scores["memory_update"]["correct_update_memory_ratio(all)"],
        "qa": scores["question_answering"]["correct_qa_ratio(all)"],
    }
    assert {name: f"{100 * value:.2f}" for name, value in percent.items()} == {
        "recall": "60.00",
        "weighted": "71.43",
        "accuracy": "66.67",
        "target": "87.50",
        "resistance": "50.00",
        "f1": "71.19",
        "update": "40.00",
        "qa": "60.00",
    }


def test_a_failed_verdict_counts_in_all_and_not_in_valid(tmp_path: Path) -> None:
    major = changed(tmp_path, lambda v: v["memory_integrity_records"][4].update(memory_integrity_score=None), MARTIN)
    integrity = major.as_coded()["memory_integrity"]
    assert [round(100 * integrity[name], 2) for name in list(integrity)[:4]] == [60.0, 75.0, 71.43, 90.91]
    assert [integrity[name] for name in list(integrity)[4:]] == [2.75, 3.5, 4, 5]
    stored = changed(tmp_path, lambda v: v["memory_integrity_records"][6].update(memory_integrity_score=None), MARTIN)
    accuracy = stored.as_coded()["memory_accuracy"]
    assert (accuracy["interference_accuracy(all)"], accuracy["interference_accuracy(valid)"]) == (0.5, 1.0)


def test_a_distractor_flagged_inside_enters_target_precision(tmp_path: Path) -> None:
    record = {"is_included_in_golden_memories": "true"}
    scores = changed(tmp_path, lambda v: v["memory_accuracy_records"][5].update(record), MARTIN).as_coded()
    assert round(100 * scores["memory_accuracy"]["target_accuracy(all)"], 2) == 80.0
    assert round(100 * scores["memory_extraction_f1"], 2) == 68.57


@pytest.mark.parametrize(("flag", "inside"), [("True", 1), (True, 0), ("TRUE", 0), ("yes", 0), ("false", 0)])
def test_only_two_spellings_of_the_flag_count(tmp_path: Path, flag: Any, inside: int) -> None:
    def change(value: dict[str, Any]) -> None:
        value["memory_accuracy_records"][4]["is_included_in_golden_memories"] = flag

    scores = changed(tmp_path, change).as_coded()["memory_accuracy"]
    assert scores["target_memory_num"] == 4 + inside
    assert scores["memory_num"] == 8


def test_labels_in_other_letters_are_invalid_and_stay_in_all(tmp_path: Path) -> None:
    scores = changed(tmp_path, lambda v: v["question_answering_records"][0].update(result_type="correct")).as_coded()
    qa = scores["question_answering"]
    assert (qa["correct_qa_ratio(all)"], qa["correct_qa_ratio(valid)"], qa["qa_valid_num"]) == (0.0, 0.0, 3)


def test_scores_beyond_the_scale_add_up_as_the_official_script_adds_them(tmp_path: Path) -> None:
    was = read(VERDICTS, answers=[SHEET]).as_coded()["memory_integrity"]
    now = changed(tmp_path, lambda v: v["memory_integrity_records"][0].update(memory_integrity_score=3)).as_coded()
    assert now["memory_integrity"]["recall(all)"] == 1 / 7
    assert now["memory_integrity"]["weighted_recall(all)"] == pytest.approx(was["weighted_recall(all)"] + 0.375 / 4.75)


def test_outputs_older_than_f1_and_without_is_valid_are_scored_all_the_same(tmp_path: Path) -> None:
    def age(value: dict[str, Any]) -> None:
        del value["overall_score"]["memory_extraction_f1"]
        for name in MEMBER.values():
            for record in value[name]:
                del record["is_valid"]

    imported = changed(tmp_path, age)
    assert imported.problems == []
    assert imported.as_coded() == stat()["overall_score"]
    official = official_score(imported.facts)
    assert official is not None
    assert differences(imported.as_coded(), official) == []


def test_a_file_that_does_not_say_what_its_records_say_is_found_out(tmp_path: Path) -> None:
    def tamper(value: dict[str, Any]) -> None:
        value["overall_score"]["memory_integrity"]["recall(all)"] = 0.99

    imported = changed(tmp_path, tamper)
    official = official_score(imported.facts)
    assert official is not None
    assert differences(imported.as_coded(), official) == ["memory_integrity/recall(all)"]


@pytest.mark.slow
@settings(deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_records_does_not_matter(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    def shuffle(value: dict[str, Any]) -> None:
        for member in MEMBER.values():
            random.Random(seed).shuffle(value[member])

    assert changed(tmp_path_factory.mktemp("order"), shuffle).as_coded() == stat()["overall_score"]


# Durations


def test_durations_come_from_the_sheet_and_repeated_lines_count_again(tmp_path: Path) -> None:
    nora, teo = users()
    once = read(VERDICTS, answers=[write_users(tmp_path, [nora, teo])]).as_coded()["time_consuming"]
    twice = read(VERDICTS, answers=[write_users(tmp_path, [nora, teo, teo])]).as_coded()["time_consuming"]
    assert once == stat()["overall_score"]["time_consuming"]
    assert once["add_dialogue_duration_time"] == (1500.0 + 900.0 + 2100.0 + 600.0 + 1300.0) / 1000 / 60
    added = twice["add_dialogue_duration_time"]
    assert added == (1500.0 + 900.0 + 2100.0 + 600.0 + 1300.0 + 1300.0) / 1000 / 60


def test_durations_of_the_verdict_file_are_carried_over_without_a_sheet(tmp_path: Path) -> None:
    assert read(VERDICTS).as_coded()["time_consuming"] == stat()["overall_score"]["time_consuming"]
    bare = stat()
    del bare["overall_score"]
    clock = read(write_stat(tmp_path, bare)).as_coded()
    assert {value.status for value in clock["time_consuming"].values()} == {"no_answer_sheet"}
    assert "official_script" not in clock


def test_a_duration_that_is_no_number_stops_the_official_script(tmp_path: Path) -> None:
    people = users()
    people[0]["sessions"][0]["add_dialogue_duration_ms"] = "fast"
    scores = read(VERDICTS, answers=[write_users(tmp_path, people)]).as_coded()
    assert scores["official_script"].status == "official_crash"
    assert isinstance(scores["time_consuming"]["total_duration_time"], Undefined)
    assert scores["memory_integrity"] == stat()["overall_score"]["memory_integrity"]


# Where the official script stops


def without(member: str, keep: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], None]:
    def change(value: dict[str, Any]) -> None:
        value[member] = [record for record in value[member] if keep(record)]

    return change


GOLD, ACCURACY = "memory_integrity", "memory_accuracy"


@pytest.mark.parametrize(
    ("change", "undefined"),
    [
        (
            without(MEMBER["integrity"], lambda r: r["memory_source"] == "interference"),
            [
                (GOLD, "recall(all)"),
                (GOLD, "recall(valid)"),
                (GOLD, "weighted_recall(all)"),
                (GOLD, "weighted_recall(valid)"),
                ("memory_extraction_f1",),
            ],
        ),
        (
            without(MEMBER["integrity"], lambda r: r["memory_source"] != "interference"),
            [(ACCURACY, "interference_accuracy(all)"), (ACCURACY, "interference_accuracy(valid)")],
        ),
        (
            without(MEMBER["accuracy"], lambda r: r["is_included_in_golden_memories"] == "false"),
            [(ACCURACY, "target_accuracy(all)"), (ACCURACY, "target_accuracy(valid)"), ("memory_extraction_f1",)],
        ),
        (
            without(MEMBER["update"], lambda r: False),
            [
                ("memory_update", f"{label}_update_memory_ratio({kind})")
                for label in ("correct", "hallucination", "omission", "other")
                for kind in ("all", "valid")
            ],
        ),
        (
            without(MEMBER["qa"], lambda r: r["result_type"] is None),
            [("question_answering", f"{label}_qa_ratio(valid)") for label in ("correct", "hallucination", "omission")],
        ),
    ],
    ids=["no-gold", "no-distractor", "no-target", "no-update", "no-valid-qa"],
)
def test_an_empty_class_leaves_its_own_ratios_undefined_and_says_that_nothing_was_written(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], undefined: list[tuple[str, ...]]
) -> None:
    scores = changed(tmp_path, change).as_coded()
    for path in undefined:
        value: Any = scores
        for name in path:
            value = value[name]
        assert isinstance(value, Undefined), path
        assert value.status == "official_crash"
        assert "ZeroDivisionError" in value.why
    assert next(iter(scores)) == "official_script"
    assert "writes no stat_result" in scores["official_script"].why
    first = undefined[0][-1]
    assert f"at {first}:" in scores["official_script"].why, "the first that fails is named"


def test_a_memory_type_without_records_stops_the_official_script(tmp_path: Path) -> None:
    def change(value: dict[str, Any]) -> None:
        for member in (MEMBER["integrity"], MEMBER["update"]):
            value[member] = [r for r in value[member] if r["memory_type"] != "Relationship Memory"]

    scores = changed(tmp_path, change).as_coded()
    assert isinstance(scores["memory_type_accuracy"]["Relationship Memory"]["memory_acc"], Undefined)
    assert scores["memory_type_accuracy"]["Event Memory"]["total_num"] == 6
    assert "Relationship Memory" in scores["official_script"].why


@pytest.mark.parametrize(
    ("task", "record", "field", "value", "error", "lost"),
    [
        ("integrity", 1, "memory_integrity_score", "judge_failed", "TypeError", ["memory_integrity"]),
        ("integrity", 1, "memory_integrity_score", "2", "TypeError", ["memory_integrity"]),
        ("integrity", 1, "importance", ..., "KeyError", ["memory_integrity"]),
        ("integrity", 1, "memory_source", ..., "KeyError", ["memory_integrity"]),
        ("integrity", 1, "memory_integrity_score", ..., "KeyError", ["memory_integrity"]),
        ("integrity", 1, "memory_type", "persona", "KeyError", ["memory_type_accuracy"]),
        ("update", 0, "memory_type", ..., "KeyError", ["memory_type_accuracy"]),
        ("accuracy", 0, "memory_accuracy_score", "judge_failed", "TypeError", []),
        ("accuracy", 0, "is_included_in_golden_memories", ..., "KeyError", []),
    ],
)
def test_a_value_the_official_script_cannot_add_takes_its_block_down(
    tmp_path: Path, task: str, record: int, field: str, value: Any, error: str, lost: list[str]
) -> None:
    def change(whole: dict[str, Any]) -> None:
        if value is ...:
            del whole[MEMBER[task]][record][field]
        else:
            whole[MEMBER[task]][record][field] = value

    path = stat()
    change(path)
    scores = read(write_stat(tmp_path, path)).as_coded()
    assert error in scores["official_script"].why
    for block in lost:
        leaves = [v for part in scores[block].values() for v in (part.values() if isinstance(part, dict) else [part])]
        assert all(isinstance(leaf, Undefined) for leaf in leaves)
    if task == "accuracy":
        assert isinstance(scores["memory_accuracy"]["weighted_accuracy(all)"], Undefined)
        assert scores["memory_accuracy"]["interference_accuracy(all)"] == 0.5
    if "memory_integrity" in lost:
        assert isinstance(scores["memory_accuracy"]["interference_accuracy(all)"], Undefined)
        assert isinstance(scores["memory_extraction_f1"], Undefined)
    assert scores["question_answering"] == stat()["overall_score"]["question_answering"]


def test_a_failure_text_as_an_update_or_qa_label_is_only_invalid(tmp_path: Path) -> None:
    scores = changed(
        tmp_path, lambda v: v["memory_update_records"][0].update(memory_update_type="judge_failed")
    ).as_coded()
    assert "official_script" not in scores
    assert scores["memory_update"]["update_memory_valid_num"] == 2
    assert scores["memory_update"]["correct_update_memory_ratio(all)"] == 0.0


def test_a_failure_text_on_a_distractor_counts_as_a_valid_verdict_that_was_fooled(tmp_path: Path) -> None:
    def fail(value: dict[str, Any]) -> None:
        value["memory_integrity_records"][5]["memory_integrity_score"] = "judge_failed"

    scores = changed(tmp_path, fail).as_coded()
    assert "official_script" not in scores
    assert scores["memory_accuracy"]["interference_accuracy(valid)"] == 0.25


# As described


def test_types_are_described_without_distractors() -> None:
    types = read(VERDICTS, answers=[SHEET]).as_described()["memory_type_accuracy"]
    assert [block["total_num"] for block in types.values()] == [3, 5, 2]
    assert types["Event Memory"]["memory_integrity_acc"] == 1 / 3
    assert types["Persona Memory"]["memory_acc"] == 1 / 5 + 1 / 5


def test_updates_are_described_over_all_annotated_ones() -> None:
    update = read(VERDICTS, answers=[SHEET]).as_described()["memory_update"]
    assert update["update_memory_num"] == 4
    assert update["correct_update_memory_ratio(all)"] == 0.25
    assert update["omission_update_memory_ratio(all)"] == 0.5
    alone = read(VERDICTS).as_described()["memory_update"]
    assert alone == update


def test_target_precision_is_described_with_boolean_flags_read() -> None:
    described = read(VERDICTS, answers=[SHEET]).as_described()
    assert described["memory_accuracy"]["target_memory_num"] == 5
    assert described["memory_accuracy"]["target_accuracy(all)"] == 0.9
    assert described["memory_extraction_f1"] == 2 * 0.9 * (2 / 7) / (0.9 + 2 / 7)
    assert "memory_accuracy" not in read(MARTIN).as_described()


def test_what_the_paper_cannot_count_is_undefined_without_a_crash(tmp_path: Path) -> None:
    described = changed(tmp_path, without(MEMBER["update"], lambda r: False)).as_described()
    assert described["memory_update"]["omission_update_memory_ratio(all)"] == 1.0
    described = read(write_stat(tmp_path, {name: [] for name in MEMBER.values()})).as_described()
    ratio = described["memory_update"]["correct_update_memory_ratio(all)"]
    assert (ratio.status, "nothing to count" in ratio.why) == ("undefined_nothing_to_count", True)


# Overridden


def as_edited(imported: Imported) -> dict[str, Any]:
    """The verdict file with people's labels written over the judge's fields, by hand."""
    value = stat()
    for item_id, label in imported.labels.items():
        item = imported.items[item_id]
        key = json.loads(item.natural_key)
        field = "question" if item.task == "qa" else "memory_content" if item.task == "accuracy" else "index"
        (record,) = [
            r for r in value[MEMBER[item.task]] if [r["uuid"], r["ssession_id"], r[field]] == key[:3]
        ]  # fmt: skip
        if label.value is not None:
            record[VERDICT[item.task]] = int(label.value) if label.value.isdecimal() else label.value
        if "included" in label.parts:
            record["is_included_in_golden_memories"] = label.parts["included"]
    return value


LABELS = {
    "integrity": ["2", "1", "0"],
    "accuracy": ["2", "1", "0"],
    "update": ["Correct", "Hallucination", "Omission", "Other"],
    "qa": ["Correct", "Hallucination", "Omission"],
}


@pytest.mark.slow
@settings(deadline=None)
@given(data=st.data())
def test_overridden_scores_are_those_of_the_file_edited_by_hand(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    imported = read(VERDICTS, answers=[SHEET])
    for item in imported.items.values():
        if data.draw(st.booleans()):
            parts = {"included": data.draw(st.sampled_from(["true", "false"]))} if item.task == "accuracy" else {}
            imported.labels[item.item_id] = LabelState(data.draw(st.sampled_from(LABELS[item.task])), parts)
    edited = read(write_stat(tmp_path_factory.mktemp("edited"), as_edited(imported)), answers=[SHEET])
    assert imported.overridden() == edited.as_coded()


def test_without_labels_nothing_is_overridden() -> None:
    imported = read(VERDICTS, answers=[SHEET])
    assert imported.overridden() == imported.as_coded()
    assert imported.people() == {}


def moved(imported: Imported) -> dict[str, float]:
    """Official name of each number that the labels moved, and by how much."""
    was, now = imported.as_coded(), imported.overridden()
    return {
        f"{block}/{name}": now[block][name] - value
        for block, part in was.items()
        if isinstance(part, dict)
        for name, value in part.items()
        if not isinstance(value, dict) and now[block][name] != value
    }


def test_one_override_moves_what_it_should() -> None:
    gold = read(VERDICTS, answers=[SHEET])
    item = gold.label("integrity", "Nora Quill lives in Porto", "2")
    assert moved(gold) == pytest.approx(
        {
            "memory_integrity/recall(all)": 1 / 7,
            "memory_integrity/recall(valid)": 1 / 6,
            "memory_integrity/weighted_recall(all)": 0.5 * item.weight / 4.75,
            "memory_integrity/weighted_recall(valid)": 0.5 * item.weight / 4.0,
        }
    )
    distractor = read(VERDICTS, answers=[SHEET])
    distractor.label("integrity", "Teo Brandt registered for the Ghent full", "0")
    assert set(moved(distractor).values()) == {0.25}
    extracted = read(VERDICTS, answers=[SHEET])
    extracted.label("accuracy", "Nora catalogued forty maps", "2", parts={"included": "true"})
    assert moved(extracted)["memory_accuracy/weighted_accuracy(all)"] == pytest.approx(0.5 / 8)
    assert moved(extracted)["memory_accuracy/target_accuracy(all)"] == pytest.approx(0.5 / 4)
    question = read(VERDICTS, answers=[SHEET])
    question.label("qa", "What is Nora Quill's middle name", "Correct")
    assert moved(question)["question_answering/correct_qa_ratio(all)"] == pytest.approx(1 / 5)
    assert moved(question)["question_answering/hallucination_qa_ratio(all)"] == pytest.approx(-1 / 5)


def test_a_flag_turned_inside_widens_the_target_and_leaves_accuracy() -> None:
    imported = read(VERDICTS, answers=[SHEET])
    imported.label("accuracy", "Nora intends to open a map shop", "2", parts={"included": "true"})
    scores = imported.overridden()["memory_accuracy"]
    assert scores["target_accuracy(all)"] == (3.5 + 1) / 5
    assert scores["weighted_accuracy(all)"] == stat()["overall_score"]["memory_accuracy"]["weighted_accuracy(all)"]


def test_a_label_on_a_failed_verdict_makes_it_valid() -> None:
    imported = read(VERDICTS, answers=[SHEET])
    imported.label("accuracy", "Teo signed up for the Ghent", "1", parts={"included": "true"})
    imported.label("integrity", "Teo Brandt registered for the Ghent half", "2")
    scores = imported.overridden()
    assert scores["memory_accuracy"]["memory_valid_num"] == 8
    assert scores["memory_accuracy"]["target_memory_num"] == 5
    assert scores["memory_integrity"]["recall(valid)"] == scores["memory_integrity"]["recall(all)"] == 3 / 7


def test_a_label_without_the_flag_keeps_the_judges(tmp_path: Path) -> None:
    imported = read(VERDICTS, answers=[SHEET])
    imported.label("accuracy", "Nora catalogued forty maps", "0")
    assert imported.overridden()["memory_accuracy"]["target_memory_num"] == 4


def test_cannot_judge_leaves_the_verdict_and_is_counted() -> None:
    imported = read(VERDICTS, answers=[SHEET])
    imported.label("qa", "What is Nora Quill's middle name", None, cannot_judge="ambiguous")
    imported.label("qa", "Who lent Nora", "Omission")
    imported.label("qa", "Which race", "Correct")
    assert imported.people() == {"qa": {"labelled": 2, "changed": 1, "cannot_judge": 1}}
    scores = imported.overridden()["question_answering"]
    assert scores["hallucination_qa_ratio(all)"] == 0.2
    assert scores["correct_qa_ratio(all)"] == 0.4


def test_labels_on_items_nobody_judged_are_scored_and_the_rest_of_them_are_not() -> None:
    imported = read(SHEET)
    imported.label("qa", "Which race", "Correct")
    imported.label("qa", "Who lent Nora", "Omission")
    scores = imported.overridden()
    assert scores["question_answering"]["qa_num"] == 2
    assert scores["question_answering"]["correct_qa_ratio(all)"] == 0.5
    assert isinstance(scores["memory_integrity"]["recall(all)"], Undefined)


def test_a_failure_text_that_a_person_replaced_stops_nothing(tmp_path: Path) -> None:
    def fail(value: dict[str, Any]) -> None:
        value["memory_integrity_records"][1]["memory_integrity_score"] = "judge_failed"

    imported = changed(tmp_path, fail)
    assert "official_script" in imported.as_coded()
    imported.label("integrity", "Nora Quill lives in Porto", "1")
    assert imported.overridden() == stat()["overall_score"]


def test_verdicts_of_another_judge_are_scored_by_their_labels() -> None:
    imported = read(VERDICTS, answers=[SHEET])
    other = JudgeRecord("qa", "ours", model="m")
    for item in [i for i in imported.items.values() if i.task == "qa"]:
        imported.verdicts[item.item_id] = VerdictRecord(
            item.item_id, item.content_hash, other.judge_id, "Correct", raw='{"answer": "Correct"}'
        )
    assert imported.as_coded()["question_answering"]["correct_qa_ratio(all)"] == 1.0
