"""Helps for the eye: finding, differences, evidence, panels. What the judge did not see is recorded when opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.study import Study
from tests.desk.desk_studies import Spec, make_study, qa
from tests.tui.desk_pilot import NARROW, WIDE, at_desk


@pytest.fixture
def doses(tmp_path: Path) -> Iterator[Study]:
    """Questions whose response differs from the reference in a number and a negation."""
    texts = {"reference": "She takes 40 mg and has no allergy.", "response": "She takes 50 mg and has an allergy."}
    with make_study(tmp_path / "d.duckdb", [qa(**texts) for _ in range(4)]) as study:
        yield study


async def test_find_marks_and_walks_through_folded_panels_too(study: Study) -> None:
    async with at_desk(study, "never") as person:
        assert "Now I prefer" not in person.screen
        await person.press("/")
        await person.type("golden")
        await person.press("enter")
        assert person.message == "hit 1 of 3"
        assert person.row("Reference").startswith("»")
        await person.press(".", ".")
        assert person.message == "hit 3 of 3"
        assert person.row("Now I prefer the Golden Retriever.").startswith("»")
        await person.press(".")
        assert person.message == "hit 1 of 3"
        await person.press(",")
        assert person.message == "hit 3 of 3"
        await person.press("/")
        await person.type("not in here")
        await person.press("enter")
        assert person.message == "not found"
        await person.press("c")
        assert person.last["panels"] == ["dialogue"]


async def test_find_next_without_a_search_says_how(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press(".")
        assert person.message == "nothing found yet: / finds"


async def test_differences_are_marked_with_a_sign_and_taken_off_again(doses: Study) -> None:
    async with at_desk(doses, "never", size=WIDE) as person:
        assert "≠" not in person.screen
        await person.press("d")
        assert person.message == "what differs is marked ≠"
        assert person.row("Reference").startswith("≠")
        assert person.row("Response").startswith("≠")
        await person.press("d")
        assert person.message == "marks off"
        assert "≠" not in person.screen
        assert person.events == []


async def test_a_task_whose_reference_is_a_list_marks_what_no_entry_says(parts_study: Study) -> None:
    async with at_desk(parts_study, "never", size=WIDE) as person:
        await person.press("d")
        assert person.message == "what differs is marked ≠"
        assert person.row("Stored by the system").startswith("≠")
        assert not person.row("Memory points").startswith("≠")


async def test_an_item_without_two_texts_says_so(tmp_path: Path) -> None:
    with make_study(tmp_path / "m.duckdb", [qa(response=None)]) as study:
        async with at_desk(study, "never") as person:
            await person.press("d")
            assert person.message == "this item has no two texts to compare"


async def test_evidence_jumps_open_the_dialogue_and_e_marks_the_turn(study: Study) -> None:
    async with at_desk(study, "never", size=WIDE) as person:
        item = person.item
        await person.press("e")
        assert person.message.startswith("no turn chosen")
        assert person.events == []
        await person.press("]")
        assert "similar words, not proof" in person.message
        assert any(row.startswith("▌") for row in person.rows)
        turn = person.message.partition(",")[0]
        await person.press("e")
        assert person.message == f"{turn}: marked as evidence"
        assert [f"turn {number + 1}" for number in person.labels[item].evidence] == [turn]
        assert "◆ evidence" in person.screen
        assert f"evidence: {turn}" in person.screen
        assert person.last["panels"] == ["dialogue"]
        await person.press("e")
        assert person.labels[item].evidence == ()
        assert "◆" not in person.screen


async def test_any_turn_can_be_chosen_and_marked(study: Study) -> None:
    async with at_desk(study, "never", size=WIDE) as person:
        await person.press("}")
        assert person.message == "turn 1: e marks it as evidence"
        await person.press("}", "}", "}")
        assert person.message == "turn 3: e marks it as evidence"
        await person.press("{")
        assert person.message == "turn 2: e marks it as evidence"
        await person.press("e", "c", "left")
        assert person.label.evidence == (1,)
        await person.press("v")
        assert "◆ evidence" in person.screen


@pytest.mark.parametrize("keys", [["v"], ["}"], ["]"], ["/", "L", "a", "b", "r", "enter", ".", "."]], ids=" ".join)
async def test_opening_a_panel_the_judge_did_not_see_is_recorded_with_that_item_alone(
    study: Study, keys: list[str]
) -> None:
    async with at_desk(study, "never") as person:
        assert "the judge did not see this" in person.screen
        await person.press(*keys)
        await person.press("right", "c")
        assert person.last["panels"] == []
        await person.press("left", "left", "c")
        assert person.last["panels"] == ["dialogue"]
        assert person.kinds == ["label", "label"]


async def test_a_click_on_its_title_opens_a_panel_and_is_recorded(study: Study) -> None:
    async with at_desk(study, "never") as person:
        title = next(row for row, text in enumerate(person.rows) if "▸ Dialogue" in text)
        await person.pilot.click(offset=(6, title))
        assert "▾ Dialogue" in person.screen
        assert "Now I prefer" in person.screen
        await person.press("c")
        assert person.last["panels"] == ["dialogue"]


async def test_a_dialogue_the_judge_saw_is_not_recorded(parts_study: Study) -> None:
    async with at_desk(parts_study, "never") as person:
        await person.press("v", "v", "m", "i")
        assert person.last["panels"] == []


async def test_space_folds_what_is_on_top_and_pages_scroll(study: Study) -> None:
    async with at_desk(study, "never", size=(80, 20)) as person:
        await person.press("v")
        assert "▾ Dialogue" in person.screen
        before = person.rows[1]
        await person.press("pagedown")
        assert person.rows[1] != before
        await person.press("pageup", "down", "up")
        assert person.rows[1] == before
        await person.press("v")
        assert "▸ Dialogue" in person.screen
        assert person.events == []


async def test_a_text_that_names_a_model_is_flagged(tmp_path: Path) -> None:
    with make_study(tmp_path / "m.duckdb", [qa(response="As ChatGPT I cannot know."), qa()]) as study:
        async with at_desk(study, "never") as person:
            for _ in range(2):
                named = "ChatGPT" in person.screen
                assert ("⚠ a text here names a model or a system" in person.screen) == named
                await person.press("c")


@pytest.mark.parametrize("size", [NARROW, WIDE, (60, 20)], ids=["80x24", "140x45", "60x20"])
async def test_everything_needed_is_on_the_screen_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    long = "The judge says at great length why. " * 40
    specs = [Spec("accuracy", label="0", parts={"included": "false"}, rationale=long) for _ in range(3)]
    with make_study(tmp_path / "w.duckdb", specs) as study:
        async with at_desk(study, "item", size=size) as person:
            await person.go_to(hidden=False)
            for words in ("a 2", "All supported", "m 1", "z 0", "i 7", "o 8", "BLIND", "? keys", "q quit"):
                assert words in person.screen, words
            await person.press("t", "1", "n", *"note", "enter", "a", "i")
            for words in ("● a 2", "● i 7", "✓ saved", "None supported", "≠ differs", "keep and next", "revise",
                          "j all of it", "VERDICT SHOWN", "fabrication"):  # fmt: skip
                assert words in person.screen, f"{words}\n{person.screen}"
            await person.press("j")
            assert "What the judge said" in person.rows[0]
