"""Writing tables back: the same rows, people's labels among them, and the same again when read again."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_files import read, read_values, row, rows, write_rows, write_tasks

from store.records import JudgeRecord, LabelState
from tests.imported import Imported

WHO = {"annotator": "dr.li", "at": "2027-05-01T10:00:00+02:00", "mode": "blind"}


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line]


def label(found: Imported, place: int, value: str | None, **more: Any) -> str:
    item_id = list(found.items)[place]
    found.final[item_id] = LabelState(value=value, **more)
    return item_id


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(["extra", "notes", "context", "元"]), VALUES), min_size=2, max_size=5))
@settings(max_examples=40)
def test_without_decisions_every_row_is_written_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, extras: list[dict[str, Any]]
) -> None:
    values = [{**row(n, "pass" if n % 2 else "fail"), **extra} for n, extra in enumerate(extras)]
    found = read_values(tmp_path_factory.mktemp("rows"), values)
    assert found.fatal == []
    written = found.written(judge="gpt")
    again = lines(written["run.jsonl"])
    assert again == values
    assert [list(one) for one in again] == [list(one) for one in values]
    assert written["run.changes.jsonl"] == ""


def test_people_s_labels_stand_beside_the_judges_and_the_final_one_is_named(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows())
    item = label(found, 1, "fail", note="剂量错", tags=("dose",), unsure=True)
    written = lines(found.written({item: WHO})["run.jsonl"])
    assert written[1]["judge"] == rows()[1]["judge"]
    said = {"label": "fail", "tags": ["dose"], "note": "剂量错", "unsure": True}
    assert written[1]["human"] == [
        {"annotator": "A1", "label": "fail"},
        {"annotator": "dr.li", **said, "mode": "blind", "at": WHO["at"]},
    ]
    assert written[1]["final"] == {**said, **WHO}
    assert [one for place, one in enumerate(written) if place != 1] == [
        one for place, one in enumerate(rows()) if place != 1
    ]


def test_read_again_the_file_gives_the_same_items_verdicts_and_labels(tmp_path: Path) -> None:
    found = read_values(tmp_path, [*rows(), row(7, "pass", None, gold="fail", systems=["a"])])
    item = label(found, 1, "fail", note="why", harm="serious", evidence=(0, 2))
    text = found.written({item: WHO})["run.jsonl"]
    again_folder = tmp_path / "again"
    again_folder.mkdir()
    (again_folder / "run.jsonl").write_text(text, encoding="utf-8")
    again = read(again_folder / "run.jsonl")
    assert again.problems == []
    assert again.items.keys() == found.items.keys()
    assert again.verdicts == found.verdicts
    assert again.as_coded() == found.as_coded()
    new = [one for one in again.labels if one not in found.labels]
    assert [(one.item_id, one.annotator, one.state, one.at, one.mode) for one in new] == [
        (item, "dr.li", found.final[item], WHO["at"], "blind")
    ]
    assert [one for one in again.labels if one in found.labels] == found.labels
    again.final = dict(found.final)
    assert again.written({item: WHO})["run.jsonl"] == text


def test_labels_that_came_with_the_file_are_not_written_twice(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows())
    provenance = found.take_labels()
    written = lines(found.written(provenance)["run.jsonl"])
    assert [one["human"] for one in written] == [one["human"] for one in rows()]
    assert [one["final"]["label"] for one in written] == ["pass", "fail", "pass", "fail"]


def test_an_adjudicated_label_adds_nobody(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0, gold="fail"), row(1, "fail")])
    provenance = found.take_labels()
    assert [one["annotator"] for one in lines(found.written(provenance)["run.jsonl"])[0]["human"]] == ["A1"]


def test_a_person_who_changed_their_mind_has_one_label(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows())
    item = label(found, 0, "fail")
    (entry,) = lines(found.written({item: {"annotator": "A1", "mode": "revised"}})["run.jsonl"])[0]["human"]
    assert entry == {"annotator": "A1", "label": "fail", "mode": "revised"}


def test_two_people_of_one_mind_are_two_entries(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows())
    item = label(found, 0, "fail")
    written = lines(found.written({item: {"annotator": "dr.li, dr.wu"}})["run.jsonl"])
    assert [one["annotator"] for one in written[0]["human"]] == ["A1", "dr.li", "dr.wu"]


def test_changes_and_wrong_references_are_listed_with_who_and_why(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows())
    changed = label(found, 0, "fail", note="wrong dose")
    label(found, 2, "pass")
    wrong = label(found, 3, "fail", reference_wrong=True, right_answer="5 mg")
    files = found.written({changed: WHO, wrong: WHO})
    assert lines(files["run.changes.jsonl"]) == [
        {"item": changed, "task": "label", "row": "i0", "judge": {"label": "pass"},
         "person": {"value": "fail", "note": "wrong dose"}, **WHO}
    ]  # fmt: skip
    (reference,) = lines(files["run.reference_wrong.jsonl"])
    assert (reference["row"], reference["right_answer"], reference["annotator"]) == ("i3", "5 mg", "dr.li")


def test_cannot_judge_is_written_without_a_label(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows())
    item = label(found, 0, None, cannot_judge="ambiguous")
    written = lines(found.written({item: WHO})["run.jsonl"])[0]
    assert written["human"][1] == {"annotator": "dr.li", "label": None, "cannot_judge": "ambiguous", "mode": "blind",
                                   "at": WHO["at"]}  # fmt: skip
    assert written["final"]["label"] is None


def test_a_shared_text_is_not_written_into_the_rows(tmp_path: Path) -> None:
    write_rows(tmp_path / "responses.jsonl", [{"response_id": "d1", "response": "Hello"}])
    values = [row(n, "pass" if n else "fail", response=None, response_ref="d1") for n in range(2)]
    assert lines(read_values(tmp_path, values).written()["run.jsonl"]) == values


def test_a_json_array_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(rows()), encoding="utf-8")
    assert json.loads(read(path).written()["run.json"]) == rows()


def table_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def test_a_csv_gets_columns(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    text = 'item_id;response;human:A1;judge:gpt;p\n0870;"=1+1;\nx";pass;fail;-5 mg\n2;R;fail;;\n'
    path.write_text(text, encoding="utf-8")
    found = read(path)
    assert found.written()["run.csv"] == text
    item = label(found, 0, "fail", note="see line 2")
    files = found.written({item: WHO})
    first, second = table_of(files["run.csv"], ";")
    assert first == {"item_id": "0870", "response": "=1+1;\nx", "human:A1": "pass", "judge:gpt": "fail", "p": "-5 mg",
                     "human:dr.li": "fail", "final": "fail", "final_by": "dr.li"}  # fmt: skip
    assert (second["human:dr.li"], second["final"]) == ("", "")
    (tmp_path / "again.csv").write_text(files["run.csv"], encoding="utf-8")
    again = read(tmp_path / "again.csv", system="run")
    assert again.items.keys() == found.items.keys()
    assert [(one.annotator, one.state.value) for one in again.labels] == [
        ("A1", "pass"), ("dr.li", "fail"), ("A1", "fail"),
    ]  # fmt: skip


def test_a_csv_with_named_columns_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("id,out,anna,gpt\n1,R,1,0\n2,S,0,0\n", encoding="utf-8")
    tasks = write_tasks(
        tmp_path,
        '[columns]\nitem_id = "id"\nresponse = "out"\nhuman = { anna = "Anna" }\njudge = { gpt = "gpt" }\n'
        '[task]\nlabels = ["yes", "no"]\nalso = { 1 = "yes", 0 = "no" }\n',
    )
    found = read(path, tasks=tasks)
    provenance = found.take_labels()
    written = table_of(found.written(provenance)["run.csv"])
    assert [(one["anna"], one["final"]) for one in written] == [("1", "yes"), ("0", "no")]
    item = label(found, 1, "yes")
    assert table_of(found.written({item: {"annotator": "Anna"}})["run.csv"])[1]["anna"] == "yes"


def test_a_csv_with_lists_in_cells_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    human = json.dumps([{"annotator": "A1", "label": "pass"}])
    cells = [["item_id", "response", "human"], ["1", "R", human], ["2", "S", human.replace("pass", "fail")]]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(cells)
    path.write_text(out.getvalue(), encoding="utf-8")
    found = read(path)
    item = label(found, 0, "fail")
    written = table_of(found.written({item: {"annotator": "dr.li"}})["run.csv"])
    assert [entry["annotator"] for entry in json.loads(written[0]["human"])] == ["A1", "dr.li"]


def test_another_judge_s_verdict_goes_in_under_its_own_name(tmp_path: Path) -> None:
    found = read_values(tmp_path, rows())
    new = JudgeRecord("label", "qwen")
    found.judges[new.judge_id] = new
    for key, verdict in list(found.verdicts.items()):
        other = replace(verdict, judge_id=new.judge_id, label="fail", model_returned="qwen3-0.6b", rationale="So.")
        found.verdicts[key[0], new.judge_id, 0] = other
    written = lines(found.written(judge="qwen")["run.jsonl"])
    assert written[0]["judge"] == [
        {"judge": "gpt", "label": "pass"},
        {"judge": "qwen3-0.6b", "label": "fail", "rationale": "So."},
    ]


def test_a_parquet_table_becomes_jsonl(tmp_path: Path) -> None:
    lines_path, path = write_rows(tmp_path / "in.jsonl", rows()), tmp_path / "run.parquet"
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY (SELECT * FROM read_json('{lines_path}')) TO '{path}' (FORMAT parquet)")
    found = read(path)
    item = label(found, 0, "fail")
    written = lines(found.written({item: {"annotator": "dr.li"}})["run.jsonl"])
    assert [entry["annotator"] for entry in written[0]["human"]] == ["A1", "dr.li"]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in written), encoding="utf-8")
    assert read(tmp_path / "run.jsonl").items.keys() == found.items.keys()


def test_two_tables_are_written_apart(tmp_path: Path) -> None:
    first, second = rows()[:2], rows()[2:]
    found = read(write_rows(tmp_path / "a.jsonl", first), write_rows(tmp_path / "b.jsonl", second))
    written = found.written()
    assert (lines(written["a.jsonl"]), lines(written["a.b.jsonl"])) == (first, second)
    assert sorted(written) == ["a.b.changes.jsonl", "a.b.jsonl", "a.changes.jsonl", "a.jsonl"]


def test_a_lone_carriage_return_in_a_cell_splits_no_row(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(b'item_id,response,human:A1,judge:gpt\n1,"first\rsecond",pass,fail\n2,R,fail,pass\n')
    written = read(path).written()["run.csv"]
    again = csv.DictReader(io.StringIO(written, newline=""))
    assert [row["response"] for row in again] == ["first\rsecond", "R"]
