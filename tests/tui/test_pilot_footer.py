"""The reminders at the bottom name only keys that do, here and now, what is written beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from annotate.tui.screens.label.state import key_sign
from annotate.tui.screens.review.screen import ReviewScreen
from store.study import Study
from tests.desk.part_studies import keys_of, make_part_study
from tests.tui.desk_pilot import NARROW, WIDE, Person, at_desk

pytestmark = pytest.mark.slow

Make = Callable[[str], Study]
SIZES = pytest.mark.parametrize("size", [(60, 20), NARROW, WIDE], ids=["60x20", "80x24", "140x45"])


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    opened: list[Study] = []

    def made(task: str) -> Study:
        opened.append(make_part_study(tmp_path / f"{task}.duckdb", task, 3))
        return opened[-1]

    yield made
    for study in opened:
        study.close()


def reminders(person: Person) -> dict[str, str]:
    """Word → key of the last row of the screen."""
    return {word: key for key, word in re.findall(r"(\S+(?: \[)?) ([a-z]+)", person.rows[-1])}


@SIZES
async def test_while_a_grid_is_open_its_keys_are_not_offered_as_the_desks(make: Make, size: tuple[int, int]) -> None:
    async with at_desk(make("mcd"), "never", size=size) as person:
        assert reminders(person)["note"] == "n"
        await person.press("tab")
        assert "note" not in reminders(person), "n answers a cell with No"
        assert {"keys", "quit"} <= set(reminders(person))
        await person.press("escape")
        assert reminders(person)["note"] == "n"


async def test_while_a_ranking_is_open_its_letters_are_not_offered_as_the_desks(make: Make) -> None:
    async with at_desk(make("ranking"), "never", size=WIDE) as person:
        letters = person.desk.entry.letters  # type: ignore[union-attr]
        assert "d" in letters or len(letters) < 4
        assert not set(letters) & {key.split()[0] for key in reminders(person).values()}


@SIZES
async def test_no_key_is_offered_while_the_next_one_is_an_answer(study: Study, size: tuple[int, int]) -> None:
    async with at_desk(study, "never", size=size) as person:
        before = reminders(person)
        for key in ("x", "!", "n", "r", "/", ":"):
            await person.press(key)
            assert person.rows[-1] == "", f"{key}: u would be `unreadable`, or a letter of the note"
            await person.press("escape")
            assert reminders(person) == before


async def test_helps_that_this_item_has_nothing_for_are_not_offered(study: Study, make: Make) -> None:
    async with at_desk(study, "never", size=WIDE) as person:
        assert {"dialogue", "evidence", "differences", "skip"} <= set(reminders(person))
    async with at_desk(make("ranking"), "never", size=WIDE) as person:
        await person.press("escape")
        has = set(reminders(person))
        for word, key, nothing in (("differences", "d", "no two texts"), ("dialogue", "v", "no dialogue")):
            await person.press(key)
            assert (word in has) != (nothing in person.message), (word, person.message)


@SIZES
async def test_the_review_offers_help_and_the_way_out_at_every_width(study: Study, size: tuple[int, int]) -> None:
    async with at_desk(study, "block", size=size) as person:
        await person.press(*keys_of("c " * 10))
        assert isinstance(person.desk_screen, ReviewScreen)
        assert reminders(person)["keys"] == key_sign("?") and reminders(person)["quit"] == "q"
        await person.press("n")
        assert person.rows[-1] == ""
        await person.press("escape", "x")
        assert person.rows[-1] == ""
        await person.press("escape")
        assert reminders(person)["quit"] == "q"
