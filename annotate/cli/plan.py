"""`plan`: how many labels and hours a goal takes; and the plan frozen before the first label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from judges.calibration.planner import Plan, PlannedDesign
    from judges.frozen_plan import FrozenPlan
    from judges.planning import MetricPlan, StudyPlan
    from store.study import Study

FULL_METRICS = 3
"""Up to so many metrics every design of each is shown."""


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("plan")(plan)


def plan(
    context: typer.Context,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="A metric of `score`; may be repeated.")] = None,
    half_width: Annotated[float, typer.Option("--half-width", help="Wanted: an interval of ± this.")] = 0.05,
    decide: Annotated[float | None, typer.Option("--decide", help="Wanted: which side of this the score is.")] = None,
    system: Annotated[str, typer.Option("--system", help="Of this system, if there are several.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="With this judge's help, if there are several.")] = "",
    freeze: Annotated[bool, typer.Option("--freeze", help="Fix metrics, n, thresholds, exclusions now.")] = False,
    n: Annotated[int | None, typer.Option("--n", help="With --freeze: labels of each metric's task.")] = None,
    threshold: Annotated[
        list[str] | None, typer.Option("--threshold", help="With --freeze: recall=0.8, precision=0.8, kappa=0.6.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="With --freeze: items of SLICE=VALUE are left out.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say how many labels and hours an interval, or a decision, takes: for each design, with the judge and without.

    Example: overread plan --metric "question_answering / correct_qa_ratio(all)" --half-width 0.05
    """
    from annotate.cli.export import pick
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.cli.study import tell_notices
    from judges.frozen_plan import frozen_plan
    from judges.planning import plan_study
    from store.items import judges, systems
    from store.study import Study

    if decide is None and not 0 < half_width < 1:
        raise UsageError("--half-width lies between 0 and 1.", "", "As in: --half-width 0.05")
    if not freeze and (n is not None or threshold or exclude):
        raise UsageError("--n, --threshold and --exclude belong to --freeze.", "", "Add --freeze.")
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        chosen_judge = pick("judge", judge, judges(study))
        found = plan_study(
            study, pick("system", system, systems(study)), chosen_judge, metrics=metric or (), half_width=half_width,
            decide=decide,
        )  # fmt: skip
        if freeze:
            _freeze(study, found, n, threshold or (), exclude or ())
        frozen = frozen_plan(study)
    if as_json:
        print_json({**found.as_json(), "frozen": frozen.as_json() if frozen else None})
        return
    for line in [*_lines(found), *_frozen_lines(frozen)]:
        say(line)


def _freeze(
    study: Study, found: StudyPlan, n: int | None, thresholds: Sequence[str], exclusions: Sequence[str]
) -> None:
    from annotate.cli.label import user_name
    from judges.frozen_plan import freeze

    labels: dict[str, int] = {}
    for one in found.metrics:
        for task, needed in _needed(one).items() if n is None else [(task, n) for task in one.tasks]:
            labels[task] = max(labels.get(task, 0), needed)
    freeze(
        study,
        metrics=[one.metric for one in found.metrics],
        n=labels,
        goal=found.goal,
        created_by=user_name(),
        judge=found.judge,
        thresholds=dict(_number(one) for one in thresholds),
        exclusions=[_pair(one) for one in exclusions],
    )


def _needed(one: MetricPlan) -> Mapping[str, int]:
    """Labels of each task by the cheapest way with the judge's help.

    Raises:
        UsageError: no number of labels reaches the goal.
    """
    if not one.tasks:
        return {}
    ways = [way for way in one.plans if way.with_judge and way.labels is not None and way.hours is not None]
    if not ways:
        raise UsageError(f"No number of labels reaches this goal for {one.metric}.", "", "Say how many: --n 200")
    cheapest = min(ways, key=lambda way: way.hours or 0.0)
    return cheapest.by_task or {one.tasks[0]: cheapest.labels or 0}


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise UsageError(f"{text!r} is no SLICE=VALUE.", "", "As in: --exclude question_type=temporal")
    return name, value


def _number(text: str) -> tuple[str, float]:
    from judges.frozen_plan import THRESHOLDS

    name, value = _pair(text)
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if name not in THRESHOLDS or not 0 <= number <= 1:
        raise UsageError(f"{text!r} is no threshold.", f"There are: {', '.join(THRESHOLDS)}.", "As in: recall=0.8")
    return name, number


_DESIGNS = {
    "simple": "items one by one",
    "by_verdict": "items by verdict (--by verdict)",
    "two_stage": "by shared text (--two-stage)",
}


def _lines(found: StudyPlan) -> Iterator[str]:
    goal = (
        f"to decide on which side of {found.goal['decide']:g} it is, four times in five"
        if "decide" in found.goal
        else f"for an interval of ±{found.goal['half_width']:g} (95 %)"
    )
    yield f"{found.system}, judge {found.judge}: labels and hours of one person {goal}"
    yield from _overview(found) if len(found.metrics) > FULL_METRICS else _each(found)
    yield ""
    yield from (f"{task}: {pace.words()}" for task, pace in found.paces.items())
    if found.left_out:
        yield f"{found.left_out} other metrics: name them with --metric"


def _overview(found: StudyPlan) -> Iterator[str]:
    """Many metrics: a row each, labels and hours of the ways that differ most."""
    from annotate.cli.output import table

    rows = [["metric", "expected", "labels alone", "judge helps", "by text, judge helps"]]
    for one in found.metrics:
        ways = {(way.design, way.with_judge): way for way in one.plans}
        keys: tuple[tuple[PlannedDesign, bool], ...] = (("simple", False), ("simple", True), ("two_stage", True))
        cells = [_labels_and_hours(ways.get(key)) for key in keys]
        rows.append([one.metric, f"{one.expected.share:.3f}" if one.expected else "", *cells])
    yield from table(rows)
    yield from (f"  {one.metric}: no plan, {one.why}" for one in found.metrics if one.expected is None)
    if any(not one.labels for one in found.metrics if one.expected):
        yield "expected by the judge's own verdicts where 20 labels are not there; it is supposed to explain half"
    yield 'all designs of one: overread plan --metric "NAME"'


def _labels_and_hours(way: Plan | None) -> str:
    if way is None:
        return ""
    return "none" if way.labels is None else f"{way.labels:,} / {way.hours:.1f} h"


def _each(found: StudyPlan) -> Iterator[str]:
    """Few metrics: every design of each."""
    from annotate.cli.output import table

    for one in found.metrics:
        yield ""
        if one.expected is None:
            yield f"{one.metric}: no plan, {one.why}"
            continue
        basis = f"by {one.labels} labels" if one.labels else "by the judge's own verdicts, until 20 labels are there"
        helped = f"the judge explains {one.expected.explained:.0%} of people's labels"
        if len(one.tasks) == 1:
            helped += f", what is left is alike within a text by {one.expected.alike:.2f}"
        yield f"{one.metric} ({'task' if len(one.tasks) == 1 else 'tasks'} {', '.join(one.tasks)})"
        yield f"  expected {one.expected.share:.3f} {basis}; {'' if one.labels else 'supposed: '}{helped}"
        rows = [["design", "judge", "labels", "texts", "hours", "gives ±"]]
        for way in one.plans:
            judge = "helps" if way.with_judge else "left out"
            if way.labels is None:
                rows.append([_DESIGNS[way.design], judge, "none", "", "", ""])
                continue
            rows.append([
                _DESIGNS[way.design], judge, _labels(way), f"{way.groups:,}", f"{way.hours:.1f}",
                f"{way.half_width:.3f}",
            ])  # fmt: skip
        yield from table(rows)
        yield from (f"  {reason}" for reason in dict.fromkeys(way.why for way in one.plans if way.why))


def _labels(way: Plan) -> str:
    """`315`, or `315 = 205 + 110` where they are of two tasks."""
    counts = [f"{count:,}" for count in way.by_task.values()]
    return f"{way.labels:,} = {' + '.join(counts)}" if counts else f"{way.labels:,}"


def _frozen_lines(frozen: FrozenPlan | None) -> Iterator[str]:
    if frozen is None:
        yield "no plan is frozen: overread plan --freeze"
        return
    labels = ", ".join(f"{task} {count:,}" for task, count in frozen.n.items()) or "none"
    yield f"frozen {frozen.at[:10]} by {frozen.created_by}: {len(frozen.metrics)} metrics; labels: {labels}"
    if frozen.thresholds:
        yield "  thresholds: " + ", ".join(f"{name} {value:g}" for name, value in frozen.thresholds.items())
    if frozen.exclusions:
        yield "  left out: " + ", ".join(f"{name} = {value}" for name, value in frozen.exclusions)
