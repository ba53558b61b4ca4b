"""The string rules: as coded, quirks included, and read better; where they differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.benchmarks.medmemorybench.rules import (
    choice_as_coded,
    choice_doubt,
    entity_as_coded,
    entity_doubt,
    entity_read_better,
    gold_letters,
    letters_as_coded,
    letters_read_better,
    normalise,
    tokens,
)

# --- entity match ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "output", "coded", "better", "kind"),
    [
        ("8.2 mmol/L", "空腹血糖 18.2 mmol/L", True, False, "number_cut"),
        ("8.2 mmol/L", "82 mmol/L", True, False, "number_cut"),
        ("5mg", "每天 15mg", True, False, "number_cut"),
        ("-5 mV", "5 mV", True, False, "number_cut"),
        ("valsartan", "two valsartans", True, False, "word_cut"),
        ("阿司匹林", "阿司匹林禁用", True, True, "negated"),
        ("aspirin", "do not take aspirin", True, True, "negated"),
        ("37.5℃", "37.5°C", False, True, "spelling"),
        ("Li’s sign", "Li's sign", False, True, "spelling"),
        ("310 L/min", "310 L／min", False, True, "spelling"),
        ("40 mg", "每晚四十，即40毫克", False, True, "spelling"),
        ("8.2 mmol/L", "是8.2mmol/L。", True, True, ""),
        ("8.2", "about 8.20", True, True, ""),
        ("1,000 mg", "1000mg", True, True, ""),
        ("valsartan", "amlodipine", False, False, ""),
    ],
)
def test_both_readings_of_an_entity_and_the_doubt_between_them(
    answer: str, output: str, coded: bool, better: bool, kind: str
) -> None:
    assert entity_as_coded([answer], output) is coded
    assert entity_read_better([answer], output) is better
    doubt = entity_doubt([answer], output)
    assert (doubt.kind, doubt.as_coded, doubt.read_better) == (kind, coded, better)
    assert bool(doubt.why) == bool(kind)


def test_every_answer_must_be_there_and_there_must_be_one() -> None:
    assert entity_as_coded(["a", "b"], "b and a")
    assert not entity_as_coded(["a", "b"], "only b")
    assert not entity_as_coded([], "anything")
    assert not entity_as_coded(["…"], "anything"), "an answer of punctuation alone is never found"


def test_curly_quotes_are_kept_and_chinese_punctuation_goes() -> None:
    assert normalise("（8.2）mmol/L，“高”。") == "82mmoll“高”"


@given(st.text(max_size=30), st.text(max_size=30))
def test_an_output_that_is_the_answer_is_right_as_coded_wherever_it_stands(answer: str, around: str) -> None:
    if normalise(answer):
        assert entity_as_coded([answer], f"{around} {answer}, {around}")


@given(st.text(alphabet="ab1.2 中文-mg", max_size=20))
def test_reading_better_finds_every_answer_that_stands_by_itself(answer: str) -> None:
    if tokens(answer):
        assert entity_read_better([answer], f"Well: {answer} ! So.")


# --- multiple choice -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "coded", "better", "kind"),
    [
        ("BD", "", "BD", "letters_missed"),
        ("B和D", "", "BD", "letters_missed"),
        ("选择B", "", "B", "letters_missed"),
        ("正确选项为B", "", "B", "letters_missed"),
        ("选项B正确", "", "B", "letters_missed"),
        ("答案是BD", "B", "BD", "letters_missed"),
        ("A patient should choose B", "AB", "B", "letters_extra"),
        ("Vitamin D is fine: A", "AD", "A", "letters_extra"),
        ("不选A，选B", "AB", "B", "letters_extra"),
        ("B", "B", "B", ""),
        ("b", "B", "B", ""),
        ("B, D", "BD", "BD", ""),
        ("B. rest\nD. water", "BD", "BD", ""),
        ("The answer is B.", "B", "B", ""),
        ("I would take B", "B", "B", ""),
        ("Answer: a glass of milk", "A", None, "letters_unread"),
        ("rest and water", "", None, "letters_unread"),
        ("", "", None, ""),
    ],
)
def test_both_readings_of_a_choice_and_the_doubt_between_them(
    output: str, coded: str, better: str | None, kind: str
) -> None:
    assert letters_as_coded(output) == set(coded)
    assert letters_read_better(output) == (None if better is None else set(better))
    assert choice_doubt(frozenset("BD"), output).kind == kind


def test_a_choice_is_the_whole_set_and_two_empty_sets_are_equal() -> None:
    assert choice_as_coded(frozenset("BD"), "D, B")
    assert not choice_as_coded(frozenset("BD"), "B")
    assert not choice_as_coded(frozenset("B"), "B, D")
    assert choice_as_coded(frozenset(), "nothing"), "as coded"


def test_the_letters_of_the_right_options() -> None:
    assert gold_letters(["B. rest", "d、water", "E rest", "none of them"]) == {"B", "D", "E"}
    assert gold_letters(["Both are right"]) == set()


def test_the_official_lower_case_patterns_match_nothing_on_upper_cased_text() -> None:
    assert letters_as_coded("i chooseB") == set()
    assert letters_as_coded("answerB") == set()
