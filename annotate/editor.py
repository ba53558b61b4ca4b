"""A text in the editor or pager of the person who works here: what they leave is taken, or it is told why not."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from store.errors import UsageError

PAGERS = ("less", "more")
"""What shows a text where `$PAGER` does not say."""
MOST_BYTES = 2**20
"""Of a text that a person writes; more is a mistake of the editor or of the file chosen."""


def edited_text(text: str, name: str) -> str:
    """The text as the person left it in the editor of `$VISUAL` or `$EDITOR`, without blanks around it.

    Args:
        name: of the file that the editor is given.

    Raises:
        UsageError: there is no editor, it failed, or what it left is no text.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    command = _command_of(editor, "EDITOR", "nano")
    if not command:
        raise UsageError("There is no editor in $EDITOR.", "", "export EDITOR=nano")
    with _written(text, name) as path:
        if code := _run(command, path, "EDITOR"):
            raise UsageError(f"The editor ended with {code}; nothing was changed.")
        return text_of_file(path)


def show_text(text: str, name: str) -> None:
    """Show a text in the program of `$PAGER`, else in `less` or `more`, until the person leaves it.

    Args:
        text: made safe for a terminal. name: of the file that the pager is given.

    Raises:
        UsageError: there is no pager, or it failed.
    """
    pager = os.environ.get("PAGER") or next(filter(shutil.which, PAGERS), "")
    command = _command_of(pager, "PAGER", PAGERS[0])
    if not command:
        raise UsageError("There is no pager in $PAGER.", "", f"export PAGER={PAGERS[0]}")
    if Path(command[0]).stem == "less":
        command.append("-+F")  # else a short text is gone before it is read
    with _written(text, name) as path:
        if code := _run(command, path, "PAGER"):
            raise UsageError(f"The pager ended with {code}.")


def _command_of(given: str, variable: str, example: str) -> list[str]:
    try:
        return shlex.split(given, posix=os.name != "nt")
    except ValueError as error:
        raise UsageError(f"${variable} is no command: {given}", str(error), f"export {variable}={example}") from error


@contextmanager
def _written(text: str, name: str) -> Iterator[Path]:
    """The text as a file that only this person can read, until the block is left."""
    with tempfile.TemporaryDirectory(prefix="overread-") as folder:
        path = Path(folder) / name
        path.write_text(f"{text.rstrip()}\n", encoding="utf-8", errors="replace")
        yield path


def _run(command: Sequence[str], path: Path, variable: str) -> int:
    """The program's exit code."""
    secure = {"LESSSECURE": "1"}  # a pager shows this text, and neither edits it nor runs anything on it
    try:
        return subprocess.run([*command, str(path)], env={**os.environ, **secure}, check=False).returncode
    except (OSError, ValueError) as error:
        raise UsageError(f"{command[0]!r} cannot be started.", str(error), f"Set {variable}.") from error


def text_of_file(path: Path) -> str:
    """The text of a file, without a byte-order mark or blanks around it.

    Raises:
        UsageError: it is no ordinary file of UTF-8 text, or holds more than anybody writes.
    """
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path.name} is no ordinary file.", "", "Give a file of text.")
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path.name} is longer than a megabyte.", "", "Check the file.")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read.", error.strerror or "", "Check the file.") from error
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} is no UTF-8"
        raise UsageError(f"{path.name} cannot be read as UTF-8 text.", where, "Save it as UTF-8.") from error
    if "\x00" in text:
        raise UsageError(f"{path.name} is no text: it holds NUL characters.", "", "Save it as UTF-8.")
    return "\n".join(text.splitlines()).strip()
