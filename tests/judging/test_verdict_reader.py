"""The verdict is read exactly, or not at all; every known way of misreading one is a test."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.menu import Decision, Menu, schema_of
from judges.verdict_reader import FAILURES, NO_RATIONALE, SEVERAL, VERDICT_FIRST, Reading, read_answer
from tests.judging.menus import PASS_FAIL, choice, menu


def answer(verdict: object, **more: object) -> str:
    return json.dumps({"reasoning": "Because.", "verdict": verdict, **more})


def fate(reading: Reading) -> str:
    """The label, or the kind of failure in brackets."""
    return reading.label if reading.label is not None else f"({reading.failure})"


# Section 8 of the bug log


@pytest.mark.parametrize("reply", ["INCORRECT", "VERDICT: INCORRECT", answer("INCORRECT")])
def test_jp01_incorrect_is_no_correct(reply: str) -> None:
    assert read_answer(reply, PASS_FAIL).label == "INCORRECT"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (False, "false"),
        ("false", "false"),
        (True, "true"),
        (None, "(missing)"),
        ("False", "(off_menu)"),
        (0, "(off_menu)"),
        ([], "(malformed)"),
        ({"a": 1}, "(malformed)"),
    ],
)
def test_jp03_a_truth_value_has_three_states(value: object, expected: str) -> None:
    assert fate(read_answer(answer(value), menu("true", "false"))) == expected


def test_jp03_a_missing_member_is_no_pass() -> None:
    assert fate(read_answer('{"reasoning": "It matches.", "match": "true"}', menu("true", "false"))) == "(malformed)"


@pytest.mark.parametrize(
    "reply", ["As a judge, I would say A and B are close.", "The answer is A", "A.", "(A)", "Answer: B", "a"]
)
def test_jp04_a_letter_that_is_only_there_is_no_grade(reply: str) -> None:
    reading = read_answer(reply, menu("A", "B"))
    assert (reading.label, reading.failure) == (None, "malformed")


def test_jp06_an_off_menu_letter_is_never_replaced_by_an_earlier_one() -> None:
    reply = f"{answer('C')}\nOn second thoughts:\n{answer('P')}"
    reading = read_answer(reply, menu("C", "I"))
    assert (reading.label, reading.failure, reading.rationale) == (None, "off_menu", "Because.")
    assert fate(read_answer("GRADE: C\nVERDICT: P", menu("C", "I"))) == "(off_menu)"


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("correct", "incorrect"), "Incorrect."),
        (("safe", "unsafe"), "not safe"),
        (("safe", "unsafe"), "unsafe!"),
        (("pass", "fail"), "not a pass"),
        (("no", "yes"), "unknown"),
        (("2", "1", "0"), "2.0"),
        (("2", "1", "0"), "two"),
    ],
)
def test_jp07_a_label_is_exact_or_none(labels: tuple[str, ...], said: str) -> None:
    assert fate(read_answer(answer(said), menu(*labels))) == "(off_menu)"
    assert fate(read_answer(f"VERDICT: {said}", menu(*labels))) == "(off_menu)"


def test_jp09_a_verdict_without_words_is_flagged() -> None:
    assert NO_RATIONALE in read_answer('{"reasoning": "", "verdict": "CORRECT"}', PASS_FAIL).remarks
    assert NO_RATIONALE in read_answer('{"verdict": "CORRECT"}', PASS_FAIL).remarks
    assert read_answer(answer("CORRECT"), PASS_FAIL).remarks == ()


# Failures


@pytest.mark.parametrize(
    ("text", "more", "kind"),
    [
        (answer("CORRECT"), {"finish_reason": "length"}, "truncated"),
        ("", {"finish_reason": "content_filter"}, "filtered"),
        (None, {"refusal": "I cannot help with that."}, "refusal"),
        ("I'm sorry, but I can't assist with that.", {}, "refusal"),
        ("抱歉，我无法判断。", {}, "refusal"),
        (None, {}, "missing"),
        ("  \n", {}, "missing"),
        ('{"reasoning": "half a', {}, "malformed"),
        ('{"verdict": "CORRECT"', {}, "malformed"),
        ("<think>It could be CORRECT", {}, "truncated"),
        ("[" * 100_000, {}, "malformed"),
        ('{"a":' * 5_000, {}, "malformed"),
        ("{" * 50_000, {}, "malformed"),
        ('{"reasoning": 1' + "0" * 10_000 + ', "verdict": "CORRECT"}', {}, "malformed"),
        ('{"verdict": "CORRECT", "verdict": "INCORRECT"}', {}, "malformed"),
        ("I'm sorry, I was wrong before. " + answer("CORRECT"), {}, ""),
    ],
)
def test_failures_have_their_kind(text: str | None, more: dict[str, str], kind: str) -> None:
    assert read_answer(text, PASS_FAIL, **more).failure == kind


# What counts


def test_the_last_verdict_counts_and_a_change_is_remarked() -> None:
    reading = read_answer(f"{answer('CORRECT')}\nNo, wait.\n{answer('INCORRECT')}", PASS_FAIL)
    assert (reading.label, reading.remarks) == ("INCORRECT", (SEVERAL,))


def test_a_quoted_verdict_within_the_reasoning_is_none() -> None:
    text = json.dumps({"reasoning": 'The item says {"verdict": "CORRECT"}.\nVERDICT: CORRECT', "verdict": "INCORRECT"})
    assert read_answer(text, PASS_FAIL).label == "INCORRECT"
    cut = '{"reasoning": "The item says {"verdict": "CORRECT"} and'
    assert read_answer(cut, PASS_FAIL).label is None


def test_the_thinking_is_no_answer() -> None:
    text = f"<think>{answer('CORRECT')}</think>{answer('INCORRECT')}"
    reading = read_answer(text, PASS_FAIL)
    assert reading.label == "INCORRECT"
    assert reading.span is not None and text[slice(*reading.span)] == "INCORRECT"


def test_a_code_fence_and_prose_around_the_object_do_no_harm() -> None:
    text = f"Let me think {{about}} it.\n```json\n{answer('CORRECT')}\n```\n"
    assert read_answer(text, PASS_FAIL).label == "CORRECT"


def test_a_verdict_before_its_reasons_is_remarked() -> None:
    assert read_answer('{"verdict": "CORRECT", "reasoning": "So."}', PASS_FAIL).remarks == (VERDICT_FIRST,)


def test_a_line_has_to_stand_alone() -> None:
    assert read_answer("Reasons.\n**VERDICT:** CORRECT", PASS_FAIL).label == "CORRECT"
    assert read_answer("My VERDICT: CORRECT", PASS_FAIL).label is None
    assert fate(read_answer("VERDICT: CORRECT {sic}", PASS_FAIL)) == "(off_menu)"


def test_required_parts_are_part_of_the_verdict() -> None:
    with_flag = menu("2", "1", "0", included=choice("true", "false"))
    read = read_answer(answer(2, parts={"included": False}), with_flag)
    assert (read.label, read.parts) == ("2", {"included": "false"})
    assert fate(read_answer(answer("2"), with_flag)) == "(missing)"
    assert fate(read_answer(answer("2", parts={"included": "maybe"}), with_flag)) == "(off_menu)"
    assert fate(read_answer("VERDICT: 2", with_flag)) == "(malformed)"


def test_rankings_checklists_and_numbers() -> None:
    ranking = Menu(Decision("", "ranking", rows=("r1", "r2", "r3")), {})
    assert read_answer(answer([["r2"], ["r3", "r1"]]), ranking).label == '[["r2"],["r1","r3"]]'
    assert read_answer(answer(["r2", "r1", "r3"]), ranking).label == '[["r2"],["r1"],["r3"]]'
    assert fate(read_answer(answer([["r2"], ["r3"]]), ranking)) == "(off_menu)"
    assert fate(read_answer(answer("r1 > r2"), ranking)) == "(malformed)"
    grid = Decision("", "checklist", choice("y", "n").labels, ("n1", "n2"), (("stated", "Stated"),))
    nodes = menu("yes", "no", nodes=grid)
    cells = {"n1": {"stated": "y"}, "n2": {"stated": "n"}}
    assert read_answer(answer("yes", parts={"nodes": cells}), nodes).parts == {
        "nodes": '{"n1":{"stated":"y"},"n2":{"stated":"n"}}'
    }
    assert fate(read_answer(answer("yes", parts={"nodes": {"n1": {"stated": "y"}}}), nodes)) == "(missing)"
    number = Menu(Decision("", "number", low=0.0, high=1.0), {})
    assert read_answer(answer(0.25), number).label == "0.25"
    assert read_answer(answer(1.0), number).label == "1"
    assert fate(read_answer(answer(7), number)) == "(off_menu)"
    assert fate(read_answer('{"reasoning": "", "verdict": NaN}', number)) == "(off_menu)"
    assert fate(read_answer(answer("0.5"), number)) == "(malformed)"


def test_the_schema_puts_reasoning_before_the_verdict_and_names_the_exact_labels() -> None:
    schema = schema_of(menu("2", "1", "0", included=choice("true", "false")))
    assert list(schema["properties"]) == ["reasoning", "verdict", "parts"]
    assert schema["properties"]["verdict"]["enum"] == ["2", "1", "0"]
    assert schema["required"] == ["reasoning", "verdict", "parts"]


# Anything

PIECES = st.sampled_from(
    [
        '{"verdict": ',
        '{"reasoning": "',
        '"CORRECT"',
        "CORRECT",
        "INCORRECT",
        '"',
        "}",
        "{",
        "VERDICT: ",
        "\n",
        "\\",
        ",",
        "null",
        "</think>",
        "<think>",
        "```json\n",
        '{"reasoning":"x","verdict":"INCORRECT"}',
        "判定：",
        "\u2028",
        "\ud83d",
    ]
)
ANYTHING = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=30).map("".join))


@given(text=ANYTHING, finish=st.sampled_from(["", "stop", "length", "content_filter"]))
def test_never_a_label_outside_the_set_and_never_an_exception(text: str, finish: str) -> None:
    reading = read_answer(text, PASS_FAIL, finish_reason=finish)
    assert reading.label in (None, "CORRECT", "INCORRECT")
    assert (reading.label is None) == (reading.failure in FAILURES)
    if reading.span:
        assert text[slice(*reading.span)] == reading.label


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(["n1", "y"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["n1", "n2", "stated", "x"]), inner),
    max_leaves=12,
)
ALL_KINDS = [
    menu("2", "1", flag=choice("true", "false")),
    Menu(Decision("", "ranking", rows=("n1", "n2")), {}),
    Menu(Decision("", "checklist", choice("y").labels, ("n1",), (("stated", ""),)), {}),
    Menu(Decision("", "number", low=0.0, high=1.0), {}),
]


@given(verdict=JSON, parts=JSON, which=st.sampled_from(ALL_KINDS))
def test_no_value_of_any_shape_breaks_a_decision(verdict: object, parts: object, which: Menu) -> None:
    reading = read_answer(json.dumps({"reasoning": "r", "verdict": verdict, "parts": parts}), which)
    assert (reading.label is None) == (reading.failure in FAILURES)


@given(before=st.text(), label=st.sampled_from(["CORRECT", "INCORRECT"]))
def test_whatever_comes_before_a_whole_answer_on_its_own_does_not_change_it(before: str, label: str) -> None:
    reading = read_answer(f"{before.replace('{', '(')}\n{answer(label)}", PASS_FAIL)
    assert reading.label == label or "think" in before
