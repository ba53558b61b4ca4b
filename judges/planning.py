"""How many labels and hours a metric of this study needs, by design, with the judge's help and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judges.benchmarks.benchmark import CorrectableBenchmark, get_benchmark
from judges.collect import blind_labels
from judges.correcting import combined
from judges.draw_frame import frame_of
from judges.reading_effort import Pace, effort_of, group_characters, measured_pace
from judges.served_part import ServedParts
from judges.study_blocks import study_blocks
from store.errors import UsageError
from store.study import Study

if TYPE_CHECKING:
    from judges.calibration.correction.estimate import Problem
    from judges.calibration.joint_plan import TaskPart
    from judges.calibration.planner import Expectation, Goal, Plan

SUPPOSED_EXPLAINED = 0.5
"""Share of the variance of people's labels that the judge is taken to explain until labels say."""
MOST_METRICS = 8


@dataclass(frozen=True, slots=True)
class MetricPlan:
    """One metric's ways to the goal.

    Attributes:
        tasks: those whose labels it rests on. expected: by `labels` labels, the fewest of any task (0: by the judge's
            own verdicts); of several tasks, as a label of each counts for the whole.
        plans: every design, with the judge and without. why: in words when there are none.
    """

    metric: str
    tasks: tuple[str, ...]
    expected: Expectation | None
    labels: int
    plans: tuple[Plan, ...]
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        expected = self.expected
        return {
            "metric": self.metric, "task": self.tasks[0] if len(self.tasks) == 1 else None,
            "tasks": list(self.tasks), "labels_known": self.labels,
            "expected": {
                "value": expected.share, "explained_by_judge": expected.explained, "alike_within_texts": expected.alike,
                "supposed": not self.labels,
            } if expected else None,
            "plans": [{name: getattr(one, name) for name in one.__dataclass_fields__} for one in self.plans],
            "why": self.why or None,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """The plan of one system's metrics. `paces` by task."""

    system: str
    judge: str
    goal: Mapping[str, float]
    metrics: tuple[MetricPlan, ...]
    paces: Mapping[str, Pace]
    left_out: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "system": self.system, "judge": self.judge, "goal": dict(self.goal),
            "metrics": [one.as_json() for one in self.metrics],
            "pace": {task: {name: getattr(pace, name) for name in pace.__dataclass_fields__}
                     for task, pace in self.paces.items()},
        }  # fmt: skip


def plan_study(
    study: Study,
    system: str,
    judge: str,
    *,
    metrics: Sequence[str] = (),
    half_width: float = 0.05,
    decide: float | None = None,
) -> StudyPlan:
    """Plan the metrics named, or the benchmark's main ones.

    Args:
        half_width: wanted of the 95 % interval. decide: a threshold to be on one side of, in its place.

    Raises:
        UsageError: a benchmark without metrics that labels could correct, or no such metric.
    """
    benchmark = get_benchmark(study.benchmark)
    if not isinstance(benchmark, CorrectableBenchmark):
        raise UsageError(f"{study.benchmark} has no metric that is corrected by labels.")
    from judges.calibration.correction.corrected import problem_of

    labels = blind_labels(study)
    found = study_blocks(study, benchmark, system, judge, labels, ServedParts(study, labels))
    problem = problem_of(found.blocks, combined(benchmark))
    known = problem.metrics.values(problem.judge_totals)
    if unknown := [name for name in metrics if name not in known]:
        raise UsageError(f"There is no metric {unknown[0]!r}.", f"There are: {', '.join(known)}.")
    headline = [name for name in getattr(benchmark, "headline", {}) if name in known]
    wanted = list(metrics) or headline or sorted(known, key=lambda name: name.count(" / "))[:MOST_METRICS]
    groups = {task: [item.group for item in items] for task, items in found.items.items()}
    goal = {"decide": decide} if decide is not None else {"half_width": half_width}
    planned = tuple(_metric(study, system, problem, name, groups, goal) for name in wanted)
    tasks = dict.fromkeys(task for one in planned for task in one.tasks)
    paces = {task: measured_pace(study, {task}, group_characters(study, {task})) for task in tasks}
    return StudyPlan(system, judge, goal, planned, paces, len(known) - len(wanted))


def _metric(
    study: Study,
    system: str,
    problem: Problem,
    name: str,
    groups: Mapping[str, Sequence[str]],
    goal: Mapping[str, float],
) -> MetricPlan:
    import numpy as np

    from judges.calibration.joint_plan import TaskPart, plan_jointly
    from judges.calibration.planner import LEAST_LABELS, Goal

    coded = problem.metrics.values(problem.judge_totals)[name]
    slopes = problem.metrics.gradients(problem.judge_totals, [name])[0]
    if not (np.isfinite(coded) and np.isfinite(slopes).all()):
        return MetricPlan(name, (), None, 0, (), "the judge's verdicts leave it undefined")
    touched = [one for one in problem.blocks if (slopes[one.columns] * one.unfixed).any()]
    if not touched:
        return MetricPlan(name, (), None, 0, (), "no label changes it")
    known = min(block.sample.n for block in touched)
    human = problem.humans_only([name])[name]
    by_labels = known >= LEAST_LABELS and np.isfinite(human.value) and np.isfinite(human.gradient).all()
    parts = {}
    for block in touched:
        expected = _by_labels(problem, name, block, groups) if by_labels else _supposed(coded, slopes, block, groups)
        frame = frame_of(study, [block.block.name], system=system)
        parts[block.block.name] = TaskPart(expected, effort_of(study, frame))
    expected = _together(list(parts.values()))
    goal_of = (
        Goal.threshold(expected.share, goal["decide"]) if "decide" in goal else Goal.half_width(goal["half_width"])
    )
    plans = plan_jointly(parts, goal_of) if len(parts) > 1 else _every_design(parts[touched[0].block.name], goal_of)
    return MetricPlan(name, tuple(parts), expected, known if by_labels else 0, tuple(plans))


def _every_design(part: TaskPart, goal: Goal) -> list[Plan]:
    from dataclasses import replace

    from judges.calibration.planner import best_within, plan_designs

    expected, effort = part
    return plan_designs(
        expected, replace(effort, within=max(1, round(best_within(effort, expected.alike or 0.01)))), goal
    )


def _together(parts: Sequence[TaskPart]) -> Expectation:
    """What is expected of the metric, the variances of a label of each task added."""
    from dataclasses import replace

    if len(parts) == 1:
        return parts[0].expected
    spread = sum(part.spread(with_judge=False) for part in parts)
    left = sum(part.spread(with_judge=True) for part in parts)
    alike = max(part.expected.alike for part in parts)
    return replace(parts[0].expected, explained=1 - left / spread if spread else 0.0, alike=alike, variance=spread)


def _by_labels(problem: Problem, name: str, block: Any, groups: Mapping[str, Sequence[str]]) -> Expectation:
    """From the labels there are: variance of the linearised metric, and what the judge's verdicts explain of it."""
    from dataclasses import replace

    from judges.calibration.planner import pilot

    human = problem.humans_only([name])[name]
    gradient = human.gradient[block.columns] * block.items
    people, judge = block.human @ gradient, block.judge @ gradient
    texts = [groups[block.block.name][row] or f"\0{row}" for row in block.sample.rows.tolist()]
    found = pilot(people, judge, texts)
    return replace(found, share=float(human.value), variance=float(people.var(ddof=1)))


def _supposed(coded: float, slopes: Any, block: Any, groups: Mapping[str, Sequence[str]]) -> Expectation:
    """Without labels: the judge's own verdicts stand for people's, and it is taken to explain half of them."""
    import numpy as np

    from judges.calibration.clustered import intraclass
    from judges.calibration.planner import Expectation

    values = block.block.judge_terms @ (slopes[block.columns] * block.items)
    texts = [group or f"\0{row}" for row, group in enumerate(groups[block.block.name])]
    alike = intraclass(values, np.unique(texts, return_inverse=True)[1])
    return Expectation(float(coded), SUPPOSED_EXPLAINED, alike / 2, alike, float(values.var()))
