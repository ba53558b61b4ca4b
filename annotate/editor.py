"""A text in the editor of the person who works here: what they leave is taken, or it is told why not."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from store.errors import UsageError

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
    try:
        command = shlex.split(editor, posix=os.name != "nt")
    except ValueError as error:
        raise UsageError(f"$EDITOR is no command: {editor}", str(error), "export EDITOR=nano") from error
    if not command:
        raise UsageError("There is no editor in $EDITOR.", "", "export EDITOR=nano")
    with tempfile.TemporaryDirectory(prefix="overread-") as folder:
        path = Path(folder) / name
        path.write_text(f"{text.rstrip()}\n", encoding="utf-8", errors="replace")
        try:
            done = subprocess.run([*command, str(path)], check=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"The editor {editor!r} cannot be started.", str(error), "Set EDITOR.") from error
        if done.returncode:
            raise UsageError(f"The editor ended with {done.returncode}; nothing was changed.")
        return text_of_file(path)


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
