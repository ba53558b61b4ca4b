"""Writing a HaluMem run back with people's labels in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from halumem_records import MARTIN, SHEET, VERDICTS, Imported, read, stat, users, write_stat, write_users
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.benchmarks.halumem import BENCHMARK
from store.records import LabelState

NAME = "run_eval_stat_result.json"
RECORDS = [name for name in stat() if name != "overall_score"]


def official(folder: Path, value: dict[str, Any] | None = None) -> Path:
    """A verdict file laid out as the official script lays it out."""
    return write_stat(folder, value or stat(), NAME)


def written(imported: Imported, provenance: dict[str, Any] | None = None) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(imported.written(provenance)[NAME])
    return value


@pytest.mark.parametrize("answers", [[SHEET], []], ids=["with-sheet", "verdicts-alone"])
def test_without_labels_the_file_is_the_one_that_was_read_to_the_byte(tmp_path: Path, answers: list[Path]) -> None:
    path = official(tmp_path)
    files = read(path, answers=answers).written()
    assert files[NAME] == path.read_text(encoding="utf-8")
    assert files["run_eval_stat_result.changes.jsonl"] == ""


@pytest.mark.parametrize("source", [VERDICTS, MARTIN], ids=["compact", "slimmed"])
def test_without_labels_any_layout_keeps_its_value(source: Path) -> None:
    assert json.loads(read(source).written()[source.name]) == stat(source)


def test_members_and_fields_nobody_knows_are_kept(tmp_path: Path) -> None:
    value = {"run": {"model": "x"}, **stat(), "errors": ["one", {"n": 2}]}
    value["question_answering_records"][1]["tokens"] = 12
    value["memory_accuracy_records"][1]["reason"] = "It says so."
    value["memory_integrity_records"][1]["memory_integrity_score"] = "judge_failed"
    for answers in ([SHEET], []):
        again = written(read(official(tmp_path, value), answers=answers))
        assert again == value
        assert list(again) == list(value)


def test_slimmed_records_stay_slim_with_a_full_sheet(tmp_path: Path) -> None:
    value = stat()
    for record in value["question_answering_records"]:
        del record["context"], record["response_duration_ms"]
    assert written(read(official(tmp_path, value), answers=[SHEET])) == value


def test_a_persons_label_stands_in_the_judges_place_and_the_judges_beside_it(tmp_path: Path) -> None:
    imported = read(official(tmp_path), answers=[SHEET])
    point = imported.label("integrity", "Nora Quill lives in Porto", "2", note="Portugal 即可", tags=("error",))
    provenance = {point.item_id: {"annotator": "dr.li", "at": "2027-05-01T10:00:00+02:00"}}
    record = written(imported, provenance)["memory_integrity_records"][1]
    original = stat()["memory_integrity_records"][1]
    assert list(record) == [*original, "overread"]
    assert record["memory_integrity_score"] == 2
    assert record["overread"] == {
        "judge": {"memory_integrity_score": 1, "is_valid": True},
        "annotator": "dr.li",
        "at": "2027-05-01T10:00:00+02:00",
        "value": "2",
        "tags": ["error"],
        "note": "Portugal 即可",
    }
    assert {k: v for k, v in record.items() if k not in ("overread", "memory_integrity_score")} == {
        k: v for k, v in original.items() if k != "memory_integrity_score"
    }


def test_a_confirmed_verdict_says_who_confirmed_it_and_is_no_change(tmp_path: Path) -> None:
    imported = read(official(tmp_path), answers=[SHEET])
    imported.label("qa", "Who lent Nora", "Omission")
    files = imported.written()
    record = json.loads(files[NAME])["question_answering_records"][2]
    assert record["result_type"] == "Omission"
    assert record["overread"]["judge"]["result_type"] == "Omission"
    assert files["run_eval_stat_result.changes.jsonl"] == ""


def test_cannot_judge_leaves_the_verdict_and_is_said(tmp_path: Path) -> None:
    imported = read(official(tmp_path), answers=[SHEET])
    imported.label("qa", "Who lent Nora", None, cannot_judge="ambiguous")
    value = written(imported)
    record = value["question_answering_records"][2]
    assert (record["result_type"], record["overread"]["cannot_judge"]) == ("Omission", "ambiguous")
    assert value["overall_score"] == stat()["overall_score"]


def test_a_failed_accuracy_verdict_gets_score_flag_and_validity(tmp_path: Path) -> None:
    imported = read(official(tmp_path), answers=[SHEET])
    imported.label("accuracy", "Teo signed up", "1", parts={"included": "true"})
    record = written(imported)["memory_accuracy_records"][7]
    assert (record["memory_accuracy_score"], record["is_included_in_golden_memories"]) == (1, "true")
    assert record["is_valid"] is True
    assert record["overread"]["judge"] == {
        "memory_accuracy_score": None,
        "is_included_in_golden_memories": "false",
        "is_valid": False,
    }


def test_scores_are_recomputed_and_every_change_is_listed(tmp_path: Path) -> None:
    imported = read(official(tmp_path), answers=[SHEET])
    item = imported.label("qa", "Which race", "Correct", note="same race")
    files = imported.written({item.item_id: {"annotator": "dr.li", "at": "2027-05-01T10:00:00+02:00"}})
    scores = json.loads(files[NAME])["overall_score"]
    assert scores == imported.overridden()
    assert list(scores) == list(stat()["overall_score"])
    changes = [json.loads(line) for line in files["run_eval_stat_result.changes.jsonl"].splitlines()]
    assert changes[0] == {
        "item": item.item_id,
        "member": "question_answering_records",
        "uuid": item.cluster,
        "ssession_id": 0,
        "person": {"result_type": "Correct"},
        "judge": {"is_valid": True, "result_type": "Hallucination"},
        "annotator": "dr.li",
        "at": "2027-05-01T10:00:00+02:00",
        "value": "Correct",
        "note": "same race",
    }
    assert changes[1] == {"score": "question_answering/correct_qa_ratio(all)", "was": 0.2, "now": 0.4}
    assert [change["score"].rpartition("/")[2] for change in changes[1:]] == [
        "correct_qa_ratio(all)",
        "correct_qa_ratio(valid)",
        "hallucination_qa_ratio(all)",
        "hallucination_qa_ratio(valid)",
    ]


def test_a_patched_file_read_again_gives_the_judges_verdicts_and_says_so(tmp_path: Path) -> None:
    imported = read(official(tmp_path), answers=[SHEET])
    imported.label("qa", "Which race", "Correct")
    imported.label("accuracy", "Nora has a twin", "1", parts={"included": "true"})
    patched = official(tmp_path, written(imported))
    for answers in ([SHEET], []):
        again = read(patched, answers=answers)
        assert {i: v.label for i, v in again.verdicts.items()} == {i: v.label for i, v in imported.verdicts.items()}
        assert again.as_coded() == stat()["overall_score"]
        (warning,) = again.problems
        assert not warning.fatal
        assert "2 records hold people's labels" in warning.what
        again.labels = dict(imported.labels)
        assert written(again) == written(imported)


def test_an_old_output_gets_no_f1_it_never_had(tmp_path: Path) -> None:
    value = stat()
    del value["overall_score"]["memory_extraction_f1"]
    imported = read(official(tmp_path, value), answers=[SHEET])
    imported.label("qa", "Which race", "Correct")
    assert list(written(imported)["overall_score"]) == list(value["overall_score"])


def test_numbers_that_cannot_be_had_are_null(tmp_path: Path) -> None:
    value = stat()
    value["memory_update_records"] = []
    imported = read(official(tmp_path, value), answers=[])
    imported.label("qa", "Which race", "Correct")
    again = written(imported)
    assert again["memory_update_records"] == []
    assert again["overall_score"]["memory_update"]["correct_update_memory_ratio(all)"] is None
    assert "official_script" not in again["overall_score"]


def test_cached_users_become_the_file_the_official_script_would_write(tmp_path: Path) -> None:
    parts = []
    for user in users():
        own = {
            name: [{k: v for k, v in r.items() if k != "is_valid"} for r in stat()[name] if r["uuid"] == user["uuid"]]
            for name in RECORDS
        }
        parts.append(write_stat(tmp_path, own, f"{user['uuid']}.json"))
    (name, text), _ = read(*parts, answers=[SHEET]).written().items()
    assert name == "halumem_eval_stat_result.json"
    assert json.loads(text) == stat()


def test_labels_without_any_judge_are_written_as_peoples(tmp_path: Path) -> None:
    imported = read(SHEET)
    imported.label("update", "Teo Brandt's running", "Omission")
    imported.label("accuracy", "Nora has a twin", None, cannot_judge="unreadable")
    value = json.loads(next(iter(imported.written().values())))
    (record,) = value["memory_update_records"]
    assert record["memory_update_type"] == "Omission"
    assert record["is_valid"] is True
    assert record["overread"] == {"judge": None, "value": "Omission"}
    (unread,) = value["memory_accuracy_records"]
    assert (unread["memory_accuracy_score"], unread["is_valid"]) == (None, False)
    assert value["memory_integrity_records"] == []
    again = read(write_stat(tmp_path, value), answers=[SHEET])
    assert again.verdicts == {}, "a person's label never comes back as a judge's"


@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_the_patched_file_scores_what_overridden_scores(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("patched")
    imported = read(official(folder), answers=[SHEET])
    menu = {"qa": ["Correct", "Omission"], "update": ["Correct", "Other"]}
    for item in imported.items.values():
        if data.draw(st.booleans()):
            parts = {"included": data.draw(st.sampled_from(["true", "false"]))} if item.task == "accuracy" else {}
            value = data.draw(st.sampled_from(menu.get(item.task, ["2", "0"])))
            imported.labels[item.item_id] = LabelState(value, parts)
    value = written(imported)
    for member in RECORDS:
        for record in value[member]:
            record.pop("overread", None)
    plain = read(official(folder, value), answers=[SHEET])
    assert plain.as_coded() == value["overall_score"] == imported.overridden()


@pytest.mark.slow
def test_a_long_run_comes_in_small_pieces(tmp_path: Path) -> None:
    people: list[dict[str, Any]] = []
    value: dict[str, Any] = {name: [] for name in stat()}
    value["overall_score"] = stat()["overall_score"]
    for number in range(200):
        people.append(dict(users()[0], uuid=f"user-{number}"))
        for name in RECORDS:
            value[name] += [dict(r, uuid=f"user-{number}") for r in stat()[name] if r["uuid"] == users()[0]["uuid"]]
    imported = read(official(tmp_path, value), answers=[write_users(tmp_path, people)])
    stat_result, _ = BENCHMARK.write_native(imported.scored(), imported.facts, {})
    pieces = list(stat_result.chunks)
    assert json.loads("".join(pieces)) == value
    assert max(map(len, pieces)) < len("".join(pieces)) / 20
