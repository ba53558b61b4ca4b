"""Sitting down: which draw, under which policy, and the desk over it."""

from __future__ import annotations

import datetime as dt
import math
import secrets
import time
import unicodedata
from collections.abc import Callable, Sequence

from annotate.desk.desk import Desk
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import Decision, decisions_of
from judges.calibration.sampling import NEVER_SHOWN_SHARE, Unit, two_stage_order
from store.draws import Draw, DrawnItem, RevealPolicy, add_draw, drawn_items, list_draws
from store.errors import UsageError
from store.study import Study, now
from store.tasks import current_tasks

STRICTNESS: dict[RevealPolicy, int] = {"assisted": 0, "item": 1, "block": 2, "never": 3}
"""On an existing draw a policy may only be tightened."""


def task_definitions(study: Study) -> dict[str, tuple[TaskDefinition, str]]:
    """The tasks the desk can take labels of, in the benchmark's order: name → (definition, version)."""
    found = {t.task: (TaskDefinition.from_json(t.definition), t.version) for t in current_tasks(study)}
    return {name: task for name, task in found.items() if takes_labels(task[0])}


def takes_labels(task: TaskDefinition) -> bool:
    """Whether every required decision of a task can be given: a choice has labels, a grid labels and columns and a
    field of rows, a ranking a field of entries."""
    return all(_can_be_given(decision) for decision in decisions_of(task) if decision.required)


def _can_be_given(decision: Decision) -> bool:
    has = {
        "choice": bool(decision.labels), "number": decision.low < decision.high, "ranking": bool(decision.rows_field),
        "checklist": bool(decision.labels and decision.columns and decision.rows_field),
    }  # fmt: skip
    return has[decision.kind]


def tightened(draw: Draw, wanted: RevealPolicy | None) -> RevealPolicy:
    """The policy to label under.

    Raises:
        UsageError: the wish would loosen the draw's own policy.
    """
    if wanted is None or wanted == draw.reveal:
        return draw.reveal
    if STRICTNESS[wanted] < STRICTNESS[draw.reveal]:
        raise UsageError(
            f"This draw shows verdicts by policy {draw.reveal!r}; {wanted!r} would show more.",
            "A draw's policy may only be tightened, or labels given under it would not compare.",
            "Leave --mode out.",
        )
    return wanted


def annotator_name(given: str) -> str:
    """A person's name as it is stored with every label.

    Raises:
        UsageError: it is empty, or holds what is no printable character.
    """
    name = unicodedata.normalize("NFC", given).strip()
    if not name or not name.isprintable():
        raise UsageError(
            "The annotator's name is empty or holds characters that cannot be printed." , "",
            "Say who labels, as in --annotator dr.li",
        )  # fmt: skip
    return name


def make_draw(study: Study, task: str, reveal: RevealPolicy, seed: int | None, created_by: str) -> Draw:
    """Draw all items (of a task), groups that share a long text together, in seeded random order; stream estimate.

    Raises:
        UsageError: there is nothing to draw.
    """
    where, parameters = ("WHERE task = ?", [task]) if task else ("", [])
    rows = study.rows(f"SELECT item_id, group_key FROM current_items {where}", parameters)
    if not rows:
        what = f"The study has no items of task {task!r}." if task else "The study has no items."
        raise UsageError(what, "", f"overread --study {study.path.name} import FILE")
    chosen = secrets.randbits(31) if seed is None else seed
    places = two_stage_order([Unit(*row) for row in rows], chosen)
    design = "two_stage" if any(row[1] for row in rows) else "simple"
    draw = Draw(
        draw_id=secrets.token_hex(8), task=task, stream="estimate", design=design, reveal=reveal, seed=chosen,
        created_by=created_by, at=now().astimezone(dt.UTC).isoformat(timespec="seconds"),
        settings={"never_shown": NEVER_SHOWN_SHARE, "order": "groups at random, served prefix counts"},
    )  # fmt: skip
    add_draw(study, draw, [DrawnItem(place.item_id, place.group_number) for place in places])
    return draw


def find_draw(study: Study, task: str) -> Draw | None:
    """The newest draw that covers the task (or all tasks)."""
    fitting = [draw for draw in list_draws(study) if draw.task in ("", task)]
    exact = [draw for draw in fitting if draw.task == task]
    candidates = exact or fitting
    return candidates[-1] if candidates else None


def sit_down(
    study: Study,
    annotator: str,
    *,
    task: str = "",
    mode: RevealPolicy | None = None,
    seed: int | None = None,
    minutes: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Desk:
    """The desk for a person: on the draw that is there, or on one made now (policy `item` unless said otherwise).

    Raises:
        UsageError: unknown task, nothing to draw, a policy that would loosen the draw's, a seed for an old draw, or a
            name, seed or time that cannot be one.
    """
    annotator = annotator_name(annotator)
    if minutes is not None and not 0 < minutes < math.inf:
        raise UsageError(f"A sitting cannot last {minutes:g} minutes.", "", "Say a number above 0, as in --minutes 60")
    if seed is not None and not 0 <= seed < 2**63:
        raise UsageError(f"{seed} cannot be a seed.", "", "Say a whole number from 0 to 9223372036854775807.")
    tasks = task_definitions(study)
    if task and task not in tasks:
        raise UsageError(f"There is no task {task!r}.", f"Tasks of this study: {', '.join(tasks)}.")
    draw = find_draw(study, task)
    if draw is None:
        draw = make_draw(study, task, mode or "item", seed, annotator)
    elif seed is not None and seed != draw.seed:
        raise UsageError(f"This study has a draw with seed {draw.seed} already.", "", "Leave --seed out.")
    items: Sequence[DrawnItem] = drawn_items(study, draw.draw_id)
    chosen = [task] if task else list(tasks)
    if not draw.task and set(chosen) != {row[0] for row in study.rows("SELECT DISTINCT task FROM current_items")}:
        marks = ", ".join("?" for _ in chosen)
        wanted = {row[0] for row in study.rows(f"SELECT item_id FROM current_items WHERE task IN ({marks})", chosen)}
        items = [item for item in items if item.item_id in wanted]
    return Desk(study, annotator, draw, items, tasks, policy=tightened(draw, mode), minutes=minutes, clock=clock)
