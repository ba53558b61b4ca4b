"""Writing to the terminal: every foreign string passes `safe_text`, JSON goes out alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

from annotate.cli.remedies import as_called
from store.errors import NotWrittenError
from store.records import Problem
from store.safe_text import TERMINAL_UNSAFE, safe_text

SCHEMA_VERSION = 1
"""Version of every JSON document a command prints; raised when a name or a meaning changes."""

Item = TypeVar("Item")
_SHOWN_PROBLEMS = 50
_NARROWEST = 30
"""Cells below which sentences are not broken."""
_SHOWN_EVERY = 0.5
"""Seconds between two looks at how far something is."""
_TOO_EARLY, _FIRST_SHARE = 1.0, 0.01
"""Before so many seconds, or less than that share, the time left is a guess that would only mislead."""


def say(text: str = "") -> None:
    """Print one safe line to standard output; in a terminal a long sentence is broken between words."""
    _print(fitted_to(sys.stdout, safe_text(as_called(text))))


def fitted_to(stream: TextIO | None, line: str, *, rows: bool = True) -> str:
    """A line as a stream is to have it: `fitted` to the width of a terminal, as it is to anything else."""
    if stream is None or not stream.isatty():
        return line
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # a terminal that does not tell its size
        width = 0
    width = width or shutil.get_terminal_size().columns
    return "\n".join(fitted(one, width, rows=rows) for one in line.split("\n"))


def fitted(line: str, width: int, *, rows: bool = True) -> str:
    """A sentence in lines of at most `width` cells, the further ones indented two cells more than the first.

    Rows of tables stay as they are: they have several spaces within. No word is broken, so that a path can be copied;
    `annotate.desk.layout.wrap`, for an item's text, breaks between any wide characters.

    Args:
        rows: whether the line may be a table's row; a message may hold several spaces and be none.
    """
    from rich.cells import cell_len

    said = line.lstrip(" ")
    indent = " " * (len(line) - len(said))
    if cell_len(line) <= width or (rows and "  " in said) or width < _NARROWEST + len(indent):
        return line
    lines = [indent]
    for word in said.split(" "):
        joint = "" if lines[-1].isspace() or not lines[-1] else " "
        if joint and cell_len(lines[-1]) + 1 + cell_len(word) > width:
            lines.append(f"{indent}  {word}")
        else:
            lines[-1] += joint + word
    return "\n".join(row.rstrip() for row in lines)


def note(text: str) -> None:
    """Print one safe line to standard error: what is no result; in a terminal broken between words."""
    print(fitted_to(sys.stderr, safe_text(as_called(text))), file=sys.stderr)


def note_error(text: str) -> None:
    """The same of an error, whose every line is a sentence."""
    print(fitted_to(sys.stderr, safe_text(as_called(text)), rows=False), file=sys.stderr)


def print_json(document: dict[str, Any]) -> None:
    """Print a result as JSON, with the schema version first; what a terminal would obey is written as \\u escapes."""
    text = json.dumps({"schema_version": SCHEMA_VERSION, **document}, ensure_ascii=False, indent=2, allow_nan=False)
    _print("\n".join(TERMINAL_UNSAFE.sub(_escaped, line) for line in text.split("\n")))


class ReaderGoneError(Exception):
    """Nobody reads the output any more, as behind `| head`; no failure of the command."""


def _print(text: str) -> None:
    with writing_output():
        print(text)


@contextmanager
def writing_output() -> Iterator[None]:
    """Standard output is written to here.

    Raises:
        ReaderGoneError: nobody reads it.
        NotWrittenError: its device is full.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:
        drop_output()
        reason = error.strerror or type(error).__name__
        raise NotWrittenError(
            "The output cannot be written.", reason, "Free disk space, or write it elsewhere."
        ) from error


def flush_output() -> None:
    """Send on what is printed and still held; raises as `writing_output`."""
    with writing_output():
        if sys.stdout is not None:
            sys.stdout.flush()


def drop_output() -> None:
    """Throw away what is still held for an output that takes nothing: at its end Python would try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"


def table(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> Iterator[str]:
    """Rows as aligned columns, the first flush left and the others flush right; widths in terminal cells."""
    from rich.cells import cell_len

    safe = [[safe_text(cell) for cell in row] for row in rows]
    widths = [max(cell_len(row[column]) for row in safe) for column in range(len(safe[0]))] if safe else []
    for row in safe:
        cells = [
            cell + " " * (width - cell_len(cell)) if column == 0 else " " * (width - cell_len(cell)) + cell
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield (indent + "  ".join(cells)).rstrip()


def print_problems(problems: Sequence[Problem]) -> None:
    """Every bad place and warning to standard error: file, line, column, what, remedy."""
    for problem in problems[:_SHOWN_PROBLEMS]:
        place = ":".join([problem.file, *(str(n) for n in (problem.line, problem.column) if n)])
        kind = "error" if problem.fatal else "note"
        note(
            (f"{place}: " if place else "")
            + f"{kind}: {problem.what}"
            + (f" ({problem.remedy})" if problem.remedy else "")
        )
    if len(problems) > _SHOWN_PROBLEMS:
        note(f"… and {len(problems) - _SHOWN_PROBLEMS} more")


class Progress:
    """A line on standard error with count, rate and time left, on a terminal only, at most twice a second.

    Args:
        what: the work, a verb.
        then: what follows when it is done and takes a while too.
        total: how many items there are, if that is known.
        share: what is done of all there is, 0 to 1, where items do not tell. Without both no time left is told.
    """

    def __init__(self, what: str, *, then: str = "", total: int = 0, share: Callable[[], float] | None = None) -> None:
        self._what, self._then = what, then
        self._count = self._width = 0
        self._share = share or (lambda: self._count / total if total else 0.0)
        self._started = self._shown = time.monotonic()
        self._visible = sys.stderr.isatty()

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, counted as they pass."""
        try:
            for self._count, item in enumerate(items, start=1):
                self.show()
                yield item
        except BaseException:
            self._end(f"{self._count:,}, stopped")
            raise
        self._end(f"{self._count:,}, done{f'; {self._then} …' if self._then else ''}")

    def show(self) -> None:
        """Show how far it is, if it is time to."""
        now = time.monotonic()
        if self._visible and now - self._shown >= _SHOWN_EVERY:
            self._shown = now
            elapsed = now - self._started
            rate = f"{self._count / elapsed:,.0f}/s"
            left = time_left(elapsed, self._share())
            self._line(f"{self._count:,} ({rate}{f', {left}' if left else ''})", "")

    def _end(self, text: str) -> None:
        if self._width:
            self._line(text, "\n")

    def _line(self, text: str, end: str) -> None:
        line = f"{self._what}: {text}"
        sys.stderr.write(f"\r{line.ljust(self._width)}{end}")
        sys.stderr.flush()
        self._width = len(line)


def time_left(elapsed: float, share: float) -> str:
    """Words for the seconds that remain when so much of the work took so many seconds; "" when that tells nothing."""
    if elapsed < _TOO_EARLY or not _FIRST_SHARE <= share < 1:
        return ""
    left = elapsed * (1 - share) / share
    if left < 90:
        return f"about {max(1, round(left))} s left"
    return f"about {round(left / 60)} min left"
