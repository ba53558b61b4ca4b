"""The same table as JSONL, JSON, CSV, TSV and Parquet; how it is recognised; what is wrong with one."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import duckdb
import pytest
from table_files import read, rows, write_rows, write_tasks

from judges.benchmarks.benchmark import benchmark_names, get_benchmark
from judges.benchmarks.table import BENCHMARK
from tests.imported import Imported

HEADER = ["item_id", "question", "response", "human:A1", "judge:gpt", "judge:gpt:score"]
CELLS = [
    ["0870", "Which dose?", "5 mg, at once", "pass", "fail", "0.1"],
    ["2024-01-02", 'He said "no"', "one\ntwo", "fail", "", ""],
    ["30", "剂量?", "-5 mg", "pass", "pass", "0"],
]


def write_csv(path: Path, header: list[str], cells: list[list[str]], delimiter: str = ",", bom: bool = False) -> Path:
    with path.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(cells)
    return path


def said(found: Imported) -> list[tuple[str, str | None, str | None, float | None]]:
    verdicts = found.by_judge()
    labels = {label.item_id: label.state.value for label in found.labels}
    return [
        (item.natural_key, labels.get(key), verdicts[key].label, verdicts[key].score)
        for key, item in found.items.items()
    ]


@pytest.mark.parametrize(("delimiter", "bom"), [(",", False), (";", True), ("\t", False)])
def test_csv_by_column_names(tmp_path: Path, delimiter: str, bom: bool) -> None:
    found = read(write_csv(tmp_path / "run.csv", HEADER, CELLS, delimiter, bom))
    assert found.problems == []
    assert said(found) == [
        ('["0870"]', "pass", "fail", 0.1),
        ('["2024-01-02"]', "fail", None, None),
        ('["30"]', "pass", "pass", 0.0),
    ]
    assert [item.payload["response"] for item in found.items.values()] == ["5 mg, at once", "one\ntwo", "-5 mg"]


def test_csv_by_a_task_file(tmp_path: Path) -> None:
    header = ["qid", "prompt", "output", "Anna", "Ben", "gpt", "gpt_p", "final"]
    cells = [["1", "P1", "O1", "yes", "no", "yes", "0.9", "yes"], ["2", "P2", "O2", "no", "no", "no", "0.2", ""]]
    tasks = write_tasks(
        tmp_path,
        '[columns]\nitem_id = "qid"\nquestion = "prompt"\nresponse = "output"\ngold = "final"\n'
        'human = { Anna = "anna", Ben = "ben" }\n[columns.judge.gpt-4o]\nlabel = "gpt"\nscore = "gpt_p"\n',
    )
    found = read(write_csv(tmp_path / "run.csv", header, cells), tasks=tasks)
    assert found.problems == []
    assert [(label.annotator, label.state.value) for label in found.labels] == [
        ("anna", "yes"), ("ben", "no"), ("gold", "yes"), ("anna", "no"), ("ben", "no"),
    ]  # fmt: skip
    assert [judge.name for judge in found.judges.values()] == ["gpt-4o"]
    assert [verdict.score for verdict in found.verdicts.values()] == [0.9, 0.2]
    assert next(iter(found.items.values())).payload == {"question": "P1", "response": "O1"}


def test_lists_in_csv_cells_are_json(tmp_path: Path) -> None:
    human = json.dumps([{"annotator": "A1", "label": "pass"}, {"annotator": "A2", "label": None}])
    cells = [["1", "R", human, '["a","b"]'], ["2", "[1] R", human.replace("pass", "fail"), "[]"]]
    found = read(write_csv(tmp_path / "run.csv", ["item_id", "response", "human", "systems"], cells))
    assert found.problems == []
    assert [(label.annotator, label.state.value) for label in found.labels] == [("A1", "pass"), ("A1", "fail")]
    assert [item.extra["systems"] for item in found.items.values()] == [["a", "b"], []]
    assert [item.payload["response"] for item in found.items.values()] == ["R", "[1] R"]


def test_json_array_and_jsonl_say_the_same(tmp_path: Path) -> None:
    lines = read(write_rows(tmp_path / "run.jsonl", rows()))
    array = tmp_path / "run.json"
    array.write_text(json.dumps(rows(), indent=2), encoding="utf-8")
    assert said(read(array)) == said(lines)


def test_parquet_and_jsonl_say_the_same(tmp_path: Path) -> None:
    lines = write_rows(tmp_path / "run.jsonl", rows())
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            f"COPY (SELECT * FROM read_json('{lines}')) TO '{tmp_path / 'run.parquet'}' (FORMAT parquet)"
        )
    found = read(tmp_path / "run.parquet")
    assert found.problems == []
    assert said(found) == said(read(lines))


def test_numbers_and_truth_values_of_parquet_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    select = "SELECT 7 AS item_id, 'R' AS response, true AS human, 3 AS judge UNION ALL SELECT 8, 'S', false, 4"
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    found = read(path)
    assert sorted(label.state.value or "" for label in found.labels) == ["false", "true"]
    assert sorted(verdict.label or "" for verdict in found.verdicts.values()) == ["3", "4"]


# --- what is wrong with a file ---


def test_rows_with_too_few_or_too_many_cells_are_told_by_line(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "run.csv", HEADER, [CELLS[0], CELLS[1], CELLS[2][:3], [*CELLS[0], "x"], CELLS[2]])
    found = read(path)
    # The second row spans lines 3 and 4.
    assert [problem.line for problem in found.fatal] == [5, 6]
    assert "3 cells, the header 6" in found.fatal[0].what
    assert len(found.items) == 3


def test_a_quote_that_never_ends_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text('item_id,response,human,judge\n1,R,pass,fail\n2,"R,fail,fail\n', encoding="utf-8")
    assert "not CSV" in read(path).fatal[0].what


def test_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes("item_id,response,human,judge\n1,Größe,pass,fail\n".encode("cp1252"))
    assert "0xf6" in read(path).fatal[0].what
    path.write_bytes("item_id,response,human,judge\n1,R,pass,fail\n".encode("utf-16"))
    assert "UTF-16" in read(path).fatal[0].what


def test_a_column_named_twice_is_told(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "run.csv", ["item_id", "response", "human", "human"], [["1", "R", "a", "b"]])
    assert any("named twice: human" in problem.what for problem in read(path).fatal)


def test_a_damaged_parquet_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_bytes(b"PAR1 nothing")
    assert "cannot be read as Parquet" in read(path).fatal[0].what


def test_a_nul_in_a_cell_is_replaced_and_told(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(b"item_id,response,human,judge\n1,a\0b,pass,fail\n")
    found = read(path)
    assert [problem.fatal for problem in found.problems] == [False]
    assert next(iter(found.items.values())).payload["response"] == "a\u2400b"


def test_a_very_long_cell_is_read(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "run.csv", HEADER, [["1", "Q", "x" * 300_000, "pass", "fail", ""]])
    found = read(path)
    assert [len(text) for text in found.texts.values()] == [300_000]


# --- recognising ---


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"item_id": "1", "response": "R", "human": []}', True),
        (b'\xef\xbb\xbf{"response_1": "R", "response_2": "S", "judge": []}', True),
        (b'[\n  {"response_ref": "d1", "gold": "yes"}', True),
        (b"id,response,human:A1\n", True),
        (b"id;response;judge:gpt:score\n", True),
        (b"PAR1", True),
        (b'{"item_id": "1", "response_text": "R", "score": 0.5}', False),
        (b'{"response": "R", "payload": {"human": 1}}', False),
        (b'{"overread_export": 1, "response": "R", "human": [], "judge": []}', False),
        (b'{"uuid": "u", "sessions": []}', False),
        (b"id,response,score\n", False),
        (b"", False),
        (b"\x00\xff", False),
    ],
)
def test_a_table_has_something_to_judge_and_something_said_of_it(head: bytes, expected: bool) -> None:
    assert BENCHMARK.recognises(Path("x"), head) is expected


def test_no_other_benchmark_takes_a_table_for_its_own(tmp_path: Path) -> None:
    head = write_rows(tmp_path / "run.jsonl", rows()).read_bytes()
    assert [name for name in benchmark_names() if get_benchmark(name).recognises(Path("x"), head)] == ["table"]
