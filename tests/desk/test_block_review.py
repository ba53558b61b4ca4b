"""The review at the end of a block: what it shows, in which order, what keys do there, and that it is never lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.desk.desk import Desk
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import (
    Clock,
    accuracy,
    blind_labels,
    current_labels,
    events,
    here,
    journaled,
    kinds,
    make_study,
    press,
    qa,
    sit,
)

MIXED = [qa("Omission" if number % 3 else "Correct") for number in range(20)]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Twenty questions: two blocks of ten; a third of the verdicts say Correct."""
    with make_study(tmp_path / "s.duckdb", MIXED) as study:
        yield study


@pytest.fixture
def parts_study(tmp_path: Path) -> Iterator[Study]:
    with make_study(tmp_path / "p.duckdb", [accuracy("0", "false") for _ in range(10)]) as study:
        yield study


def shown(desk: Desk) -> list[str]:
    assert desk.review is not None
    return desk.review.item_ids


def block_ids(desk: Desk, number: int = 0) -> list[str]:
    return [desk.queue.items[place].item_id for place in desk.queue.block(number)]


def label_block(desk: Desk, *keys: str) -> None:
    """The same keys on each of the next ten items."""
    for _ in range(10):
        press(desk, *(keys or ("c",)))


def test_no_verdict_before_the_block_is_complete(study: Study) -> None:
    desk = sit(study, "block")
    for _ in range(9):
        press(desk, "c")
        assert desk.review is None and desk.shown_verdicts() == [] and journaled(study, "reveal") == []
    for place in range(9):
        desk.go_to(place + 1)
        assert desk.mode == "blind" and desk.shown_verdicts() == []


def test_the_review_stores_every_reveal_before_it_shows_and_hides_the_arm(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    assert desk.phase == "review"
    stay = {item_id for item_id in block_ids(desk) if desk.ledger.stays_hidden(item_id)}
    assert set(shown(desk)) == set(block_ids(desk)) - stay
    assert {entry["item_id"] for entry in journaled(study, "reveal")} == set(shown(desk))
    assert desk.review is not None
    assert (desk.review.labelled, desk.review.hidden) == (10, len(stay))
    assert blind_labels(study) == current_labels(study)


def test_disagreements_come_first(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    assert desk.review is not None
    differs = [line.differs for line in desk.review.lines]
    assert differs == sorted(differs, reverse=True) and 0 < sum(differs) < len(differs)
    assert desk.review.differing == sum(differs)


def test_enter_keeps_and_leads_to_the_next_line_then_to_the_next_block(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    rows = len(kinds(study))
    for _ in shown(desk):
        assert desk.phase == "review"
        desk.confirm()
    assert desk.phase == "label" and desk.place == 10 and desk.review is None
    assert len(kinds(study)) == rows, "keeping changes no label"
    label_block(desk)
    while desk.phase == "review":
        desk.confirm()
    assert desk.phase == "done"


def test_a_label_key_revises_the_line_with_one_key_and_leads_on(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    item = here(desk)
    press(desk, "o")
    assert current_labels(study)[item] == LabelState(value="Omission")
    assert blind_labels(study)[item] == LabelState(value="Correct")
    assert events(study)[-1]["mode"] == "revised" and here(desk) != item


def test_why_is_the_note_of_the_line(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    item = here(desk)
    desk.set_note("the reference says breed")
    assert current_labels(study)[item].note == "the reference says breed" and here(desk) == item
    assert blind_labels(study)[item].note == ""


def test_every_mark_in_a_review_is_on_the_line_at_the_cursor(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    desk.move(1)
    item, others = here(desk), set(block_ids(desk)) - {here(desk)}
    desk.toggle_tag("2")
    desk.set_harm("3")
    desk.set_reference_wrong("Poodle")
    desk.flag()
    labels = current_labels(study)
    assert labels[item] == LabelState(value="Correct", tags=("error",), harm="life_threatening", reference_wrong=True,
                                      right_answer="Poodle", flagged=True)  # fmt: skip
    assert all(labels[other] == LabelState(value="Correct") for other in others)
    desk.cannot_judge("a")
    assert current_labels(study)[item].cannot_judge == "ambiguous" and here(desk) != item


def test_skip_clear_evidence_and_go_to_are_refused_in_a_review(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    rows = len(kinds(study))
    for act in (desk.skip, desk.clear, desk.first_open, lambda: desk.go_to(3), lambda: desk.toggle_evidence(0)):
        act()
        assert desk.phase == "review" and "review" in desk.message
    assert len(kinds(study)) == rows


def test_the_cursor_moves_along_the_lines_and_stays_inside(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    assert desk.review is not None
    desk.move(-1)
    assert desk.review.place == 0
    for _ in range(20):
        desk.move(1)
    assert desk.review.place == len(desk.review.lines) - 1


def test_two_parts_are_revised_on_their_own_line(parts_study: Study) -> None:
    desk = sit(parts_study, "block")
    label_block(desk, "a", "i")
    item = here(desk)
    press(desk, "z")
    assert here(desk) == item, "the second key must not land on the next line"
    press(desk, "o")
    assert here(desk) != item
    assert current_labels(parts_study)[item] == LabelState(value="0", parts={"included": "false"})


def test_cannot_judge_becomes_a_label_in_a_review_only_with_all_parts(parts_study: Study) -> None:
    desk = sit(parts_study, "block")
    for _ in range(10):
        desk.cannot_judge("a")
    item = here(desk)
    press(desk, "z")
    assert current_labels(parts_study)[item] == LabelState(cannot_judge="ambiguous") and here(desk) == item
    desk.confirm()
    assert here(desk) == item and "not complete" in desk.message
    press(desk, "o")
    assert current_labels(parts_study)[item] == LabelState(value="0", parts={"included": "false"})
    assert here(desk) != item


def test_a_half_given_label_of_a_line_is_taken_back_by_undo(parts_study: Study) -> None:
    desk = sit(parts_study, "block")
    for _ in range(10):
        desk.cannot_judge("a")
    item, rows = here(desk), len(kinds(parts_study))
    press(desk, "z")
    desk.undo()
    assert here(desk) == item and desk.pending == {} and len(kinds(parts_study)) == rows
    desk.confirm()
    assert here(desk) != item


def test_a_skipped_item_is_reviewed_when_it_is_labelled_at_last(study: Study) -> None:
    desk = sit(study, "block")
    while desk.ledger.stays_hidden(here(desk)):
        press(desk, "c")
    late = here(desk)
    desk.skip()
    while desk.review is None:
        press(desk, "c")
    assert late not in shown(desk) and desk.review is not None and desk.review.labelled == 9
    while desk.review is not None:
        desk.confirm()
    for _ in range(10):
        press(desk, "c")
    while desk.review is not None:
        desk.confirm()
    assert here(desk) == late and desk.mode == "blind"
    press(desk, "c")
    assert desk.review is not None and shown(desk) == [late]
    assert (desk.review.labelled, desk.review.hidden) == (1, 0), "what was said of the block is not said again"
    desk.confirm()
    assert desk.phase == "done"


def test_a_block_of_skipped_items_has_no_review(study: Study) -> None:
    desk = sit(study, "block")
    for _ in range(10):
        desk.skip()
    assert desk.review is None and desk.place == 10


def test_items_with_a_shared_text_are_a_block_of_their_own(tmp_path: Path) -> None:
    specs = [qa("Omission", "g1") for _ in range(3)] + [qa("Omission") for _ in range(4)]
    specs += [qa("Omission", "g2") for _ in range(13)]
    with make_study(tmp_path / "g.duckdb", specs) as study:
        desk = sit(study, "block")
        for group in ("g1", "g2"):
            members = {row[0] for row in study.rows("SELECT item_id FROM items WHERE group_key = ?", [group])}
            [number] = {desk.queue.block_of[desk.queue.place_of[member]] for member in members}
            assert set(block_ids(desk, number)) == members
        assert sum(len(desk.queue.block(number)) for number in desk.queue.blocks) == 20


def test_a_failed_verdict_is_shown_as_such_and_differs_from_nothing(tmp_path: Path) -> None:
    with make_study(tmp_path / "f.duckdb", [qa("!") for _ in range(10)]) as study:
        desk = sit(study, "block")
        label_block(desk)
        assert desk.review is not None and desk.review.differing == 0
        assert desk.review.line.views[0].headline == "gave an answer that cannot be read"


def test_a_block_without_verdicts_needs_no_review(tmp_path: Path) -> None:
    with make_study(tmp_path / "n.duckdb", [qa(None) for _ in range(12)]) as study:
        desk = sit(study, "block")
        label_block(desk)
        assert desk.review is None and desk.place == 10


# --- a review is never lost ---


def test_a_restart_leads_back_into_a_review_that_is_due(tmp_path: Path) -> None:
    path = tmp_path / "r.duckdb"
    with make_study(path, MIXED) as study:
        desk = sit(study, "block")
        for _ in range(9):
            press(desk, "c")
        last = here(desk)
        desk.ledger.store("label", LabelState(value="Correct"), desk.current.item)  # killed right after this
        assert journaled(study, "reveal") == []
    with Study.open(path) as study:
        desk = sit(study)
        assert desk.phase == "review" and set(block_ids(desk)) >= {last}
        assert {entry["item_id"] for entry in journaled(study, "reveal")} == set(shown(desk))


def test_a_restart_in_the_middle_of_a_review_leads_back_into_it(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    with make_study(path, MIXED) as study:
        desk = sit(study, "block")
        label_block(desk)
        lines = set(shown(desk))
        press(desk, "o")
        desk.confirm()
    with Study.open(path) as study:
        desk = sit(study)
        assert desk.phase == "review" and set(shown(desk)) == lines
        assert len(journaled(study, "reveal")) == len(lines), "shown once, stored once"
        while desk.review is not None:
            desk.confirm()
        assert desk.place == 10
    with Study.open(path) as study:
        desk = sit(study)
        assert desk.phase == "label" and desk.place == 10, "a review gone through does not come again"


def test_undo_in_a_review_stays_in_it(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    first = here(desk)
    press(desk, "o")
    desk.confirm()
    desk.undo()
    assert desk.phase == "review" and here(desk) == first and desk.message == "undone: label"
    assert current_labels(study)[first] == LabelState(value="Correct")
    assert desk.review is not None and desk.review.line.reading.state == LabelState(value="Correct")
    desk.redo()
    assert desk.phase == "review" and current_labels(study)[first] == LabelState(value="Omission")


def test_undo_of_a_label_leaves_the_review_which_comes_again_when_it_is_given(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    lines = set(shown(desk))
    desk.undo()
    assert desk.phase == "label" and desk.place == 9 and desk.review is None
    press(desk, "h")
    assert desk.phase == "review" and set(shown(desk)) == lines
    assert len(journaled(study, "reveal")) == len(lines)


def test_an_unfinished_review_comes_again_after_work_on_another_block(study: Study) -> None:
    desk = sit(study, "block")
    label_block(desk)
    while desk.review is not None:
        desk.confirm()
    label_block(desk)
    second = set(shown(desk))
    for _ in range(11):
        desk.undo()
    assert desk.review is None
    for _ in range(11):
        desk.redo()
    desk.confirm()
    assert desk.phase == "review" and set(shown(desk)) == second


def test_held_enter_does_not_run_through_the_lines(study: Study) -> None:
    clock = Clock()
    desk = sit(study, "block", clock=clock)
    label_block(desk)
    desk.guard.painted(clock())
    clock.wait(1)
    desk.confirm()
    assert desk.review is not None and desk.review.place == 1
    for _ in range(20):
        clock.wait(0.03)
        desk.confirm()
    assert desk.review is not None and desk.review.place == 1 and "held" in desk.message
    clock.wait(0.5)
    desk.confirm()
    assert desk.review.place == 2


def test_tightening_item_to_block_reviews_what_was_labelled_under_block_only(study: Study) -> None:
    desk = sit(study, "item")
    for _ in range(4):
        press(desk, "c")
        if desk.phase == "revealed":
            desk.confirm()
    seen = {entry["item_id"] for entry in journaled(study, "reveal")}
    desk = sit(study, "block")
    while desk.review is None:
        press(desk, "c")
    assert set(shown(desk)).isdisjoint(seen)
