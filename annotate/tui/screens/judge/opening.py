"""The runs of judges over the desk: closed in mid-queue, as all that is about verdicts. The desk calls nobody."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import App

from annotate.desk.closed import closed_words
from annotate.desk.desk import Desk
from annotate.tui.screens.judge.runs import RunsState
from annotate.tui.screens.judge.runs_screen import JudgeRunsScreen
from store.judging import judge_runs


def open_judge_runs(app: App[object], desk: Desk, say: Callable[[str], None]) -> None:
    """Show the runs of judges, unless the annotator still labels or there are none."""
    study = desk.ledger.study
    if closed := closed_words(study, desk.annotator, desk.draw):
        say(closed)
    elif not (found := judge_runs(study)):
        say("no judge was run in this study yet: overread judge --screen")
    else:
        app.push_screen(JudgeRunsScreen(RunsState(found)), lambda _: None)
