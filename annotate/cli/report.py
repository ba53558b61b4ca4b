"""`report`: the audit as a file to read, print and pass on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from annotate.report.blocks import Document
    from store.study import Study

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}
_HEAD = 400
"""Characters of a file in which the mark of a report stands."""


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("report")(report)


def report(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write: NAME.html or NAME.md.")],
    task: Annotated[str, typer.Option("--task", help="Only this task.")] = "",
    judge: Annotated[str, typer.Option("--judge", help="Only this judge.")] = "",
    no_texts: Annotated[bool, typer.Option("--no-texts", help="Leave out texts of items, reasons and notes.")] = False,
    disagreements: Annotated[
        int, typer.Option("--disagreements", min=0, help="How many are shown for each task and judge.")
    ] = 20,
    recall: Annotated[
        float, typer.Option("--min-recall", min=0, max=1, help="Recall that every label has to reach.")
    ] = 0.80,
    precision: Annotated[
        float, typer.Option("--min-precision", min=0, max=1, help="Precision that every label has to reach.")
    ] = 0.80,
    kappa: Annotated[
        float, typer.Option("--min-kappa", min=-1, max=1, help="Cohen's kappa that the judge has to reach.")
    ] = 0.60,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the intervals' resampling.")] = 0,
) -> None:
    """Write how far the judge can be trusted as one HTML file, or as Markdown: the verdict first, a page a task.

    The file needs no network and runs nothing. It shows verdicts: it is not for people who still label.

    Example: overread report trust.html
    """
    from annotate.cli.main import study_path
    from annotate.cli.output import say
    from annotate.cli.study import tell_notices
    from annotate.report.document import build_document
    from annotate.report.options import ReportOptions
    from judges.calibration.audit_result import Settings
    from judges.calibration.checks import Thresholds
    from store.study import Study, now

    chosen = chosen_format(file)
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        refuse_other_files(study, file)
        check_names(study, task, judge)
        options = ReportOptions(
            made_at=now(), task=task, judge=judge, settings=Settings(seed=seed),
            thresholds=Thresholds(recall, precision, kappa), texts=not no_texts, disagreements=disagreements,
        )  # fmt: skip
        write(file, rendered(build_document(study, options), chosen))
    say(f"{file}: written{'' if no_texts else ', with texts of items in it'}")


def chosen_format(file: Path) -> str:
    """The format by the file's ending.

    Raises:
        UsageError: no known ending, or no such folder.
    """
    if file.suffix.lower() not in FORMATS:
        raise UsageError(f"There is no report of kind {file.suffix or file.name!r}.", "", "Say NAME.html or NAME.md.")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {file.parent}.", "", "Make the folder first.")
    return FORMATS[file.suffix.lower()]


def refuse_other_files(study: Study, file: Path) -> None:
    """Never write over anything but an older report.

    Raises:
        UsageError: the file was imported, or is something else.
    """
    from annotate.cli.export import refuse_imported
    from annotate.report.document import MARK

    refuse_imported(study, file)
    if not file.exists():
        return
    if file.is_file():
        with file.open(encoding="utf-8", errors="replace") as there:
            if MARK in there.read(_HEAD):
                return
    raise UsageError(f"{file} is there and is no report of overread.", "It is not overwritten.", "Choose another name.")


def check_names(study: Study, task: str, judge: str) -> None:
    """Refuse a task or a judge that the study does not have.

    Raises:
        UsageError: names those there are.
    """
    from judges.collect import task_definitions
    from store.items import judges

    known = list(task_definitions(study))
    if task and task not in known:
        raise UsageError(f"There is no task {task!r}.", f"Tasks of this study: {', '.join(known)}.")
    if judge and judge not in (names := judges(study)):
        raise UsageError(f"There is no judge {judge!r}.", f"Judges of this study: {', '.join(names)}.")


def rendered(document: Document, chosen: str) -> Iterable[str]:
    """The document's text in chunks."""
    if chosen == "html":
        from annotate.report.html.page import html_page

        return html_page(document)
    from annotate.report.markdown import markdown_text

    return markdown_text(document)


def write(file: Path, chunks: Iterable[str]) -> None:
    """Put the text in place whole.

    Raises:
        UsageError: the folder or the disk does not take it.
    """
    from store.files import write_atomically

    try:
        write_atomically(file, chunks)
    except OSError as error:
        raise UsageError(
            f"{file} cannot be written.", error.strerror or "", "Choose another folder, or free disk space."
        ) from error
