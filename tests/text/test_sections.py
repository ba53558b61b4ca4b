from __future__ import annotations

import json

import pytest

from annotate.desk.sections import (
    EMPTY,
    MISSING,
    NOT_SEEN,
    Entry,
    Turn,
    dialogue_section,
    fold_repeats,
    sections_of,
    turns_of,
)
from judges.benchmarks.benchmark import Panel


def units(*said: str) -> tuple[object, ...]:
    return tuple(fold_repeats(dialogue_section("d", "D", [Turn("user", text) for text in said]).units).entries)


def test_panels_become_sections() -> None:
    panels = (
        Panel("text", "question", "Question"),
        Panel("list", "evidence", "Evidence"),
        Panel("dialogue", "dialogue", "Dialogue", judge_saw=False, folded=True),
        Panel("compare", "old,new", "Old version, New version"),
        Panel("text", "absent", "Absent"),
    )
    payload = {"question": "What?\x1b[31m", "evidence": ["one", None, ""], "old": "a", "new": 5}
    dialogue = json.dumps(
        [{"role": "user", "content": "hi", "timestamp": "Sep 04"}, {"role": "nurse", "content": "yo"}]
    )
    question, evidence, turns, compare, absent = sections_of(panels, payload, {"dialogue": dialogue})
    assert question.units[0].text == "What?␛[31m"
    assert [unit.note for unit in evidence.units] == ["", MISSING, EMPTY]
    assert (turns.badge, turns.folded) == (NOT_SEEN, True)
    assert [(unit.head, unit.text, unit.time) for unit in turns.units] == [
        ("User", "hi", "Sep 04"),
        ("nurse", "yo", ""),
    ]
    assert [(unit.head, unit.text) for unit in compare.units] == [("Old version", "a"), ("New version", "5")]
    assert absent.units[0].note == MISSING


def test_columns_are_named_after_their_fields_when_the_title_does_not_name_them() -> None:
    (section,) = sections_of([Panel("compare", "old_memory,new", "Versions")], {"old_memory": "a", "new": "b"}, {})
    assert [unit.head for unit in section.units] == ["Old memory", "New"]


def test_one_field_is_shown_once() -> None:
    with pytest.raises(ValueError, match="same field"):
        sections_of([Panel("text", "a", "A"), Panel("list", "a", "B")], {}, {})


@pytest.mark.parametrize(
    ("value", "turns"),
    [
        ("not a list", [Turn("", "not a list")]),
        ("[broken json", [Turn("", "[broken json")]),
        ([{"speaker": "A", "text": "x", "time": 3}], [Turn("A", "x", "3")]),
        ([{"foo": 1}], [Turn("", '{"foo": 1}')]),
        ([["a", "b"]], [Turn("", '["a", "b"]')]),
        ([{"role": "user", "content": ""}], [Turn("user", "", "")]),
    ],
)
def test_dialogues_of_any_shape_lose_nothing(value: object, turns: list[Turn]) -> None:
    assert turns_of(value) == turns


def test_repeats_fold() -> None:
    assert units("a", "b", "c") == (Entry(0, 0, 0), Entry(1, 1, 1), Entry(2, 2, 2))
    assert units("a", "a", "a", "b") == (Entry(0, 0, 0), Entry(3, 3, 3))
    assert units("a", "b", "a", "b", "c") == (Entry(0, 0, 0), Entry(1, 1, 1), Entry(2, 3, 0), Entry(4, 4, 4))
    assert units("a", "b", "a", "c", "a") == (
        Entry(0, 0, 0),
        Entry(1, 1, 1),
        Entry(2, 2, 0),
        Entry(3, 3, 3),
        Entry(4, 4, 0),
    )


def test_the_same_words_of_two_speakers_are_two_turns() -> None:
    section = dialogue_section("d", "D", [Turn("user", "yes"), Turn("assistant", "yes"), Turn("USER", "yes")])
    folded = fold_repeats(section.units)
    assert (folded.distinct, folded.original, folded.counts) == (2, (0, 1, 0), {0: 2, 1: 1})
