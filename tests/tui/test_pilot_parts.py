"""Grids, rankings and numbers on the screen, key by key, in a small and in a large window."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from annotate.tui.screens.label.entry_screen import EntryScreen
from annotate.tui.screens.review.screen import ReviewScreen
from judges.benchmarks.medmemorybench.shapes import CORRECT
from store.draws import RevealPolicy
from store.study import Study
from tests.desk.part_studies import JUDGE, RATIONALE, SYSTEM, keys_of, make_part_study
from tests.tui.desk_pilot import NARROW, WIDE, Person, at_desk

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "140x45"])
Size = tuple[int, int]
Make = Callable[..., Study]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    opened: list[Study] = []

    def made(task: str, count: int = 3, **options: object) -> Study:
        opened.append(make_part_study(tmp_path / f"{task}.duckdb", task, count, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield made
    for study in opened:
        study.close()


async def press(person: Person, text: str) -> None:
    await person.press(*keys_of(text))


@pytest.mark.slow
@SIZES
async def test_a_grid_key_by_key(make: Make, size: Size) -> None:
    async with at_desk(make("mcd"), "never", size=size) as person:
        item = person.item
        await press(person, "c a")
        assert re.search(r"▶ Node 1 +\[·\] +· +·", person.screen)
        assert all(title in person.screen for title in ("stated", "causal link", "patient", "9 of 9 cells"))
        await press(person, "y n")
        assert re.search(r"▶ Node 1 +Yes +No +\[·\]", person.screen)
        await press(person, "⌫")
        assert re.search(r"▶ Node 1 +Yes +\[·\] +·", person.screen)
        await press(person, "down N up up Y")
        assert re.search(r"Node 1 +Yes +Yes +Yes", person.screen) and re.search(r"Node 2 +No +No +No", person.screen)
        assert "what happened n3" in person.screen, "the text of the row at the cursor"
        assert "take it" not in person.screen
        await press(person, "Y")
        assert "every cell is answered" in person.screen and "⏎ take it" in person.screen
        await press(person, "⏎ k")
        assert person.labels[item].value == CORRECT
        assert json.loads(person.labels[item].parts["nodes"])["n2"]["patient"] == "n"
        assert person.kinds[-1] == "label" and "2 / 3" in person.rows[0]
        assert person.message.startswith("saved: Correct · Agrees · 6 Yes, 3 No · 0.7")


@SIZES
async def test_a_ranking_key_by_key(make: Make, size: Size) -> None:
    async with at_desk(make("ranking"), "never", size=size) as person:
        item, order = person.item, person.desk.current.orders[""]
        assert "nothing placed yet" in person.screen and "4 of 4 are not placed yet" in person.screen
        await press(person, "b = d")
        assert "best  b = d" in person.screen
        await press(person, "a ⌫ c")
        assert "best  b = d > c" in person.screen
        await press(person, "a ⏎")
        value = person.labels[item].value
        assert value is not None
        assert json.loads(value) == [sorted([order[1], order[3]]), [order[2]], [order[0]]]
        assert json.loads(person.labels[item].parts[".order"]) == list(order)


@SIZES
async def test_a_digit_shows_a_response_full_screen_and_arrows_the_others(make: Make, size: Size) -> None:
    async with at_desk(make("ranking"), "never", size=size) as person:
        texts = {row: f"words of reply {row[1]}" for row in person.desk.current.orders[""]}
        order = list(person.desk.current.orders[""])
        await press(person, "2")
        assert isinstance(person.app.screen, EntryScreen)
        assert person.rows[0].startswith(" b   2 of 4") and texts[order[1]] in person.screen
        assert texts[order[0]] not in person.screen
        await press(person, "right right right")
        assert person.rows[0].startswith(" d   4 of 4") and texts[order[3]] in person.screen
        await press(person, "1")
        assert texts[order[0]] in person.screen
        await press(person, "z")
        assert not isinstance(person.app.screen, EntryScreen) and person.events == []


@SIZES
async def test_a_number_key_by_key(make: Make, size: Size) -> None:
    async with at_desk(make("stance"), "never", size=size) as person:
        item = person.item
        await press(person, "tab 7")
        assert "means 0.7" in person.screen
        await press(person, "⌫ 1 . 5")
        assert "1.5 is not from 0 to 1" in person.screen
        await press(person, "⏎")
        assert person.message == "1.5 is not from 0 to 1" and person.events == []
        await press(person, "⌫ ⌫ ⌫ . 3 5 ⏎")
        assert "● 0.35" in person.screen
        await press(person, "m")
        assert (person.labels[item].value, person.labels[item].parts) == ("SOFT", {"score": "0.35"})


@SIZES
async def test_a_number_as_the_label_itself(make: Make, size: Size) -> None:
    async with at_desk(make("points"), "never", size=size) as person:
        item = person.item
        assert "How many points?" in person.screen and "from 0 to 10" in person.screen
        await press(person, "7 . 5 ⏎")
        assert person.labels[item].value == "7.5" and "2 / 3" in person.rows[0]
        await press(person, "left")
        assert "● 7.5" in person.screen


async def test_a_held_key_answers_one_cell(make: Make) -> None:
    async with at_desk(make("mcd"), "never") as person:
        await press(person, "c a")
        await person.press("y", "y", "y", after=0.03)
        await person.press("y", "y", after=0.3)
        cells = json.loads(person.label.parts["nodes"])
        assert sum(len(row) for row in cells.values()) == 3, "one of the held, two that were pressed anew"


@pytest.mark.slow
async def test_leaving_and_coming_back_finds_the_half_given_grid(make: Make) -> None:
    study = make("mcd")
    async with at_desk(study, "never") as person:
        await press(person, "c a Y n")
    async with at_desk(study) as person:
        assert re.search(r"Node 1 +Yes +Yes +Yes", person.screen)
        assert re.search(r"▶ Node 2 +No +\[·\]", person.screen)


@SIZES
async def test_escape_closes_and_tab_opens(make: Make, size: Size) -> None:
    async with at_desk(make("mcd"), "never", size=size) as person:
        await press(person, "c a escape")
        assert "▶ Node 1" not in person.screen and "How complete is the chain?" in person.screen
        await press(person, "tab")
        assert "▶ Node 1" in person.screen


async def test_the_palette_acts_on_the_open_part_and_says_when_none_is(make: Make) -> None:
    async with at_desk(make("ranking"), "never", size=WIDE) as person:
        await press(person, "a")
        for words in ("tie", "cell_up"):
            person.desk_screen.perform_from_palette(words)
            await person.pilot.pause(0.1)
            if words == "tie":
                assert "a = …" in person.screen
        assert "no such part is open" in person.message


async def test_help_lists_the_keys_of_the_parts(make: Make) -> None:
    async with at_desk(make("mcd"), "never", size=(140, 100)) as person:
        await press(person, "?")
        for words in ("The same for the whole row", "In a grid: one row up", "In a ranking: the next response ties"):
            assert words in person.screen


# --- blind ---

SECRETS = (JUDGE, SYSTEM, "Northwind", RATIONALE, "zqxj", "tau-b")
A_FEW = "tab y n ⌫ a = 1 z 7 j escape tab s u"
EVERYTHING = "tab y n Y ⌫ c a b = 1 z 7 . ~ j ? q g q v d escape tab right left s u e t escape x escape ! escape"


def leaks(person: Person) -> list[str]:
    return [secret for secret in SECRETS if secret in person.screen]


async def look_for_leaks(study: Study, task: str, mode: RevealPolicy, keys: str) -> None:
    async with at_desk(study, mode, size=WIDE) as person:
        assert leaks(person) == []
        for key in keys_of(keys):
            if task == "stance" and key in ("y", "h", "m"):
                continue
            await person.press(key)
            assert leaks(person) == [], key
            assert person.desk.derived() == () and person.desk.shown_verdicts() == []
        assert "reveal" not in person.kinds


@pytest.mark.parametrize("task", ["mcd", "ranking", "stance"])
async def test_no_key_of_a_part_brings_a_verdict_before_the_label(make: Make, task: str) -> None:
    await look_for_leaks(make(task), task, "item", A_FEW)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["item", "block", "never"])
@pytest.mark.parametrize("task", ["mcd", "ranking", "stance"])
async def test_no_key_at_all_brings_a_verdict_before_the_label(make: Make, task: str, mode: RevealPolicy) -> None:
    await look_for_leaks(make(task), task, mode, EVERYTHING)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["mcd", "ranking", "stance"])
async def test_the_blind_screen_is_the_same_whatever_the_judge_said(tmp_path: Path, task: str) -> None:
    screens = []
    for verdicts in (True, False):
        study = make_part_study(tmp_path / f"{task}{verdicts}.duckdb", task, 2, verdicts=verdicts)
        async with at_desk(study, "item", size=WIDE) as person:
            seen = [person.screen]
            for key in keys_of("c a y n tab" if task == "mcd" else "tab a b" if task == "ranking" else "tab 7 ."):
                await person.press(key)
                seen.append(person.screen)
            screens.append(seen)
        study.close()
    assert screens[0] == screens[1]


# --- after the label ---


async def label_until_revealed(person: Person, keys: str) -> None:
    while person.desk.phase != "revealed":
        await press(person, keys)


@pytest.mark.slow
@SIZES
async def test_the_judge_stands_beside_the_label_part_by_part(make: Make, size: Size) -> None:
    async with at_desk(make("mcd", 8), "item", size=size) as person:
        await label_until_revealed(person, "c a Y N Y ⏎ h")
        screen = re.sub(r"[│\s]+", " ", person.screen)
        assert JUDGE in screen and "≠ differs" in screen and "of 6 cells differ" in screen
        assert "By the published rule" in screen and "Nodes (NCR)" in screen
        await press(person, "j")
        whole = re.sub(r"[│\s]+", " ", person.screen)
        assert "Node 2, causal link: you No, judge Yes" in whole and RATIONALE in whole
        assert "NCR 1.00, CRC 0.67, CC 1.00" in whole and "CRC 0.67 is below 0.75" in whole


@pytest.mark.slow
@SIZES
async def test_the_review_shows_the_parts_and_takes_changes(make: Make, size: Size) -> None:
    async with at_desk(make("ranking", 10), "block", size=size) as person:
        for _ in range(10):
            await press(person, "a b c d ⏎")
        assert isinstance(person.app.screen, ReviewScreen)
        assert "Kendall's tau-b" in person.screen and "a > b > c > d" in person.screen
        await press(person, "tab")
        assert "best  a > b > c > d" in person.screen
        await press(person, "⌫ ⌫ ⌫ ⌫ d = c b a ⏎")
        assert person.last["kind"] == "revise" and person.last["mode"] == "revised"
        await press(person, "up")
        assert "c = d > b > a" in person.screen


async def test_what_the_judge_had_and_the_files_lack_is_a_line_on_the_item(make: Make) -> None:
    study = make("mcd", payload={"nodes": [], "missing_inputs": ["chain"]})
    async with at_desk(study, "never") as person:
        assert "Not here" in person.rows[1]
        assert "The judge also saw: Chain of the reference." in person.screen


async def test_an_empty_response_says_that_it_is_empty(make: Make) -> None:
    payload = {"entries": [{"id": "x", "text": "It glows."}, {"id": "y", "text": " "}]}
    async with at_desk(make("ranking", payload=payload), "never", size=NARROW) as person:
        assert re.search(r"[ab] [12]  ·  \(empty\)", person.screen), person.screen


@pytest.mark.parametrize(
    ("task", "asked", "key"), [("tla", "Does the answer abstain?", "c"), ("stance", "number", "h")]
)
async def test_an_optional_part_says_that_the_label_brings_the_verdict(
    make: Make, task: str, asked: str, key: str
) -> None:
    """Whoever labels first has seen the verdict when they come to it: then it is given, but not blind."""
    study = make(task)
    async with at_desk(study, "item", size=NARROW) as person:
        await person.go_to(hidden=False)
        assert person.row(asked).endswith("(optional, before the label)")
        await person.press(key)
        assert person.kinds == ["label", "reveal"]
        assert "before the label" not in person.screen


async def test_an_optional_part_is_just_that_where_no_verdict_comes(make: Make) -> None:
    async with at_desk(make("tla"), "never", size=(60, 20)) as person:
        assert person.row("Does the answer abstain?").endswith("(optional)")
