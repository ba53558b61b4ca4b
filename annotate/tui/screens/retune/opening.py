"""Past searches for a better prompt, read only: what the screen shows of them, and the way there from the desk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import App

from annotate.desk.closed import closed_words, hidden_from
from annotate.desk.desk import Desk
from annotate.tui.screens.retune.screen import RetuneScreen
from annotate.tui.screens.retune.search import past_search
from annotate.tui.screens.retune.state import RetuneState
from judges.benchmarks.benchmark import TaskDefinition
from judges.collect import task_definitions
from judges.retune.items import tune_items
from judges.retune.study_log import SearchLog, searches
from store.splits import current_split, split_items
from store.study import Study


def past_state(study: Study, task: TaskDefinition, logs: Sequence[SearchLog], who: str) -> RetuneState:
    """What the screen shows of a task's searches that the study holds, the newest in hand."""
    split = current_split(study, task.task)
    val = tune_items(study, split_items(study, split.split_id), "val", task.values) if split is not None else []
    items = {one.item_id: one for one in val}
    shown = [past_search(log) for log in logs]
    return RetuneState(study, task, items, hidden_from(study, who), shown, place=len(shown) - 1)


def open_retunes(app: App[object], desk: Desk, say: Callable[[str], None]) -> None:
    """Show the searches of the task that was searched last, unless the annotator still labels or there are none."""
    study, who = desk.ledger.study, desk.annotator
    if closed := closed_words(study, who, desk.draw):
        say(closed)
        return
    tasks, logs = task_definitions(study), searches(study)
    if not logs or logs[-1].task not in tasks:
        say("there are no searches for a better prompt in this study yet: overread retune")
        return
    task = tasks[logs[-1].task]
    state = past_state(study, task, [log for log in logs if log.task == task.task], who)
    app.push_screen(RetuneScreen(state), lambda _: None)
