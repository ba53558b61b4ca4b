"""Windows of every size: nothing breaks while a prompt, a menu or a text is open; too small is said and comes back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from annotate.desk.cells import cell_width
from store.study import Study
from tests.tui.desk_pilot import NARROW, WIDE, at_desk

OPENERS: dict[str, tuple[Sequence[str], str]] = {
    "nothing": ((), "no label yet"),
    "note": (("n", "a", "b"), "Note: Enter or Esc"),
    "find": (("/", "x"), "Find: Enter looks"),
    "menu": (("t",), "Tag: press its digit"),
    "rubric": (("g",), "Rubric: Question answering"),
    "help": (("?",), "any key"),
    "dialogue": (("v",), "What dog does Martin like"),
    "palette": (("ctrl+p",), "Search"),
}


@pytest.mark.slow
@pytest.mark.parametrize("opener", OPENERS)
async def test_resizing_while_something_is_open_keeps_it(study: Study, opener: str) -> None:
    keys, words = OPENERS[opener]
    async with at_desk(study, "never", size=NARROW) as person:
        await person.press(*keys)
        await person.pilot.pause()
        assert words in person.screen
        for size in (WIDE, (60, 20), (200, 60), NARROW):
            await person.resize(*size)
            await person.pilot.pause()
            assert words in person.screen, size
            assert len(person.rows) == size[1]
            assert all(cell_width(row) <= size[0] for row in person.rows)
        assert person.events == []


@pytest.mark.parametrize("size", [(59, 24), (80, 19), (20, 5), (1, 1)])
async def test_too_small_a_window_says_so_and_comes_back(study: Study, size: tuple[int, int]) -> None:
    async with at_desk(study, "never") as person:
        await person.resize(*size)
        if size[0] >= 20:
            assert "too small" in " ".join(person.screen.split())
            assert "Question" not in person.screen
        await person.press("c", "u", "n", "1", "enter")
        assert person.events == []
        await person.resize(*NARROW)
        assert "Question" in person.screen
        assert "no label yet" in person.screen
        await person.press("c")
        assert person.kinds == ["label"]


async def test_q_leaves_also_from_too_small_a_window(study: Study) -> None:
    async with at_desk(study, "never", size=(40, 10)) as person:
        assert "60×20" in person.screen
        await person.press("q")
        await person.pilot.pause()
        assert not person.app.is_running


async def test_a_note_survives_a_window_that_was_too_small_for_a_while(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press("n", "a")
        await person.resize(40, 10)
        await person.resize(*NARROW)
        await person.press("b", "enter")
        assert person.labels[item].note == "ab"


async def test_the_decision_stands_in_the_same_place_before_and_after_the_label(study: Study) -> None:
    for size in (NARROW, WIDE):
        async with at_desk(study, "item", size=size, annotator=f"dr.{size[0]}") as person:
            await person.go_to(hidden=False)
            before = [row for row, text in enumerate(person.rows) if "h 2  Hallucination" in text]
            judge = [row for row, text in enumerate(person.rows) if "Judge  " in text]
            await person.press("h")
            assert [row for row, text in enumerate(person.rows) if "h 2  Hallucination" in text] == before
            assert [row for row, text in enumerate(person.rows) if "Judge  " in text] == judge


@pytest.mark.slow
@pytest.mark.parametrize("size", [NARROW, WIDE, (60, 20)], ids=["80x24", "140x45", "60x20"])
@pytest.mark.parametrize(
    "annotator", ["li", "Professor Dr. Maria-Theresia von Habsburg", "欧阳医生与司马医生", "د. ليلى"]
)
async def test_the_header_fits_with_any_name(study: Study, size: tuple[int, int], annotator: str) -> None:
    async with at_desk(study, "item", size=size, annotator=annotator) as person:
        await person.go_to(hidden=False)
        await person.press("f", "c")
        for words in ("qa", f"{person.desk.place + 1} / 20", "⚑ flagged", "VERDICT SHOWN"):
            assert words in person.rows[0]
        assert cell_width(person.rows[0]) <= size[0]
        assert person.rows[0].endswith("VERDICT SHOWN")


async def test_the_prompt_covers_no_row_of_the_item(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item_rows = person.rows[1:8]
        await person.press("n", "a")
        assert person.rows[1:8] == item_rows
        assert "Enter or Esc keeps it" in person.screen
        assert person.rows[-1] == "", "no key is offered that would be written into the note"
