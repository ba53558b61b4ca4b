"""The command `overread`: options of all commands, and the way out for every error."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from annotate.cli import errors
from annotate.cli.loading import load_engine, loading
from annotate.cli.output import ReaderGoneError, drop_output, flush_output
from annotate.cli.remedies import name_study
from annotate.entry import EXIT_STOPPED
from store.errors import EXIT_DONE, NotWrittenError, OverreadError, UsageError
from store.files import PRIVATE_UMASK

QUERY_INTERRUPTED = "Query interrupted"
"""What DuckDB's RuntimeError says when Ctrl-C came in the middle of a query."""

app = typer.Typer(
    name="overread",
    help="Check the LLM judge of a benchmark run: label, audit, correct. One study is one file.",
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback(invoke_without_command=True)
def overread(
    context: typer.Context,
    study: Annotated[
        Path | None,
        typer.Option("--study", envvar="OVERREAD_STUDY", help="The study file; else the only *.duckdb here."),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Without a command: open the desk on the study in this folder, or say how to begin.

    Example: overread demo
    """
    context.obj = study
    source = context.get_parameter_source("study")
    name_study(study if source is not None and source.name == "COMMANDLINE" else None)
    if version:
        typer.echo(f"overread {_installed_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from annotate.cli.label import open_here

        open_here(study)


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("overread")
    except PackageNotFoundError:  # run from a checkout
        return "(not installed)"


def study_path(context: typer.Context) -> Path:
    """The study a command works on: `--study`, `$OVERREAD_STUDY`, or the only one in this folder; DuckDB is loaded too.

    Raises:
        UsageError: none, or more than one.
    """
    load_engine()
    if context.obj is not None:
        return Path(context.obj)
    here = studies_here()
    if len(here) == 1:
        return here[0]
    if not here:
        raise UsageError("There is no study in this folder.", "", "overread open FILE…   or   overread demo")
    names = ", ".join(path.name for path in here)
    raise UsageError(
        f"There are {len(here)} studies in this folder: {names}.", "", "Say which: overread --study FILE …"
    )


def studies_here() -> list[Path]:
    """The study files of the current folder, by name."""
    return sorted(path for path in current_folder().glob("*.duckdb") if not path.name.startswith("."))


def current_folder() -> Path:
    """The folder the command runs in.

    Raises:
        UsageError: it was deleted.
    """
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("The current folder is no longer there.", "", "Go to another folder first.") from error


COMMANDS: Final[Mapping[str, str]] = {
    "open": "openings", "demo": "openings", "init": "study", "import": "study", "status": "study", "sample": "sample",
    "plan": "plan", "label": "label", "judge": "judge", "rubric": "rubric", "audit": "audit", "score": "score",
    "report": "report", "retune": "retune", "gate": "gate", "export": "export", "doctor": "doctor",
}  # fmt: skip
"""Command → its module here, in the order of the help."""


def _load_commands(arguments: Sequence[str]) -> None:
    """The module of the command that is called; all of them for the help and for what is no command."""
    wanted = _called(arguments)
    with loading():
        for module in dict.fromkeys(COMMANDS.values()) if wanted is None else [COMMANDS[wanted]]:
            importlib.import_module(f"annotate.cli.{module}").register(app)


def _called(arguments: Sequence[str]) -> str | None:
    """The command's name, `label` where none is given, None for the help or an unknown name."""
    words = iter(arguments)
    for word in words:
        if word in ("-h", "--help"):
            return None
        if word == "--study":
            next(words, "")
        elif not word.startswith("-"):
            return word if word in COMMANDS else None
    return "label"


def run(arguments: list[str] | None = None) -> None:
    """Run a command and leave with DESIGN's exit codes."""
    os.umask(PRIVATE_UMASK)
    # NumPy's products are small here: more threads of its BLAS would spin longer than they count, and hold memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a character is no reason to stop
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        _load_commands(sys.argv[1:] if arguments is None else arguments)
        result: Any = app(args=arguments, standalone_mode=False)
        flush_output()
    except OverreadError as error:
        return errors.report(error)
    except (KeyboardInterrupt, typer.Abort) as stop:
        if isinstance(stop.__cause__, EOFError):  # typer takes any EOFError for an end of input
            return errors.report_unexpected(stop.__cause__)
        return _stopped()
    except ReaderGoneError:
        drop_output()
        return EXIT_DONE
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return errors.report_unexpected(error)
        drop_output()
        return errors.report(NotWrittenError("Something cannot be written.", str(error), "Free disk space."))
    except Exception as error:
        if str(error) == QUERY_INTERRUPTED:
            return _stopped()
        if (code := errors.report_usage(error)) is not None:
            return code
        return errors.report_unexpected(error)
    if result == EXIT_STOPPED:  # newer typers end a command that Ctrl-C stopped so, and say nothing
        return _stopped()
    return result if isinstance(result, int) else EXIT_DONE


def _stopped() -> int:
    print("overread: stopped; everything confirmed is saved.", file=sys.stderr)
    return EXIT_STOPPED


if __name__ == "__main__":
    run()
