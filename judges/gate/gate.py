"""A look through the gate: checks on the evidence there is, counted and journaled; open, closed or undecided."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from judges.gate.bindings import JudgeOf, under_other_names
from judges.gate.checks import Check, checks_of
from judges.gate.evidence import evidence_of
from judges.gate.thresholds import Thresholds
from store.errors import EXIT_DONE, EXIT_NO, EXIT_NOT_ENOUGH
from store.gates import GateLook, add_look, gate_looks
from store.records import digest

if TYPE_CHECKING:
    from store.study import Study

Outcome = Literal["open", "closed", "undecided"]
EXIT_CODES: Final[Mapping[Outcome, int]] = {"open": EXIT_DONE, "closed": EXIT_NO, "undecided": EXIT_NOT_ENOUGH}
_WORST: Final[tuple[Outcome, ...]] = ("closed", "undecided", "open")


@dataclass(frozen=True, slots=True)
class TaskGate:
    """The outcome for one judge of one task.

    Attributes:
        look: which look of this judge it is, 1 for the first. bindings: hashes of all that it rests on.
        next: what to do, the most useful first.
        look_id, at: of the look as the study keeps it; looking again at what has not changed is the same look.
    """

    task: str
    judge: JudgeOf
    outcome: Outcome
    look: int
    limits: Thresholds
    checks: tuple[Check, ...]
    bindings: Mapping[str, str]
    next: tuple[str, ...]
    look_id: str = ""
    at: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task, "outcome": self.outcome, "look": self.look, "looks": self.limits.looks,
            "level": self.limits.level, "look_id": self.look_id, "at": self.at,
            "judge": {"judge_id": self.judge.judge_id, "name": self.judge.name, "model": self.judge.model,
                      "prompt_version": self.judge.prompt_version},
            "thresholds": self.limits.as_json(), "bindings": dict(self.bindings),
            "checks": [check.as_json() for check in self.checks], "next": list(self.next),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gate:
    """The gates of one or more tasks; it is open when all of them are."""

    study_id: str
    benchmark: str
    tasks: tuple[TaskGate, ...]

    @property
    def outcome(self) -> Outcome:
        return worst_of(gate.outcome for gate in self.tasks)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    def as_json(self) -> dict[str, Any]:
        """What other programs rely on (DESIGN §7), and each task whole under `tasks`."""
        return summary_of(self.study_id, self.benchmark, {gate.task: gate.as_json() for gate in self.tasks})


def summary_of(study_id: str, benchmark: str, tasks: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the gates of several tasks (`TaskGate.as_json`, by name) come to, and they themselves."""
    judges = {task: gate["judge"]["name"] for task, gate in tasks.items()}
    names = set(judges.values())
    return {
        "outcome": worst_of(gate["outcome"] for gate in tasks.values()),
        "checks": [{"task": task, **check} for task, gate in tasks.items() for check in gate["checks"]],
        "judge": next(iter(names)) if len(names) == 1 else judges,
        "next": [f"{task}: {act}" for task, gate in tasks.items() for act in gate["next"]],
        "at": max((gate["at"] for gate in tasks.values()), key=datetime.fromisoformat),
        "study_id": study_id, "benchmark": benchmark, "tasks": dict(tasks),
    }  # fmt: skip


def worst_of(outcomes: Iterable[str]) -> Outcome:
    """The outcome of several tasks together: closed by one that is, and for one that is none of the three."""
    there = set(outcomes)
    return next((outcome for outcome in _WORST if outcome in there), "closed")


def look(
    study: Study,
    judges: Sequence[JudgeOf],
    limits: Mapping[str, Thresholds],
    *,
    at: str,
    seed: int = 0,
    baseline: Mapping[str, Any] | None = None,
) -> Gate:
    """Look at these judges, one a task. A look at what was looked at before is not counted again.

    Args:
        baseline: an earlier certificate: what passed there has to pass still.
    """
    gates = [_task_gate(study, judge, limits[judge.task], at, seed, baseline) for judge in judges]
    return Gate(study.study_id, study.benchmark, tuple(gates))


def _task_gate(
    study: Study, judge: JudgeOf, limits: Thresholds, at: str, seed: int, baseline: Mapping[str, Any] | None
) -> TaskGate:
    evidence = evidence_of(study, judge.task, judge)
    inputs = digest("gate", evidence.bindings, limits.hash, seed)
    own = {judge.judge_id, *under_other_names(study, judge.task, judge.judge_id)}
    before = [one for one in gate_looks(study, judge.task) if one.judge_id in own]
    number = _look_number(before, inputs)
    checks = checks_of(evidence, limits, seed)
    if baseline is not None:
        checks += _regressions(judge.task, checks, baseline)
    if _overspent(before, inputs, limits):
        checks.append(_spent(number, limits))
    outcome = outcome_of(checks)
    acts = next_acts(outcome, checks)
    gate = TaskGate(judge.task, judge, outcome, number, limits, tuple(checks), evidence.bindings, acts)
    return _kept(study, gate, before, inputs, at)


def _kept(study: Study, gate: TaskGate, before: Sequence[GateLook], inputs: str, at: str) -> TaskGate:
    """The look with its id: that of the newest one where nothing changed since, else of a new one, journaled.

    What was found before some other look is journaled anew, under its old number: the newest says how things stand.
    """
    of_name = [one for one in before if one.judge_id == gate.judge.judge_id]
    if of_name:
        newest = of_name[-1]
        same = replace(gate, look_id=newest.gate_id, at=str(newest.document.get("at", newest.at)))
        if json.loads(json.dumps(same.as_json())) == newest.document:
            return same
    made = replace(gate, look_id=digest("gate look", inputs, at), at=at)
    judge = gate.judge
    add_look(study, GateLook(made.look_id, judge.task, judge.name, judge.judge_id, gate.look, inputs, gate.outcome,
                             made.as_json(), at))  # fmt: skip
    return made


def _look_number(before: Sequence[GateLook], inputs: str) -> int:
    numbers = {one.inputs: one.look for one in before}
    return numbers.get(inputs, max(numbers.values(), default=0) + 1)


def _overspent(before: Sequence[GateLook], inputs: str, limits: Thresholds) -> bool:
    """Whether this look and those before it take more than alpha together.

    Each took its own share, under whichever thresholds it was made: one look planned as the only one took all of it.
    """
    shares: dict[str, float] = {}
    for one in itertools.takewhile(lambda look: look.inputs != inputs, before):
        said = one.document["thresholds"]
        shares[one.inputs] = said["alpha"] / said["looks"]
    return math.fsum([*shares.values(), limits.alpha / limits.looks]) > limits.alpha * (1 + 1e-9)


def _spent(number: int, limits: Thresholds) -> Check:
    from judges.calibration.statistic import Statistic

    planned = "one" if limits.looks == 1 else f"{limits.looks}"
    why = f"this is look {number} at this judge, and those before have spent its error, planned for {planned}"
    return Check("looks", "undecided", Statistic(float(number), number), float(limits.looks), why, side="most",
                 next="retune the judge, or keep to what people decide: looking again proves nothing")  # fmt: skip


def outcome_of(checks: Sequence[Check]) -> Outcome:
    """Closed when a check fails for certain; open when none is left undecided."""
    statuses = {check.status for check in checks}
    if "failed" in statuses:
        return "closed"
    return "undecided" if "undecided" in statuses else "open"


def next_acts(outcome: Outcome, checks: Sequence[Check]) -> tuple[str, ...]:
    """What to do about what closes the gate or leaves it undecided; each act once."""
    if outcome == "open":
        return ("score the full run: overread judge --items all, then overread score",)
    deciding = "failed" if outcome == "closed" else "undecided"
    return tuple(dict.fromkeys(check.next for check in checks if check.status == deciding and check.next))


def _regressions(task: str, checks: Sequence[Check], baseline: Mapping[str, Any]) -> list[Check]:
    """What passed in the baseline and does not pass now, or fell below the baseline's interval."""
    before = {
        (check["name"], check["label"]): check
        for check in baseline.get("tasks", {}).get(task, {}).get("checks", [])
        if check["passed"]
    }
    found = []
    for check in checks:
        old = before.get((check.name, check.label))
        if old is None or check.bound is None:
            continue
        fell = _fell(check, old)
        if check.status != "passed" or fell:
            how = (
                f"{check.statistic.value:.3f} against {old['value']:.3f}"
                if fell
                else f"passed then and {'is not measured' if check.status == 'skipped' else 'does not'} now"
            )
            found.append(replace(check, name=f"regression: {check.name}", status="failed", why=f"baseline: {how}",
                                 next="find what changed: judge, prompt, model or labels"))  # fmt: skip
    return found


def _fell(check: Check, old: Mapping[str, Any]) -> bool:
    value = check.statistic.value
    if value is None or old["low"] is None or old["high"] is None:
        return False
    return bool(value < old["low"] if check.side == "least" else value > old["high"])


def path_json(path: Path) -> Any:
    """A JSON file of this program's own.

    Raises:
        InputError: it cannot be read.
    """
    from store.errors import InputError

    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON.", str(error)) from error
