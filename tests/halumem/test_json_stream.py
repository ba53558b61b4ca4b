"""The streaming JSON reader: places, faults and what is read around them."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.benchmarks import json_text
from judges.benchmarks.json_stream import ArrayStart, Element, iter_members, iter_objects
from store.records import Problem


def write(folder: Path, content: str | bytes, name: str = "input.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def split(stream: Any) -> tuple[list[Element], list[Problem]]:
    found = list(stream)
    return [e for e in found if isinstance(e, Element)], [p for p in found if isinstance(p, Problem)]


@pytest.mark.parametrize(
    "content",
    [
        '{"a": 1}\n{"a": 2}\n',
        '{"a": 1}\r\n\r\n{"a": 2}',
        '\ufeff{"a": 1}\n\ufeff{"a": 2}\n',
        '[{"a": 1}, {"a": 2}]',
        '[\n    {\n        "a": 1\n    },\n    {\n        "a": 2\n    }\n]',
        '{\n    "a": 1\n}\n{\n    "a": 2\n}\n',
    ],
    ids=["jsonl", "crlf-and-blank-lines", "byte-order-marks", "array", "pretty-array", "pretty-objects"],
)
def test_objects_come_from_every_way_of_writing_them(tmp_path: Path, content: str) -> None:
    elements, problems = split(iter_objects(write(tmp_path, content)))
    assert [e.value for e in elements] == [{"a": 1}, {"a": 2}]
    assert [e.index for e in elements] == [0, 1]
    assert problems == []


def test_an_empty_file_has_no_objects(tmp_path: Path) -> None:
    assert list(iter_objects(write(tmp_path, ""))) == []
    assert list(iter_objects(write(tmp_path, "\ufeff \n"))) == []


def test_members_stream_arrays_and_give_other_values_whole(tmp_path: Path) -> None:
    path = write(tmp_path, '{"score": {"x": 1.5}, "rows": [{"a": 1},\n {"a": 2}], "none": [], "n": 12}')
    assert list(iter_members(path)) == [
        Element({"x": 1.5}, 1, 11, "score"),
        ArrayStart("rows", 1, 31),
        Element({"a": 1}, 1, 32, "rows", 0),
        Element({"a": 2}, 2, 2, "rows", 1),
        ArrayStart("none", 2, 21),
        Element(12, 2, 30, "n"),
    ]


def test_all_bad_lines_are_reported_and_the_good_ones_read(tmp_path: Path) -> None:
    lines = ['{"a": 1}', '{"a": oops}', '{"a": 2}', "not json", '{"a": 3} trailing', '{"a": 4', '{"a": 5}']
    elements, problems = split(iter_objects(write(tmp_path, "\n".join(lines) + "\n")))
    assert [e.value["a"] for e in elements] == [1, 2, 3, 5]
    assert [(p.line, p.column) for p in problems] == [(2, 7), (4, 1), (5, 10), (6, 1)]
    assert all(p.fatal and p.remedy for p in problems)
    assert not any("oops" in p.what or "trailing" in p.what for p in problems), "no item text in a message"


def test_a_raw_line_feed_in_a_string_spoils_its_line_only(tmp_path: Path) -> None:
    elements, problems = split(iter_objects(write(tmp_path, '{"a": "x\ny"}\n{"a": 2}\n')))
    assert [e.value for e in elements] == [{"a": 2}]
    assert [(p.line, p.column) for p in problems] == [(1, 9)]


def test_a_truncated_last_line_is_reported_and_what_came_before_is_kept(tmp_path: Path) -> None:
    elements, problems = split(iter_objects(write(tmp_path, '{"a": 1}\n{"a": 2, "text": "unfini')))
    assert [e.value for e in elements] == [{"a": 1}]
    assert [(p.line, p.column) for p in problems] == [(2, 25)]
    assert "ends in the middle" in problems[0].what


@pytest.mark.parametrize("rest", ['{"a"', '{"a": tr', '{"a": 2', '{"a": "x\\u00', '{"a": [1, ', "{"])
def test_a_truncated_object_file_keeps_the_records_before_the_cut(tmp_path: Path, rest: str) -> None:
    elements, problems = split(iter_members(write(tmp_path, '{"rows": [{"a": 1}, ' + rest)))
    assert [e.value for e in elements] == [{"a": 1}]
    assert len(problems) == 1
    assert "ends in the middle" in problems[0].what


def test_a_file_cut_inside_a_character_says_so(tmp_path: Path) -> None:
    whole = '{"a": "肺"}'.encode()
    _, problems = split(iter_objects(write(tmp_path, whole[:-3])))
    assert "middle of a character" in problems[0].what


PRETTY = json.dumps({"rows": [{"n": n, "deep": [{"n": n}]} for n in range(4)], "more": [{"n": 9}]}, indent=4)


@pytest.mark.parametrize(
    ("wrong", "right", "kept"),
    [
        ('"n": 1,', '"n": ,', [0, 2, 3, 9]),
        ('"n": 1,\n            "deep"', '"n": 1\n            "deep"', [0, 2, 3, 9]),
        ('"n": 3,\n', '"n": 3;\n', [0, 1, 2, 9]),
    ],
    ids=["value-missing", "comma-missing", "last-record-of-its-array"],
)
def test_a_fault_in_a_pretty_printed_record_costs_that_record_only(
    tmp_path: Path, wrong: str, right: str, kept: list[int]
) -> None:
    assert PRETTY.count(wrong) == 1
    elements, problems = split(iter_members(write(tmp_path, PRETTY.replace(wrong, right))))
    assert [e.value["n"] for e in elements] == kept
    assert [e.member for e in elements if e.value["n"] == 9] == ["more"]
    assert len(problems) == 1
    assert "left out" in problems[0].what


def test_commas_too_few_or_too_many_are_all_reported(tmp_path: Path) -> None:
    elements, problems = split(iter_members(write(tmp_path, '{"rows": [{"n": 1}{"n": 2},], "more": [{"n": 3}]}')))
    assert [e.value["n"] for e in elements] == [1, 2, 3]
    assert [(p.column, p.what) for p in problems] == [
        (19, "a comma is missing before this element"),
        (27, "there is a comma after the last element"),
    ]


def test_text_after_the_end_is_reported(tmp_path: Path) -> None:
    _, problems = split(iter_members(write(tmp_path, '{"rows": []}\n{"rows": []}')))
    assert [(p.line, p.column) for p in problems] == [(2, 1)]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('{"a": "肺"}'.encode("utf-16"), "UTF-16"),
        ('{"a": "肺"}'.encode("utf-16-le"), "UTF-16"),
        ('{"a": "肺"}'.encode("utf-16-be"), "UTF-16"),
        ('{"a": "肺"}'.encode("utf-32"), "UTF-32"),
        ('{"a": "糖尿病患者"}'.encode("gb18030"), "GB18030"),
        ('{"a": "Grüße"}'.encode("cp1252"), "Windows code page"),
    ],
)
@pytest.mark.parametrize("read", [iter_objects, iter_members])
def test_other_encodings_are_named(tmp_path: Path, content: bytes, name: str, read: Any) -> None:
    _, problems = split(read(write(tmp_path, content)))
    assert any(name in p.what and "UTF-8" in p.what and p.remedy for p in problems)


def test_lines_before_a_byte_of_another_encoding_are_kept(tmp_path: Path) -> None:
    content = b'{"a": 1}\n' + '{"a": "糖尿病患者"}'.encode("gb18030")
    elements, problems = split(iter_objects(write(tmp_path, content)))
    assert [e.value for e in elements] == [{"a": 1}]
    assert [(p.line, p.column) for p in problems] == [(2, 8)]


def test_characters_nothing_can_show_are_replaced_and_reported_with_their_field(tmp_path: Path) -> None:
    line = r'{"a": {"b": ["ok", "bad \ud83d end"]}, "c": "nul\u0000", "pair": "\ud83d\ude00"}'
    elements, problems = split(iter_objects(write(tmp_path, "{}\n" + line)))
    assert elements[1].value == {"a": {"b": ["ok", "bad \ufffd end"]}, "c": "nul\u2400", "pair": "😀"}
    assert [(p.line, p.fatal) for p in problems] == [(2, False), (2, False)]
    assert "a.b[1]" in problems[0].what
    assert "surrogate" in problems[0].what
    assert "NUL character in c" in problems[1].what


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_json_does_not_have_are_reported_and_their_record_left_out(tmp_path: Path, constant: str) -> None:
    elements, problems = split(iter_objects(write(tmp_path, f'{{"a": {constant}}}\n{{"a": 1}}')))
    assert [e.value for e in elements] == [{"a": 1}]
    assert [(p.line, p.fatal) for p in problems] == [(1, True)]


def test_a_field_given_twice_is_a_fault_when_the_values_differ_and_a_warning_when_not(tmp_path: Path) -> None:
    content = '{"a": 1, "a": 2}\n{"b": {"a": 1, "a": 1}}'
    elements, problems = split(iter_objects(write(tmp_path, content)))
    assert [e.value for e in elements] == [{"b": {"a": 1}}]
    assert [(p.line, p.fatal) for p in problems] == [(1, True), (2, False)]


@pytest.mark.parametrize("hostile", ['{"a": ' + "[" * 100_000, '{"a": ' + "9" * 5_000 + "}"])
def test_hostile_values_are_faults_of_their_line(tmp_path: Path, hostile: str) -> None:
    elements, problems = split(iter_objects(write(tmp_path, f'{{"a": 0}}\n{hostile}\n{{"a": 1}}')))
    assert [e.value for e in elements] == [{"a": 0}, {"a": 1}]
    assert [p.line for p in problems] == [2]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdefg", max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@settings(deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.text("abc", max_size=2), json_values, max_size=4), max_size=6),
    indent=st.sampled_from([None, 1, 4]),
    ascii_only=st.booleans(),
    chunk=st.integers(1, 40),
)
def test_any_chunking_reads_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], indent: int | None, ascii_only: bool, chunk: int
) -> None:
    folder = tmp_path_factory.mktemp("stream")
    text = json.dumps({"first": [1, "x"], "rows": rows}, indent=indent, ensure_ascii=ascii_only)
    jsonl = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "CHUNK", chunk)
        members = [e.value for e in iter_members(write(folder, text)) if isinstance(e, Element) and e.member == "rows"]
        objects, problems = split(iter_objects(write(folder, jsonl)))
    assert members == rows
    assert [e.value for e in objects] == rows
    assert problems == []


@settings(deadline=None)
@given(data=st.data(), chunk=st.integers(1, 40))
def test_places_are_those_of_the_text(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, chunk: int
) -> None:
    gaps = data.draw(st.lists(st.text(" \n\t", max_size=4), min_size=4, max_size=4))
    text = "[" + ",".join(f'{gap}{{"n": {n}}}' for n, gap in enumerate(gaps)) + "]"
    path = write(tmp_path_factory.mktemp("places"), text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "CHUNK", chunk)
        elements, _ = split(iter_objects(path))
    lines = text.split("\n")
    assert [lines[e.line - 1][e.column - 1 :].startswith(f'{{"n": {e.index}}}') for e in elements] == [True] * 4


@pytest.mark.slow
def test_memory_stays_flat_whatever_the_size_of_the_file(tmp_path: Path) -> None:
    record = {"text": "x" * 900, "n": 1}
    path = tmp_path / "large.json"
    with path.open("w", encoding="utf-8") as stream:
        stream.write('{"rows": [')
        stream.write(",".join([json.dumps(record)] * 20_000))
        stream.write("]}")
    tracemalloc.start()
    count = sum(isinstance(e, Element) for e in iter_members(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < path.stat().st_size / 8
