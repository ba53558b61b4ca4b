"""Grids, rankings and numbers line by line: the same state, asked in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from store.study import Study
from tests.desk.desk_studies import current_labels, kinds, sit
from tests.desk.part_studies import JUDGE, RATIONALE, make_part_study
from tests.plain.conftest import Typist

Say = Callable[..., str]


@pytest.fixture
def studies(tmp_path: Path) -> Iterator[Callable[[str], Study]]:
    opened: list[Study] = []

    def made(task: str) -> Study:
        opened.append(make_part_study(tmp_path / f"{task}.duckdb", task, 2))
        return opened[-1]

    yield made
    for study in opened:
        study.close()


@pytest.fixture
def say(studies: Callable[[str], Study], type_lines: Typist) -> Say:
    """Type lines at a blind desk over two items of a task; what was said, and the study."""

    def run(task: str, *lines: str) -> tuple[str, Study]:
        study = studies(task)
        return type_lines(sit(study, "never"), *lines), study

    return run


def test_a_grid_is_asked_cell_by_cell(say: Say) -> None:
    text, study = say("mcd", "c a", "y", "n y", "N", "yyy", "", "k", "q")
    assert "Node 1: what happened n1" in text
    assert "Node 1, stated? y Yes, n No: " in text and "Node 1, causal link? y Yes, n No: " in text
    assert "N No for the whole row" in text and "All is given: Enter takes it" in text
    [label] = [one for one in current_labels(study).values() if one.value]
    cells = json.loads(label.parts["nodes"])
    assert cells["n1"] == {"stated": "y", "causal": "n", "patient": "y"}
    assert set(cells["n2"].values()) == {"n"} and set(cells["n3"].values()) == {"y"}
    assert "Saved: Correct, Agrees, 5 Yes, 4 No, 0.7" in text


def test_a_grid_can_be_gone_through_taken_back_and_left(say: Say) -> None:
    text, study = say("mcd", "c a", "y", "back", "down", "n", "up", "down", "close", "part", "q")
    [label] = current_labels(study).values()
    assert json.loads(label.parts["nodes"]) == {"n2": {"stated": "n"}} and label.value is None
    assert "So far: stated No." in text and "Closed: what is given of it stays." in text


def test_an_empty_line_does_not_take_what_is_not_whole(say: Say) -> None:
    text, study = say("mcd", "c a", "y", "", "q")
    assert "8 of 9 cells are not answered yet." in text and "label" not in kinds(study)


@pytest.mark.parametrize(
    "lines", [("b > a = d > c", ""), ("ba=dc", ""), ("b", "a", "=", "d", "c", ""), ("b,a=d,c", "")]
)
def test_a_ranking_is_typed_in_letters(say: Say, lines: tuple[str, ...]) -> None:
    text, study = say("ranking", *lines, "q")
    assert "There are 4: a, b, c, d." in text and "Order: b > a = d > c." in text
    [label] = [one for one in current_labels(study).values() if one.value]
    a, b, c, d = json.loads(label.parts[".order"])
    assert label.value is not None and json.loads(label.value) == [[b], sorted([a, d]), [c]]


def test_a_response_can_be_read_again(say: Say) -> None:
    text, _ = say("ranking", "show 3", "show 9", "q")
    assert text.count("c   3 of 4: words of reply") == 2 and "There are 4 to rank." in text


def test_what_is_no_answer_is_a_command_or_nothing(say: Say) -> None:
    text, study = say("ranking", "n look at b", "bz", "q")
    [label] = current_labels(study).values()
    assert label.note == "look at b" and label.value is None and label.parts == {}
    assert "Nothing was done" in text


@pytest.mark.parametrize(
    ("lines", "score"), [(("0.35",), "0.35"), (("7", ""), "0.7"), (("1",), "1"), (("0,5",), "0.5")]
)
def test_a_number_is_typed(say: Say, lines: tuple[str, ...], score: str) -> None:
    _, study = say("stance", "part", *lines, "h", "q")
    [label] = [one for one in current_labels(study).values() if one.value]
    assert (label.value, label.parts) == ("HARD", {"score": score})


def test_one_digit_for_tenths_is_read_back_before_it_counts(say: Say) -> None:
    text, study = say("stance", "part", "7", "q")
    assert "0.7: Enter takes it: " in text and kinds(study) == []


def test_a_number_out_of_bounds_is_refused(say: Say) -> None:
    text, study = say("stance", "part", "1.5", "q")
    assert "1.5 is not from 0 to 1." in text and kinds(study) == []


def test_part_commands_without_a_part_say_so(say: Say) -> None:
    text, _ = say("stance", "tie", "q")
    assert "no grid, ranking or number is open" in text


def test_nothing_of_the_judge_before_the_label_and_the_comparison_after(
    studies: Callable[[str], Study], type_lines: Typist
) -> None:
    study = studies("mcd")
    desk = sit(study, "assisted")
    assert JUDGE in type_lines(desk, "q")
    blind = type_lines(sit(study, "never", annotator="b"), "c a", "Y", "N", "Y", "", "q")
    assert JUDGE not in blind and RATIONALE not in blind and "published rule" not in blind
