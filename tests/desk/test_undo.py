"""Undo and redo: without limit, across items and restarts, exact inverses, each an event of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.desk.history import Act, History, Step
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import accuracy, current_labels, events, here, kinds, make_study, press, qa, sit


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with make_study(tmp_path / "s.duckdb", [qa() for _ in range(12)]) as study:
        yield study


def test_undo_is_the_exact_inverse_step_by_step_and_redo_of_it(study: Study) -> None:
    desk = sit(study, "never")
    trail = [dict(current_labels(study))]
    acts = [lambda: press(desk, "H"), lambda: desk.set_note("n"), desk.flag, lambda: press(desk, "c"), desk.skip,
            lambda: desk.cannot_judge("o"), lambda: desk.toggle_tag("1"), lambda: desk.go_to(1),
            lambda: press(desk, "o"), lambda: desk.go_to(1), desk.clear]  # fmt: skip
    for act in acts:
        act()
        if current_labels(study) != trail[-1]:
            trail.append(dict(current_labels(study)))
    assert len(trail) == 10

    def decided(labels: dict[str, LabelState]) -> dict[str, LabelState]:
        return {item: state for item, state in labels.items() if state != LabelState()}

    for labels in reversed(trail[:-1]):
        desk.undo()
        assert decided(current_labels(study)) == decided(labels)
    desk.undo()
    assert desk.message == "nothing to undo"
    for labels in trail[1:]:
        desk.redo()
        assert decided(current_labels(study)) == decided(labels)
    desk.redo()
    assert desk.message == "nothing to redo"
    assert kinds(study).count("undo") == kinds(study).count("redo") == 9


def test_undo_goes_to_the_item_it_changed(study: Study) -> None:
    desk = sit(study, "never")
    press(desk, "c", "c", "c")
    desk.go_to(9)
    desk.undo()
    assert desk.place == 2 and desk.state == LabelState() and desk.labelled == 2


def test_undo_names_the_act_it_undoes(study: Study) -> None:
    desk = sit(study, "never")
    press(desk, "c")
    desk.undo()
    desk.redo()
    label, undo, redo = study.rows("SELECT event_id, kind, undoes FROM label_events ORDER BY seq")
    assert undo[1:] == ("undo", label[0]) and redo[1:] == ("redo", label[0])


def test_a_new_act_ends_redo(study: Study) -> None:
    desk = sit(study, "never")
    press(desk, "c")
    desk.undo()
    press(desk, "h")
    desk.redo()
    assert desk.message == "nothing to redo"


@pytest.mark.slow
def test_undo_and_redo_cross_restarts(tmp_path: Path) -> None:
    path = tmp_path / "r.duckdb"
    with make_study(path, [qa() for _ in range(30)]) as study:
        desk = sit(study, "never")
        for _ in range(30):
            press(desk, "c")
    for _ in range(3):
        with Study.open(path) as study:
            desk = sit(study)
            for _ in range(10):
                desk.undo()
    with Study.open(path) as study:
        desk = sit(study)
        assert desk.labelled == 0
        desk.undo()
        assert desk.message == "nothing to undo"
        for _ in range(30):
            desk.redo()
        assert desk.labelled == 30 and len(events(study)) == 90


def test_undo_reaches_only_items_on_this_desk(tmp_path: Path) -> None:
    with make_study(tmp_path / "t.duckdb", [qa(), accuracy(), qa(), accuracy()]) as study:
        desk = sit(study, "never")
        for _ in range(4):
            press(desk, *({"qa": "h", "accuracy": "mo"}[desk.current.task.task]))
        questions = sit(study, "never", task="qa")
        for _ in range(9):
            questions.undo()
        assert questions.message == "nothing to undo" and questions.labelled == 0
        everything = sit(study, "never")
        assert everything.labelled == 2, "labels of the other task are as they were"
        for _ in range(9):
            everything.undo()
        assert everything.labelled == 0
        for _ in range(9):
            everything.redo()
        assert everything.labelled == 4


def test_undo_with_parts_restores_the_whole_label(tmp_path: Path) -> None:
    with make_study(tmp_path / "p.duckdb", [accuracy()]) as study:
        desk = sit(study, "never")
        item = here(desk)
        press(desk, "A", "o")
        desk.go_to(1)
        press(desk, "m", "i")
        desk.undo()
        desk.undo()
        assert current_labels(study)[item] == LabelState(value="2", parts={"included": "false"}, unsure=True)


def test_undo_on_the_last_item_brings_the_queue_back_from_its_end(study: Study) -> None:
    desk = sit(study, "never")
    for _ in range(12):
        press(desk, "c")
    desk.undo()
    assert desk.phase == "label" and desk.place == 11


def test_undo_of_other_people_is_impossible(study: Study) -> None:
    press(sit(study, "never", annotator="a"), "c")
    desk = sit(study, "never", annotator="b")
    desk.undo()
    assert kinds(study, "b") == [] and kinds(study, "a") == ["label"]


def test_the_fold_finds_acts_that_work_on_another_queue_has_buried() -> None:
    history = History([Act("a", "label", "x"), Act("b", "label", "y"), Act("c", "undo", "x", "a")])
    assert history.done == [Step("b", "y")] and history.undone == [Step("a", "x")]
    history.add(Act("d", "redo", "x", "a"))
    assert history.done == [Step("b", "y"), Step("a", "x")] and history.undone == []
    history.add(Act("e", "undo", "z", "gone"))
    assert history.done == [Step("b", "y"), Step("a", "x")] and history.undone == []


def test_undo_and_redo_say_what_they_changed(study: Study) -> None:
    desk = sit(study, "never")
    acts = {
        "note": lambda: desk.set_note("n"), "flag": desk.flag, "tags": lambda: desk.toggle_tag("1"),
        "harm": lambda: desk.set_harm("2"), "wrong reference": lambda: desk.set_reference_wrong("5 mg"),
        "label": lambda: press(desk, "c"), "skip": desk.skip,
    }  # fmt: skip
    for act in acts.values():
        act()
    for what in reversed(acts):
        desk.undo()
        assert desk.message == f"undone: {what}"
    for what in acts:
        desk.redo()
        assert desk.message == f"done again: {what}"
