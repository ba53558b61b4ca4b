"""`gate`: may this judge score the full run?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from judges.gate.certificate import Verification
    from store.study import Study


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("gate")(gate)


def gate(
    context: typer.Context,
    task: Annotated[str, typer.Option("--task", help="Only this task.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="Which judge, if there are several: its name or id.")] = "",
    thresholds: Annotated[Path | None, typer.Option("--thresholds", help="A TOML file; else the defaults.")] = None,
    write: Annotated[Path | None, typer.Option("--write", help="Write the certificate to this file.")] = None,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="Check this one; look at nothing.")] = None,
    baseline: Annotated[Path | None, typer.Option("--baseline", help="An earlier certificate to compare with.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write a summary in Markdown.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the intervals' resampling.")] = 0,
    example: Annotated[bool, typer.Option("--example", help="Print a thresholds file with the defaults.")] = False,
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who looks.")] = "",
    role: Annotated[str, typer.Option("--as", help="lead: look although you still label; it is recorded.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Check whether the judge is good enough to score the full run: open (0), closed (1) or undecided (3).

    A judge may be looked at five times; the same look again costs nothing. Closed to an annotator in the middle of a
    queue. With --certificate an earlier outcome is checked: against the study if there is one here, else that the
    certificate itself is whole and open. --thresholds, --junit and --markdown go with it.

    Example: overread gate --task qa --write gate.json --junit gate.xml
    """
    from annotate.cli.audit import asking
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say, table
    from annotate.cli.study import require_files, tell_notices
    from annotate.report.gate_text import gate_junit, gate_lines, gate_markdown
    from judges.gate.certificate import certificate_of, certificate_text, read_baseline
    from judges.gate.evidence import gate_tasks, pick_judge
    from judges.gate.gate import look
    from judges.gate.thresholds import EXAMPLE, thresholds_of
    from store.study import Study, now

    if example:
        say(EXAMPLE.rstrip())
        return
    require_files([path for path in (thresholds, certificate, baseline) if path is not None])
    if certificate is not None:
        _only_checked({"--write": write, "--baseline": baseline, "--task": task, "--judge": judge, "--seed": seed})
        found = _verified(context, certificate, thresholds, [path for path in (junit, markdown) if path is not None])
        _write((junit, gate_junit(found.certificate, found.problems)),
               (markdown, gate_markdown(found.certificate, found.problems)))  # fmt: skip
        if as_json:
            print_json(found.as_json())
        else:
            for line in _verified_lines(certificate, found):
                say(line)
        raise typer.Exit(found.exit_code)
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        asking(study, annotator, role, "gate")
        _require_places(study, [path for path in (write, junit, markdown) if path is not None])
        before = read_baseline(baseline) if baseline is not None else None
        names = gate_tasks(study, task)
        judges = [pick_judge(study, name, judge) for name in names]
        limits = {name: thresholds_of(thresholds, name) for name in names}
        outcome = look(study, judges, limits, at=now().isoformat(), seed=seed, baseline=before)
    document = outcome.as_json()
    _write((write, certificate_text(outcome)), (junit, gate_junit(document)), (markdown, gate_markdown(document)))
    if as_json:
        print_json(certificate_of(outcome))
    else:
        for block in gate_lines(document):
            for line in [block] if isinstance(block, str) else table(block):
                say(line)
    raise typer.Exit(outcome.exit_code)


def _only_checked(options: Mapping[str, object]) -> None:
    """
    Raises:
        UsageError: an option that says how to look goes with a certificate, at which nobody looks anew.
    """
    if given := [name for name, value in options.items() if value]:
        raise UsageError(f"{given[0]} does not go with --certificate.", "It is checked; nothing is looked at anew.",
                         f"Leave {given[0]} out, or look anew without --certificate.")  # fmt: skip


def _require_places(study: Study, paths: Sequence[Path]) -> None:
    from annotate.cli.export import refuse_imported

    for path in paths:
        _require_folder(path)
        refuse_imported(study, path)


def _require_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}.", "", "Make the folder first.")


def _write(*files: tuple[Path | None, str]) -> None:
    from store.files import write_atomically

    for path, text in files:
        if path is not None:
            write_atomically(path, [text])


def _verified(
    context: typer.Context, certificate: Path, thresholds: Path | None, written: Sequence[Path]
) -> Verification:
    """Against the study named or lying here; in CI there may be none."""
    from annotate.cli.main import studies_here, study_path
    from annotate.cli.study import tell_notices
    from judges.gate.certificate import verify
    from store.study import Study

    if context.obj is None and not studies_here():
        for path in written:
            _require_folder(path)
        return verify(certificate, thresholds=thresholds)
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        _require_places(study, written)
        return verify(certificate, study, thresholds)


def _verified_lines(path: Path, found: Verification) -> list[str]:
    if not found.valid:
        return [f"{path}: NOT VALID", *(f"  {problem}" for problem in found.problems), "  Look again: overread gate"]
    return [f"{path}: valid, {found.outcome}", f"  compared: {', '.join(found.compared)}"]
