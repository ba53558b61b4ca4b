"""Writing at the desk: while a prompt is open every key is text; nothing written is ever thrown away."""

from __future__ import annotations

import os
import signal

import pytest

from annotate.tui.app import DeskApp
from store.study import Study
from tests.tui.desk_pilot import Person, at_desk

EVERYTHING = (
    "12.5 mg p.o. {[ ]} \"quoted\" 'single' \\ $HOME & <b> [/x] [@click=app.quit]x[/] chnortsfgdevwjxqu?!/.,:;]["
    "CHNO 0123456789 ～ 患者每天服用四十毫克 فحص é ñ 👍🏽 👩‍⚕️ 🇬🇧 e\u0301 ‘curly’ — … x"
)


async def write_note(person: Person, text: str) -> None:
    await person.press("n")
    await person.type(text)


async def test_a_note_of_two_hundred_characters_of_every_kind_is_text_and_nothing_else(study: Study) -> None:
    text = (EVERYTHING + " and so on, to the length of a note that somebody writes at length.")[:200]
    assert len(text) == 200
    async with at_desk(study, "item") as person:
        item = person.item
        await write_note(person, text)
        assert person.item == item
        assert person.events == []
        assert person.app.is_running
        await person.press("enter")
        assert person.labels[item].note == text
        assert person.kinds == ["mark"]
        assert person.labels[item].value is None
        assert "note: 12.5 mg p.o. {[ ]}" in person.screen
        assert person.message == "note saved"


async def test_letters_typed_in_one_burst_with_the_key_that_opens_the_note_all_arrive_in_order(study: Study) -> None:
    async with at_desk(study, "item") as person:
        item = person.item
        await person.write("nchange one; then hold o\r")
        assert person.labels[item].note == "change one; then hold o"
        assert person.kinds == ["mark"]


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_enter_and_esc_both_keep_the_note(study: Study, key: str) -> None:
    async with at_desk(study, "item") as person:
        item = person.item
        await write_note(person, "half a thought")
        await person.press(key)
        assert person.labels[item].note == "half a thought"
        assert "half a thought" in person.screen
        assert not person.desk_screen.prompt.is_open


async def test_a_note_that_is_opened_and_left_alone_stores_nothing(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await write_note(person, "  kept as it is ")
        await person.press("enter", "n", "escape", "n", "enter")
        assert person.kinds == ["mark"]
        await person.press("n", "ctrl+u", "enter")
        assert person.label.note == ""
        assert person.message == "note removed"


async def test_a_note_is_edited_where_the_caret_is(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await write_note(person, "4 mg")
        await person.press("left", "left", "left", "0", "end", ".", "home", ">", "delete", "delete", "5")
        await person.press("enter")
        assert person.label.note == ">5 mg."
        await person.press("n", "ctrl+w", "x", "enter")
        assert person.label.note == ">5 x"


async def test_the_label_key_after_a_note_labels_and_keeps_the_note(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await write_note(person, "because of the dose")
        await person.press("enter", "h")
        assert (person.labels[item].value, person.labels[item].note) == ("Hallucination", "because of the dose")


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+q"])
async def test_leaving_with_an_open_note_keeps_it(study: Study, key: str) -> None:
    async with at_desk(study, "item") as person:
        item = person.item
        await write_note(person, "written and left")
        await person.press(key)
        assert person.labels[item].note == "written and left"
        assert person.app.return_value is None


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
async def test_a_signal_with_an_open_note_keeps_it(study: Study, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeskApp, "limit_leaving", lambda app, code: None)
    number = getattr(signal, name, None)
    if number is None or os.name == "nt":
        pytest.skip("no such signal here")
    async with at_desk(study, "item") as person:
        item = person.item
        await write_note(person, "the line dropped")
        os.kill(os.getpid(), number)
        await person.pilot.pause()
        assert person.labels[item].note == "the line dropped"
        assert person.app.return_code == 128 + number


async def test_a_paste_is_text_in_an_open_note_and_nothing_without_one(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.paste("chorus\rc\r")
        assert person.events == []
        await person.press("n")
        await person.paste("line one\nline two\x07\x9b and \u202eturned")
        await person.press("enter")
        assert person.label.note == "line one line two and turned"


async def test_a_long_note_wraps_and_its_caret_stays_in_view(study: Study) -> None:
    async with at_desk(study, "item", size=(60, 20)) as person:
        await write_note(person, "word " * 200 + "the end")
        assert "the end" in person.screen
        await person.press("home")
        assert "the end" not in person.screen
        assert "Note: Enter or Esc keeps it" in person.screen
        await person.press("enter")
        assert person.label.note == "word " * 200 + "the end"


async def test_the_terminal_cursor_stands_at_the_caret_for_input_methods(study: Study) -> None:
    async with at_desk(study, "item") as person:
        assert person.app.cursor_position == (0, 0)
        await write_note(person, "药物")
        await person.pilot.pause()
        x, y = person.app.cursor_position
        assert person.rows[y].strip() == "药物"
        assert x == 1 + 4
        await person.press("enter")
        assert person.app.cursor_position == (0, 0)


async def test_typing_a_note_counts_as_active_time(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.press("n", "a", "b", "c", "enter", after=40)
        assert person.last["active_ms"] == 5 * 40_000


async def test_find_and_go_to_swallow_label_keys_too(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.press("/")
        await person.type("choh123")
        assert person.events == []
        await person.press("escape", ":")
        await person.type("cho")
        await person.press("enter")
        assert person.events == []
        assert person.message == "there are items 1 to 20"


async def test_the_palette_over_an_open_note_keeps_it(study: Study) -> None:
    async with at_desk(study, "item") as person:
        item = person.item
        await write_note(person, "not lost")
        await person.press("ctrl+p")
        await person.type("flag")
        await person.pilot.pause(0.3)
        await person.press("enter")
        await person.pilot.pause(0.1)
        assert person.labels[item].note == "not lost"
        assert person.labels[item].flagged
