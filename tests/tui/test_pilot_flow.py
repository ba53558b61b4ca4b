"""The whole flow under the four policies, key by key: what is on the screen and what is stored after each."""

from __future__ import annotations

import pytest

from store.draws import RevealPolicy
from store.study import Study
from tests.desk.desk_studies import ANNOTATOR, JUDGE, RATIONALE, SYSTEM, blind_labels
from tests.tui.desk_pilot import NARROW, WIDE, at_desk

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "140x45"])


@SIZES
async def test_policy_item_shows_the_verdict_beside_the_label_and_enter_keeps_it(
    study: Study, size: tuple[int, int]
) -> None:
    async with at_desk(study, "item", size=size) as person:
        await person.go_to(hidden=False)
        item = person.item
        assert "BLIND" in person.rows[0]
        assert "shown after your label" in person.screen
        assert "no label yet" in person.screen
        assert person.events == []

        await person.press("h")
        assert person.kinds == ["label", "reveal"]
        assert person.labels[item].value == "Hallucination"
        assert (person.item, person.desk.phase) == (item, "revealed")
        assert "VERDICT SHOWN" in person.rows[0]
        assert "● h 2  Hallucination" in person.screen
        assert "✓ saved" in person.screen
        assert "differs" in person.row("Judge ")
        assert all(words in person.screen for words in (JUDGE, SYSTEM, RATIONALE.split(" the ")[0]))
        assert person.message == "saved: Hallucination"

        await person.press("enter")
        assert person.kinds == ["label", "reveal"]
        assert person.item != item
        assert "BLIND" in person.rows[0]
        assert JUDGE not in person.screen
        assert SYSTEM not in person.screen
        assert blind_labels(study)[item].value == "Hallucination"


async def test_after_the_reveal_a_label_key_revises_and_goes_on(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.go_to(hidden=False)
        item = person.item
        await person.press("h", "o")
        assert person.kinds == ["label", "reveal", "revise"]
        assert person.last["mode"] == "revised"
        assert person.labels[item].value == "Omission"
        assert blind_labels(study)[item].value == "Hallucination"
        assert person.item != item
        assert person.message == "changed and saved: Omission"


async def test_the_never_shown_arm_goes_on_at_once_and_says_so_when_looked_at_again(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.go_to(hidden=True)
        item, place = person.item, person.desk.place
        await person.press("c")
        assert person.kinds == ["label"]
        assert person.item != item
        await person.press(":", *str(place + 1), "enter")
        assert person.item == item
        assert "stays hidden for this item" in person.screen
        assert JUDGE not in person.screen
        await person.press("j")
        assert person.message == "there is no verdict to show now"
        assert person.kinds == ["label"]


async def test_policy_never_shows_no_verdict_at_all(study: Study) -> None:
    async with at_desk(study, "never") as person:
        for number in range(20):
            assert "not shown in this draw" in person.screen
            assert f"{number + 1} / 20" in person.rows[0]
            await person.press("c" if number % 2 else "o")
            assert len(person.labels) == number + 1
        assert person.kinds == ["label"] * 20
        assert "Everything in this queue is labelled." in person.screen
        assert "20 of 20 items are labelled." in person.screen
        assert "f2 audit  f3 disagreements" in person.screen.lower()
        assert "udge" not in person.screen


@SIZES
async def test_policy_assisted_shows_the_verdict_first_and_enter_confirms_it(
    study: Study, size: tuple[int, int]
) -> None:
    async with at_desk(study, "assisted", size=size) as person:
        item = person.item
        verdict = person.desk.shown_verdicts()[0].value
        assert "ASSISTED" in person.rows[0]
        assert JUDGE in person.screen
        assert "confirm the judge" in person.screen
        assert person.kinds == ["reveal"]

        await person.press("enter")
        assert person.kinds == ["reveal", "label", "reveal"]
        assert person.labels[item].value == verdict
        assert person.events[1]["mode"] == "assisted"
        assert person.item != item

        second = person.item
        await person.press("h")
        assert person.labels[second].value == "Hallucination"
        assert person.kinds == ["reveal", "label", "reveal", "label", "reveal"]
        assert blind_labels(study) == {}


@pytest.mark.slow
@SIZES
async def test_policy_block_reviews_ten_items_disagreements_first(study: Study, size: tuple[int, int]) -> None:
    async with at_desk(study, "block", size=size) as person:
        for _ in range(10):
            assert "shown at the end of the block" in person.screen
            assert JUDGE not in person.screen
            await person.press("c")
        review = person.desk.review
        assert review is not None
        assert f"10 labelled, {review.differing} differ, {review.hidden} stay hidden" in person.rows[0]
        assert person.kinds == ["label"] * 10 + ["reveal"] * len(review.lines)
        assert person.rows[2].startswith(" ▶ ≠ differs")
        assert "said   He likes Labradors." in person.screen
        assert "you    Correct" in person.screen
        assert "judge  Omission" in person.screen

        first = review.line.reading.item.item_id
        await person.press("o")
        assert person.labels[first].value == "Omission"
        assert person.last["mode"] == "revised"
        assert review.place == 1

        await person.press("n")
        await person.type("why: the response says so")
        await person.press("enter")
        second = review.lines[1].reading.item.item_id
        assert person.labels[second].note == "why: the response says so"
        assert "why: the response says so" in person.screen

        await person.press("down", "up")
        assert review.place == 1
        for _ in range(len(review.lines) - 1):
            await person.press("enter")
        assert person.desk.review is None
        assert "11 / 20" in person.rows[0]
        assert "BLIND" in person.rows[0]


async def test_in_the_review_tags_harm_and_reasons_work_and_esc_leaves_them(study: Study) -> None:
    async with at_desk(study, "block") as person:
        for _ in range(10):
            await person.press("c")
        review = person.desk.review
        assert review is not None
        item = review.line.reading.item.item_id
        before = len(person.events)

        await person.press("t")
        assert "Tag: press its digit" in person.screen
        assert "1  fabrication" in person.screen
        await person.press("escape")
        assert "Tag: press its digit" not in person.screen
        assert len(person.events) == before

        await person.press("t", "2")
        assert person.labels[item].tags == ("error",)
        await person.press("!", "3")
        assert person.labels[item].harm == "life_threatening"
        assert "harm" in person.screen
        await person.press("f")
        assert person.labels[item].flagged
        assert review.line.reading.item.item_id == item

        await person.press("x", "a")
        assert person.labels[item].cannot_judge == "ambiguous"
        assert review.place == 1


async def test_the_review_shows_the_whole_item_and_all_the_judge_said(study: Study) -> None:
    async with at_desk(study, "block") as person:
        for _ in range(10):
            await person.press("c")
        await person.press("v")
        assert "Golden Retriever" in person.screen
        assert "▸ Dialogue of the session" in person.screen
        await person.press("q")
        await person.press("j")
        assert "What the judge said" in person.rows[0]
        assert RATIONALE in person.screen
        await person.press("escape")
        assert person.desk.review is not None
        await person.press("s")
        assert "not in the review" in person.message
        await person.press("?")
        assert person.rows[0].strip().startswith("Keys")


async def test_an_undo_in_a_review_goes_back_to_that_line(study: Study) -> None:
    async with at_desk(study, "block") as person:
        for _ in range(10):
            await person.press("c")
        review = person.desk.review
        assert review is not None
        item = review.line.reading.item.item_id
        await person.press("o", "u")
        assert person.labels[item].value == "Correct"
        assert person.message == "undone: label"
        assert "▶" in person.screen
        assert person.kinds[-2:] == ["revise", "undo"]


@pytest.mark.parametrize("mode", ["item", "block", "never", "assisted"])
async def test_resuming_lands_on_the_first_unlabelled_item(study: Study, mode: RevealPolicy) -> None:
    async with at_desk(study, mode) as person:
        for _ in range(3):
            await person.press("c")
            if person.desk.phase == "revealed":
                await person.press("enter")
        labelled = {item: label for item, label in person.labels.items() if label.decided}
    assert len(labelled) == 3
    async with at_desk(study) as person:
        assert {item: label for item, label in person.labels.items() if label.decided} == labelled
        assert person.item not in labelled
        assert "4 / 20" in person.rows[0]


async def test_a_label_of_two_parts_is_stored_and_revealed_only_when_both_are_given(parts_study: Study) -> None:
    async with at_desk(parts_study, "item") as person:
        await person.go_to(hidden=False)
        item = person.item
        await person.press("m")
        assert person.events == []
        assert "● m 1  Mixed" in person.screen
        assert "not complete yet" in person.screen
        assert person.message.startswith("now: i Inside, o Outside: Are the fields it speaks of in the")
        assert JUDGE not in person.screen

        await person.press("enter")
        assert person.events == []
        assert person.message.startswith("not complete, nothing stored of it yet")

        await person.press("o")
        assert person.kinds == ["label", "reveal"]
        assert (person.labels[item].value, dict(person.labels[item].parts)) == ("1", {"included": "false"})
        assert "● o 8  Outside" in person.screen
        assert JUDGE in person.screen


async def test_a_half_given_label_is_taken_back_by_undo_and_by_leaving(parts_study: Study) -> None:
    async with at_desk(parts_study, "item") as person:
        await person.press("i", "u")
        assert person.message == "half-given label taken back"
        assert "●" not in person.screen
        await person.press("i", "right")
        assert person.message == "the half-given label was not kept"
        assert person.events == []


async def test_skip_flag_clear_undo_and_redo_across_items(study: Study) -> None:
    async with at_desk(study, "never") as person:
        first = person.item
        await person.press("s")
        assert person.labels[first].skipped
        assert person.message == "skipped: it comes back at the end"
        assert person.item != first

        second = person.item
        await person.press("f")
        assert person.labels[second].flagged
        assert "⚑ flagged" in person.rows[0]
        await person.press("c")
        assert person.labels[second].value == "Correct"

        await person.press("u")
        assert (person.item, person.labels[second].value) == (second, None)
        await person.press("u", "u")
        assert (person.item, person.labels[first].skipped) == (first, False)
        await person.press("u")
        assert person.message == "nothing to undo"
        await person.press("ctrl+r", "ctrl+r", "ctrl+r")
        assert person.labels[first].skipped
        assert (person.labels[second].value, person.labels[second].flagged) == ("Correct", True)
        await person.press("ctrl+r")
        assert person.message == "nothing to redo"

        await person.press("backspace")
        assert person.labels[second].value is None
        assert "label taken off" in person.message
        assert person.kinds.count("undo") == person.kinds.count("redo") == 3


async def test_skipped_items_come_back_at_the_end(study: Study) -> None:
    async with at_desk(study, "never") as person:
        first = person.item
        await person.press("s")
        for _ in range(19):
            await person.press("c")
        assert person.item == first
        assert "↷ skipped earlier" in person.screen
        await person.press("c")
        assert person.desk.phase == "done"


async def test_moving_going_to_and_the_first_unlabelled(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("left")
        assert person.message == "this is the first item"
        await person.press("c", "right", "right")
        assert "4 / 20" in person.rows[0]
        await person.press("left")
        assert "3 / 20" in person.rows[0]
        await person.press("home")
        assert "2 / 20" in person.rows[0]
        await person.press(":")
        assert "Go to item number" in person.screen
        await person.type("17")
        assert "2 / 20" in person.rows[0]
        await person.press("enter")
        assert "17 / 20" in person.rows[0]
        await person.press(":")
        await person.type("99")
        await person.press("enter")
        assert person.message == "there are items 1 to 20"
        await person.press(":")
        await person.type("3")
        await person.press("escape")
        assert "17 / 20" in person.rows[0]
        assert person.kinds == ["label"]


async def test_the_end_says_what_was_done_and_still_lets_one_go_back(study: Study) -> None:
    async with at_desk(study, "never") as person:
        for _ in range(20):
            await person.press("c")
        assert "Everything in this queue is labelled." in person.screen
        await person.press("c", "t", "enter", "d", "s", "r")
        assert person.kinds == ["label"] * 20
        await person.press("left")
        assert person.desk.phase != "done"
        assert "✓ saved" in person.screen
        await person.press("o")
        assert "Everything in this queue is labelled." in person.screen
        await person.press("u")
        assert person.label.value == "Correct"
        assert person.kinds[-2:] == ["revise", "undo"]


async def test_the_time_of_a_sitting_ends_it_at_a_boundary(study: Study) -> None:
    async with at_desk(study, "item", minutes=1) as person:
        await person.press("c")
        await person.press("enter", after=120)
        assert "The time of this sitting is over." in person.screen
        assert "1 of 20 items are labelled." in person.screen
        assert "udge" not in person.screen
        assert person.item in person.labels


async def test_pace_only_when_asked_for(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("c", "c", after=7)
        assert " s an item" not in person.screen
        await person.press("w")
        assert "2 labelled · 7 s an item (median) · 18 left" in person.message


async def test_enter_on_an_unlabelled_item_does_nothing(study: Study) -> None:
    async with at_desk(study, "item") as person:
        item = person.item
        await person.press("enter", "enter")
        assert person.item == item
        assert person.events == []
        assert person.message == "choose a label first: Enter only keeps what you have labelled"


async def test_cannot_judge_takes_one_reason_key(study: Study) -> None:
    async with at_desk(study, "never") as person:
        first = person.item
        await person.press("x")
        assert "c  too little context" in person.screen
        await person.press("escape")
        assert "too little context" not in person.screen
        await person.press("x", "z")
        assert person.message == "cannot judge: no such reason, nothing changed"
        assert person.events == []
        await person.press("x", "c")
        assert person.labels[first].cannot_judge == "too_little_context"
        assert person.labels[first].value is None
        assert person.item != first
        await person.press("left")
        assert "✓ saved: cannot judge, too little context" in person.screen


async def test_reference_wrong_asks_for_the_right_answer_and_stands_beside_the_label(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press("r")
        assert "The right answer" in person.screen
        await person.type("not that")
        await person.press("escape")
        assert person.events == []
        await person.press("r")
        await person.type("Labrador Retriever")
        await person.press("enter")
        assert (person.labels[item].reference_wrong, person.labels[item].right_answer) == (True, "Labrador Retriever")
        assert "reference wrong: Labrador Retriever" in person.screen
        await person.press("c")
        assert (person.labels[item].value, person.labels[item].reference_wrong) == ("Correct", True)
        await person.press("left", "r")
        assert not person.labels[item].reference_wrong
        assert person.message == "reference no longer marked wrong"


async def test_tags_and_harm_take_a_second_key_and_esc_leaves_them(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press("t", "escape", "!", "escape")
        assert person.events == []
        await person.press("t", "1", "t", "5")
        assert person.labels[item].tags == ("fabrication", "partial_answer")
        assert "tags: fabrication, partial answer" in person.screen
        await person.press("t")
        assert "● 1  fabrication" in person.screen
        await person.press("1")
        assert person.labels[item].tags == ("partial_answer",)
        await person.press("!", "2")
        assert person.labels[item].harm == "serious"
        assert "harm: serious" in person.screen
        await person.press("t", "9")
        assert person.message == "tag: no such digit, nothing changed"
        assert person.item == item


async def test_rubric_and_help_open_over_the_desk_and_any_key_closes_them(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("g")
        assert person.rows[0].strip().startswith("Rubric: Question answering")
        assert "*" not in person.screen
        await person.press("c")
        assert person.events == []
        await person.press("?")
        assert "shift" in person.screen.lower()
        await person.press("pagedown", "down", "up", "end")
        assert "After !" in person.screen
        await person.press("home")
        assert "c or 1" in person.screen
        await person.press("c")
        assert person.events == []
        assert "BLIND" in person.rows[0]
        await person.press("f1")
        assert "Keys" in person.rows[0]


async def test_several_verdicts_are_all_shown_and_the_rest_on_request(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.go_to(hidden=False)
        await person.press("c", "j")
        assert "What the judge said" in person.rows[0]
        assert f"“{RATIONALE}”" in person.screen or RATIONALE in person.screen
        await person.press("x")
        assert person.desk.phase == "revealed"
        assert person.kinds == ["label", "reveal"]


async def test_the_annotator_is_named_and_nobody_elses_labels_are_used(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("c")
    async with at_desk(study, annotator="李医生 with a very long name indeed") as person:
        assert "李医生" in person.rows[0]
        assert ANNOTATOR not in person.screen
        assert "1 / 20" in person.rows[0]
