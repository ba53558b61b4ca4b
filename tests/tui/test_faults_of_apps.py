"""A fault of any app ends it: nothing is printed, the error is handed on, and what goes on beside it is ended."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from annotate.report.facts import gather
from annotate.report.options import ReportOptions
from annotate.tui.app import DeskApp
from annotate.tui.audit_app import AuditApp
from annotate.tui.base_app import OverreadApp
from annotate.tui.retune_app import RetuneApp
from annotate.tui.screens.judge.screen import JudgeApp, Watch
from annotate.tui.screens.retune.search import Search
from annotate.tui.screens.retune.state import RetuneState
from judges.collect import task_definitions
from judges.run import JudgeRun, RunResult, Scope
from judges.setup import chat_backend, make_askers, make_budget
from store.study import Study, now
from tests.commands import ROOT
from tests.desk.desk_studies import sit
from tests.hygiene.source_rules import source_files
from tests.judging.chat_server import ChatServer, always, serving
from tests.judging.conftest import make_study, rows
from tests.judging.judge_runs import fates, options

SECRET = "Martin takes 500 mg"


class PatientError(Exception):
    """A fault whose message is an item's text."""


def crash() -> None:
    patient = SECRET
    raise PatientError(patient)


async def crash_awaited() -> None:
    crash()


PLACES: dict[str, Callable[[App[Any]], object]] = {
    "message": lambda app: app.call_later(crash),
    "timer": lambda app: app.screen.set_timer(0.01, crash),
    "thread": lambda app: app.run_worker(crash, thread=True),
    "worker": lambda app: app.run_worker(crash_awaited()),
}


def desk_app(study: Study) -> OverreadApp[Any]:
    return DeskApp(sit(study, "never"), "halumem", {})


def audit_app(study: Study) -> OverreadApp[Any]:
    return AuditApp(gather(study, ReportOptions(made_at=now())))


async def nothing(watch: Watch) -> Sequence[RunResult]:
    return []


def judge_app(study: Study) -> OverreadApp[Any]:
    return JudgeApp(nothing)


def retune_app(study: Study) -> OverreadApp[Any]:
    task = next(iter(task_definitions(study).values()))
    return RetuneApp(RetuneState(study, task, {}, past=[Search("r", "2026-03-01")]))


APPS = {"desk": desk_app, "audit": audit_app, "judge": judge_app, "retune": retune_app}


async def until(app: OverreadApp[Any]) -> None:
    """Wait until the fault has come."""
    for _ in range(1000):
        if app.fault is not None:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no fault came")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("desk", "thread"),
        ("audit", "message"),
        ("audit", "thread"),
        ("judge", "timer"),
        ("judge", "worker"),
        ("retune", "timer"),
    ],
)
async def test_a_fault_is_handed_on_and_prints_nothing(
    study: Study, name: str, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    app = await asyncio.to_thread(APPS[name], study)
    with pytest.raises(PatientError):
        async with app.run_test() as pilot:
            await pilot.pause()
            PLACES[place](app)
            await until(app)
    assert isinstance(app.fault, PatientError)
    assert app.fault.__traceback__ is not None, "its place can be named"
    assert app._exit_renderables == []
    said = capfd.readouterr()
    assert SECRET not in said.out + said.err


def test_every_app_is_one_that_ends_well() -> None:
    """Nothing but the base is made of Textual's own app, whose account of a fault shows an item's text."""
    others = [
        f"{file.relative_to(ROOT)}: {node.name}"
        for file in source_files(ROOT, "annotate")
        if file.name != "base_app.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).split("[")[0] == "App" for base in node.bases)
    ]
    assert others == []


def judging(study: Study, server: ChatServer) -> Callable[[Watch], Awaitable[Sequence[RunResult]]]:
    given = options(server, concurrency=4)

    async def work(watch: Watch) -> Sequence[RunResult]:
        backend = chat_backend(given)
        try:
            asker = make_askers(study, [task_definitions(study)["qa"]], given, backend, make_budget(given))[0]
            return [await watch(JudgeRun(study, asker, Scope("qa", concurrency=given.concurrency)))]
        finally:
            await backend.close()

    return work


async def test_a_fault_in_mid_run_ends_the_run_and_keeps_what_was_answered(tmp_path: Path) -> None:
    path = await asyncio.to_thread(make_study, tmp_path, rows(80))
    with Study.open(path) as study, serving(always("CORRECT"), latency=0.05) as server:
        app = JudgeApp(judging(study, server))
        with pytest.raises(PatientError):
            async with app.run_test() as pilot:
                while app.view.run is None or app.view.run.state.done < 8:
                    await pilot.pause(0.01)
                app.call_later(crash)
                await until(app)
        [result] = app.results
        assert result.outcome == "stopped"
        assert fates(study) == {"CORRECT": result.state.judged}
        assert 8 <= result.state.judged < 80
