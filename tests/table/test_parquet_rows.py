"""Parquet rows come as the texts they are."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from store.errors import InputError
from store.parquet import MAGIC, parquet_rows


def write_parquet(path: Path, select: str) -> Path:
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({select}) TO '{str(path).replace(chr(39), chr(39) * 2)}' (FORMAT parquet)")
    return path


def test_ids_of_every_look_survive(tmp_path: Path) -> None:
    ids = ["30", "0870", "2024-01-02", "96BABAFB-DF79-4D31-8348-62069A6C4027", "12345678901234567890", "1e5", " x "]
    path = write_parquet(tmp_path / "ids.parquet", f"SELECT unnest({ids}) AS item_id")
    assert path.read_bytes().startswith(MAGIC)
    assert [row["item_id"] for row in parquet_rows(path)] == ids


def test_values_of_other_types_become_their_texts(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path / "types.parquet",
        "SELECT 9007199254740993::BIGINT AS n, true AS flag, 3.0::DOUBLE AS f, DATE '2024-01-02' AS day,"
        " NULL::VARCHAR AS nothing, 1.10::DECIMAL(4, 2) AS price",
    )
    assert list(parquet_rows(path)) == [
        {"n": "9007199254740993", "flag": "true", "f": "3.0", "day": "2024-01-02", "nothing": None, "price": "1.10"}
    ]


def test_nested_values_are_json(tmp_path: Path) -> None:
    select = (
        "SELECT [{'annotator': 'A1', 'label': NULL}, {'annotator': '陈', 'label': 'no'}] AS human, ['x'] AS systems"
    )
    (row,) = parquet_rows(write_parquet(tmp_path / "nested.parquet", select))
    assert json.loads(row["human"] or "") == [{"annotator": "A1", "label": None}, {"annotator": "陈", "label": "no"}]
    assert row["systems"] == '["x"]'


def test_a_file_name_is_no_pattern(tmp_path: Path) -> None:
    write_parquet(tmp_path / "run1.parquet", "SELECT 'other' AS id")
    named = write_parquet(tmp_path / "run[1]*'s.parquet", "SELECT 'mine' AS id")
    assert [row["id"] for row in parquet_rows(named)] == ["mine"]


def test_a_column_name_is_no_sql(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "names.parquet", 'SELECT 1 AS "a"") FROM x; --", 2 AS "order"')
    assert list(parquet_rows(path)) == [{'a") FROM x; --': "1", "order": "2"}]


def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "many.parquet", "SELECT i::VARCHAR AS id FROM range(2500) t(i)")
    assert [row["id"] for row in parquet_rows(path)] == [str(n) for n in range(2500)]


@pytest.mark.parametrize("content", [b"PAR1 and nothing", b"item_id\n1\n", b""], ids=["cut", "csv", "empty"])
def test_what_is_no_parquet_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.parquet cannot be read") as caught:
        list(parquet_rows(path))
    assert str(tmp_path) not in str(caught.value)
