"""The frame of a draw: which items may be drawn, in which stratum each lies, and what must be read with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from judges.benchmarks.decisions import takes_labels
from judges.calibration.sampling import Candidate
from judges.collect import slices_of_verdicts, task_definitions, verdict_slices
from judges.frozen_plan import excluded_items, frozen_plan
from store.errors import UsageError
from store.items import count_items, judges, systems
from store.study import Study

Together = Literal["items", "texts", "clusters"]
"""What is drawn in the first stage: single items, the texts that items share, or the benchmark's clusters."""

COLUMNS_TO_STRATIFY = ("task", "system", "verdict")
"""What `by` may name beside the slices of the items."""


class FrameItem(NamedTuple):
    """An item that may be drawn. `stratum` is "" where there is one only."""

    item_id: str
    task: str
    system: str
    group: str
    cluster: str
    pair: str
    stratum: str


class Unit(NamedTuple):
    """What is drawn: an item, or the items that several systems have for one question."""

    candidate: Candidate
    members: tuple[str, ...]


def drawable_tasks(study: Study, task: str = "") -> list[str]:
    """The tasks that people can label and that have items; or the one named.

    Raises:
        UsageError: there is none, or the one named cannot be labelled.
    """
    counts, definitions = count_items(study), task_definitions(study)
    found = [name for name, definition in definitions.items() if takes_labels(definition) and counts.get(name)]
    if task and task not in definitions:
        raise UsageError(f"There is no task {task!r}.", f"Tasks of this study: {', '.join(definitions)}.")
    if task and task not in found:
        why = "The study has no items of it." if not counts.get(task) else "The desk cannot take its decisions."
        raise UsageError(f"Nothing can be drawn of task {task!r}.", why, f"There are: {', '.join(found) or 'none'}.")
    if not found:
        raise UsageError("The study has no items to draw.", "", "overread import FILE")
    return [task] if task else found


def frame_of(
    study: Study, tasks: Sequence[str], *, system: str = "", by: Sequence[str] = (), judge: str = ""
) -> list[FrameItem]:
    """All current items of these tasks (and of one system), by item id; without those that a frozen plan leaves out.

    Args:
        by: what strata are made of: `task`, `system`, `verdict` (of `judge`), slices of its verdicts, or slices.

    Raises:
        UsageError: nothing of that name, or no items.
    """
    if system and system not in systems(study):
        raise UsageError(f"There is no system {system!r}.", f"There are: {', '.join(systems(study))}.")
    of_verdicts = [name for name in by if name in verdict_slices(study)]
    if ("verdict" in by or of_verdicts) and judge not in judges(study):
        raise UsageError(f"There is no judge {judge!r}.", f"There are: {', '.join(judges(study)) or 'none'}.")
    marks = ", ".join("?" for _ in tasks)
    rows = study.stream(
        f"""SELECT i.item_id, i.task, i.system, i.group_key, i.cluster_key, i.pair_key,
            CASE WHEN ? THEN i.slices ELSE '' END, v.label, v.item_id IS NOT NULL
        FROM current_items i LEFT JOIN (
            SELECT v.item_id, v.content_hash, any_value(v.label) AS label FROM verdicts v JOIN judges j USING (judge_id)
            WHERE ? AND j.name = ? AND v.repetition = 0 GROUP BY v.item_id, v.content_hash) v
            ON v.item_id = i.item_id AND v.content_hash = i.content_hash
        WHERE i.task IN ({marks}) AND (? = '' OR i.system = ?) ORDER BY i.item_id""",
        [bool(set(by) - set(COLUMNS_TO_STRATIFY)), "verdict" in by, judge, *tasks, system, system],
    )
    said = slices_of_verdicts(study, _of_tasks(study, tasks), judge) if of_verdicts else {}
    left_out = excluded_items(study, frozen_plan(study))
    frame, slices = [], set[str]()
    for item_id, task, owner, group, cluster, pair, sliced, label, judged in rows:
        values = {"task": task, "system": owner, "verdict": _verdict(label, judged)}
        if sliced:
            found = json.loads(sliced)
            slices.update(found)
            values = found | values
        values |= said.get((item_id, judge), {})
        if item_id in left_out:
            continue
        stratum = " / ".join(str(values.get(name, "none")) for name in by)
        frame.append(FrameItem(item_id, task, owner, group, cluster, pair, stratum))
    if unknown := set(by) - set(COLUMNS_TO_STRATIFY) - set(of_verdicts) - slices:
        have = ", ".join([*COLUMNS_TO_STRATIFY, *verdict_slices(study), *sorted(slices)])
        raise UsageError(f"Nothing can be drawn by {min(unknown)!r}.", f"There are: {have}.")
    if not frame:
        raise UsageError("No items are left to draw from.", "", "Leave out --system or --task.")
    return frame


def _of_tasks(study: Study, tasks: Sequence[str]) -> list[str]:
    marks = ", ".join("?" for _ in tasks)
    return [row[0] for row in study.rows(f"SELECT item_id FROM current_items WHERE task IN ({marks})", [*tasks])]


def _verdict(label: str | None, judged: bool) -> str:
    if not judged:
        return "no verdict"
    return "unreadable" if label is None else label


def frame_sizes(frame: Iterable[FrameItem]) -> dict[str, dict[str, int]]:
    """Items by system and task: what a draw was made of, to see later whether the study still has just that."""
    sizes: dict[str, dict[str, int]] = {}
    for (system, task), count in sorted(Counter((one.system, one.task) for one in frame).items()):
        sizes.setdefault(system, {})[task] = count
    return sizes


def units_of(frame: Sequence[FrameItem], together: Together, *, paired: bool) -> list[Unit]:
    """The frame as what is drawn.

    Args:
        paired: all systems' items of one question are drawn as one; its stratum is made of all of theirs.
    """
    if not paired:
        return [
            Unit(Candidate(one.item_id, _group(one, together), one.stratum, f"{one.task}/{one.system}"), (one.item_id,))
            for one in frame
        ]
    by_pair: dict[str, list[FrameItem]] = {}
    for one in frame:
        by_pair.setdefault(one.pair, []).append(one)
    ordered = ((name, sorted(found, key=lambda one: (one.system, one.item_id))) for name, found in by_pair.items())
    return [_pair(name, members, together) for name, members in ordered]


def _group(one: FrameItem, together: Together) -> str:
    return {"items": "", "texts": one.group, "clusters": one.cluster}[together]


def _pair(name: str, members: Sequence[FrameItem], together: Together) -> Unit:
    group = next((found for one in members if (found := _group(one, together))), "")
    stratum = " | ".join(one.stratum for one in members) if any(one.stratum for one in members) else ""
    return Unit(Candidate(name, group, stratum, members[0].task), tuple(one.item_id for one in members))


def shares_texts(frame: Sequence[FrameItem]) -> bool:
    """Whether most items share a long text with another."""
    sizes = Counter(one.group for one in frame if one.group)
    return 2 * sum(count for count in sizes.values() if count > 1) > len(frame)
