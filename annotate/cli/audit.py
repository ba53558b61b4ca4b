"""`audit`: how far do the judge and people agree?"""

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
    everything: Annotated[bool, typer.Option("--all", help="Rarer coefficients too (JSON).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Compare the judge's verdicts with people's blind labels: agreement, confusion, what the judge misses.

    Example: overread audit --task qa --json
    """
    from annotate.cli.confidence import print_confidence
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.cli.study import tell_notices
    from judges.auditing import audit_study
    from judges.calibration.audit_result import Settings
    from judges.collect import task_definitions
    from judges.frozen_plan import check_plan, labelled_items
    from store.items import judges
    from store.study import Study

    with Study.open(study_path(context)) as study:
        tell_notices(study)
        known = list(task_definitions(study))
        if task and task not in known:
            raise UsageError(f"There is no task {task!r}.", f"Tasks of this study: {', '.join(known)}.")
        if judge and judge not in judges(study):
            raise UsageError(f"There is no judge {judge!r}.", f"Judges of this study: {', '.join(judges(study))}.")
        settings = Settings(seed=seed, all_statistics=everything)
        if confidence:
            enough = print_confidence(
                study, task=task, judge=judge, alpha=alpha, delta=delta, keep=keep, seed=seed, as_json=as_json
            )
        elif as_json:
            found = audit_study(study, task=task, judge=judge, settings=settings)
            plan = check_plan(study, labelled_items(study), judge=judge)
            print_json({**found.as_json(), **({"plan": plan.as_json()} if plan.plan else {})})
            enough = has_labels(found)
        else:
            enough = print_audit(study, task=task, judge=judge, seed=seed)
            plan = check_plan(study, labelled_items(study), judge=judge)
            for line in plan.lines() if plan.plan else ():
                say(line)
    if not enough:
        raise typer.Exit(EXIT_NOT_ENOUGH)


def print_audit(study: Study, *, task: str = "", judge: str = "", seed: int = 0) -> bool:
    """Print the audit as text; False when nothing is labelled."""
    from annotate.cli.output import say, table
    from annotate.report.audit_text import audit_lines
    from judges.auditing import audit_study
    from judges.calibration.audit_result import Settings

    found = audit_study(study, task=task, judge=judge, settings=Settings(seed=seed))
    for block in audit_lines(found):
        for line in [block] if isinstance(block, str) else table(block, indent="    "):
            say(line)
    return has_labels(found)


def has_labels(found: Audit) -> bool:
    """Whether anything of any task is labelled."""
    parts = [part for parts in found.declared.values() for part in parts.values()]
    return any(result.labelled for result in (*found.tasks.values(), *parts))
