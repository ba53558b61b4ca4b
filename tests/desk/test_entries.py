"""Grids, rankings and numbers as pure state: nothing defaulted, nothing out of bounds, any answer taken back."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.entries import LETTERS, Entry, Grid, Number, Ranking, letters_of, open_entry, shuffled
from judges.benchmarks.decisions import Decision, decision_of, is_whole, number_text, read_number
from judges.benchmarks.halbench.tasks import RANKING, STANCE
from judges.benchmarks.medmemorybench.tasks import MCD
from tests.desk.part_studies import NODES, payload_of

GRID, ORDER, SCORE = decision_of(MCD, "nodes"), decision_of(RANKING, ""), decision_of(STANCE, "score")
PAYLOAD = {**payload_of("mcd", 0), **payload_of("ranking", 0)}
IDS = ("r3", "r1", "r4", "r2")


def grid(text: str = "") -> Grid:
    entry = open_entry(GRID, PAYLOAD, text, ())
    assert isinstance(entry, Grid)
    return entry


def ranking(text: str = "") -> Ranking:
    entry = open_entry(ORDER, PAYLOAD, text, IDS)
    assert isinstance(entry, Ranking)
    return entry


def test_every_cell_is_unset_until_answered_and_answers_go_on_cell_by_cell() -> None:
    entry = grid()
    assert entry.cells == {} and entry.text == "" and entry.lacks.startswith("9 of 9 cells")
    entry = entry.answer("y").answer("n")
    assert json.loads(entry.text) == {"n1": {"stated": "y", "causal": "n"}} and (entry.row, entry.column) == (0, 2)
    assert not is_whole(GRID, PAYLOAD, entry.text)


def test_a_row_is_filled_at_once_and_the_cursor_goes_to_the_next_open_cell() -> None:
    entry = grid().move(1, 1).fill("y")
    assert json.loads(entry.text) == {"n2": {"stated": "y", "causal": "y", "patient": "y"}}
    assert entry.row == 2
    entry = entry.fill("n")
    assert (entry.row, entry.column) == (0, 0), "the only row that is open"
    entry = entry.fill("y")
    assert entry.lacks == "" and is_whole(GRID, PAYLOAD, entry.text)


def test_back_unsets_the_last_cell_answered() -> None:
    entry = grid().answer("y").answer("n").back()
    assert json.loads(entry.text) == {"n1": {"stated": "y"}} and (entry.row, entry.column) == (0, 1)
    assert entry.back().text == "" and grid().back() == grid()


def test_a_grid_goes_on_where_it_was_left_and_drops_what_is_not_declared() -> None:
    entry = grid('{"n1":{"stated":"y","causal":"maybe"},"n9":{"stated":"y"}}')
    assert entry.cells == {("n1", "stated"): "y"} and (entry.row, entry.column) == (0, 1)


def test_a_ranking_is_best_first_with_ties_and_the_last_one_comes_back() -> None:
    entry = ranking().place("r2").tie().place("r4").place("r1")
    assert entry.text == '[["r2","r4"],["r1"]]' and entry.lacks == "1 of 4 are not placed yet"
    assert entry.place("r2") == entry, "what is placed stays"
    assert entry.back().text == '[["r2","r4"]]' and entry.back().back().text == '[["r2"]]'
    assert entry.tie().back() == entry, "back takes the tie sign first"
    assert is_whole(ORDER, PAYLOAD, entry.place("r3").text)
    assert ranking().tie() == ranking(), "nothing there to tie with"


def test_equal_rankings_are_equal_texts() -> None:
    assert ranking().place("r4").tie().place("r2").text == ranking().place("r2").tie().place("r4").text


def test_letters_are_those_of_the_order_shown() -> None:
    assert ranking().letters == {"a": "r3", "b": "r1", "c": "r4", "d": "r2"}
    assert letters_of(IDS)["r4"] == "c"
    assert set("qux").isdisjoint(LETTERS)


def test_the_order_is_computed_and_differs_by_person_and_item() -> None:
    ids = [f"r{n}" for n in range(9)]
    orders = {shuffled(ids, item, who, 7) for item in ("i", "j") for who in ("a", "b")}
    assert len(orders) == 4 and all(sorted(order) == ids for order in orders)
    assert shuffled(ids[::-1], "i", "a", 7) == shuffled(ids, "i", "a", 7), "the file's order says nothing"


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("0", "0"),
        ("1", "1"),
        ("1.0", "1"),
        (".35", "0.35"),
        ("0.70", "0.7"),
        ("7", "0.7"),
        ("2", "0.2"),
        ("0,5", "0.5"),
    ],
)
def test_a_number_is_its_shortest_text_and_one_digit_means_tenths(typed: str, text: str) -> None:
    entry = Number(SCORE)
    for character in typed:
        entry = entry.add(character)
    assert entry.text == text and entry.lacks == ""


@pytest.mark.parametrize("typed", ["", "-0.1", "1.01", "10", ".", "--", "0.5.5"])
def test_what_is_no_number_within_bounds_is_refused_with_a_word(typed: str) -> None:
    entry = Number(SCORE, typed)
    assert entry.text == "" and entry.lacks


def test_tenths_are_only_of_a_scale_from_0_to_1() -> None:
    points = Decision("p", "Points", "number", low=0.0, high=10.0)
    assert Number(points, "7").text == "7"
    assert Number(points, "11").lacks == "11 is not from 0 to 10"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_it_was(value: float) -> None:
    assert read_number(number_text(value)) == value


GRID_ACTS: list[Callable[[Grid], Grid]] = [
    lambda g: g.answer("y"), lambda g: g.answer("n"), lambda g: g.fill("y"), lambda g: g.back(),
    lambda g: g.move(1, 0), lambda g: g.move(-1, 0), lambda g: g.move(0, 1), lambda g: g.move(0, -1),
]  # fmt: skip


@given(st.lists(st.sampled_from(GRID_ACTS), max_size=40))
def test_whatever_is_pressed_a_grid_reads_back_as_it_is(acts: list[Callable[[Grid], Grid]]) -> None:
    entry = grid()
    for act in acts:
        entry = act(entry)
        assert 0 <= entry.row < len(NODES) and 0 <= entry.column < 3
        assert dict(grid(entry.text).cells) == dict(entry.cells)
        assert (entry.lacks == "") == is_whole(GRID, PAYLOAD, entry.text) == (entry.unset == 0)


RANKING_ACTS: list[Callable[[Ranking], Ranking]] = [
    *(lambda r, e=e: r.place(e) for e in IDS), lambda r: r.tie(), lambda r: r.back(),
]  # fmt: skip


@given(st.lists(st.sampled_from(RANKING_ACTS), max_size=40))
def test_whatever_is_pressed_a_ranking_holds_each_entry_once(acts: list[Callable[[Ranking], Ranking]]) -> None:
    entry = ranking()
    for act in acts:
        entry = act(entry)
        placed = [one for group in entry.groups for one in group]
        assert len(placed) == len(set(placed)) and len(placed) + len(entry.left) == 4
        assert ranking(entry.text).text == entry.text
        assert (entry.lacks == "") == is_whole(ORDER, PAYLOAD, entry.text)


@pytest.mark.parametrize("entry", [grid().fill("y"), ranking().place("r1"), Number(SCORE, "0.5")], ids=["g", "r", "n"])
def test_an_answer_changes_nothing_in_place(entry: Entry) -> None:
    before = entry.text
    entry.back()
    assert entry.text == before
