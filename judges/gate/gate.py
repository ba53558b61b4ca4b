"""A look through the gate: checks on the evidence there is, counted and journaled; open, closed or undecided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from judges.gate.bindings import JudgeOf
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
    """

    task: str
    judge: JudgeOf
    outcome: Outcome
    look: int
    limits: Thresholds
    checks: tuple[Check, ...]
    bindings: Mapping[str, str]
    next: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task, "outcome": self.outcome, "look": self.look, "looks": self.limits.looks,
            "level": self.limits.level,
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
    at: str
    tasks: tuple[TaskGate, ...]

    @property
    def outcome(self) -> Outcome:
        return worst_of(gate.outcome for gate in self.tasks)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    def as_json(self) -> dict[str, Any]:
        """What other programs rely on (DESIGN §7), and each task whole under `tasks`."""
        checks = [{"task": gate.task, **check.as_json()} for gate in self.tasks for check in gate.checks]
        judges = {gate.task: gate.judge.name for gate in self.tasks}
        names = set(judges.values())
        return {
            "outcome": self.outcome, "checks": checks,
            "judge": next(iter(names)) if len(names) == 1 else judges,
            "next": [f"{gate.task}: {act}" for gate in self.tasks for act in gate.next],
            "at": self.at, "study_id": self.study_id, "benchmark": self.benchmark,
            "tasks": {gate.task: gate.as_json() for gate in self.tasks},
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
    return Gate(study.study_id, study.benchmark, at, tuple(gates))


def _task_gate(
    study: Study, judge: JudgeOf, limits: Thresholds, at: str, seed: int, baseline: Mapping[str, Any] | None
) -> TaskGate:
    evidence = evidence_of(study, judge.task, judge)
    inputs = digest("gate", evidence.bindings, limits.hash, seed)
    number = _look_number(study, judge, inputs)
    checks = checks_of(evidence, limits, seed)
    if baseline is not None:
        checks += _regressions(judge.task, checks, baseline)
    if number > limits.looks:
        checks.append(_spent(number, limits))
    outcome = outcome_of(checks)
    gate = TaskGate(
        judge.task, judge, outcome, number, limits, tuple(checks), evidence.bindings, next_acts(outcome, checks)
    )
    if not any(one.inputs == inputs and one.outcome == outcome for one in _looks(study, judge)):
        gate_id = digest("gate look", inputs, at)
        document = gate.as_json()
        add_look(
            study, GateLook(gate_id, judge.task, judge.name, judge.judge_id, number, inputs, outcome, document, at)
        )
    return gate


def _looks(study: Study, judge: JudgeOf) -> list[GateLook]:
    return [one for one in gate_looks(study, judge.task) if one.judge_id == judge.judge_id]


def _look_number(study: Study, judge: JudgeOf, inputs: str) -> int:
    numbers = {one.inputs: one.look for one in _looks(study, judge)}
    return numbers.get(inputs, max(numbers.values(), default=0) + 1)


def _spent(number: int, limits: Thresholds) -> Check:
    from judges.calibration.statistic import Statistic

    why = f"this is look {number} at this judge; its error is planned for {limits.looks}"
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
        if old is None:
            continue
        fell = _fell(check, old)
        if check.status in ("failed", "undecided") or fell:
            how = (
                "passed then and does not now"
                if not fell
                else f"{check.statistic.value:.3f} against {old['value']:.3f}"
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
    import json

    from store.errors import InputError

    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON.", str(error)) from error
