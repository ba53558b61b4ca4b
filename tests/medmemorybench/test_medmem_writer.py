"""Writing a run back with people's labels in it, and reading that again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from medmem_records import (
    NAME,
    SHAPE,
    TYPES,
    Imported,
    Json,
    chain_query,
    grid,
    read,
    record_of,
    result_of,
    run_of,
    whole_shape,
    write,
    write_queries,
)

from judges.benchmarks.benchmark import NativeFile
from judges.benchmarks.medmemorybench import BENCHMARK
from store.records import LabelState

ANSWERS, RESULT, CHANGES = f"{NAME}_query_answer.json", f"{NAME}_result.json", f"{NAME}_query_answer.changes.jsonl"
BY_LI = {"annotator": "dr.li", "at": "2027-05-01T10:00:00+02:00", "mode": "blind"}


def both(folder: Path, run: Json | None = None, **options: str) -> Imported:
    files = write(folder, run or whole_shape(), ANSWERS), write(folder, result_of(), RESULT)
    return read(*files, answers=[write_queries(folder, [chain_query()])], **options)


def values(files: dict[str, str]) -> tuple[Json, Json]:
    return json.loads(files[ANSWERS]), json.loads(files[RESULT])


def test_without_labels_the_files_are_those_that_were_read_to_the_byte(tmp_path: Path) -> None:
    files = both(tmp_path).written()
    assert list(files) == [ANSWERS, RESULT, CHANGES]
    for name in (ANSWERS, RESULT):
        assert files[name] == (tmp_path / name).read_text(encoding="utf-8")
    assert files[CHANGES] == ""


def test_the_shortened_shape_keeps_its_value() -> None:
    (answers, changes) = read(SHAPE).written().items()
    value, expected = json.loads(answers[1]), json.loads(SHAPE.read_text(encoding="utf-8"))
    assert value["queries"] == expected["queries"]
    assert [value["by_context"][persona]["total"] for persona in "12"] == [6, 0], "only what is there"
    assert changes[1] == ""


def test_fields_nobody_knows_are_kept_in_their_place(tmp_path: Path) -> None:
    run = {"run_id": 7, **whole_shape(), "extra": {"a": [1, None]}}
    run["by_context"]["1"]["note"] = "x"
    run["queries"][3] |= {"extra": {"k": 1.5}, "metric_groups": {"r": {"hit": True}}}
    run["queries"][4]["retrieved_memories"] = [
        {"score": 0.5, "memory": "m", "tags": ["a"]},
        "plain",
        {"text": "odd"},
        3,
    ]
    files = both(tmp_path, run).written()
    assert files[ANSWERS] == (tmp_path / ANSWERS).read_text(encoding="utf-8")


def test_a_persons_label_stands_in_the_judges_place_and_the_judges_beside_it(tmp_path: Path) -> None:
    imported = both(tmp_path)
    item = imported.label(imported.find("ig"), "incorrect", note="盐", tags=("fell_into_trap",), harm="serious")
    answers, _ = values(imported.written({item.item_id: BY_LI}))
    record, original = answers["queries"][4], whole_shape()["queries"][4]
    assert list(record) == [*original, "overread"]
    assert (record["is_correct"], record["score"]) == (False, 0.0)
    assert record["evaluation_details"] == {"explanation": "x", "metric": "llm_judge"}, "the judge's reason is not hers"
    own = {name: original[name] for name in ("score", "is_correct", "evaluation_details")}
    assert record["overread"] == {
        "judge": own,
        **BY_LI,
        "value": "incorrect",
        "tags": ["fell_into_trap"],
        "note": "盐",
        "harm": "serious",
    }


def test_confirming_leaves_the_same_shape_as_overriding(tmp_path: Path) -> None:
    shapes = []
    for value in ("correct", "incorrect"):
        imported = both(tmp_path)
        imported.label(imported.find("ig"), value)
        record = values(imported.written())[0]["queries"][4]
        shapes.append((list(record), list(record["overread"]), list(record["evaluation_details"])))
    assert shapes[0] == shapes[1]


def test_summaries_are_computed_anew_and_changes_listed(tmp_path: Path) -> None:
    imported = both(tmp_path)
    item = imported.label(imported.find("sua", "2", "20"), "correct")
    imported.label(imported.find("ig"), "correct", reference_wrong=True, right_answer="less salt")
    files = imported.written({item.item_id: BY_LI})
    answers, result = values(files)
    overridden = imported.overridden()
    assert answers["summary"] == overridden["query_answer"]
    assert result["summary"] == overridden["summary"]
    assert list(result["summary"]) == list(result_of()["summary"])
    assert answers["by_context"]["2"]["correct"] == 6
    changes = [json.loads(line) for line in files[CHANGES].splitlines()]
    wrong, changed = changes[:2]
    assert (wrong["query_id"], wrong["right_answer"]) == ("session_10_ig_1", "less salt")
    assert (changed["item"], changed["persona"], changed["query_id"]) == (item.item_id, "2", "session_20_sua_1")
    assert changed["person"] == {"is_correct": True, "score": 1.0}
    assert changed["judge"]["is_correct"] is False and changed["annotator"] == "dr.li"
    numbers = {change["score"]: (change["was"], change["now"]) for change in changes[2:]}
    assert numbers["summary / by_type / state_update / accuracy"] == (0.0, 1 / 3)
    assert numbers["by_context / 2 / correct"] == (5, 6)


def test_a_grid_is_written_as_the_judges_json_has_it(tmp_path: Path) -> None:
    imported = both(tmp_path)
    parts = {"conclusion": "agrees", "nodes": grid("yyy", "yny", "yyn", "nyy"), "cc": "0.7"}
    imported.label(imported.find("mcd"), "correct", parts=parts)
    record = values(imported.written())[0]["queries"][5]
    details = record["evaluation_details"]
    assert (details["ncr_score"], details["crc_score"], details["cc_score"]) == (0.75, 0.75, 0.7)
    assert [node["causal_link_correct"] for node in details["node_validations"]] == [True, False, True, True]
    assert record["overread"]["parts"] == parts
    assert record["overread"]["judge"]["evaluation_details"]["ncr_score"] == 0.5


def test_a_patched_file_read_again_gives_the_same_verdicts_labels_and_scores(tmp_path: Path) -> None:
    imported = both(tmp_path)
    labels = {"eem": "incorrect", "tla": "incorrect", "sua": "correct", "ig": "incorrect", "mcd": "incorrect"}
    provenance = {}
    for task, value in labels.items():
        parts = (
            {"conclusion": "differs", "nodes": grid("ynn", "nnn", "nnn", "nnn"), "cc": "0.0"} if task == "mcd" else {}
        )
        item = imported.label(imported.find(task), value, parts=parts, tags=("stale_state",))
        provenance[item.item_id] = BY_LI
    unable = imported.label(imported.find("mq"), None, cannot_judge="ambiguous")
    provenance[unable.item_id] = {**BY_LI, "annotator": "dr.li, dr.wu"}
    files = imported.written(provenance)
    again = read(*(write(tmp_path / "again", json.loads(files[name]), name) for name in (ANSWERS, RESULT)),
                 answers=[write_queries(tmp_path, [chain_query()])])  # fmt: skip
    assert again.verdicts == imported.verdicts
    assert again.items == imported.items
    assert again.as_coded() == imported.as_coded()
    assert [(label.item_id, label.annotator) for label in again.file_labels] == [
        *((imported.find(task).item_id, "dr.li") for task in ("eem",)),
        (unable.item_id, "dr.li"),
        (unable.item_id, "dr.wu"),
        *((imported.find(task).item_id, "dr.li") for task in ("tla", "sua", "ig", "mcd")),
    ]
    assert {(label.mode, label.at) for label in again.file_labels} == {("blind", BY_LI["at"])}
    again.labels = {label.item_id: label.state for label in again.file_labels}
    assert again.labels == imported.labels
    assert again.overridden() == imported.overridden()
    assert again.written(provenance) == files, "export, import, export"


def test_labels_where_nobody_judged_never_come_back_as_the_judges(tmp_path: Path) -> None:
    record = record_of("ig")
    for name in ("is_correct", "score", "evaluation_details"):
        del record[name]
    run = run_of([("1", {**record, "is_correct": False})])
    del run["queries"][0]["is_correct"]
    imported = read(write(tmp_path, run, ANSWERS))
    assert imported.verdicts == {}
    item = imported.label(imported.find("ig"), "correct")
    files = imported.written({item.item_id: BY_LI})
    (written,) = json.loads(files[ANSWERS])["queries"]
    assert (written["is_correct"], written["overread"]["judge"]) == (True, None)
    again = read(write(tmp_path, json.loads(files[ANSWERS]), ANSWERS))
    assert again.verdicts == {}
    assert [label.state.value for label in again.file_labels] == ["correct"]


def test_both_copies_of_a_repeated_query_are_written(tmp_path: Path) -> None:
    old, new = {**record_of("sua"), "model_output": "old"}, {**record_of("sua"), "model_output": "new"}
    run = run_of([("1", old), ("1", new), ("1", record_of("ig"))])
    imported = read(write(tmp_path, run, ANSWERS), duplicates="last")
    assert json.loads(imported.written()[ANSWERS]) == run
    imported.label(imported.find("sua"), "correct")
    value = json.loads(imported.written()[ANSWERS])
    assert [record["is_correct"] for record in value["queries"]] == [False, True, True]
    assert value["summary"]["correct_count"] == value["by_context"]["1"]["correct"] == 2


def test_a_checkpoint_is_written_as_a_checkpoint(tmp_path: Path) -> None:
    results: Json = {"1": [record_of("ig"), record_of("eem")], "2": [record_of("sua")]}
    for record in (record for listed in results.values() for record in listed):
        record["details"] = record.pop("evaluation_details")
    value = {"checkpoint_id": "x", "method_name": "bm25", "model_name": "m", "dataset_name": "medmemorybench",
             "completed_results": results, "status": "failed"}  # fmt: skip
    path = write(tmp_path, value, "checkpoint.json")
    imported = read(path)
    assert imported.written()["checkpoint.json"] == path.read_text(encoding="utf-8")
    imported.label(imported.find("ig"), "incorrect")
    patched = json.loads(imported.written()["checkpoint.json"])["completed_results"]["1"][0]
    assert patched["is_correct"] is False and "details" in patched and "evaluation_details" not in patched


def test_what_could_not_be_read_is_left_out_and_by_context_stays_in_step(tmp_path: Path) -> None:
    run = whole_shape()
    run["queries"][2] = "torn"
    value = values(both(tmp_path, run).written())[0]
    assert len(value["queries"]) == 17
    assert value["by_context"]["1"]["query_ids"].count("session_10_tla_1") == 0
    assert read(write(tmp_path / "again", value, ANSWERS)).fatal == []


@settings(max_examples=25)
@given(flags=st.lists(st.sampled_from(["correct", "incorrect", ""]), min_size=18, max_size=18))
def test_the_patched_files_score_what_overridden_scores(
    tmp_path_factory: pytest.TempPathFactory, flags: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("patched")
    imported = both(folder)
    for item, flag in zip(imported.items.values(), flags, strict=True):
        if flag:
            imported.labels[item.item_id] = LabelState(value=flag)
    answers, result = values(imported.written())
    plain = {**answers, "queries": [{k: v for k, v in r.items() if k != "overread"} for r in answers["queries"]]}
    again = read(write(folder, plain, ANSWERS), write(folder, result, RESULT))
    coded, overridden = again.as_coded(), imported.overridden()
    assert {name: overridden[name] for name in coded} == coded
    assert coded["summary"] == result["summary"]
    assert coded["query_answer"] == answers["summary"]


def test_a_long_run_comes_in_small_pieces(tmp_path: Path) -> None:
    records = [(str(persona), record_of(task)) for persona in range(300) for task in TYPES]
    run = run_of(records)
    imported = read(write(tmp_path, run, ANSWERS))
    files: list[NativeFile] = list(BENCHMARK.write_native(imported.scored(), imported.facts(), {}))
    pieces: list[Any] = list(files[0].chunks)
    assert json.loads("".join(pieces)) == run
    assert max(map(len, pieces)) < len("".join(pieces)) / 10
