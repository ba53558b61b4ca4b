"""Writing MIST's files back, and reading them again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mist_files import RUN, find, item, label, read, result, write_lines
from test_mist_reader import mapped_files
from test_mist_scoring import worked

from judges.benchmarks.benchmark import Source
from judges.benchmarks.mist import BENCHMARK
from store.records import LabelState
from tests.imported import imported

WHO = {"annotator": "dr.li", "at": "2027-05-01T10:00:00+02:00", "mode": "blind"}


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line]


def test_without_decisions_every_row_is_written_as_it_was(tmp_path: Path) -> None:
    rows, items = worked()
    rows = [{"extra": {"b": 1, "a": [None]}, **row, "answer": "C", "latency": 0.5} for row in rows]
    found = read(tmp_path, rows, items)
    written = found.written(system=RUN)
    assert lines(written["results.jsonl"]) == rows
    assert [list(row) for row in lines(written["results.jsonl"])] == [list(row) for row in rows]
    assert written["results.changes.jsonl"] == ""
    assert lines(found.written(system="MIST items")["items.jsonl"]) == items


def test_a_person_s_letters_stand_in_the_answers_place_and_the_file_s_beside_them(tmp_path: Path) -> None:
    rows, items = worked()
    rows = [{**row, "first_pass_answer": "C", "answer": "A"} for row in rows]
    found = read(tmp_path, rows, items)
    key = label(found, "q0", "none", first="B", note="weighs two")
    row = lines(found.written({key: WHO}, system=RUN)["results.jsonl"])[0]
    assert (row["answer"], row["first_pass_answer"]) == (None, "B")
    assert list(row)[:-1] == list(rows[0])
    assert row["overread"] == {
        "judge": {"answer": "A", "first_pass_answer": "C"}, **WHO, "value": "none", "parts": {"first_pass": "B"},
        "note": "weighs two",
    }  # fmt: skip


@pytest.mark.parametrize("stated", [True, False])
def test_read_again_the_file_gives_the_same_items_verdicts_labels_and_scores(tmp_path: Path, stated: bool) -> None:
    rows, items = worked()
    if stated:
        rows = [{**row, "answer": "A", "first_pass_answer": "C"} for row in rows]
    found = read(tmp_path, rows, items)
    ids = [
        label(found, "q0", "D", first="C", tags=("refuses",), unsure=True),
        label(found, "q1", "none", first="none"),
        label(found, "q2", None, cannot_judge="ambiguous"),
        label(found, "q3", "A"),
    ]
    text = found.written(dict.fromkeys(ids, WHO), system=RUN)["results.jsonl"]
    folder = tmp_path / "again"
    folder.mkdir()
    (folder / "results.jsonl").write_text(text, encoding="utf-8")
    write_lines(folder / "items.jsonl", items)
    again = imported(BENCHMARK, Source((folder,)))
    assert again.fatal == []
    assert again.items == found.items
    assert again.verdicts == found.verdicts
    assert [(one.item_id, one.annotator, one.mode, one.at, one.state) for one in again.labels] == [
        (key, "dr.li", "blind", WHO["at"], found.final[key]) for key in ids
    ]
    assert again.as_coded(system=RUN) == found.as_coded(system=RUN)
    again.take_labels()
    assert again.overridden(system=RUN) == found.overridden(system=RUN)
    assert again.written(dict.fromkeys(ids, WHO), system=RUN)["results.jsonl"] == text


def test_labels_of_memories_go_into_their_row_and_come_back(tmp_path: Path) -> None:
    rows = [result(condition="mem0", memories=["a", "b"]), result("q2", condition="mem0", memories=["c"])]
    found = read(tmp_path, rows, [item(), item("q2")])
    run = RUN.replace("chat_history", "mem0")
    stored = {one.payload["memory"]: key for key, one in found.items.items() if one.task == "memory"}
    found.final = {stored["b"]: LabelState(value="fact", note="says so"), stored["c"]: LabelState(value="belief")}
    text = found.written(dict.fromkeys(found.final, WHO), system=run)["results.jsonl"]
    first, second = lines(text)
    assert first["overread"]["memories"] == [{"place": 1, **WHO, "value": "fact", "note": "says so"}]
    assert "answer" not in first
    folder = tmp_path / "again"
    folder.mkdir()
    again = read(folder, [first, second], [item(), item("q2")])
    assert again.fatal == []
    assert {one.item_id: one.state for one in again.labels} == found.final
    assert again.items == found.items


def test_labels_of_items_go_into_the_items_file_and_come_back(tmp_path: Path) -> None:
    rows, items = worked()
    found = read(tmp_path, rows, items)
    key = find(found, "q3", "validity")
    found.final[key] = LabelState(value="broken", reference_wrong=True, right_answer="B", note="two are right")
    files = found.written({key: WHO}, system="MIST items")
    (wrong,) = lines(files["items.reference_wrong.jsonl"])
    assert (wrong["item_id"], wrong["right_answer"], wrong["annotator"]) == ("q3", "B", "dr.li")
    folder = tmp_path / "again"
    folder.mkdir()
    again = read(folder, rows, lines(files["items.jsonl"]))
    assert again.fatal == [] and again.items == found.items
    assert [(one.item_id, one.state) for one in again.labels] == [(key, found.final[key])]


def test_changes_are_listed_with_who_and_why(tmp_path: Path) -> None:
    found = read(tmp_path, *worked())
    changed = label(found, "q0", "D", first="C", note="says D in words")
    label(found, "q1", "D", first="C")
    (line,) = lines(found.written({changed: WHO}, system=RUN)["results.changes.jsonl"])
    assert line == {
        "item": changed, "task": "answer", "item_id": "q0", "judge": {"label": "C", "parts": {"first_pass": "C"}},
        "person": {"value": "D", "parts": {"first_pass": "C"}, "note": "says D in words"}, **WHO,
    }  # fmt: skip


def test_fact_questions_are_written_back(tmp_path: Path) -> None:
    fact = {"source": "locomo", "model": "m", "condition": "chat_history", "run": 1, "item_id": "f", "correct": True}
    found = read(tmp_path, [result(), fact])
    assert lines(found.written(system=RUN)["results.jsonl"]) == [result(), fact]


def test_other_names_are_kept(tmp_path: Path) -> None:
    items, results, mapping = mapped_files(tmp_path)
    before = lines(results.read_text(encoding="utf-8"))
    found = imported(BENCHMARK, Source((results, items), options={"columns": mapping}))
    assert lines(found.written(system=RUN)["results.jsonl"]) == before
    key = label(found, "q1", "C", first="C")
    text = found.written({key: WHO}, system=RUN)["results.jsonl"]
    (row,) = lines(text)
    assert row["output"] == {"text": before[0]["output"]["text"], "parsed": "C"}
    results.write_text(text, encoding="utf-8")
    again = imported(BENCHMARK, Source((results, items), options={"columns": mapping}))
    assert again.items == found.items
    assert [(one.state.value, one.state.parts) for one in again.labels] == [("C", {"first_pass": "C"})]
    assert again.by_judge()[key].label == "D"


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("x", "overread is not an object"),
        ({"judge": {}, "annotator": "a", "value": 3}, "value in overread has a wrong type"),
        ({"judge": {}, "annotator": "a", "value": "C", "tags": "x"}, "tags in overread has a wrong type"),
        ({"judge": {}, "annotator": "a", "value": "C", "parts": {"first_pass": 1}}, "parts in overread"),
        ({"judge": {}, "annotator": 1, "value": "C"}, "annotator in overread"),
        ({"judge": {}, "memories": [{"place": 7, "value": "fact"}]}, "is not one of the row"),
    ],
)
def test_a_broken_patch_is_told(tmp_path: Path, patch: Any, said: str) -> None:
    found = read(tmp_path, [{**result(), "overread": patch}])
    (problem,) = found.fatal
    assert (problem.line, said in problem.what) == (1, True)
