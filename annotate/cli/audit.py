"""`audit`: how far can the judge be trusted?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import EXIT_NOT_ENOUGH, UsageError

if TYPE_CHECKING:
    from judges.calibration.audit_result import Audit
    from store.study import Study


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("audit")(audit)


def audit(
    context: typer.Context,
    task: Annotated[str, typer.Option("--task", help="Only this task.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="Only this judge.")] = "",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the intervals' resampling.")] = 0,
    confidence: Annotated[bool, typer.Option("--confidence", help="What the judge's confidence is worth.")] = False,
    alpha: Annotated[float, typer.Option("--alpha", help="With --confidence: disagreement allowed.")] = 0.05,
    delta: Annotated[float, typer.Option("--delta", help="With --confidence: chance of a wrong promise.")] = 0.1,
    keep: Annotated[bool, typer.Option("--keep", help="With --confidence: keep the thresholds.")] = False,
    epsilon: Annotated[
        float, typer.Option("--epsilon", min=0, max=1, help="Margin of the annotator test: .2 experts, .1 crowd.")
    ] = 0.2,
    everything: Annotated[bool, typer.Option("--all", help="Every coefficient, bias, slice and habit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    tui: Annotated[bool, typer.Option("--tui", help="Look at it on the screen, with the disagreements.")] = False,
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who asks.")] = "",
    role: Annotated[str, typer.Option("--as", help="lead: look although you still label; it is recorded.")] = "",
) -> None:
    """Compare the judge's verdicts with people's blind labels: what it misses, agreement, what seeing it does.

    Closed to an annotator in the middle of a queue. With --all: every coefficient, slices with adjusted tests, what
    the judge leans on, how steadily people label.

    Example: overread audit --task qa --all
    """
    from annotate.cli.confidence import print_confidence
    from annotate.cli.label import require_terminal
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.cli.study import tell_notices
    from annotate.report.gates import gates_of
    from judges.frozen_plan import check_plan
    from store.study import Study

    if tui:
        require_terminal("The audit's screen", "Leave --tui out: it prints.")
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        check_names(study, task, judge)
        who, _ = asking(study, annotator, role, "audit")
        if tui:
            show(study, who=who, task=task, judge=judge, seed=seed, epsilon=epsilon)
            return
        if confidence:
            enough = print_confidence(
                study, task=task, judge=judge, alpha=alpha, delta=delta, keep=keep, seed=seed, as_json=as_json
            )
        else:
            found = audited(study, task, judge, seed=seed, epsilon=epsilon, everything=everything)
            plan = check_plan(study, judge=judge)
            if as_json:
                gates = [one.passage for one in gates_of(study, {name: name for name in found.tasks}, judge)]
                planned = {"plan": plan.as_json()} if plan.plan else {}
                print_json({**found.as_json(), **planned, **({"gate": gates} if gates else {})})
            else:
                print_found(study, found, judge)
                for line in plan.lines() if plan.plan else ():
                    say(line)
            enough = has_labels(found)
    if not enough:
        raise typer.Exit(EXIT_NOT_ENOUGH)


def check_names(study: Study, task: str, judge: str) -> None:
    """Refuse a task or a judge that the study does not have.

    Raises:
        UsageError: names those there are.
    """
    from judges.collect import task_definitions
    from store.items import judges

    known = list(task_definitions(study)) if task else []
    if task not in ("", *known):
        raise UsageError(f"There is no task {task!r}.", f"Tasks of this study: {', '.join(known)}.")
    if judge and judge not in (names := judges(study)):
        raise UsageError(f"There is no judge {judge!r}.", f"Judges of this study: {', '.join(names)}.")


def asking(study: Study, annotator: str, role: str, what: str) -> tuple[str, bool]:
    """Who asks, and whether as the lead.

    Raises:
        UsageError: they are in the middle of a queue.
    """
    from annotate.cli.label import user_name
    from annotate.desk.closed import require_open

    who = annotator.strip() or user_name()
    return who, require_open(study, who, role, what)


def audited(
    study: Study, task: str = "", judge: str = "", *, seed: int = 0, epsilon: float = 0.2, everything: bool = False
) -> Audit:
    """The audit as a command wants it."""
    from judges.auditing import audit_study
    from judges.calibration.audit_result import Settings

    settings = Settings(seed=seed, all_statistics=everything)
    return audit_study(
        study, task=task, judge=judge, settings=settings, depth="whole" if everything else "brief", epsilon=epsilon
    )


def print_audit(study: Study, *, task: str = "", judge: str = "", seed: int = 0) -> bool:
    """Print the audit as text; False when nothing is labelled."""
    found = audited(study, task, judge, seed=seed)
    print_found(study, found, judge)
    return has_labels(found)


def print_found(study: Study, found: Audit, judge: str = "") -> None:
    """Print an audit as text."""
    from annotate.cli.output import say, table
    from annotate.report.audit_text import audit_lines
    from annotate.report.gates import gates_of
    from judges.collect import task_definitions

    gates = gates_of(study, {name: name for name in found.tasks}, judge)
    definitions = task_definitions(study)
    titles = {name: {part.id: part.title for part in task.parts} for name, task in definitions.items()}
    for block in audit_lines(found, titles, gates):
        for line in [block] if isinstance(block, str) else table(block, indent="    "):
            say(line)


def has_labels(found: Audit) -> bool:
    """Whether anything of any task is labelled."""
    parts = [part for parts in found.declared.values() for part in parts.values()]
    return any(result.labelled for result in (*found.tasks.values(), *parts))


def show(study: Study, *, who: str, task: str, judge: str, seed: int, epsilon: float) -> None:
    """The audit and the disagreements on the screen.

    Raises:
        NotEnoughError: nothing is labelled.
        typer.Exit: a signal ended the screen; its code is 128 and the signal's number.
    """
    from annotate.report.facts import gather
    from annotate.report.options import ReportOptions
    from annotate.tui.audit_app import run_audit
    from judges.calibration.audit_result import Settings
    from store.study import now

    settings = Settings(seed=seed, all_statistics=True)
    options = ReportOptions(made_at=now(), task=task, judge=judge, settings=settings, epsilon=epsilon)
    if code := run_audit(gather(study, options), who):
        raise typer.Exit(code)
