"""Runs of judges and searches for prompts, from the desk: closed in mid-queue, read only, back to the desk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotate.tui.screens.judge import runs
from annotate.tui.screens.judge.runs import RunsState
from annotate.tui.screens.judge.runs_screen import JudgeRunsScreen
from annotate.tui.screens.retune.screen import RetuneScreen
from annotate.tui.widgets.spans import line_width, text_of
from judges.retune import study_log
from judges.retune.adapter import Candidate
from store.judging import StoredRun, begin_run, end_run, judge_runs
from store.study import Study
from tests.desk.desk_studies import make_study, press, qa, sit
from tests.tui.desk_pilot import NARROW, Person, at_desk

COUNTS: dict[str, Any] = {
    "slots": 20, "before": 3, "judged": 10, "linked": 2, "given": 1, "left": 3, "failures": {"malformed": 1},
    "requests": 14, "tokens_in": 14000, "tokens_out": 1400, "cost": 0.042, "cap": 2.0, "flagged": 1,
    "changes": [{"judge": "gpt-4o-2"}],
}  # fmt: skip


def a_run(outcome: str = "done", counts: dict[str, Any] | None = None) -> StoredRun:
    settings = {"model": "gpt-4o", "which": "all"}
    return StoredRun("r", "qa", "gpt\x1b[31m", settings, "2026-03-01 10:00:00+00", "", outcome, counts or {}, 7)


def test_a_run_is_told_with_failures_calls_and_money_against_the_cap() -> None:
    text = "\n".join(map(text_of, runs.run_lines(a_run(counts=COUNTS))))
    for words in ("13 of 20, 3 before, 3 left", "14   tokens 14,000 in", "$0.0420 of $2.00", "1 malformed", "gpt-4o-2"):
        assert words in text
    assert "\x1b" not in text and "10 judged   2 same input   1 without a call" in text
    searched = "\n".join(map(text_of, runs.run_lines(a_run(counts={**COUNTS, "kept": 2, "left": 1}))))
    assert "15 of 20" in searched and "10 judged   2 kept from a search   2 same input" in searched
    killed = "\n".join(map(text_of, runs.run_lines(a_run(""))))
    assert "did not end" in killed and "7 answers" in killed


def test_the_list_shows_the_run_in_hand_in_whatever_room() -> None:
    state = RunsState([a_run("done" if n % 2 else "cap") for n in range(30)])
    state.move(99)
    rows = runs.list_rows(state, 5, 60)
    assert len(rows) == 5 and text_of(rows[-1]).startswith("▶ ✓") and text_of(rows[-2]).startswith("  $")
    assert max(map(line_width, rows)) <= 60
    assert state.place == 29


async def settle(person: Person) -> None:
    for _ in range(20):
        await person.pilot.pause(0.01)


@pytest.mark.slow
async def test_closed_in_mid_queue_open_when_done(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa("Omission") for _ in range(3)]) as study:
        async with at_desk(study, "never") as person:
            await person.press("c")
            for key in ("f4", "f5"):
                await person.press(key)
                assert "closed until your queue is done (1 of 3 labelled)" in person.message
        finish(study)
        async with at_desk(study, "never", size=NARROW) as person:
            await person.press("f4")
            assert "no judge was run" in person.message
            await person.press("f5")
            assert "no searches" in person.message
            note_work(study)
            await person.press("f4")
            await settle(person)
            assert isinstance(person.app.screen, JudgeRunsScreen)
            assert "▶ ✓" in person.screen and "$0.0420 of $2.00" in person.screen
            await person.press("q", "f5")
            await settle(person)
            assert isinstance(person.app.screen, RetuneScreen)
            assert "present prompt  val 0.750" in person.screen and "read only" in person.rows[0]
            await person.press("q")
            assert person.app.screen is person.app.label_screen and person.app.is_running
        assert judge_runs(study)[0].judge == "j"


def finish(study: Study) -> None:
    desk = sit(study, "never")
    while desk.phase != "done":
        press(desk, "c")
        desk.confirm()


def note_work(study: Study) -> None:
    """A run of a judge and a search, as the commands leave them."""
    begin_run(study, "r1", "qa", "j", {"model": "gpt-4o"}, "2026-03-01T10:00:00+00:00")
    end_run(study, "r1", "done", COUNTS, "2026-03-01T10:05:00+00:00")
    study_log.begin(study, "s1", "qa", {"model": "gpt-4o", "reflect_model": "r"}, "2026-03-01T11:00:00+00:00")
    base = Candidate(0, {"en": "Compare."}, (), "base", 0.75, {}, None)
    study_log.note_candidate(study, "s1", "qa", base, "v0", 0.0, "2026-03-01T11:01:00+00:00")
