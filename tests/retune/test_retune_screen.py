"""The retune screen over a real search: live, an item opened, stopped with everything kept, looked at afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from retune_studies import TASK
from scripted_models import JUDGE, REFLECTOR, Models
from textual.pilot import Pilot

from annotate.cli.retune import Work, live_state
from annotate.tui.retune_app import RetuneApp
from annotate.tui.screens.retune.item import RetuneItemScreen
from annotate.tui.screens.retune.opening import past_state
from judges.collect import task_definitions
from judges.retune.adapter import Settings
from judges.retune.halt import Halt, SearchStoppedError
from judges.retune.retune import Retune
from judges.retune.study_log import searches
from judges.setup import JudgeOptions, judge_prompt
from store.splits import openings_of
from store.study import Study
from tests.judging.chat_server import ChatServer, Reply, Request, serving
from tests.retune.test_retune import small_table


def work_of(study: Study, server: ChatServer, settings: Settings) -> Work:
    options = JudgeOptions(JUDGE, server.url, concurrency=8, logprobs=False)
    reflect = JudgeOptions(REFLECTOR, server.url, temperature=1.0, max_tokens=8192, format="text", logprobs=False)
    task = task_definitions(study)[TASK]
    return Work(Retune(study, task, judge_prompt(study, task), settings), options, reflect, None)


def app_of(work: Work) -> RetuneApp:
    halt = Halt()
    state, run = live_state(work, "the.lead", halt)
    return RetuneApp(state, run, halt)


def screen_of(app: RetuneApp) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def until(app: RetuneApp, pilot: Pilot[None], condition: Callable[[], Any]) -> None:
    for _ in range(6000):
        if condition():
            await pilot.pause()
            return
        await pilot.pause(0.01)
    raise AssertionError(screen_of(app))


@dataclass
class Slow:
    """Models that take their time until they are told not to."""

    models: Models
    delay: float = 0.2

    def __call__(self, request: Request) -> Reply:
        return replace(self.models(request), delay=self.delay)


@pytest.mark.slow
async def test_a_search_is_watched_stopped_gone_on_with_and_looked_at_afterwards(tmp_path: Path) -> None:
    models = Models()
    slow, settings = Slow(models), Settings(proposals=3, examples=0)
    with await asyncio.to_thread(small_table, tmp_path / "s.duckdb", 30) as study, serving(slow) as server:
        app = app_of(work_of(study, server, settings))
        async with app.run_test(size=(80, 24)) as pilot:
            await until(app, pilot, lambda: len(app.state.search.candidates) >= 2)
            await pilot.press("tab", "enter")
            await until(app, pilot, lambda: isinstance(app.screen, RetuneItemScreen))
            await until(app, pilot, lambda: "Discharge note" in screen_of(app))
            text = screen_of(app)
            assert "people" in text and "prompt" in text and "Claim" in text
            await pilot.press("q", "s")
            await until(app, pilot, lambda: app.state.over)
            text = screen_of(app)
            assert "The search was stopped." in text and "Every answer is kept." in text
            await pilot.press("q")
        assert isinstance(app.refusal, SearchStoppedError) and app.return_code == 0
        assert not openings_of(study, TASK), "the test stays sealed"
        paid, slow.delay = models.judged, 0.0

        app = app_of(work_of(study, server, settings))
        async with app.run_test(size=(140, 45)) as pilot:
            await until(app, pilot, lambda: app.state.over)
            text = screen_of(app)
            assert "promoted: better on the sealed test" in text and "test      " in text
            await pilot.press("q")
        assert app.result is not None and app.result.promoted
        assert app.result.tally.kept >= paid and max(models.prompts.values()) == 1, "nothing was paid for twice"

        asked = models.judged + models.reflected
        narrow = RetuneApp(past_state(study, task_definitions(study)[TASK], searches(study, TASK), "the.lead"))
        async with narrow.run_test(size=(80, 24)) as pilot:
            await until(narrow, pilot, lambda: "Candidates" in screen_of(narrow))
            await pilot.press("tab")
            await until(narrow, pilot, lambda: "✓ fixed" in screen_of(narrow))
            await pilot.press("q")
        past = RetuneApp(past_state(study, task_definitions(study)[TASK], searches(study, TASK), "the.lead"))
        async with past.run_test(size=(140, 45)) as pilot:
            await until(past, pilot, lambda: "Candidates" in screen_of(past))
            text = screen_of(past)
            assert "read only" in text and "promoted" in text and "+ - " in text
            await pilot.press("s", "?", "x", "q")
        assert models.judged + models.reflected == asked, "nobody is called"


@pytest.mark.slow
async def test_leaving_in_mid_search_stops_it_and_drops_what_is_on_its_way(tmp_path: Path) -> None:
    with (
        await asyncio.to_thread(small_table, tmp_path / "s.duckdb", 30) as study,
        serving(Models(), latency=0.3) as server,
    ):
        app = app_of(work_of(study, server, Settings(proposals=3, examples=0)))
        async with app.run_test() as pilot:
            await until(app, pilot, lambda: app.state.search.counts and app.state.search.counts.asked >= 8)
            await pilot.press("q", "q")
            await until(app, pilot, lambda: app.state.over)
        assert isinstance(app.refusal, SearchStoppedError)
        [kept] = study.rows("SELECT count(*) FROM answers")[0]
        assert 8 <= kept < 45, "what came before is kept, and no more is waited for"
