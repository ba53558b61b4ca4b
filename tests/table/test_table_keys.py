"""Keys that are allotted: each label its own, none the desk's."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.actions import ACTIONS, KeyMap
from judges.benchmarks.benchmark import Label, TaskDefinition
from judges.benchmarks.table.keys import DIGITS, FREE, MOST_LABELS, RESERVED, Keys, allot


def test_the_reserved_letters_are_those_of_the_desk() -> None:
    letters = {key for action in ACTIONS for key in action.keys if len(key) == 1 and key in string.ascii_lowercase}
    assert letters == RESERVED


LABELS = st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=MOST_LABELS, unique=True)


@given(LABELS)
def test_any_ten_labels_get_keys_that_the_desk_accepts(values: list[str]) -> None:
    keys = allot(values)
    assert list(keys) == values
    labels = tuple(Label(value, value, keys[value].key, keys[value].digit) for value in values)
    KeyMap(TaskDefinition("t", "T", "?", "nominal", labels, ()))


@given(LABELS)
def test_keys_depend_on_the_labels_alone(values: list[str]) -> None:
    assert allot(values) == allot(list(values))


def test_letters_are_mnemonic_where_that_goes() -> None:
    keys = allot(["pass", "partly covered", "incorrect", "yes"])
    assert [pair.key for pair in keys.values()] == ["p", "c", "i", "y"]
    assert [pair.digit for pair in keys.values()] == ["1", "2", "3", "4"]


def test_a_label_that_is_a_digit_keeps_it_whatever_the_order() -> None:
    assert [pair.digit for pair in allot(["4", "3", "2", "1"]).values()] == ["4", "3", "2", "1"]
    assert [pair.digit for pair in allot(["10", "9"]).values()] == ["1", "2"]


def test_ten_is_not_zero() -> None:
    keys = allot([str(number) for number in range(10, 0, -1)])
    assert keys["10"].digit == "1" and len({pair.digit for pair in keys.values()}) == 10


def test_what_is_wanted_comes_first() -> None:
    keys = allot(["full", "partial"], {"partial": Keys("l", "1")})
    assert keys["partial"] == Keys("l", "1")
    assert keys["full"].digit == "2" and keys["full"].key in FREE


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"a": Keys("d", "")}, "key 'd' of label 'a' is an action"),
        ({"a": Keys("", "x")}, "digit 'x' of label 'a' is an action"),
        ({"a": Keys("é", "")}, "not one of"),
        ({"a": Keys("b", ""), "b": Keys("b", "")}, "key 'b' is given to two labels"),
        ({"a": Keys("", "1"), "b": Keys("", "1")}, "digit '1' is given to two labels"),
    ],
)
def test_a_key_that_cannot_be_is_refused_by_name(wanted: dict[str, Keys], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        allot(["a", "b"], wanted)


def test_eleven_labels_are_too_many() -> None:
    with pytest.raises(ValueError, match="11 labels"):
        allot([str(number) for number in range(11)])
    assert len(DIGITS) == 10
