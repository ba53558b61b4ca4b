"""Sitting down: which draw, under which policy, and the desk over it."""

from __future__ import annotations

import datetime as dt
import math
import secrets
import time
import unicodedata
from collections.abc import Callable, Sequence

from annotate.desk.desk import Desk
from annotate.desk.past import round_of
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import takes_labels
from judges.calibration.sampling import NEVER_SHOWN_SHARE, Candidate, two_stage_order
from judges.made_draws import MADE_BY, extended
from judges.made_draws import find_draw as named_draw
from judges.settled import is_practice, not_to_practise, practised_items
from store.draws import Draw, DrawnItem, RevealPolicy, add_draw, drawn_items, list_draws
from store.errors import UsageError
from store.events import DECIDED
from store.study import Study, now
from store.tasks import current_tasks

STRICTNESS: dict[RevealPolicy, int] = {"assisted": 0, "item": 1, "block": 2, "never": 3}
"""On an existing draw a policy may only be tightened."""


_NO_PRACTICE = "They labelled its items before, or have them in a queue that they have begun: practice comes first."


def task_definitions(study: Study) -> dict[str, tuple[TaskDefinition, str]]:
    """The tasks the desk can take labels of, in the benchmark's order: name → (definition, version)."""
    found = {t.task: (TaskDefinition.from_json(t.definition), t.version) for t in current_tasks(study)}
    return {name: task for name, task in found.items() if takes_labels(task[0])}


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
            f"Leave --mode out, or make a draw for it: overread sample --n N --reveal {wanted}",
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
        raise UsageError(what, "", "overread import FILE")
    chosen = secrets.randbits(31) if seed is None else seed
    places = two_stage_order([Candidate(*row) for row in rows], chosen)
    design = "two_stage" if any(row[1] for row in rows) else "simple"
    draw = Draw(
        draw_id=secrets.token_hex(8), task=task, stream="estimate", design=design, reveal=reveal, seed=chosen,
        created_by=created_by, at=now().astimezone(dt.UTC).isoformat(timespec="seconds"),
        settings={"never_shown": NEVER_SHOWN_SHARE, "order": "groups at random, served prefix counts"},
    )  # fmt: skip
    add_draw(study, draw, [DrawnItem(place.item_id, place.group_number) for place in places])
    return draw


def find_draw(study: Study, task: str, annotator: str = "") -> Draw | None:
    """The draw to serve: the oldest that `sample` made and that still has items for this person.

    Else the newest that `label` made (of this task before one of all), else the newest that `sample` made, finished as
    it is. A draw that a later one continues is served as that one.
    """
    draws = list_draws(study)
    continued = extended(draws)
    fitting = [draw for draw in draws if draw.task in ("", task) and draw.draw_id not in continued]
    asked = [draw for draw in fitting if draw.settings.get("made_by") == MADE_BY]
    own = [draw for draw in fitting if draw not in asked]
    own = [draw for draw in own if draw.task == task] or own
    for draw in asked:
        if has_open_items(study, draw, task, annotator):
            return draw
    if own:
        return own[-1]
    return next((draw for draw in reversed(asked) if items_for(study, draw, task, annotator)), None)


def has_open_items(study: Study, draw: Draw, task: str, annotator: str) -> bool:
    """Whether this person has items of a draw (and task) left to label."""
    items = {item.item_id for item in items_for(study, draw, task, annotator)}
    return bool(items - labelled_items(study, annotator, round_of(draw)))


def items_for(study: Study, draw: Draw, task: str, annotator: str) -> Sequence[DrawnItem]:
    """The items of a draw that a person is served: of tasks with keys, of repeats those they labelled blind, for
    practice those that are no work of theirs, and nothing of it again elsewhere."""
    items: Sequence[DrawnItem] = drawn_items(study, draw.draw_id)
    tasks = [task] if task else list(task_definitions(study))
    if not draw.task and set(tasks) != {row[0] for row in study.rows("SELECT DISTINCT task FROM current_items")}:
        marks = ", ".join("?" for _ in tasks)
        wanted = {row[0] for row in study.rows(f"SELECT item_id FROM current_items WHERE task IN ({marks})", tasks)}
        items = [item for item in items if item.item_id in wanted]
    if draw.stream == "check":
        mine = labelled_items(study, annotator, 0)
        items = [one for one in items if one.item_id in mine and study.exposure(annotator, one.item_id) == "blind"]
    known = practised_items(study, annotator) if not is_practice(draw) else not_to_practise(study, annotator, draw)
    return [one for one in items if one.item_id not in known] if known else items


def labelled_items(study: Study, annotator: str, round_number: int) -> set[str]:
    """Items a person has labelled in a round, on their current content."""
    rows = study.rows(
        f"""SELECT item_id FROM current_labels JOIN (SELECT item_id, content_hash FROM current_items)
            USING (item_id, content_hash)
        WHERE annotator = ? AND round = ? AND {DECIDED}""",
        [annotator, round_number],
    )
    return {row[0] for row in rows}


def sit_down(
    study: Study,
    annotator: str,
    *,
    task: str = "",
    mode: RevealPolicy | None = None,
    seed: int | None = None,
    minutes: float | None = None,
    draw: str = "",
    clock: Callable[[], float] = time.monotonic,
) -> Desk:
    """The desk for a person: on the draw that is there, or on one made now (policy `item` unless said otherwise).

    Args:
        draw: the beginning of a draw's id; "" for the one that `find_draw` finds.

    Raises:
        UsageError: unknown task or draw, nothing to draw, a policy that would loosen the draw's, a seed for an old
            draw, or a name, seed or time that cannot be one.
    """
    annotator = annotator_name(annotator)
    if minutes is not None and not 0 < minutes < math.inf:
        raise UsageError(f"A sitting cannot last {minutes:g} minutes.", "", "Say a number above 0, as in --minutes 60")
    if seed is not None and not 0 <= seed < 2**63:
        raise UsageError(f"{seed} cannot be a seed.", "", "Say a whole number from 0 to 9223372036854775807.")
    tasks = task_definitions(study)
    if task and task not in tasks:
        raise UsageError(f"There is no task {task!r}.", f"Tasks of this study: {', '.join(tasks)}.")
    chosen = named_draw(study, draw) if draw else find_draw(study, task, annotator)
    if chosen is None:
        chosen = make_draw(study, task, mode or "item", seed, annotator)
    elif seed is not None and seed != chosen.seed:
        raise UsageError(f"This study has a draw with seed {chosen.seed} already.", "", "Leave --seed out.")
    items = items_for(study, chosen, task, annotator)
    if draw and not items:
        what = f"task {task!r}" if task else "this annotator"
        raise UsageError(
            f"Draw {chosen.draw_id} has no items for {what}.",
            _NO_PRACTICE if chosen.stream == "practice" and not task else "", "overread status lists the draws.",
        )  # fmt: skip
    return Desk(study, annotator, chosen, items, tasks, policy=tightened(chosen, mode), minutes=minutes, clock=clock)
