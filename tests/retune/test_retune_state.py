"""What the retune screen shows and what its keys do, without a screen: lineage, diff, items, what is hidden."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from retune_studies import TASK

from annotate.tui.screens.retune import lines
from annotate.tui.screens.retune.search import Counts, Search, changes, tree
from annotate.tui.screens.retune.state import RetuneState
from annotate.tui.widgets.spans import line_width, text_of
from annotate.tui.widgets.text_diff import diff_lines, texts_diff
from judges.collect import task_definitions
from judges.retune.adapter import Candidate
from judges.retune.items import TuneItem, tune_items
from judges.retune.splits import ensure_split
from store.study import Study

BASE = "Read the note.\nCompare.\n\nDecide."


@pytest.fixture(scope="module")
def study(imported_table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A study that nothing here changes."""
    folder = tmp_path_factory.mktemp("screen") / "table"
    shutil.copytree(imported_table, folder)
    with Study.open(folder / "s.duckdb") as opened:
        yield opened


@pytest.fixture(scope="module")
def items(study: Study) -> list[TuneItem]:
    """Six items of val, whatever people said of them."""
    _, places = ensure_split(study, TASK, seed=0, at="2026-03-01T09:00:00+01:00")
    return tune_items(study, places, "val", task_definitions(study)[TASK].values)[:6]


def wrong(item: TuneItem) -> str:
    return "contradicted" if item.label != "contradicted" else "supported"


def candidate(number: int, items: list[TuneItem], right: str, parents: tuple[int, ...] = (0,)) -> Candidate:
    """A candidate that says of each item what `right` tells: y as people, n not, ? nothing readable."""
    said = {
        item.item_id: {"y": item.label, "n": wrong(item), "?": None}[mark]
        for item, mark in zip(items, right, strict=True)
    }
    text = BASE if not number else f"{BASE}\nRule {number}."
    origin = "reflection" if number else "base"
    return Candidate(number, {"en": text}, parents if number else (), origin, right.count("y") / 6, said)


@pytest.fixture
def candidates(items: list[TuneItem]) -> list[Candidate]:
    marks = ["yynn?y", "ynyyny", "yyyyyn"]
    return [candidate(0, items, marks[0]), candidate(1, items, marks[1]), candidate(2, items, marks[2], (1,))]


def state_of(
    study: Study, items: list[TuneItem], candidates: list[Candidate], hidden: frozenset[str] = frozenset()
) -> RetuneState:
    search = Search("r", "2026-03-01T10:00:00", {"model": "m\x1b[31m", "reflect_model": "r"}, candidates)
    task = task_definitions(study)[TASK]
    return RetuneState(study, task, {item.item_id: item for item in items}, hidden, [search])


def shown(rows: list[lines.Line]) -> str:
    return "\n".join(map(text_of, rows))


def test_what_a_candidate_broke_fixed_and_left_wrong_in_this_order(
    items: list[TuneItem], candidates: list[Candidate]
) -> None:
    val = {item.item_id: item for item in items}
    found = changes(candidates[1], candidates[0], val)
    assert [one.kind for one in found] == ["broke", "fixed", "fixed", "wrong"]
    assert [one.item for one in found] == [items[1], items[2], items[3], items[4]]
    assert (found[0].before, found[0].after) == (items[1].label, wrong(items[1]))
    assert (found[3].before, found[3].after) == (None, wrong(items[4]))
    first = changes(candidates[0], None, val)
    assert [one.item for one in first] == [items[2], items[3], items[4]] and {one.kind for one in first} == {"wrong"}


def test_an_item_that_is_not_of_val_is_never_listed(study: Study, items: list[TuneItem]) -> None:
    """Whatever a record of a search says: the items of the sealed test cannot be opened."""
    sealed = ensure_split(study, TASK, seed=0, at="2026-03-01T09:00:00+01:00")[1]
    test = next(place.item_id for place in sealed.values() if place.part == "test")
    one = candidate(0, items, "nnnnnn")
    one.said[test] = "supported"
    state = state_of(study, items, [one])
    assert len(state.items) == 6 and test not in {change.item.item_id for change in state.items}
    assert state.changed_labels == 1
    assert "1 items of this search have no label that counts" in shown(lines.status_lines(state))


def test_items_whose_verdict_stays_hidden_are_left_out_and_counted(
    study: Study, items: list[TuneItem], candidates: list[Candidate]
) -> None:
    state = state_of(study, items, candidates, hidden=frozenset({items[1].item_id, "another"}))
    state.number = 1
    assert items[1] not in [one.item for one in state.items]
    assert "1 items of val stay hidden from you" in shown(lines.status_lines(state))


def test_the_tree_and_the_best_one_is_followed_until_somebody_chooses(
    study: Study, items: list[TuneItem], candidates: list[Candidate]
) -> None:
    now = [candidates[:2]]
    task, val = task_definitions(study)[TASK], {item.item_id: item for item in items}
    state = RetuneState(study, task, val, live=lambda: Search("", "", {}, list(now[0])))
    assert state.candidate is candidates[1]
    now[0] = [*candidates, replace(candidates[1], number=3, val_score=0.5)]
    state.look()
    assert state.candidate is candidates[2]
    assert [(one.number, depth) for one, depth in tree(now[0])] == [(0, 0), (1, 1), (2, 2), (3, 1)]
    state.move(-1)
    assert state.number == 1
    state.move(-99)
    assert state.number == 0
    state.move(99)
    assert state.number == 3
    text = shown(lines.candidate_rows(state, 10, 80))
    assert "▶ └ 3 reflection" in text and "  best" in text and "fixed 2, broke 1" in text


def test_enter_goes_to_the_items_first_and_then_opens_one(
    study: Study, items: list[TuneItem], candidates: list[Candidate]
) -> None:
    state = state_of(study, items, candidates)
    assert state.open_item() is None and state.focus == "items" and state.number == 2
    state.move(1)
    one = state.open_item()
    assert one is not None and one.kind == "fixed"
    head = shown(lines.item_head(state, one))
    assert "people" in head and "prompt 1" in head and "prompt 2" in head and "✓ fixed" in head


def test_the_diff_says_by_signs_what_went_and_came() -> None:
    text = shown(diff_lines("a\nb\nc\nd\ne\nf\ng\nh", "a\nB\nc\nd\ne\nf\ng\nh\n\x1b[31mi"))
    assert text.splitlines() == ["  a", "- b", "+ B", "  c", "  d", "  …", "  g", "  h", "+ ␛[31mi"]
    assert diff_lines("same", "same") == []
    both = shown(texts_diff({"en": "a", "zh": "b"}, {"en": "a", "zh": "c"}))
    assert both.splitlines() == ["en   as it was", "zh", "- b", "+ c"]


def test_calls_and_money_stand_against_their_caps(
    study: Study, items: list[TuneItem], candidates: list[Candidate]
) -> None:
    counts = Counts("searching", 12, 340, 5, 1, 3, 10, 2, 3, 0.25, 5.0)
    val = {item.item_id: item for item in items}
    search = Search("", "", {}, candidates, counts=counts)
    state = RetuneState(study, task_definitions(study)[TASK], val, live=lambda: search)
    text = shown(lines.status_lines(state))
    for words in ("searching", "3 of 10, 2 thrown away", "12 of at most 340, 5 kept, 1 failed", "$0.2500 of $5.00"):
        assert words in text
    state.stopping = True
    assert "stopping" in shown(lines.status_lines(state)) and "drop the calls" in text_of(lines.footer(state, 140))
    state.over, state.fault = True, "The next call could pass the cap.\nsay \x1b[31mmore"
    text = shown(lines.status_lines(state))
    assert text.startswith("The next call could pass the cap.") and "\x1b" not in text


@pytest.mark.parametrize("width", [80, 140])
def test_every_row_fits(study: Study, items: list[TuneItem], candidates: list[Candidate], width: int) -> None:
    state = state_of(study, items, candidates)
    rows = [lines.header(state, width), lines.footer(state, width)]
    rows += [*lines.candidate_rows(state, 4, width), *lines.item_rows(state, 5, width)]
    assert max(map(line_width, rows)) <= width
    assert "\x1b" not in shown(rows) and "read only" in text_of(rows[0])
    assert len(lines.candidate_rows(state, 3, width)) == 3
