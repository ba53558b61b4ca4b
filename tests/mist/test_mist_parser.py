"""The declared answer parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.benchmarks.mist.parser import LETTERS, parse_answer, parse_reply

OPTIONS = ["cytosine", "guanine", "thymine", "uracil"]


@pytest.mark.parametrize(
    ("reply", "letter", "rule"),
    [
        ("<answer>C</answer>", "C", "letter"),
        ("<answer> c </answer>", "C", "letter"),
        ("<ANSWER>\n(C)\n</ANSWER>", "C", "letter"),
        ("<answer>**C**.</answer>", "C", "letter"),
        ("<answer>3</answer>", "C", "index"),
        ("<answer>Thymine.</answer>", "C", "text"),
        ("<answer>C. thymine</answer>", "C", "letter and text"),
        ("<answer>(C) Thymine</answer>", "C", "letter and text"),
        ("<answer>3: thymine</answer>", "C", "letter and text"),
        ("first <answer>A</answer>, no: <answer>D</answer>", "D", "letter"),
        ("<answer><answer>B</answer></answer>", "B", "letter"),
        ("<answer>C) guanine</answer>", None, "no option"),
        ("<answer>A or B</answer>", None, "no option"),
        ("<answer>AB</answer>", None, "no option"),
        ("<answer>E</answer>", None, "no option"),
        ("<answer>5</answer>", None, "no option"),
        ("<answer>0</answer>", None, "no option"),
        ("<answer>03</answer>", None, "no option"),
        ("<answer>Ⅲ</answer>", None, "no option"),
        ("<answer>C, I think</answer>", None, "no option"),
        ("<answer>not C</answer>", None, "no option"),
        ("<answer>Option C</answer>", None, "no option"),
        ("<answer></answer>", None, "empty"),
        ("<answer> . </answer>", None, "empty"),
        ("<answer>C", None, "cut"),
        ("<answer>A</answer> wait <answer>B", None, "cut"),
        ("<answer>A</answer><answer>B", None, "cut"),
        ("A patient with C would choose thymine.", None, "no tag"),
        ("The answer is C.", None, "no tag"),
        ("", None, "no tag"),
    ],
)
def test_a_reply_is_read_by_the_declared_rules(reply: str, letter: str | None, rule: str) -> None:
    parsed = parse_reply(reply, OPTIONS)
    assert (parsed.letter, parsed.rule) == (letter, rule)


def test_options_that_the_item_numbers_itself_are_known_by_those_numbers() -> None:
    labels = ("0", "1", "2", "3")
    assert [parse_answer(name, OPTIONS, labels).letter for name in ("0", "3", "4", "A")] == ["A", "D", None, "A"]


def test_a_text_that_two_options_have_is_no_answer() -> None:
    assert parse_answer("rest", ["Rest", "rest.", "walk", "run"]).letter is None


def test_a_name_that_is_another_option_s_text_is_no_answer() -> None:
    blood = ["O", "A", "B", "AB"]
    assert [parse_answer(name, blood).letter for name in ("A", "B", "AB", "O", "C", "D")] == [
        None, None, "D", "A", "C", "D",
    ]  # fmt: skip
    numbers = ["3", "5", "1", "2"]
    assert [parse_answer(name, numbers).letter for name in ("1", "5", "B")] == [None, "B", "B"]


def test_the_words_say_what_was_read_and_how() -> None:
    assert "'3'" in parse_reply("<answer>3</answer>", OPTIONS).words
    assert "by index" in parse_reply("<answer>3</answer>", OPTIONS).words
    assert parse_reply("C", OPTIONS).words == "no <answer> tag"
    assert "never closed" in parse_reply("<answer>C", OPTIONS).words


@given(st.text(max_size=40), st.integers(0, 3))
def test_every_way_to_name_an_option_is_read_back(before: str, place: int) -> None:
    options = ["alpha ray", "beta ray", "gamma ray", "no ray"]
    for name in (LETTERS[place], str(place + 1), options[place], f"{LETTERS[place]}. {options[place]}"):
        reply = f"{before.replace('<', '')} <answer>{name}</answer>"
        assert parse_reply(reply, options).letter == LETTERS[place]


@given(st.text(max_size=60))
def test_whatever_a_reply_says_the_answer_is_an_option_or_none(reply: str) -> None:
    assert parse_reply(f"<answer>{reply}</answer>", OPTIONS).letter in {"A", "B", "C", "D", None}
