"""How errors reach the user: expected ones as title, place and remedy; others as one line, never with item text."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Iterator

from annotate.cli.output import note_error
from store.errors import OverreadError

EXIT_UNEXPECTED = 70
"""A fault of the program itself (EX_SOFTWARE)."""


def report(error: OverreadError) -> int:
    """Print an expected error; returns its exit code."""
    note_error(f"overread: {error.title}")
    for line in (error.detail, error.hint):
        if line:
            note_error(f"  {line}")
    return error.exit_code


def report_usage(error: Exception) -> int | None:
    """Let an error of the command line itself (a wrong option) show itself; None when it is something else.

    Typer carries its own copy of click, and older ones the real one: such errors are known by what they can do.
    """
    show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
    if not callable(show) or not isinstance(code, int):
        return None
    told = io.StringIO()
    show(file=told)
    for line in told.getvalue().splitlines():
        note_error(line)
    return code


def _report_cut_bytecode(frames: traceback.StackSummary) -> int:
    """On a full disk Python before 3.12.8 keeps half of a compiled module, and can never load it again."""
    importing = next(frame.filename for frame in reversed(frames) if "importlib" not in frame.filename)
    note_error("overread: a compiled file of the program is cut short, as a full disk leaves it.")
    note_error(f"  It is one that {importing} imports. Nothing of the study is touched.")
    note_error("  Delete the __pycache__ folders of the installed program and start again.")
    return EXIT_UNEXPECTED


def _trace(error: BaseException) -> Iterator[str]:
    """The whole trace, causes first: places and kinds of errors; messages could hold an item's text and stay out."""
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None:
        yield from _trace(earlier)
        yield "then:\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__name__} (its message is not shown: it could hold an item's text)\n"


def report_unexpected(error: Exception) -> int:
    """Print where an unexpected error happened, without its message: that could hold an item's text."""
    if os.environ.get("OVERREAD_DEBUG"):
        sys.stderr.writelines(_trace(error))
        return EXIT_UNEXPECTED
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, EOFError) and any("importlib" in frame.filename for frame in frames):
        return _report_cut_bytecode(frames)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown place"
    note_error(f"overread: unexpected {type(error).__name__} at {place}")
    note_error("  Everything confirmed on screen is saved. OVERREAD_DEBUG=1 prints the whole trace.")
    return EXIT_UNEXPECTED
