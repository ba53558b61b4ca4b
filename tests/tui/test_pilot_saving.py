"""When a label cannot be made safe the desk stays and says NOT SAVED; trying again stores it exactly once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

from store.errors import SaveError
from store.study import Study
from tests.tui.desk_pilot import at_desk


@contextmanager
def journal_unwritable(study: Study) -> Iterator[None]:
    """The journal's file cannot be written: its descriptor is one that is open for reading only."""
    journal = study._journal
    kept = os.dup(journal._descriptor)
    reading = os.open(journal.path, os.O_RDONLY)
    os.dup2(reading, journal._descriptor)
    os.close(reading)
    try:
        yield
    finally:
        os.dup2(kept, journal._descriptor)
        os.close(kept)


@contextmanager
def database_refusing(study: Study, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The study file refuses every write, as a full disk does; the journal takes it."""

    def refuse(*arguments: object) -> None:
        raise duckdb.IOException("IO Error: Could not write file: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("store.recorder.apply_entries", refuse)
        patch.setattr("store.recorder.apply_missing", refuse)
        yield


async def test_a_failed_save_blocks_and_r_stores_exactly_once(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.go_to(hidden=False)
        item = person.item
        with journal_unwritable(study):
            await person.press("c")
            assert "NOT SAVED" in person.screen
            assert person.item == item
            assert person.labels == {}
            await person.press("h", "enter", "n", "escape", "right", "u")
            assert "NOT SAVED" in person.screen
            await person.press("r")
            assert "NOT SAVED" in person.screen
            assert person.labels == {}
        await person.press("r")
        assert "NOT SAVED" not in person.screen
        assert person.kinds == ["label", "reveal"]
        assert person.labels[item].value == "Correct"
        assert "✓ saved" in person.screen
        assert person.message == "saved: Correct"


async def test_q_leaves_without_claiming_that_it_was_saved(study: Study) -> None:
    async with at_desk(study, "never") as person:
        await person.press("c")
        with journal_unwritable(study):
            await person.press("o", "q")
            await person.pilot.pause()
        assert isinstance(person.app.return_value, SaveError)
        assert not person.app.return_value.journaled
        assert person.kinds == ["label"]


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+q"])
async def test_leaving_by_control_keys_over_the_dialog_claims_nothing_either(study: Study, key: str) -> None:
    async with at_desk(study, "never") as person:
        with journal_unwritable(study):
            await person.press("o", key)
            await person.pilot.pause()
        assert isinstance(person.app.return_value, SaveError)
        assert person.events == []


async def test_what_only_the_journal_has_is_completed_once_by_trying_again(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        with database_refusing(study, monkeypatch):
            await person.press("c")
            assert "NOT IN THE STUDY YET: the journal has it" in person.screen
            assert "NOT SAVED" not in person.screen
            assert person.item == item
            await person.press("r")
            assert "the journal has it" in person.screen
        await person.press("r")
        assert person.kinds == ["label"]
        assert person.item != item
        await person.press("h")
        assert person.kinds == ["label", "label"]


async def test_a_note_that_could_not_be_saved_is_not_lost(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press("n")
        await person.type("a long thought")
        with journal_unwritable(study):
            await person.press("enter")
            assert "NOT SAVED" in person.screen
        await person.press("r")
        assert person.labels[item].note == "a long thought"
        assert person.kinds == ["mark"]


@pytest.mark.slow
async def test_leaving_with_an_open_note_that_cannot_be_saved_asks_first(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        await person.press("n")
        await person.type("last words")
        with journal_unwritable(study):
            await person.press("ctrl+c")
            assert "NOT SAVED" in person.screen
            assert person.app.is_running
        await person.press("r")
        await person.pilot.pause()
        assert person.labels[item].note == "last words"
        assert person.app.return_value is None
        assert not person.app.is_running


async def test_a_failed_save_in_a_review_blocks_there(study: Study) -> None:
    async with at_desk(study, "block") as person:
        for _ in range(10):
            await person.press("c")
        review = person.desk.review
        assert review is not None
        item = review.line.reading.item.item_id
        with journal_unwritable(study):
            await person.press("o")
            assert "NOT SAVED" in person.screen
            assert (review.place, person.labels[item].value) == (0, "Correct")
        await person.press("r")
        assert (review.place, person.labels[item].value) == (1, "Omission")
        assert person.kinds.count("revise") == 1


async def test_a_failed_undo_can_be_tried_again_and_undoes_once(study: Study) -> None:
    async with at_desk(study, "never") as person:
        first = person.item
        await person.press("c", "o")
        with journal_unwritable(study):
            await person.press("u")
            assert "NOT SAVED" in person.screen
        await person.press("r")
        assert person.kinds == ["label", "label", "undo"]
        assert person.labels[first].value == "Correct"


async def test_twice_r_in_one_burst_is_harmless(study: Study) -> None:
    async with at_desk(study, "never") as person:
        with journal_unwritable(study):
            await person.press("c")
        await person.type("rrr")
        assert person.kinds == ["label"]
        assert person.app.is_running


async def test_keys_typed_ahead_of_the_dialog_neither_label_nor_leave(study: Study) -> None:
    async with at_desk(study, "never") as person:
        item = person.item
        person.clock.wait(1)
        with journal_unwritable(study):
            await person.type("cqhrnu")
            assert "NOT SAVED" in person.screen
            assert person.app.is_running
        await person.press("r")
        assert person.kinds == ["label"]
        assert person.labels[item].value == "Correct"
