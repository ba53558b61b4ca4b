"""The audit and the disagreements on the screen, from the desk and on their own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from annotate.report.facts import gather
from annotate.report.options import ReportOptions
from annotate.tui.audit_app import AuditApp, facts_for
from annotate.tui.screens.audit.screen import AuditScreen
from annotate.tui.screens.disagreements.screen import DisagreementsScreen
from store.study import Study, now
from tests.desk.desk_studies import ANNOTATOR, make_study, press, qa, sit
from tests.tui.desk_pilot import NARROW, WIDE, Person, at_desk

HOSTILE = "[bold]no[/] \x1b[31mred\u202e"


def finish(study: Study) -> None:
    """Label all twenty Correct: thirteen verdicts differ, of which some stay hidden."""
    desk = sit(study, "item")
    while desk.phase != "done":
        press(desk, "c")
        desk.confirm()


async def until(pilot: Pilot[None], person: Person, screen: type) -> None:
    for _ in range(200):
        await pilot.pause(0.05)
        if isinstance(person.app.screen, screen):
            await pilot.pause(0.05)
            return
    raise AssertionError(f"{screen.__name__} does not open:\n{person.screen}")


async def test_closed_in_mid_queue(study: Study) -> None:
    async with at_desk(study, "item") as person:
        await person.press("c", "enter")
        await person.press("f2")
        assert "closed until your queue is done (1 of 20 labelled)" in person.message
        await person.press("f3")
        assert "closed until your queue is done" in person.message
        assert not isinstance(person.app.screen, AuditScreen)


@pytest.mark.slow
async def test_open_when_done_without_what_stays_hidden(study: Study) -> None:
    finish(study)
    async with at_desk(study, "item", size=WIDE) as person:
        await person.press("f2")
        await until(person.pilot, person, AuditScreen)  # type: ignore[arg-type]
        assert "The judge" in person.screen
        assert "Threshold" in person.screen
        await person.press("d")
        await until(person.pilot, person, DisagreementsScreen)  # type: ignore[arg-type]
        head = person.rows[0]
        shown = int(head.split()[0])
        hidden = int(head.split(", ")[1].split()[0])
        kept = sum(person.desk.ledger.stays_hidden(item.item_id) for item in person.desk.queue.items)
        assert shown + hidden == 13
        assert 0 < hidden <= kept
        assert "He likes Labradors." in person.screen
        await person.press("down", "q", "q")
        assert person.app.screen is person.app.label_screen


@pytest.mark.slow
@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_on_its_own_with_hostile_texts(tmp_path: Path, size: tuple[int, int]) -> None:
    specs = [qa("Correct" if n % 3 else "Omission", question=f"{HOSTILE} {n}", response=HOSTILE) for n in range(30)]
    with make_study(tmp_path / "s.duckdb", specs) as study:
        desk = sit(study, "never")
        while desk.phase != "done":
            press(desk, "c")
            desk.confirm()
        facts = gather(study, ReportOptions(made_at=now()))
        app = AuditApp(facts_for(facts, "the.lead"))
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            text = screen_of(app)
            assert "Audit: Question answering" in text.splitlines()[0]
            assert "d disagreements" in text
            await pilot.press("d")
            await pilot.pause()
            text = screen_of(app)
            assert "10 disagreements" in text.splitlines()[0]
            assert "1 / 10" in text
            assert "[bold]no[/]" in text
            assert "\x1b" not in text
            assert "\u202e" not in text
            await pilot.press("down", "down", "end")
            await pilot.pause()
            assert "10 / 10" in screen_of(app)
            await pilot.press("q", "q")
            await asyncio.sleep(0)
        assert app.return_code == 0
        seen = gather(study, ReportOptions(made_at=now()))
        assert len(facts_for(seen, ANNOTATOR).options.hidden) == 30


def screen_of(app: AuditApp) -> str:
    """What is on the screen."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())
