"""The judge screen: what it shows while a run goes on, and that its keys stop the run in good order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotate.tui.screens.judge.screen import JudgeApp, Watch
from annotate.tui.widgets.spans import text_of
from judges.collect import task_definitions
from judges.run import JudgeRun, RunResult, Scope
from judges.setup import chat_backend, make_askers, make_budget
from store.study import Study
from tests.judging.chat_server import ChatServer, Reply, Request, always, completion, serving
from tests.judging.conftest import make_study, rows
from tests.judging.judge_runs import fates, options


def app_of(study: Study, server: ChatServer, **more: Any) -> JudgeApp:
    given = options(server, **more)

    async def work(watch: Watch) -> Sequence[RunResult]:
        backend = chat_backend(given)
        try:
            asker = make_askers(study, [task_definitions(study)["qa"]], given, backend, make_budget(given))[0]
            return [await watch(JudgeRun(study, asker, Scope("qa", concurrency=given.concurrency)))]
        finally:
            await backend.close()

    return JudgeApp(work)


def shown(app: JudgeApp) -> str:
    return "\n".join(text_of(line) for line in app.view.lines())


async def until(app: JudgeApp, pilot: Any, condition: Any) -> None:
    for _ in range(2000):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError(shown(app))


@pytest.mark.parametrize("size", [(80, 24), (140, 45)])
async def test_it_shows_verdicts_failures_calls_and_money(tmp_path: Path, size: tuple[int, int]) -> None:
    def script(request: Request) -> Reply:
        return Reply(completion("no verdict \x1b[31m")) if "Question 3?" in request.text else always("CORRECT")(request)

    with Study.open(await asyncio.to_thread(make_study, tmp_path, rows(12))) as study, serving(script) as server:
        app = app_of(study, server, max_cost=2.0)
        async with app.run_test(size=size) as pilot:
            await until(app, pilot, lambda: app.view.over)
            text = shown(app)
            assert "qa, judged by gpt-4o   done" in text and "11 of 12" in text
            assert "failures  1 malformed" in text and "$0.0420 of $2.00" in text
            await pilot.press("q")
        assert app.results[0].outcome == "done"


async def test_s_stops_and_what_was_on_its_way_is_stored(tmp_path: Path) -> None:
    study_file = await asyncio.to_thread(make_study, tmp_path, rows(80))
    with Study.open(study_file) as study, serving(always("CORRECT"), latency=0.05) as server:
        app = app_of(study, server, concurrency=4)
        async with app.run_test() as pilot:
            await until(app, pilot, lambda: app.view.run is not None and app.view.run.state.done >= 8)
            assert "/s" in shown(app) and "of 80" in shown(app)
            await pilot.press("s")
            assert app.view.stopping
            await until(app, pilot, lambda: app.view.over)
        [result] = app.results
        assert result.outcome == "stopped"
        assert fates(study) == {"CORRECT": result.state.judged} and server.count == result.state.judged < 80


async def test_q_stops_and_leaves(tmp_path: Path) -> None:
    study_file = await asyncio.to_thread(make_study, tmp_path, rows(80))
    with Study.open(study_file) as study, serving(always("CORRECT"), latency=0.05) as server:
        app = app_of(study, server, concurrency=4)
        async with app.run_test() as pilot:
            await until(app, pilot, lambda: app.view.run is not None and app.view.run.state.done >= 4)
            await pilot.press("q")
            await until(app, pilot, lambda: app.view.over)
        assert app.results[0].outcome == "stopped"


async def test_a_server_that_cannot_be_used_is_told_on_the_screen(tmp_path: Path) -> None:
    study_file = await asyncio.to_thread(make_study, tmp_path, rows(4))
    refusing = Reply({"error": {"message": "bad \x1b]0;key"}}, 401)
    with Study.open(study_file) as study, serving(lambda request: refusing) as server:
        app = app_of(study, server)
        async with app.run_test() as pilot:
            await until(app, pilot, lambda: app.view.over)
            assert "valid key" in shown(app) and "\x1b" not in shown(app)
