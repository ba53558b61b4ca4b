"""What a typed line means: labels in every spelling, commands with their text, nothing for half a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.cli.plain_line import Command, Labels, NotUnderstood, read_line
from annotate.desk.actions import ACTIONS, BY_ID, Choice, KeyMap
from judges.benchmarks.benchmark import Label, TaskDefinition
from judges.benchmarks.halumem.tasks import ACCURACY, QA

QA_KEYS, ACCURACY_KEYS = KeyMap(QA), KeyMap(ACCURACY)


def at_question(line: str) -> object:
    return read_line(line, QA, QA_KEYS)


def at_memory(line: str) -> object:
    return read_line(line, ACCURACY, ACCURACY_KEYS)


H, H_UNSURE = Choice("", "Hallucination"), Choice("", "Hallucination", unsure=True)
ALL, INSIDE = Choice("", "2"), Choice("included", "true")


@pytest.mark.parametrize(
    "line", ["h", "  h ", "2", "ｈ", "２", "hallucination", "Hallucination", "HALLUCINATION.", "2.", "h,"]
)
def test_a_label_by_key_digit_or_name(line: str) -> None:
    assert at_question(line) == Labels((H,))


@pytest.mark.parametrize(
    "line", ["H", "h unsure", "unsure h", "hallucination, unsure", "Unsure Hallucination", "H unsure"]
)
def test_a_label_that_is_unsure(line: str) -> None:
    assert at_question(line) == Labels((H_UNSURE,))


WHOLE = [
    "a i", "ai", "2 7", "27", "all supported inside", "All supported, Inside.", "a inside", "２ ７",
]  # fmt: skip


@pytest.mark.parametrize("line", WHOLE)
def test_all_parts_in_one_line(line: str) -> None:
    assert at_memory(line) == Labels((ALL, INSIDE))


def test_parts_come_in_any_order_and_alone() -> None:
    assert at_memory("i a") == Labels((INSIDE, ALL))
    assert at_memory("outside") == Labels((Choice("included", "false"),))
    assert at_memory("i unsure") == Labels((Choice("included", "true", unsure=True),))


@pytest.mark.parametrize("line", ["c h", "correct hallucination", "h h", "1 2"])
def test_two_labels_where_one_is_asked_for_do_nothing(line: str) -> None:
    meaning = at_question(line)
    assert isinstance(meaning, NotUnderstood) and "two labels" in meaning.why


HALF = [
    "c tired", "h is what I would say", "I think it is fine", "ch", "unsure", "omission not", "a", "correctly",
    "10", "c 99",
]  # fmt: skip


@pytest.mark.parametrize("line", HALF)
def test_half_a_sentence_is_never_a_label(line: str) -> None:
    meaning = at_question(line)
    assert isinstance(meaning, NotUnderstood)


SPELLINGS = {
    "n too vague": Command("note", "too vague"),
    "note  isn't  “right” 每日": Command("note", "isn't  “right” 每日"),
    "n s": Command("note", "s"),
    "x o": Command("cannot_judge", "o"),
    "cannot judge outside my specialty": Command("cannot_judge", "outside my specialty"),
    "cannot_judge o": Command("cannot_judge", "o"),
    "! 2": Command("harm", "2"),
    "!2": Command("harm", "2"),
    "！2": Command("harm", "2"),
    "harm serious": Command("harm", "serious"),
    "t 1": Command("tag", "1"),
    "t1": Command("tag", "1"),
    "e 12": Command("mark_evidence", "12"),
    "e12": Command("mark_evidence", "12"),
    "evidence 12": Command("mark_evidence", "12"),
    "r 12.5 mg": Command("reference_wrong", "12.5 mg"),
    "reference wrong 12.5 mg": Command("reference_wrong", "12.5 mg"),
    "/ golden": Command("find", "golden"),
    "/golden retriever": Command("find", "golden retriever"),
    "find next dose": Command("find", "next dose"),
    "find next": Command("find_next"),
    ": 5": Command("go_to", "5"),
    ":5": Command("go_to", "5"),
    "go to 5": Command("go_to", "5"),
    "go 5": Command("go_to", "5"),
    "s": Command("skip"),
    "S": Command("skip"),
    "Skip": Command("skip"),
    "next": Command("next_item"),
    "back": Command("previous_item"),
    "next similar": Command("next_similar"),
    "redo": Command("redo"),
    "ctrl+r": Command("redo"),
    "backspace": Command("clear"),
    "unlabel": Command("clear"),
    "?": Command("help"),
    "open context": Command("open", "context"),
    "": Command("confirm"),
    "   ": Command("confirm"),
    "keep": Command("confirm"),
    "q": Command("quit"),
    "exit": Command("quit"),
}


@pytest.mark.parametrize(("line", "command"), SPELLINGS.items(), ids=SPELLINGS)
def test_commands_in_their_spellings(line: str, command: Command) -> None:
    assert at_question(line) == command


LONGER = [
    "s this one is unclear", "flag this for the lead", "u r wrong", "clear all", "q now please", "redo it",
    "skip it", "help me",
]  # fmt: skip


@pytest.mark.parametrize("line", LONGER)
def test_a_command_that_takes_nothing_does_nothing_with_more_after_it(line: str) -> None:
    meaning = at_question(line)
    assert isinstance(meaning, NotUnderstood) and "takes nothing after it" in meaning.why


def test_every_action_can_be_typed_by_its_words() -> None:
    for action in ACTIONS:
        assert at_question(action.id.replace("_", " ")) == Command(action.id)


def test_an_input_method_is_told() -> None:
    meaning = at_question("中")
    assert isinstance(meaning, NotUnderstood) and "input method" in meaning.why


def test_keys_follow_the_key_file() -> None:
    keymap = KeyMap(QA, {"skip": ["k"], "note": ["ctrl+n", "y"]})
    assert read_line("k", QA, keymap) == Command("skip")
    assert read_line("y too vague", QA, keymap) == Command("note", "too vague")
    assert isinstance(read_line("s", QA, keymap), NotUnderstood)


def test_twelve_options_are_typed_by_value() -> None:
    letters = "abchiklmopyz"
    labels = tuple(Label(str(n), f"Point {n}", letters[n - 1], str(n % 10) if n <= 10 else "") for n in range(1, 13))
    task = TaskDefinition("scale", "Scale", "How much?", "ordinal", labels, ())
    keymap = KeyMap(task)
    for n in range(1, 13):
        assert read_line(f"point {n}", task, keymap) == Labels((Choice("", str(n)),))
        if n > 9:
            assert read_line(str(n), task, keymap) == Labels((Choice("", str(n)),))


def test_a_name_that_is_label_and_command_does_nothing_and_says_so() -> None:
    labels = (Label("clear", "Clear", "c", "1"), Label("unclear", "Unclear", "y", "2"))
    task = TaskDefinition("made", "Made", "Clear?", "nominal", labels, ())
    keymap = KeyMap(task)
    meaning = read_line("clear", task, keymap)
    assert isinstance(meaning, NotUnderstood) and "label and a command" in meaning.why
    assert read_line("c", task, keymap) == Labels((Choice("", "clear"),))
    assert read_line("unlabel", task, keymap) == Command("clear")


def test_a_digit_that_is_one_labels_key_and_anothers_name_does_nothing() -> None:
    labels = (Label("1", "1", "a", "2"), Label("2", "2", "b", "1"), Label("3", "3", "c", "3"))
    task = TaskDefinition("made", "Made", "How many?", "ordinal", labels, ())
    keymap = KeyMap(task)
    for word in ("1", "2", "１"):
        meaning = read_line(word, task, keymap)
        assert isinstance(meaning, NotUnderstood) and "type the letter" in meaning.why
    assert read_line("3", task, keymap) == Labels((Choice("", "3"),))
    assert read_line("b", task, keymap) == Labels((Choice("", "2"),))


@given(st.text(max_size=40))
def test_any_line_means_something_and_labels_only_when_all_of_it_is_labels(line: str) -> None:
    meaning = at_memory(line)
    if isinstance(meaning, Labels):
        parts = [choice.part for choice in meaning.choices]
        assert len(parts) == len(set(parts)) <= 2
    elif isinstance(meaning, Command):
        assert meaning.action in BY_ID or meaning.action == "open"
    else:
        assert isinstance(meaning, NotUnderstood) and meaning.why
