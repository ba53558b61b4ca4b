"""Items of different systems that read the same: labelled once, and the label moves with all of them."""

from __future__ import annotations

from pathlib import Path

from annotate.desk.opening import sit_down
from store.draws import Draw, DrawnItem, add_draw
from store.records import LabelState
from store.repair import rebuild
from store.study import Study
from tests.desk.desk_studies import ANNOTATOR, Clock, blind_labels, current_labels, events, kinds
from tests.desk.linked_studies import AT, drawn, give, ids_of, row, said, sat


def test_a_twin_of_another_system_is_labelled_when_it_is_reached_and_not_before(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        desk = sat(study)
        give(desk, "CORRECT")
        assert said(study) == {"same-a": "CORRECT"}
        give(desk, "INCORRECT")
        assert said(study) == {"same-a": "CORRECT", "own-a": "INCORRECT", "same-b": "CORRECT"}
        assert desk.place == 3 and "also counts for 1 identical item of another system" in desk.message
        give(desk, "INCORRECT")
        assert desk.phase == "done" and desk.labelled == 5
        copies = [event for event in events(study) if "linked_to" in event]
        assert [event["linked_to"] for event in copies] == [ids_of(study)["same-a"]] * 2
        assert [event["active_ms"] for event in copies] == [0, 0]
        assert all(event["mode"] == "blind" for event in events(study))


def test_the_label_moves_with_all_of_them_whichever_is_changed(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        desk = sat(study)
        for value in ("CORRECT", "INCORRECT", "INCORRECT"):
            give(desk, value)
        desk.go_to(3)
        give(desk, "INCORRECT")
        assert {said(study)[f"same-{system}"] for system in "abc"} == {"INCORRECT"}
        desk.go_to(1)
        desk.set_note("the breed")
        assert {state.note for state in current_labels(study).values()} == {"", "the breed"}
        assert [state.note for state in current_labels(study).values()].count("the breed") == 3
        desk.clear()
        assert {said(study)[f"same-{system}"] for system in "abc"} == {None}
        assert desk.left == 3
        desk.undo()
        assert {said(study)[f"same-{system}"] for system in "abc"} == {"INCORRECT"}
        assert desk.left == 0


def test_undo_takes_all_back_one_step_each_and_redo_brings_all(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        desk = sat(study)
        for value in ("CORRECT", "INCORRECT", "INCORRECT"):
            give(desk, value)
        whole = said(study)
        for _ in range(3):
            desk.undo()
        assert set(said(study).values()) == {None}
        desk.undo()
        assert desk.message == "nothing to undo"
        for _ in range(3):
            desk.redo()
        assert said(study) == whole


def test_what_was_linked_stays_so_in_the_next_sitting_and_after_a_rebuild(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        desk = sat(study)
        give(desk, "CORRECT")
        give(desk, "INCORRECT")
        path = study.path
    rebuild(path)
    with Study.open(path) as study:
        desk = sat(study)
        assert desk.place == 3
        desk.go_to(1)
        give(desk, "INCORRECT")
        assert said(study)["same-b"] == "INCORRECT"
        assert "doctor" not in " ".join(study.notices)


def test_a_reveal_is_one_for_all_and_what_follows_is_no_blind_label(tmp_path: Path) -> None:
    with drawn(tmp_path, reveal="item") as study:
        ids = ids_of(study)
        desk = sat(study)
        assert not desk.ledger.stays_hidden(ids["same-a"]), "seed 7 shows the first item"
        give(desk, "CORRECT")
        assert desk.phase == "revealed"
        give(desk, "INCORRECT")
        desk.confirm()
        give(desk, "CORRECT")
        desk.confirm()
        assert said(study)["same-b"] == "INCORRECT"
        assert blind_labels(study)[ids["same-b"]].value == "CORRECT"
        assert study.exposure(ANNOTATOR, ids["same-b"]) == "revised"
        own = [event for event in events(study) if event["item_id"] == ids["same-b"]]
        assert [event["kind"] for event in own] == ["label", "reveal", "revise"]


def test_a_review_shows_identical_items_on_one_line(tmp_path: Path) -> None:
    with drawn(tmp_path, reveal="block") as study:
        ids = ids_of(study)
        desk = sat(study)
        for _ in range(3):
            give(desk, "CORRECT")
        assert desk.phase == "review" and desk.review is not None
        assert not set(desk.review.item_ids) & {ids["same-b"], ids["same-c"]}
        hides = desk.ledger.stays_hidden(ids["same-a"])
        assert [study.exposure(ANNOTATOR, ids[f"same-{system}"]) for system in "abc"] == (
            ["blind"] * 3 if hides else ["revised"] * 3
        )


def test_items_of_one_system_and_items_that_read_otherwise_are_read_each(tmp_path: Path) -> None:
    rows = [row("one", "a", "Labrador"), row("two", "a", "Labrador"), row("three", "b", "Labrador"),
            row("four", "b", "Labrador", question="Which cat?")]  # fmt: skip
    with drawn(tmp_path, rows) as study:
        desk = sat(study)
        give(desk, "CORRECT")
        assert desk.place == 1, "the other item of the same system is read for itself"
        give(desk, "INCORRECT")
        assert said(study) == {"one-a": "CORRECT", "two-a": "INCORRECT", "three-b": "CORRECT"}
        assert desk.place == 3


def test_repeats_ask_again(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        desk = sat(study)
        for value in ("CORRECT", "INCORRECT", "INCORRECT"):
            give(desk, value)
        items = [DrawnItem(ids_of(study)[key], number) for number, key in enumerate(("same-a", "same-b"))]
        draw = Draw("d2", "qa", "check", "chosen", "never", 7, "lead", AT, {"round": 1, "made_by": "sample"})
        add_draw(study, draw, items)
        desk = sit_down(study, ANNOTATOR, draw="d2", clock=Clock())
        give(desk, "CORRECT")
        assert desk.place == 1 and desk.state == LabelState()


def test_a_skipped_item_is_read_at_its_twin(tmp_path: Path) -> None:
    with drawn(tmp_path) as study:
        desk = sat(study)
        desk.skip()
        give(desk, "INCORRECT")
        assert desk.place == 2, "nothing was said of it yet"
        give(desk, "CORRECT")
        give(desk, "INCORRECT")
        assert said(study)["same-c"] == "CORRECT"
        assert kinds(study).count("skip") == 1
