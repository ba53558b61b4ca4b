"""One registry: handlers, footer, help and palette say the same, also with other keys."""

from __future__ import annotations

import re

import pytest

from annotate.desk.actions import ACTIONS, PART_SCOPES, KeyMap
from annotate.tui.screens.help.texts import help_text
from annotate.tui.screens.label.screen import LabelScreen
from annotate.tui.screens.label.state import footer, key_sign, key_signs
from annotate.tui.screens.review.screen import ReviewScreen
from annotate.tui.widgets.spans import line_width, text_of
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.halumem.tasks import QA, TASKS
from store.study import Study
from tests.tui.desk_pilot import WIDE, Person, at_desk

OTHER_KEYS = {"skip": ["k"], "undo": ["ctrl+z"], "next_item": ["L"], "note": [";"]}


async def test_every_action_has_a_handler_where_its_scope_says(study: Study) -> None:
    async with at_desk(study, "block") as person:
        assert isinstance(person.desk_screen, LabelScreen)
        assert set(person.desk_screen.handlers) == {action.id for action in ACTIONS}
        for _ in range(10):
            await person.press("c")
        assert isinstance(person.desk_screen, ReviewScreen)
        assert set(person.desk_screen.handlers) == {action.id for action in ACTIONS if action.scope != "item"}


@pytest.mark.parametrize("remapped", [{}, OTHER_KEYS], ids=["default", "remapped"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.task)
def test_help_lists_every_action_and_label_with_the_keys_that_count(
    task: TaskDefinition, remapped: dict[str, list[str]]
) -> None:
    keymap = KeyMap(task, remapped)
    lines = [text_of(line) for line in help_text(keymap, task)]
    for action in ACTIONS:
        keys = re.escape(key_signs(keymap.keys_of[action.id]))
        assert any(re.fullmatch(rf"  {keys} +{re.escape(action.description)}", line) for line in lines), action.id
        for key in keymap.keys_of[action.id]:
            if action.scope in PART_SCOPES:
                assert keymap.part_keys(action.scope)[key] == action.id
            else:
                assert keymap.resolve(key) == action
    for label in (*task.labels, *(label for part in task.parts for label in part.labels)):
        assert any(f"{label.key} or {label.digit}" in line and label.title in line for line in lines)


@pytest.mark.parametrize("remapped", [{}, OTHER_KEYS], ids=["default", "remapped"])
@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_footer_names_keys_of_the_registry_and_fits(width: int, remapped: dict[str, list[str]]) -> None:
    keymap = KeyMap(QA, remapped)
    line = footer(keymap, width)
    assert line_width(line) <= width
    reminders = dict(re.findall(r"(\S+(?: \[)?) ([a-z]+)", text_of(line)))
    short = {action.short: action for action in ACTIONS if action.short}
    assert {"keys", "quit"} <= set(reminders.values()) <= set(short)
    for key, word in reminders.items():
        assert key.split()[0] == key_sign(keymap.keys_of[short[word].id][0])


async def test_the_palette_offers_every_action_and_nothing_else(study: Study) -> None:
    async with at_desk(study, "never") as person:
        commands = list(person.app.get_system_commands(person.app.screen))
        assert [command.title for command in commands] == [action.id.replace("_", " ") for action in ACTIONS]
        assert [command.help for command in commands] == [action.description for action in ACTIONS]


async def choose(person: Person, words: str) -> None:
    """Open the palette, type, take the first answer."""
    await person.press("ctrl+p")
    await person.type(words)
    await person.pilot.pause(0.4)
    await person.press("enter")
    await person.pilot.pause(0.2)


@pytest.mark.slow
async def test_a_palette_entry_does_what_its_key_does(study: Study) -> None:
    async with at_desk(study, "never", size=WIDE) as person:
        item = person.item
        await choose(person, "flag")
        assert person.labels[item].flagged
        await choose(person, "skip")
        assert person.labels[item].skipped
        assert person.item != item
        await choose(person, "undo")
        assert not person.labels[item].skipped
        await choose(person, "rubric")
        assert "Rubric: Question answering" in person.rows[0]


@pytest.mark.slow
async def test_the_palette_acts_in_the_review_when_it_was_opened_there(study: Study) -> None:
    async with at_desk(study, "block", size=WIDE) as person:
        for _ in range(10):
            await person.press("c")
        review = person.desk.review
        assert review is not None
        await choose(person, "skip")
        assert person.desk.review is review
        assert "skip" not in person.kinds
        await choose(person, "flag")
        assert person.labels[review.line.reading.item.item_id].flagged


async def test_remapped_keys_act_and_the_old_ones_do_not(study: Study) -> None:
    async with at_desk(study, "never", remapped=OTHER_KEYS) as person:
        item = person.item
        await person.press("s", "u", "n")
        assert person.events == []
        assert not person.desk_screen.prompt.is_open
        assert "; note" in person.rows[-1]
        await person.press("k")
        assert person.labels[item].skipped
        await person.press("ctrl+z")
        assert not person.labels[item].skipped
        await person.press("L")
        assert "2 / 20" in person.rows[0]
        await person.press(";", "a", "enter")
        assert person.label.note == "a"
