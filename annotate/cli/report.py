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
    epsilon: Annotated[
        float, typer.Option("--epsilon", min=0, max=1, help="Margin of the annotator test: .2 experts, .1 crowd.")
    ] = 0.2,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the intervals' resampling.")] = 0,
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who asks.")] = "",
    role: Annotated[str, typer.Option("--as", help="lead: also while you still label; it is recorded.")] = "",
) -> None:
    """Write how far the judge can be trusted as one HTML file, or as Markdown: the verdict first, a page a task.

    The file needs no network and runs nothing. It shows verdicts: it is not for people who still label, and closed to
    an annotator in the middle of a queue.

    Example: overread report trust.html
    """
    from annotate.cli.audit import asking, check_names
    from annotate.cli.main import study_path
    from annotate.cli.output import say
    from annotate.cli.study import tell_notices
    from annotate.desk.closed import hidden_from, open_queue
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
        who, lead = asking(study, annotator, role, "report")
        hidden = frozenset() if lead and open_queue(study, who) is None else hidden_from(study, who)
        options = ReportOptions(
            made_at=now(), task=task, judge=judge, settings=Settings(seed=seed, all_statistics=True),
            thresholds=Thresholds(recall, precision, kappa), texts=not no_texts, disagreements=disagreements,
            hidden=hidden, epsilon=epsilon,
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
