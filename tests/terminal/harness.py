"""Drive a real program in a pseudo-terminal: send keys, wait for the screen, keep every byte it wrote.

    with Terminal(["overread", "demo"], columns=140, rows=45) as terminal:
        terminal.wait_for("Question")
        terminal.send("c", "enter")
        terminal.terminate()
        terminal.wait_exit()
        assert terminal.left_behind() == []

A thread reads the pseudo-terminal, stamps each chunk and answers the questions a terminal answers (device attributes,
cursor position, mode reports, colours). The screen is drawn from the chunks when somebody looks at it. POSIX only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.terminal.sequences import left_behind
from tests.terminal.virtual_screen import VirtualScreen

NAMED_KEYS: Mapping[str, bytes] = {
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "insert": b"\x1b[2~",
    "delete": b"\x1b[3~",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "space": b" ",
    "backspace": b"\x7f",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "f5": b"\x1b[15~",
    "f6": b"\x1b[17~",
}

ANSWERS: Sequence[tuple[re.Pattern[bytes], bytes]] = (
    (re.compile(rb"\x1b\[0?c"), b"\x1b[?62;22c"),
    (re.compile(rb"\x1b\[>0?c"), b"\x1b[>41;354;0c"),
    (re.compile(rb"\x1b\[5n"), b"\x1b[0n"),
    (re.compile(rb"\x1b\[6n"), b"\x1b[1;1R"),
    (re.compile(rb"\x1b\[\?u"), b"\x1b[?0u"),
    (re.compile(rb"\x1b\]10;\?(?:\x07|\x1b\\)"), b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (re.compile(rb"\x1b\]11;\?(?:\x07|\x1b\\)"), b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
)
MODE_QUESTION = re.compile(rb"\x1b\[\?(\d+)\$p")
KNOWN_MODES = {b"2026": b"2"}
LONGEST_QUESTION = 16

START_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONPYCACHEPREFIX")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes the program wrote. `at` is `time.monotonic()` seconds when they were read."""

    at: float
    data: bytes


def key_bytes(key: str) -> bytes:
    """The bytes a terminal sends for a key: a name of `NAMED_KEYS`, `ctrl+x`, `alt+x`, or one character.

    Raises:
        ValueError: no such key.
    """
    if key in NAMED_KEYS:
        return NAMED_KEYS[key]
    if len(key) == 1:
        return key.encode()
    prefix, _, last = key.partition("+")
    if prefix == "ctrl" and len(last) == 1 and "a" <= last <= "z":
        return bytes([ord(last) - ord("a") + 1])
    if prefix == "alt" and len(last) == 1:
        return b"\x1b" + last.encode()
    raise ValueError(f"unknown key {key!r}")


def terminal_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a program started in a terminal: the few variables it needs, nothing else leaks in."""
    kept = {name: os.environ[name] for name in START_VARIABLES if name in os.environ}
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
    return {"LANG": "C.UTF-8", **kept, **terminal, **(extra or {})}


class Terminal:
    """One program in one pseudo-terminal. Use it as a context manager; leaving it ends the program.

    Args:
        command: program and arguments.
        columns, rows: size of the window in cells.
        env: variables set on top of `terminal_environment`.
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
        self._display = VirtualScreen(columns, rows)
        self._drawn = 0
        self._chunks: list[Chunk] = []
        self._news = threading.Condition()
        self._ended = False
        self._master, slave = pty.openpty()
        self._set_size(columns, rows)
        self._line_settings = termios.tcgetattr(self._master)
        self.started_at = time.monotonic()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=cwd,
                env=terminal_environment(env),
                start_new_session=True,
                preexec_fn=_take_terminal,
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        self._reader = threading.Thread(target=self._read, name="terminal-reader", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- what the program wrote ---

    @property
    def chunks(self) -> list[Chunk]:
        """Every chunk so far, in order."""
        with self._news:
            return list(self._chunks)

    @property
    def recording(self) -> bytes:
        """Every byte so far."""
        return b"".join(chunk.data for chunk in self.chunks)

    @property
    def display(self) -> VirtualScreen:
        """The screen after every byte so far."""
        chunks = self.chunks
        for chunk in chunks[self._drawn :]:
            self._display.feed(chunk.data)
        self._drawn = len(chunks)
        return self._display

    @property
    def screen(self) -> str:
        """The text on the screen now, rows joined by line ends."""
        return self.display.text

    def left_behind(self) -> list[str]:
        """What the program changed in its terminal and did not put back, in words: modes, cursor, line settings."""
        left = left_behind(self.recording)
        settings = termios.tcgetattr(self._master)
        if settings[:4] != self._line_settings[:4]:
            left.append("line settings (echo, canonical mode, signals)")
        return left

    # --- waiting ---

    def wait_for(self, pattern: str, timeout: float = 15.0) -> re.Match[str]:
        """Wait until a regular expression (multi-line) is on the screen.

        Raises:
            AssertionError: it did not come within `timeout` seconds, or the program ended first; shows the screen.
        """
        expression = re.compile(pattern, re.MULTILINE)
        for _ in self._until(timeout):
            if found := expression.search(self.screen):
                return found
        raise AssertionError(f"{pattern!r} did not appear{self._how_it_stands()}")

    def wait_gone(self, pattern: str, timeout: float = 15.0) -> None:
        """Wait until a regular expression is no longer on the screen.

        Raises:
            AssertionError: it is still there after `timeout` seconds.
        """
        expression = re.compile(pattern, re.MULTILINE)
        for _ in self._until(timeout):
            if not expression.search(self.screen):
                return
        raise AssertionError(f"{pattern!r} is still there{self._how_it_stands()}")

    def wait_quiet(self, quiet: float = 0.15, timeout: float = 15.0) -> None:
        """Wait until the program has written nothing for `quiet` seconds, or has ended; nothing is drawn meanwhile.

        Raises:
            AssertionError: it never fell silent within `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        with self._news:
            seen = -1
            while not self._ended and seen != len(self._chunks):
                seen = len(self._chunks)
                self._news.wait(quiet)
                if time.monotonic() > deadline:
                    raise AssertionError(f"the program never fell silent within {timeout:g} s")

    def wait_exit(self, timeout: float = 15.0) -> int:
        """Wait for the program to end; its exit code, or minus the number of the signal that ended it.

        Raises:
            AssertionError: it is still running after `timeout` seconds.
        """
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the program did not end{self._how_it_stands()}") from None
        self._reader.join(2.0)
        return code

    def _until(self, timeout: float) -> Iterator[None]:
        """Yield at once, then after each news, until the time is over or the program has ended."""
        deadline = time.monotonic() + timeout
        while True:
            with self._news:
                seen, ended = len(self._chunks), self._ended
            yield
            left = deadline - time.monotonic()
            if ended or left <= 0:
                return
            with self._news:
                if len(self._chunks) == seen and not self._ended:
                    self._news.wait(left)

    def _how_it_stands(self) -> str:
        code = self._process.poll()
        state = "the program runs" if code is None else f"the program ended with {code}"
        return f"; {state}; the screen:\n{self.screen}"

    # --- what a person or the system does to it ---

    @property
    def pid(self) -> int:
        """The program's process id, also its process group."""
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def send(self, *keys: str, pause: float = 0.0) -> float:
        """Press keys one after the other, `pause` seconds apart; `time.monotonic()` just before the last one."""
        pressed = time.monotonic()
        for number, key in enumerate(keys):
            if number and pause:
                time.sleep(pause)
            pressed = time.monotonic()
            os.write(self._master, key_bytes(key))
        return pressed

    def type(self, text: str, pause: float = 0.0) -> None:
        """Press one key for each character."""
        self.send(*text, pause=pause)

    def write(self, data: bytes) -> None:
        """Send bytes as they are, as a paste or a broken terminal would."""
        os.write(self._master, data)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size; the program gets SIGWINCH."""
        self.display.resize(columns, rows)
        self._set_size(columns, rows)

    def kill(self) -> None:
        """SIGKILL to the program alone: the crash nothing can prepare for."""
        self._process.kill()

    def terminate(self) -> None:
        """SIGTERM to the program alone."""
        self._process.terminate()

    def hang_up(self) -> None:
        """SIGHUP to the program's group, as when a remote session drops."""
        os.killpg(self.pid, signal.SIGHUP)

    def interrupt(self) -> None:
        """SIGINT to the program's group."""
        os.killpg(self.pid, signal.SIGINT)

    def close(self) -> None:
        """End whatever is left of the program's process group and let go of the terminal."""
        if self._master < 0:
            return
        if (
            self._process.returncode is None or not self._ended
        ):  # its group still exists, so the number is still its own
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(2.0)
        os.close(self._master)
        self._master = -1

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # --- the reading thread ---

    def _read(self) -> None:
        tail = b""
        while data := _read_some(self._master):
            chunk = Chunk(time.monotonic(), data)
            with self._news:
                self._chunks.append(chunk)
                self._news.notify_all()
            tail = self._answer(tail, data)
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _answer(self, tail: bytes, data: bytes) -> bytes:
        """Answer the questions that end in `data`; the bytes a question cut in two may have begun with."""
        seen = tail + data
        replies = [
            (match.end(), reply)
            for question, reply in ANSWERS
            for match in question.finditer(seen)
            if match.end() > len(tail)
        ]
        replies += [
            (match.end(), b"\x1b[?%s;%s$y" % (match[1], KNOWN_MODES.get(match[1], b"0")))
            for match in MODE_QUESTION.finditer(seen)
            if match.end() > len(tail)
        ]
        for _, reply in sorted(replies):
            os.write(self._master, reply)
        return seen[-LONGEST_QUESTION:]


def _take_terminal() -> None:
    """In the child, after setsid: make the pseudo-terminal its controlling terminal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read_some(master: int) -> bytes:
    """The next bytes, or b"" when no process has the terminal open any more (Linux reports that as EIO)."""
    try:
        return os.read(master, 65536)
    except OSError:
        return b""
