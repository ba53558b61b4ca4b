"""The analysis plan: what will be reported, on how many labels, fixed before the first one; and whether it is kept."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judges.collect import slices_of_verdicts, verdict_slices
from store.errors import UsageError
from store.events import DECIDED
from store.records import digest
from store.study import Study, now

PLAN = "plan"
"""The journal's type name of a frozen plan."""
THRESHOLDS = ("recall", "precision", "kappa")


@dataclass(frozen=True, slots=True)
class FrozenPlan:
    """What was fixed.

    Attributes:
        metrics: the metrics that will be reported. n: labels of each task.
        goal: {"half_width": x} or {"decide": threshold}. thresholds: of the audit, by name.
        exclusions: (slice, value): items left out of draws and of corrected scores.
        number: how many plans were frozen up to this one; the last one holds.
    """

    plan_id: str
    at: str
    created_by: str
    judge: str
    metrics: tuple[str, ...]
    n: Mapping[str, int]
    goal: Mapping[str, float]
    thresholds: Mapping[str, float] = field(default_factory=dict)
    exclusions: tuple[tuple[str, str], ...] = ()
    number: int = 1

    def excludes(self, slices: Mapping[str, Any]) -> bool:
        return any(str(slices.get(name, "")) == value for name, value in self.exclusions)

    def as_json(self) -> dict[str, Any]:
        return {
            "plan_id": self.plan_id, "at": self.at, "created_by": self.created_by, "judge": self.judge or None,
            "metrics": list(self.metrics), "n": dict(self.n), "goal": dict(self.goal),
            "thresholds": dict(self.thresholds), "exclusions": [list(one) for one in self.exclusions],
        }  # fmt: skip


def frozen_plan(study: Study) -> FrozenPlan | None:
    """The plan that holds: the last one frozen."""
    records = study.journal_records(PLAN)
    if not records:
        return None
    last = records[-1]
    return FrozenPlan(
        last["plan_id"], last["at"], last["created_by"], last["judge"], tuple(last["metrics"]), last["n"],
        last["goal"], last["thresholds"], tuple((one[0], one[1]) for one in last["exclusions"]), len(records),
    )  # fmt: skip


def freeze(
    study: Study,
    *,
    metrics: Sequence[str],
    n: Mapping[str, int],
    goal: Mapping[str, float],
    created_by: str,
    judge: str = "",
    thresholds: Mapping[str, float] | None = None,
    exclusions: Sequence[tuple[str, str]] = (),
) -> FrozenPlan:
    """Write a plan into the journal.

    Raises:
        UsageError: a label is there already, or an exclusion names nothing.
    """
    if given := labels_for_estimates(study):
        raise UsageError(
            f"A plan is frozen before the first label, and there are {given}.",
            "Fixed after labels were seen it would show nothing.",
            "Labels of the streams learn and practice do not count: a plan may follow them.",
        )
    _require_slices(study, exclusions)
    _require_before_draws(study, exclusions)
    body = {
        "at": now().astimezone(dt.UTC).isoformat(timespec="seconds"), "created_by": created_by, "judge": judge,
        "metrics": list(metrics), "n": dict(n), "goal": dict(goal), "thresholds": dict(thresholds or {}),
        "exclusions": [list(one) for one in exclusions],
    }  # fmt: skip
    study.record([{"type": PLAN, "plan_id": digest("plan", study.study_id, body), **body}])
    found = frozen_plan(study)
    assert found is not None
    return found


def labels_for_estimates(study: Study) -> int:
    """Labels that may enter a number: all but those of draws of other streams."""
    count: int = study.rows(
        f"""SELECT count(*) FROM all_current_labels WHERE {DECIDED} AND round = 0
            AND draw_id NOT IN (SELECT draw_id FROM draws WHERE stream <> 'estimate')"""
    )[0][0]
    return count


def _require_slices(study: Study, exclusions: Sequence[tuple[str, str]]) -> None:
    for name, value in exclusions:
        rows = study.rows(
            "SELECT count(*) FROM current_items WHERE json_extract_string(slices, ?) = ?", [_path(name), value]
        )
        if not rows[0][0]:
            raise UsageError(f"No item has {name} = {value}.", "", "overread score shows slices by name and value.")


def _require_before_draws(study: Study, exclusions: Sequence[tuple[str, str]]) -> None:
    if exclusions and study.rows("SELECT 1 FROM draws WHERE stream = 'estimate' LIMIT 1"):
        raise UsageError(
            "Exclusions are fixed before the first draw.", "A draw that is there was made without them.",
            "Freeze the plan in a study without draws, or leave --exclude out.",
        )  # fmt: skip


def _path(name: str) -> str:
    return f"$.{json.dumps(name)}"


def excluded_items(study: Study, plan: FrozenPlan | None) -> set[str]:
    """Items that the plan leaves out."""
    found: set[str] = set()
    for name, value in plan.exclusions if plan else ():
        rows = study.rows(
            "SELECT item_id FROM current_items WHERE json_extract_string(slices, ?) = ?", [_path(name), value]
        )
        found |= {row[0] for row in rows}
        if plan is not None and name in verdict_slices(study):  # a plan of a time when they stood on items
            every = [row[0] for row in study.rows("SELECT item_id FROM current_items")]
            said = slices_of_verdicts(study, every, plan.judge)
            found |= {item_id for (item_id, _), slices in said.items() if slices.get(name) == value}
    return found


def labelled_items(study: Study) -> dict[str, int]:
    """Items with a blind label given for an estimate, by task."""
    return dict(study.rows(
        f"""SELECT i.task, count(DISTINCT l.item_id) FROM all_blind_labels l JOIN current_items i USING (item_id)
        WHERE l.round = 0 AND {DECIDED}
            AND l.draw_id NOT IN (SELECT draw_id FROM draws WHERE stream <> 'estimate') GROUP BY i.task"""
    ))  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """Whether what is printed follows the plan.

    Attributes:
        plan: None when none was frozen. deviations: in sentences. notes: what is open or exploratory.
    """

    plan: FrozenPlan | None
    deviations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> bool | None:
        return None if self.plan is None else not self.deviations

    def as_json(self) -> dict[str, Any]:
        return {
            "frozen": self.plan.as_json() if self.plan else None, "kept": self.kept,
            "deviations": list(self.deviations), "notes": list(self.notes),
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """It in words."""
        if self.plan is None:
            yield "plan: none was frozen before the first label; all numbers are exploratory"
            return
        again = f", the {self.plan.number}th; earlier ones stand in the journal" if self.plan.number > 1 else ""
        state = "followed" if self.kept else "NOT FOLLOWED"
        yield f"plan: frozen {self.plan.at[:10]} before the first label{again}: {state}"
        yield from (f"  deviation: {one}" for one in self.deviations)
        yield from (f"  {one}" for one in self.notes)


def check_plan(
    study: Study,
    labels: Mapping[str, int] | None = None,
    *,
    judge: str = "",
    metrics: Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
) -> PlanCheck:
    """Compare with the plan that holds.

    Args:
        labels: labels that enter the numbers, by task; None for `labelled_items`, which are counted only where there is
            a plan. judge: whose verdicts are used. metrics: all that are printed.
        thresholds: those used, by name.
    """
    plan = frozen_plan(study)
    if plan is None:
        return PlanCheck(None)
    labels = labelled_items(study) if labels is None else labels
    deviations, notes = [], []
    if plan.judge and judge and judge != plan.judge:
        deviations.append(f"the judge is {judge}, planned was {plan.judge}")
    for task, planned in plan.n.items():
        have = labels.get(task, 0)
        if have > planned:
            deviations.append(f"{task}: {have} labels, planned were {planned}")
        elif have < planned:
            notes.append(f"{task}: {have} of {planned} planned labels; numbers before that are looks in between")
    more = [name for name in metrics if name not in plan.metrics]
    if more and plan.metrics:
        notes.append(f"planned: {', '.join(plan.metrics)}; the {len(more)} other metrics are exploratory")
    for name, value in (thresholds or {}).items():
        if name in plan.thresholds and plan.thresholds[name] != value:
            deviations.append(f"the threshold of {name} is {value:g}, planned was {plan.thresholds[name]:g}")
    if plan.exclusions:
        said = ", ".join(f"{name} = {value}" for name, value in plan.exclusions)
        notes.append(f"left out by plan: {len(excluded_items(study, plan)):,} items with {said}")
    return PlanCheck(plan, tuple(deviations), tuple(notes))
