"""Keys that cannot be meant: too fast, held down, Caps Lock, input methods, other scripts. Each is said."""

from __future__ import annotations

import pytest

from store.study import Study
from tests.tui.desk_pilot import at_desk


async def test_a_label_key_within_300_ms_of_the_first_paint_is_ignored_visibly(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("c", after=0.29)
        assert person.events == []
        assert person.message == "! too fast: this item had only just appeared, key ignored"
        await person.press("h", after=0.1)
        assert person.kinds == ["label"]
        await person.press("o", after=0.2)
        assert person.kinds == ["label"]
        assert person.message.startswith("! too fast")


async def test_a_held_label_key_labels_one_item_only(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("c")
        for _ in range(12):
            await person.press("c", after=0.03)
        assert person.kinds == ["label"]
        assert "held down: ignored" in person.message
        await person.press("c", after=1.0)
        assert person.kinds == ["label", "label"]


async def test_keys_typed_ahead_of_an_item_are_not_taken_for_it(study: Study) -> None:
    async with at_desk(study, "never") as person:
        person.clock.wait(1)
        await person.type("chochocho")
        assert person.kinds == ["label"]
        assert person.labels[person.events[0]["item_id"]].value == "Correct"


async def test_keys_typed_ahead_of_a_review_do_not_act_in_it(study: Study) -> None:
    async with at_desk(study, "block") as person:
        for _ in range(9):
            await person.press("c")
        person.clock.wait(1)
        await person.type("cooo\r\r\r")
        review = person.desk.review
        assert review is not None
        assert person.kinds.count("revise") == 0


async def test_shift_is_the_same_label_unsure(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press("H")
        assert (person.labels[item].value, person.labels[item].unsure) == ("Hallucination", True)
        assert person.message == "saved: Hallucination, unsure"
        await person.press("left")
        assert "✓ saved, unsure" in person.screen
        await person.press("h")
        assert not person.labels[item].unsure


async def test_three_unsure_labels_in_a_row_ask_about_caps_lock(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("C", "O")
        assert "Caps Lock" not in person.screen
        await person.press("H")
        assert "3 unsure in a row: is Caps Lock on?" in person.message
        assert len(person.labels) == 3
        await person.press("c", "H")
        assert "Caps Lock" not in person.screen


@pytest.mark.parametrize(
    ("key", "value", "unsure"),
    [("1", "Correct", False), ("３", "Omission", False), ("ｈ", "Hallucination", False), ("Ｈ", "Hallucination", True),
     ("٢", "Hallucination", False)],
)  # fmt: skip
async def test_every_label_has_a_digit_and_full_width_keys_count(
    study: Study, key: str, value: str, unsure: bool
) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press(key)
        assert (person.labels[item].value, person.labels[item].unsure) == (value, unsure)


@pytest.mark.parametrize("text", ["对", "正确", "ひ", "ㅎ"])
async def test_an_input_method_is_noticed_and_does_nothing(study: Study, text: str) -> None:
    async with at_desk(study, "never") as person:
        await person.press(text[0])
        assert person.message == "input method is on: switch it to English"
        await person.press("t", text[0])
        assert person.message == "input method is on: switch it to English"
        assert "Tag: press its digit" in person.screen
        await person.press("escape")
        assert person.events == []


async def test_another_script_on_the_keyboard_is_noticed(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("ш")
        assert "another script is on" in person.message and person.message.endswith("use the digits")
        assert person.events == []


async def test_unknown_keys_do_nothing(study: Study) -> None:
    async with at_desk(study, "item") as person:
        item = person.item
        for key in ("y", "k", "%", "tab", "f6", "ctrl+a", "insert", "delete", "end", "alt+c", "shift+tab"):
            await person.press(key)
        assert (person.item, person.events) == (item, [])
        assert person.app.is_running


async def test_idle_time_counts_a_minute_at_most(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("c", after=3600)
        assert person.last["active_ms"] == 60_000
        await person.press("c", after=12)
        assert person.last["active_ms"] == 12_000


async def test_keys_typed_ahead_of_a_text_close_it_and_do_not_quit_the_desk(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.type("gq?q")
        assert person.app.is_running
        assert "BLIND" in person.rows[0]
        await person.type("gqc")
        assert person.app.is_running


async def test_a_key_that_means_nothing_is_not_passed_over_in_silence(study: Study) -> None:
    async with at_desk(study, "never", size=(60, 20)) as person:
        await person.press("y")
        assert person.message == "y means nothing here: c h o label, ? shows all keys"
        assert person.events == []
        await person.press("c")
        assert person.message == "saved: Correct"
