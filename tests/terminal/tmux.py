"""A thin driver for tmux, for what only a real terminal shows: wide characters, resizes, a detached session.

Each `Tmux` has a server of its own (own socket, no user configuration); leaving it ends that server and no other.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.terminal.harness import terminal_environment

TMUX_KEYS = {
    "enter": "Enter",
    "escape": "Escape",
    "tab": "Tab",
    "shift+tab": "BTab",
    "space": "Space",
    "backspace": "BSpace",
    "delete": "DC",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "home": "Home",
    "end": "End",
    "pageup": "PPage",
    "pagedown": "NPage",
    "f1": "F1",
}

HELD = """trap : INT
tmux -S {socket} wait-for start
{command}
echo $? > {written}
mv {written} {exit_file}
exec tail -f /dev/null
"""
"""Waits for the start, runs the program, tells its exit code, keeps the window (tmux 3.3's own `pane_dead_status` is
sometimes never set)."""


def tmux_key(key: str) -> str:
    """tmux's name of a key as `harness.key_bytes` names it: `ctrl+x`, `alt+x`, a named key, or one character."""
    if key in TMUX_KEYS:
        return TMUX_KEYS[key]
    prefix, _, last = key.partition("+")
    if last and prefix in ("ctrl", "alt"):
        return f"{'C' if prefix == 'ctrl' else 'M'}-{last}"
    return key


class Tmux:
    """One program in one tmux window, which stays open when the program ends.

    Args:
        command: program and arguments.
        columns, rows: size of the window in cells.
        env: variables set on top of `harness.terminal_environment`.
        cwd: folder the program starts in.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        if shutil.which("tmux") is None:
            raise FileNotFoundError("tmux is not installed")
        self._folder = Path(tempfile.mkdtemp(prefix="overread-tmux-"))
        self._socket = str(self._folder / "socket")
        self._exit_file = self._folder / "exit"
        self._env = terminal_environment(env)
        self._start(command, columns, rows, cwd or Path.cwd())

    def _start(self, command: Sequence[str], columns: int, rows: int, cwd: Path) -> None:
        """Open the window with the program held back until the window has its size and its options."""
        script = HELD.format(
            socket=shlex.quote(self._socket),
            command=shlex.join(command),
            written=shlex.quote(str(self._exit_file.with_suffix(".part"))),
            exit_file=shlex.quote(str(self._exit_file)),
        )
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(cwd), "sh", "-c", script)
        self._tmux("set-option", "-g", "status", "off")
        self.resize(columns, rows)
        self._tmux("wait-for", "-S", "start")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", os.devnull, "-u", "-S", self._socket, *arguments],
            env=self._env,
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=True,
        )
        return done.stdout

    @property
    def screen(self) -> str:
        """The text on the screen now."""
        return self._tmux("capture-pane", "-p").rstrip("\n")

    @property
    def styled_screen(self) -> str:
        """The same with colours and attributes as escape sequences."""
        return self._tmux("capture-pane", "-p", "-e").rstrip("\n")

    @property
    def exit_code(self) -> int | None:
        """The program's exit code (128 + n when signal n ended it), or None while it runs."""
        return int(self._exit_file.read_text(encoding="utf-8")) if self._exit_file.exists() else None

    @property
    def in_alternate(self) -> bool:
        """True while the program has the alternate screen."""
        return self._tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    @property
    def title(self) -> str:
        """The pane's title, which a hostile text would like to set."""
        return self._tmux("display-message", "-p", "#{pane_title}").rstrip("\n")

    def send(self, *keys: str) -> None:
        """Press keys, named as in `harness.key_bytes`."""
        for key in keys:
            literal = ["-l"] if len(key) == 1 else []
            self._tmux("send-keys", *literal, "--", tmux_key(key))

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def wait_for(self, pattern: str, timeout: float = 15.0) -> re.Match[str]:
        """Wait until a regular expression (multi-line) is on the screen.

        Raises:
            AssertionError: it did not come within `timeout` seconds; shows the screen.
        """
        expression = re.compile(pattern, re.MULTILINE)
        deadline = time.monotonic() + timeout
        while True:
            screen = self.screen
            if found := expression.search(screen):
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} did not appear; the screen:\n{screen}")
            time.sleep(0.05)

    def wait_exit(self, timeout: float = 15.0) -> int:
        """Wait for the program to end; its exit code.

        Raises:
            AssertionError: it is still running after `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while (code := self.exit_code) is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"the program did not end; the screen:\n{self.screen}")
            time.sleep(0.05)
        return code

    def close(self) -> None:
        """End this server and its program."""
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, timeout=30, check=False)
        shutil.rmtree(self._folder, ignore_errors=True)
