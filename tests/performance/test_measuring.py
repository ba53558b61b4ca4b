"""The measuring is sound: it sees a slow program as slow, and a program against itself as equal."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.performance.__main__ import scripts
from tests.performance.measuring import Program, Timings, comparison, measure, percentile
from tests.performance.startup_and_keys import POSITION, bare

SLOW = """
import sys, termios, time, tty
tty.setcbreak(0)
time.sleep(0.4)
for number in range(1, 9):
    print(f"\\r{number} / 9", end="", flush=True)
    sys.stdin.read(1)
    time.sleep(0.2)
"""


@pytest.mark.terminal
def test_a_known_delay_is_measured(tmp_path: Path) -> None:
    timings = Timings()
    measure(Program("slow", [sys.executable, "-c", SLOW], tmp_path, POSITION, ("a", "b"), ("q",)), timings, 4)
    assert timings.first_paint[0] > 0.4
    assert len(timings.key) == 4
    assert min(timings.key) > 0.19
    assert timings.screens == ["1 / 9\n" + "\n" * 43] + [f"{number} / 9\n" + "\n" * 43 for number in range(2, 6)]


@pytest.mark.terminal
def test_the_bare_app_shows_the_texts_it_is_given(tmp_path: Path) -> None:
    texts = [f"  {number} / 5   the item's text 漢字" for number in range(1, 6)]
    (tmp_path / "screens.json").write_text(json.dumps(texts), encoding="utf-8")
    timings = Timings()
    measure(bare(tmp_path / "screens.json"), timings, 4)
    assert [screen.splitlines()[0] for screen in timings.screens] == texts
    assert timings.unanswered == 0
    assert "1.00" in comparison("one", timings, "other", timings)


@pytest.mark.terminal
def test_a_program_that_never_shows_a_place_is_reported_with_its_screen(tmp_path: Path) -> None:
    program = Program("mute", [sys.executable, "-c", "print('no such study')"], tmp_path, POSITION, ("a",), ())
    with pytest.raises(AssertionError, match="no such study"):
        measure(program, Timings(), 1, start_timeout=5)


def test_percentiles() -> None:
    assert percentile(list(range(101)), 0.5) == 50
    assert percentile(list(range(101)), 0.95) == pytest.approx(95)
    assert percentile([7.0], 0.95) == 7.0


def test_the_one_command_finds_the_scripts() -> None:
    assert scripts() == ["auditing", "coverage", "judging", "long_studies", "noise", "startup_and_keys"]
