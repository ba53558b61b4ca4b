"""Start-up and key-to-repaint times of full-screen programs, taken from outside in a pseudo-terminal.

A time is "when the bytes that changed the screen left the program": chunks are stamped as they are read, and the screen
is drawn from them afterwards, so no drawing of ours is in a figure.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.commands import overread_environment
from tests.terminal.harness import Terminal
from tests.terminal.virtual_screen import VirtualScreen

COLUMNS, ROWS = 140, 45
SOURCES = {"PYTHONPATH": overread_environment()["PYTHONPATH"]}
"""So that the programs find the source tree."""
QUIET = 0.12
"""Seconds without output after which a repaint is over."""
KEY_TIMEOUT = 3.0
"""Seconds after which a key counts as unanswered."""
PACE = 0.45
"""Seconds between keys: the desk ignores a label key that comes within 0.3 s of the item's first paint."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to measure.

    Attributes:
        position: a regular expression whose first group is a number that each key raises by one or more.
        keys: sent in turn.
        quit: keys that end it.
    """

    name: str
    command: Sequence[str]
    cwd: Path
    position: str
    keys: Sequence[str]
    quit: Sequence[str]


@dataclass(slots=True)
class Timings:
    """Seconds, pooled over runs; `screens` are the texts seen in the last run, first paint first."""

    first_paint: list[float] = field(default_factory=list)
    key: list[float] = field(default_factory=list)
    bytes_per_key: list[int] = field(default_factory=list)
    screens: list[str] = field(default_factory=list)
    unanswered: int = 0


class Replay:
    """The screen as it was after each chunk, one chunk after the other."""

    def __init__(self, terminal: Terminal, position: str) -> None:
        self._terminal = terminal
        self._position = re.compile(position, re.MULTILINE)
        self._screen = VirtualScreen(COLUMNS, ROWS)
        self._next = 0
        self.bytes_drawn = 0

    @property
    def text(self) -> str:
        return self._screen.text

    @property
    def place(self) -> int | None:
        """The number on the screen now."""
        found = self._position.search(self.text)
        return int(found[1]) if found else None

    def draw_until_past(self, place: int | None) -> float | None:
        """Draw everything new; the time of the first chunk that showed a place beyond `place` (any place for None)."""
        shown = None
        for chunk in self._terminal.chunks[self._next :]:
            self._screen.feed(chunk.data)
            self._next += 1
            self.bytes_drawn += len(chunk.data)
            now = self.place
            if shown is None and now is not None and (place is None or now > place):
                shown = chunk.at
        return shown


def measure(program: Program, timings: Timings, keys: int, start_timeout: float = 60.0) -> None:
    """One run: start, first paint, `keys` keys, quit. Adds to `timings`.

    Raises:
        AssertionError: the program never showed its first place; says what it showed.
    """
    with Terminal(program.command, columns=COLUMNS, rows=ROWS, env=SOURCES, cwd=program.cwd) as terminal:
        replay = Replay(terminal, program.position)
        timings.first_paint.append(_first_paint(terminal, replay, program, start_timeout) - terminal.started_at)
        timings.screens = [replay.text]
        for number in range(keys):
            time.sleep(PACE)
            _press(terminal, replay, program.keys[number % len(program.keys)], timings)
        terminal.send(*program.quit, pause=0.1)
        time.sleep(0.3)


def _first_paint(terminal: Terminal, replay: Replay, program: Program, timeout: float) -> float:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        terminal.wait_quiet(QUIET, timeout)
        if (shown := replay.draw_until_past(None)) is not None:
            return shown
        if not terminal.running:
            break
    raise AssertionError(f"{program.name} never showed {program.position!r}; the screen:\n{replay.text}")


def _press(terminal: Terminal, replay: Replay, key: str, timings: Timings) -> None:
    replay.draw_until_past(None)
    place, size = replay.place, replay.bytes_drawn
    pressed, shown = terminal.send(key), None
    while shown is None and terminal.running and time.monotonic() < pressed + KEY_TIMEOUT:
        terminal.wait_quiet(QUIET)
        shown = replay.draw_until_past(place)
    if shown is None:
        timings.unanswered += 1
        return
    timings.key.append(shown - pressed)
    timings.bytes_per_key.append(replay.bytes_drawn - size)
    timings.screens.append(replay.text)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, interpolated; nan for none."""
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1]


def comparison(one: str, first: Timings, other: str, second: Timings) -> str:
    """A table of both programs' figures and their ratios."""
    rows = [
        ("first paint, median", percentile(first.first_paint, 0.5), percentile(second.first_paint, 0.5), "ms"),
        ("key to next item, p50", percentile(first.key, 0.5), percentile(second.key, 0.5), "ms"),
        ("key to next item, p95", percentile(first.key, 0.95), percentile(second.key, 0.95), "ms"),
        ("bytes a key, median", percentile(first.bytes_per_key, 0.5), percentile(second.bytes_per_key, 0.5), ""),
    ]
    lines = [f"{'':24}{one:>14}{other:>14}{'ratio':>8}"]
    for name, left, right, unit in rows:
        factor = 1000 if unit else 1
        cells = "".join(f"{value * factor:>11.1f} {unit:2}" for value in (left, right))
        lines.append(f"{name:24}{cells}{left / right:>8.2f}")
    lines.append(f"runs {len(first.first_paint)}, keys {len(first.key)} and {len(second.key)}")
    lines.append(f"keys without an answer: {first.unanswered} and {second.unanswered}")
    return "\n".join(lines)
