from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.document import Document
from annotate.desk.find import Finder, fold_text
from annotate.desk.sections import Turn, dialogue_section, text_section


def found(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in fold_text(text).find(query)]


@pytest.mark.parametrize(
    ("text", "query", "hits"),
    [
        ("Aspirin and ASPIRIN", "aspirin", ["Aspirin", "ASPIRIN"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("abc", "", []),
        ("a.c abc", "a.c", ["a.c"]),
        ("５０ ｍｇ", "50 mg", ["５０ ｍｇ"]),
        ("ﬁne ﬁsh", "fi", ["ﬁ", "ﬁ"]),
        ("ﬁne", "f", []),
        ("Straße", "STRASSE", ["Straße"]),
        ("cafe\u0301 café cafe", "café", ["cafe\u0301", "café"]),
        ("cafe\u0301 café cafe", "cafe", ["cafe"]),
        ("한국", "하", []),
        ("患者否认", "否认", ["否认"]),
        ("İstanbul x", "x", ["x"]),
        ("لا يعاني", "يعاني", ["يعاني"]),
    ],
)
def test_what_is_found(text: str, query: str, hits: list[str]) -> None:
    assert found(text, query) == hits


@given(st.text(max_size=30), st.text(max_size=10), st.text(max_size=30))
def test_what_is_there_is_found(before: str, query: str, after: str) -> None:
    text = f"{before} {query} {after}"
    if query and not unicodedata.combining(query[0]):
        assert any(start <= len(before) + 1 < end for start, end in fold_text(text).find(query))


@given(st.text(), st.text(min_size=1, max_size=3))
def test_hits_say_the_query_in_order_and_apart(text: str, query: str) -> None:
    wanted = fold_text(query).folded
    last = 0
    for start, end in fold_text(text).find(query):
        assert start >= last and fold_text(text[start:end]).folded == wanted
        last = end


def document() -> Document:
    turns = [Turn("user", "a dog"), Turn("assistant", "no Dog"), Turn("user", "a dog"), Turn("user", "cat")]
    made = Document(
        [text_section("question", "Question", "Which dog?"), dialogue_section("d", "D", turns, folded=True)]
    )
    made.lay_out(60)
    return made


def test_folded_sections_are_searched_and_repeats_counted_once() -> None:
    finder = Finder(document())
    assert finder.search("dog") == 3
    assert [(hit.section, hit.unit) for hit in finder.hits] == [("question", 0), ("d", 0), ("d", 1)]


def test_steps_go_round() -> None:
    finder = Finder(document())
    finder.search("dog")
    steps = [finder.step(1), finder.step(1), finder.step(1), finder.step(1), finder.step(-1)]
    assert [finder.hits.index(hit) for hit in steps if hit] == [0, 1, 2, 0, 2]
    assert finder.current_highlight()[0].role == "find-current"
    assert finder.search("nothing") == 0
    assert finder.step(1) is None and finder.current_highlight() == []


def test_the_first_step_starts_where_the_reader_is() -> None:
    shown = document()
    shown.set_open("d", True)
    finder = Finder(shown)
    finder.search("dog")
    near = shown.position(shown.locate("d", 1) or 0)
    forward = finder.step(1, near)
    assert forward is not None and (forward.section, forward.unit) == ("d", 1)
    finder.search("dog")
    backward = finder.step(-1, near)
    assert backward is not None and (backward.section, backward.unit) == ("d", 0)
