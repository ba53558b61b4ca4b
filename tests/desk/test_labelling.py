"""Giving labels: keys, parts, unsure, reasons, marks, notes; what is stored and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import accuracy, current_labels, events, here, kinds, make_study, press, qa, sit


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Twelve questions, no shared text."""
    with make_study(tmp_path / "s.duckdb", [qa() for _ in range(12)]) as study:
        yield study


@pytest.fixture
def parts_study(tmp_path: Path) -> Iterator[Study]:
    """Six items of a task with a required part."""
    with make_study(tmp_path / "p.duckdb", [accuracy() for _ in range(6)]) as study:
        yield study


def test_a_draw_of_all_items_exists_before_the_first_label(study: Study) -> None:
    desk = sit(study)
    assert kinds(study) == []
    [draw] = study.rows("SELECT draw_id, stream, reveal, seed FROM draws")
    assert draw == (desk.draw.draw_id, "estimate", "item", 7)
    drawn = study.rows("SELECT item_id, probability FROM draw_items ORDER BY ordinal")
    assert len(drawn) == 12 and {probability for _, probability in drawn} == {1.0}
    press(desk, "c")
    assert events(study)[0]["draw_id"] == desk.draw.draw_id


@pytest.mark.parametrize(("key", "value"), [("h", "Hallucination"), ("2", "Hallucination"), ("２", "Hallucination"),
                                            ("ｏ", "Omission"), ("٣", "Omission")])  # fmt: skip
def test_letters_digits_and_their_full_width_forms_give_the_same_label(study: Study, key: str, value: str) -> None:
    desk = sit(study, "never")
    item = here(desk)
    press(desk, key)
    assert current_labels(study) == {item: LabelState(value=value)}


def test_shift_gives_the_same_label_unsure(study: Study) -> None:
    desk = sit(study, "never")
    item = here(desk)
    press(desk, "H")
    assert current_labels(study)[item] == LabelState(value="Hallucination", unsure=True)
    desk.move(-1)
    press(desk, "h")
    assert current_labels(study)[item] == LabelState(value="Hallucination")


def test_one_label_key_stores_and_leads_to_the_next_item(study: Study) -> None:
    desk = sit(study, "never")
    press(desk, "c")
    assert (desk.place, desk.phase, desk.message) == (1, "label", "saved: Correct")


def test_the_same_label_twice_never_toggles(study: Study) -> None:
    desk = sit(study, "never")
    item = here(desk)
    press(desk, "c")
    desk.move(-1)
    press(desk, "c")
    assert current_labels(study)[item] == LabelState(value="Correct")
    assert kinds(study) == ["label"]


def test_three_labels_in_a_row_leave_the_last_one_and_the_whole_trail(study: Study) -> None:
    desk = sit(study, "never")
    item = here(desk)
    for key in ("c", "h", "c"):
        desk.go_to(1)
        press(desk, key)
    assert current_labels(study) == {item: LabelState(value="Correct")}
    assert [event["state"]["value"] for event in events(study)] == ["Correct", "Hallucination", "Correct"]


def test_enter_does_nothing_on_an_unlabelled_item(study: Study) -> None:
    desk = sit(study)
    desk.confirm()
    assert kinds(study) == [] and desk.place == 0 and "label first" in desk.message


def test_a_required_part_is_not_defaulted(parts_study: Study) -> None:
    desk = sit(parts_study)
    press(desk, "a")
    assert kinds(parts_study) == [] and desk.shown_verdicts() == []
    assert desk.missing_parts() == ["included"] and desk.pending == {"": "2"}
    assert "i Inside" in desk.message and "o Outside" in desk.message
    desk.confirm()
    assert kinds(parts_study) == [] and "not complete" in desk.message


@pytest.mark.parametrize("keys", [("a", "o"), ("o", "a"), ("m", "a", "o"), ("i", "o", "a"), ("2", "8")])
def test_parts_come_in_any_order_and_the_last_press_of_each_counts(parts_study: Study, keys: tuple[str, ...]) -> None:
    desk = sit(parts_study, "never")
    item = here(desk)
    press(desk, *keys)
    assert current_labels(parts_study) == {item: LabelState(value="2", parts={"included": "false"})}
    assert kinds(parts_study) == ["label"]


def test_a_part_pressed_again_without_shift_is_sure(parts_study: Study) -> None:
    desk = sit(parts_study, "never")
    item = here(desk)
    press(desk, "A", "a", "i")
    assert not current_labels(parts_study)[item].unsure
    item = here(desk)
    press(desk, "a", "I")
    assert current_labels(parts_study)[item].unsure


def test_a_half_given_label_is_dropped_by_undo_first_and_said_when_left(parts_study: Study) -> None:
    desk = sit(parts_study, "never")
    press(desk, "a", "i")
    press(desk, "m")
    desk.undo()
    assert desk.pending == {} and desk.labelled == 1 and "half-given" in desk.message
    press(desk, "m")
    desk.move(1)
    assert desk.pending == {} and "half-given" in desk.message
    press(desk, "o")
    assert desk.missing_parts() == [""], "the part of the item before does not count here"


def test_changing_one_of_two_parts_is_stored_at_once_and_waits_for_the_other(parts_study: Study) -> None:
    desk = sit(parts_study, "never")
    item = here(desk)
    press(desk, "z", "i")
    desk.go_to(1)
    press(desk, "a")
    assert current_labels(parts_study)[item] == LabelState(value="2", parts={"included": "true"})
    assert here(desk) == item, "the second key must not land on the next item"
    press(desk, "o")
    assert current_labels(parts_study)[item] == LabelState(value="2", parts={"included": "false"})
    assert here(desk) != item and desk.pending == {}


def test_changing_one_part_then_enter_goes_on(parts_study: Study) -> None:
    desk = sit(parts_study, "never")
    press(desk, "z", "i")
    desk.go_to(1)
    press(desk, "o")
    assert "Enter goes on" in desk.message
    desk.confirm()
    assert desk.place == 1


def test_changing_a_part_keeps_the_value_unsure(parts_study: Study) -> None:
    desk = sit(parts_study, "never")
    item = here(desk)
    press(desk, "Z", "i")
    desk.go_to(1)
    press(desk, "o")
    assert current_labels(parts_study)[item].unsure
    press(desk, "z")
    assert not current_labels(parts_study)[item].unsure


REASONS = [("o", "outside_specialty"), ("c", "too_little_context"), ("a", "ambiguous"), ("u", "unreadable"),
           ("l", "needs_look_up")]  # fmt: skip


@pytest.mark.parametrize(("key", "reason"), REASONS)
def test_cannot_judge_takes_one_reason_and_stands_instead_of_a_value(study: Study, key: str, reason: str) -> None:
    desk = sit(study, "never")
    item = here(desk)
    desk.cannot_judge(key)
    assert current_labels(study) == {item: LabelState(cannot_judge=reason)}
    assert desk.place == 1 and desk.labelled == 1


def test_cannot_judge_and_value_replace_each_other(parts_study: Study) -> None:
    desk = sit(parts_study, "never")
    item = here(desk)
    press(desk, "A", "i")
    desk.go_to(1)
    desk.cannot_judge("a")
    assert current_labels(parts_study)[item] == LabelState(cannot_judge="ambiguous")
    desk.go_to(1)
    press(desk, "o")
    assert current_labels(parts_study)[item] == LabelState(cannot_judge="ambiguous"), "half a label is none"
    press(desk, "m")
    assert current_labels(parts_study)[item] == LabelState(value="1", parts={"included": "false"})


def test_an_unknown_reason_degree_or_tag_changes_nothing(study: Study) -> None:
    desk = sit(study)
    desk.cannot_judge("?")
    desk.set_harm("9")
    desk.toggle_tag("0")
    desk.toggle_tag("99")
    desk.toggle_tag("²")
    desk.toggle_evidence(-1)
    assert kinds(study) == []


def test_harm_tags_reference_evidence_and_flag_stand_beside_the_label(study: Study) -> None:
    desk = sit(study, "never")
    item = here(desk)
    desk.set_harm("2")
    desk.toggle_tag("1")
    desk.toggle_tag("3")
    desk.toggle_tag("1")
    desk.set_reference_wrong("a Labrador")
    desk.toggle_evidence(2)
    desk.toggle_evidence(0)
    desk.flag()
    press(desk, "h")
    assert current_labels(study)[item] == LabelState(
        value="Hallucination", harm="serious", tags=("conflict",), reference_wrong=True, right_answer="a Labrador",
        evidence=(0, 2), flagged=True,
    )  # fmt: skip
    desk.go_to(1)
    desk.withdraw_reference_wrong()
    desk.toggle_evidence(0)
    desk.flag()
    state = current_labels(study)[item]
    assert (state.reference_wrong, state.right_answer, state.evidence, state.flagged) == (False, "", (2,), False)


def test_a_mark_on_an_unlabelled_item_labels_nothing(study: Study) -> None:
    desk = sit(study)
    desk.set_harm("1")
    desk.flag()
    assert desk.labelled == 0 and desk.place == 0
    assert kinds(study) == ["mark", "flag"]


def test_marking_the_same_again_stores_nothing(study: Study) -> None:
    desk = sit(study)
    for _ in range(2):
        desk.set_harm("1")
        desk.set_note("why")
        desk.set_reference_wrong("x")
    assert kinds(study) == ["mark", "mark", "mark"]


def test_a_label_keeps_the_note_and_a_note_keeps_the_label(study: Study) -> None:
    desk = sit(study, "never")
    item = here(desk)
    desk.set_note("12.5 mg p.o. isn't “0.5”, 每日一次 \N{DOG FACE}")
    press(desk, "c")
    desk.go_to(1)
    desk.set_note(desk.state.note + " !")
    assert current_labels(study)[item] == LabelState(
        value="Correct", note="12.5 mg p.o. isn't “0.5”, 每日一次 \N{DOG FACE} !"
    )


def test_a_note_of_half_characters_and_nul_is_stored_as_text(study: Study) -> None:
    desk = sit(study)
    desk.set_note("half \ud83d, pair \ud83d\udc36, nul \0.")
    assert desk.state.note == "half \N{REPLACEMENT CHARACTER}, pair \N{DOG FACE}, nul ."


def test_skip_sets_aside_and_comes_back_at_the_end(study: Study) -> None:
    desk = sit(study, "never")
    skipped = here(desk)
    desk.skip()
    assert desk.place == 1 and desk.labelled == 0
    for _ in range(11):
        press(desk, "c")
    assert here(desk) == skipped and desk.phase == "label"
    press(desk, "h")
    assert desk.phase == "done" and current_labels(study)[skipped] == LabelState(value="Hallucination")


def test_skipping_what_is_skipped_stores_nothing_and_walks_round(study: Study) -> None:
    desk = sit(study, "never")
    for _ in range(12):
        desk.skip()
    rows = len(kinds(study))
    seen = []
    for _ in range(12):
        seen.append(here(desk))
        desk.skip()
    assert len(kinds(study)) == rows == 12 and len(set(seen)) == 12


def test_a_labelled_item_is_not_skipped(study: Study) -> None:
    desk = sit(study, "never")
    press(desk, "c")
    desk.move(-1)
    desk.skip()
    assert kinds(study) == ["label"] and "already labelled" in desk.message


def test_clear_returns_to_unlabelled_and_keeps_the_marks(study: Study) -> None:
    desk = sit(study, "never")
    item = here(desk)
    desk.set_note("keep me")
    press(desk, "C")
    desk.go_to(1)
    desk.clear()
    assert current_labels(study)[item] == LabelState(note="keep me")
    assert desk.labelled == 0 and desk.phase == "label" and here(desk) == item
    desk.clear()
    assert kinds(study) == ["mark", "label", "clear"]


def test_flag_toggles(study: Study) -> None:
    desk = sit(study)
    desk.flag()
    assert desk.state.flagged
    desk.flag()
    assert not desk.state.flagged


def test_resume_is_on_the_first_unlabelled_item(tmp_path: Path) -> None:
    path = tmp_path / "r.duckdb"
    with make_study(path, [qa() for _ in range(6)]) as study:
        desk = sit(study, "never")
        press(desk, "c", "c")
        desk.skip()
        press(desk, "c")
        first = desk.place
    with Study.open(path) as study:
        desk = sit(study)
        assert desk.place == first == 4 and desk.labelled == 3
        press(desk, "c", "c")
        assert desk.place == 2, "the skipped one comes last"


def test_labels_of_others_are_never_seen(study: Study) -> None:
    first = sit(study, "item", annotator="dr.okafor")
    for _ in range(12):
        first.set_note("SECRET")
        press(first, "h")
        if first.phase == "revealed":
            first.confirm()
    second = sit(study, annotator="dr.li")
    assert second.labelled == 0 and second.place == 0 and second.mode == "blind"
    for place in range(12):
        second.go_to(place + 1)
        assert second.state == LabelState() and second.shown_verdicts() == []
    second.undo()
    assert second.message == "nothing to undo"


def test_two_tasks_in_one_queue_have_their_own_keys(tmp_path: Path) -> None:
    with make_study(tmp_path / "two.duckdb", [qa(), accuracy(), qa(), accuracy()]) as study:
        desk = sit(study, "never")
        for _ in range(4):
            press(desk, *({"qa": "h", "accuracy": "mo"}[desk.current.task.task]))
        assert desk.phase == "done"
        values = {event["state"]["value"] for event in events(study)}
        assert values == {"Hallucination", "1"}


def test_a_label_of_an_older_content_is_asked_for_again(study: Study) -> None:
    desk = sit(study, "never")
    item = here(desk)
    press(desk, "h")
    study.writer.do(
        lambda connection: connection.execute("UPDATE items SET content_hash = 'changed' WHERE item_id = ?", [item])
    )
    desk = sit(study, "never")
    assert here(desk) == item and desk.state == LabelState() and desk.labelled == 0
    desk.undo()
    assert desk.message == "nothing to undo", "the label of the old content stays as it was given"
    press(desk, "c")
    assert current_labels(study)[item] == LabelState(value="Correct")
    desk.undo()
    assert current_labels(study)[item] == LabelState()


def test_an_empty_queue_is_done_and_takes_no_key(study: Study) -> None:
    from annotate.desk.desk import Desk
    from annotate.desk.opening import task_definitions

    draw = sit(study).draw
    desk = Desk(study, "dr.li", draw, [], task_definitions(study), policy="item")
    assert desk.phase == "done" and desk.summary()[0] == "0 of 0 items are labelled."
    for act in (desk.skip, desk.clear, desk.flag, desk.undo, desk.redo, desk.confirm, desk.first_open):
        act()
    desk.move(1)
    desk.go_to(1)
    desk.set_note("x")
    desk.cannot_judge("o")
    assert kinds(study) == []


def test_nothing_is_labelled_after_the_end_but_undo_brings_the_last_item_back(study: Study) -> None:
    desk = sit(study, "never")
    for _ in range(12):
        press(desk, "c")
    assert desk.phase == "done"
    desk.cannot_judge("o")
    desk.set_note("late")
    desk.flag()
    press(desk, "h")
    assert kinds(study) == ["label"] * 12 and "go back" in desk.message
    desk.undo()
    assert desk.phase == "label" and desk.place == 11 and desk.labelled == 11
