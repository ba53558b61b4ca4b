"""Hostile items at the desk, and faults of the program itself: nothing runs, nothing is lost, no text gets out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.desk.desk import Desk
from annotate.tui.app import DeskApp
from store.safe_text import TERMINAL_UNSAFE
from store.study import Study
from tests.desk.desk_studies import Clock, Spec, current_labels, events, make_study, sit
from tests.tui.desk_pilot import NARROW, WIDE, Person, at_desk

HOSTILE = (
    "\x1b]0;TITLE\x07 \x1b]52;c;QUJD\x07 \x9b31m \x00 \u202egnp.exe\u2066 half \ud83d [@click=app.quit]CLICKME[/] [/x] "
    "[tag=value: x [bold] [[ ]] \\["
)


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Study]:
    """Every text a person is shown tries to take over."""
    payload = {"question": HOSTILE, "reference": HOSTILE, "evidence": [HOSTILE], "response": HOSTILE * 3}
    with make_study(tmp_path / "h.duckdb", [Spec(payload=payload, rationale=HOSTILE) for _ in range(12)]) as study:
        yield study


async def click_all(person: Person, words: str) -> int:
    """Click every place of the screen where these words stand; how many those were."""
    places = [(match.start() + 2, row) for row, text in enumerate(person.rows) for match in re.finditer(words, text)]
    for column, row in places:
        await person.write(f"\x1b[<0;{column + 1};{row + 1}M\x1b[<0;{column + 1};{row + 1}m")
    return len(places)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "size"), [("item", NARROW), ("item", WIDE), ("block", WIDE)], ids=str)
async def test_hostile_texts_are_shown_as_text_and_no_click_runs_anything(
    hostile: Study, mode: str, size: tuple[int, int]
) -> None:
    async with at_desk(hostile, mode, size=size) as person:  # type: ignore[arg-type]
        if mode == "item":
            await person.go_to(hidden=False)
        clicked = 0
        for keys in ("v", "d", "]", "g", "%", "?", "%", "h", "j", "pagedown", "%", "n"):
            await person.press(keys)
            assert TERMINAL_UNSAFE.search(person.screen.replace("\n", "")) is None, keys
            clicked += await click_all(person, "CLICKME")
            assert person.app.is_running
        await person.type("[/x] [@click=app.quit]CLICKME[/]")
        await person.press("enter")
        clicked += await click_all(person, "CLICKME")
        assert clicked > 5
        assert person.app.is_running
        assert "[@click=app.quit]CLICKME[/]" in {state.note[5:] for state in person.labels.values()}
        assert "TITLE" not in person.app.title


@pytest.mark.slow
async def test_a_click_beside_an_open_note_does_not_lose_it(hostile: Study) -> None:
    async with at_desk(hostile, "never", size=WIDE) as person:
        item = person.item
        await person.press("n")
        await person.type("half a thought")
        assert await click_all(person, "CLICKME") > 0
        await person.write("\x1b[<0;100;5M\x1b[<0;100;5m\x1b[<0;3;2M\x1b[<0;3;2m")
        await person.press("enter")
        assert person.labels[item].note == "half a thought"


def crash(desk: Desk) -> None:
    """A fault of the program with the item's text in a variable and in its message."""
    patient = desk.current.item.payload["question"]
    raise ValueError(patient)


async def test_a_fault_prints_no_text_of_the_item_and_keeps_the_open_note(
    study: Study, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Textual's own account of a fault would print the variables of every function on the way."""
    desk = sit(study, "never", clock=Clock())
    app = DeskApp(desk, "halumem", {})
    with pytest.raises(ValueError, match="What dog"):
        async with app.run_test(size=NARROW) as pilot:
            await pilot.pause()
            person = Person(pilot, app, desk, study, Clock())
            await person.press("n")
            await person.type("nearly done")
            monkeypatch.setattr(type(app), "action_leave", lambda app: crash(desk))
            await person.press("ctrl+q")
    assert isinstance(app.fault, ValueError)
    assert app._exit_renderables == []
    said = capfd.readouterr()
    assert "What dog" not in said.out + said.err
    assert [event["state"]["note"] for event in events(study)] == ["nearly done"]


async def test_a_label_is_on_disk_before_the_next_item_shows(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool]] = []
    async with at_desk(study, "never") as person:
        first, journal = person.item, study._journal.path
        sync = os.fsync

        def watched(descriptor: int) -> None:
            sync(descriptor)
            question = person.desk.current.item.payload["question"]
            seen.append((person.item, question in person.screen and b'"value":"Omission"' in journal.read_bytes()))

        monkeypatch.setattr("store.journal.os.fsync", watched)
        await person.press("o")
        assert seen == [(first, True)]
        assert person.item != first
        assert current_labels(study)[first].value == "Omission"


async def test_nothing_that_a_single_key_takes_away_is_lost(study: Study) -> None:
    """Backspace in a note is an edit of the note; on the desk it takes the label off, and `u` brings it back."""
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press("H", "left", "f", "n")
        await person.type("why")
        await person.press("backspace")
        assert person.labels[item].value == "Hallucination"
        assert "Note: Enter or Esc keeps it" in person.screen, "where the keys go is said"
        await person.press("enter")
        before = person.labels[item]
        assert before.note == "wh"
        for key in ("backspace", "f", "o"):
            assert person.item == item
            await person.press(key)
            assert person.labels[item] != before, key
            await person.press("u")
            assert person.labels[item] == before, key


ARABIC = "المريض لا يعاني من حساسية للبنسلين 500 mg مرتين يوميا"


async def test_right_to_left_text_keeps_its_order_on_the_screen_and_in_the_study(tmp_path: Path) -> None:
    """Terminals differ in turning it round; a program that turned it, too, would undo what they do."""
    specs = [Spec(payload={"question": ARABIC, "response": "He takes 500 mg."})]
    with make_study(tmp_path / "r.duckdb", specs) as study:
        for size in (NARROW, WIDE):
            async with at_desk(study, "never", size=size, annotator=f"dr.{size[0]}") as person:
                rows = [row.split("│")[0] for row in person.rows if re.search("[\u0600-\u06ff]", row)]
                assert "right-to-left text" in "\n".join(person.rows), "and it is said"
                assert " ".join(" ".join(rows).removeprefix("  Question").split()) == ARABIC
        assert study.rows("SELECT payload->>'question' FROM items") == [(ARABIC,)]
