"""Blind first: until their own label nothing of a verdict, a judge or a system is on an annotator's screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.draws import RevealPolicy
from store.study import Study
from tests.desk.desk_studies import JUDGE, SYSTEM, Spec, make_study
from tests.tui.desk_pilot import NARROW, WIDE, Person, at_desk

WHY = "zqxj-rationale-7731"
SECRETS = (JUDGE, SYSTEM, "Northwind", "zqxj", "7731")
EVERYTHING = (
    "v", "pagedown", "pageup", "space", "d", "]", "[", "}", "{", "/", "x", "enter", ".", "?", "q", "g", "q", "j", "t",
    "escape", "x", "escape", "!", "escape", "n", "escape", "w", "right", "left", "s", "u", "f", "e", ":", "2", "enter",
    "enter", "home", "r", "escape", "backspace",
)  # fmt: skip


@pytest.fixture
def verdicts(tmp_path: Path) -> Iterator[Study]:
    """All that differs between items is the judge's answer."""
    labels = ["Correct", "Hallucination", "Omission", "!", None]
    specs = [Spec(label=labels[number % 5], rationale=WHY) for number in range(20)]
    with make_study(tmp_path / "b.duckdb", specs) as study:
        yield study


def leaks(person: Person) -> list[str]:
    return [secret for secret in SECRETS if secret in person.screen]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "size"), [("item", NARROW), ("item", WIDE), ("block", NARROW), ("never", NARROW)], ids=str
)
async def test_no_key_brings_a_verdict_before_the_label(
    verdicts: Study, mode: RevealPolicy, size: tuple[int, int]
) -> None:
    async with at_desk(verdicts, mode, size=size) as person:
        assert leaks(person) == []
        for key in EVERYTHING:
            await person.press(key)
            assert leaks(person) == [], key
        assert "reveal" not in person.kinds
        assert SYSTEM not in person.app.title
        await person.press("ctrl+p")
        await person.type("judge")
        await person.pilot.pause(0.3)
        assert leaks(person) == []


@pytest.mark.parametrize("mode", ["item", "block", "never"])
async def test_the_blind_screen_is_the_same_whatever_the_judge_said(verdicts: Study, mode: RevealPolicy) -> None:
    async with at_desk(verdicts, mode) as person:
        screens = set()
        for number in range(1, 21):
            question = person.desk.current.item.payload["question"]
            screen = person.screen.replace(question, "QUESTION").replace(f"{number} / 20", "N / 20")
            screens.add(re.sub(" +", " ", screen))
            await person.press("right")
        assert len(screens) == 1


async def test_after_the_label_of_one_item_the_others_stay_blind(verdicts: Study) -> None:
    async with at_desk(verdicts, "item") as person:
        await person.go_to(hidden=False)
        await person.press("c")
        assert leaks(person) != []
        place = person.desk.place
        for step in ("right", "left", "left") if place else ("right", "left"):
            await person.press(step)
            assert bool(leaks(person)) == (person.desk.place == place)
