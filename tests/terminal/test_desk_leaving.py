"""However the desk ends, the terminal is as it was and no label is lost."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from store.errors import StudyLockedError
from store.study import Study
from tests.offline import NoNetwork
from tests.terminal.desk_terminal import (
    UNGUARDED,
    DeskTerminal,
    desk_environment,
    label_command,
    labels,
    questions,
    stored,
)
from tests.terminal.harness import Terminal
from tests.terminal.tmux import Tmux

pytestmark = pytest.mark.terminal

ENDS: dict[str, tuple[Callable[[Terminal], object], int]] = {
    "q": (lambda terminal: terminal.send("q"), 0),
    "ctrl+c": (lambda terminal: terminal.send("ctrl+c"), 0),
    "ctrl+q": (lambda terminal: terminal.send("ctrl+q"), 0),
    "SIGTERM": (lambda terminal: terminal.terminate(), 128 + signal.SIGTERM),
    "SIGHUP": (lambda terminal: terminal.hang_up(), 128 + signal.SIGHUP),
    "SIGINT": (lambda terminal: terminal.interrupt(), 128 + signal.SIGINT),
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return questions(tmp_path / "s.duckdb")


@pytest.mark.parametrize("end", ENDS)
def test_the_terminal_is_restored_and_every_label_kept(study: Path, end: str) -> None:
    leave, code = ENDS[end]
    with DeskTerminal(study) as terminal:
        assert terminal.display.in_alternate
        assert {"alternate screen", "cursor hidden"} <= set(terminal.left_behind())
        terminal.label("c", "h")
        leave(terminal)
        assert terminal.wait_exit() == code
        assert terminal.left_behind() == []
        assert not terminal.display.in_alternate
        assert ("2 of 12 items are labelled." in terminal.screen) == (code == 0)
        assert "Traceback" not in terminal.screen
    assert labels(study) == ["Correct", "Hallucination"]


@pytest.mark.parametrize("end", ["ctrl+c", "ctrl+q", "SIGTERM", "SIGHUP", "SIGINT"])
def test_a_note_that_is_being_written_is_kept(study: Path, end: str) -> None:
    with DeskTerminal(study) as terminal:
        terminal.send("n")
        terminal.type("chno 12.5 mg {[药]}")
        terminal.wait_for(r"chno 12\.5 mg")
        ENDS[end][0](terminal)
        terminal.wait_exit()
        assert terminal.left_behind() == []
    assert [event["state"]["note"] for event in stored(study)] == ["chno 12.5 mg {[药]}"]


def test_closing_the_window_ends_the_desk_and_loses_nothing(study: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    with Tmux(label_command(study), env=desk_environment(study), cwd=study.parent) as window:
        for number, key in enumerate("cho", start=1):
            window.wait_for(rf"{number} / 12", timeout=60)
            time.sleep(UNGUARDED)
            window.send(key)
        window.wait_for("4 / 12")
    deadline = time.monotonic() + 20
    while is_held(study):
        assert time.monotonic() < deadline, "the desk still holds the study"
        time.sleep(0.1)
    assert labels(study) == ["Correct", "Hallucination", "Omission"]


def is_held(study: Path) -> bool:
    """Whether another process has the study open."""
    try:
        Study.open(study).close()
    except StudyLockedError:
        return True
    return False


def test_a_kill_in_the_middle_loses_no_confirmed_label_and_the_next_start_resumes(study: Path) -> None:
    with DeskTerminal(study) as terminal:
        terminal.label("c", "h")
        time.sleep(1)
        terminal.send("o")
        terminal.wait_for("saved: Omission")
        terminal.kill()
        assert terminal.wait_exit() == -signal.SIGKILL
    with DeskTerminal(study) as terminal:
        assert "4 / 12" in terminal.screen
        terminal.label("c")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert "4 of 12 items are labelled." in terminal.screen
    assert labels(study) == ["Correct", "Hallucination", "Omission", "Correct"]


def test_keys_typed_ahead_of_the_exit_do_not_reach_the_shell_as_labels(study: Path) -> None:
    with DeskTerminal(study) as terminal:
        time.sleep(1)
        terminal.write(b"cq")
        assert terminal.wait_exit() == 0
        assert terminal.left_behind() == []
    assert labels(study) == ["Correct"]


def test_a_full_disk_blocks_with_not_saved_and_leaving_says_that_it_was_not(study: Path) -> None:
    """A real limit on file sizes: writes beyond it fail as on a full disk."""
    resource = pytest.importorskip("resource")
    with DeskTerminal(study, env={"PYTHONDONTWRITEBYTECODE": "1"}) as terminal:
        terminal.label("c")
        files = [study, study.with_name("s.journal.jsonl"), study.with_name("s.duckdb.wal")]
        room = max(file.stat().st_size for file in files if file.exists())
        soft, hard = resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE)
        smallest = study.with_name("s.journal.jsonl").stat().st_size
        assert smallest < room
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (smallest, hard))
        time.sleep(1)
        terminal.send("h")
        terminal.wait_for("NOT SAVED|NOT IN THE STUDY YET")
        terminal.send("r")
        terminal.wait_quiet(1.0)
        terminal.wait_for("NOT SAVED|NOT IN THE STUDY YET")
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (soft, hard))
        terminal.send("r")
        terminal.wait_for("saved: Hallucination")
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (study.with_name("s.journal.jsonl").stat().st_size, hard))
        time.sleep(1)
        terminal.send("o")
        terminal.wait_for("NOT SAVED|NOT IN THE STUDY YET")
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (soft, hard))
        terminal.send("q")
        assert terminal.wait_exit() == 4
        assert terminal.left_behind() == []
        assert "not saved" in terminal.screen
    assert labels(study) == ["Correct", "Hallucination"]


FAULT = """
from annotate.desk.desk import Desk

def crash(desk):
    patient = desk.current.item.payload["question"]
    raise ValueError(patient)

Desk.skip = crash
"""


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_fault_of_the_program_leaves_a_clean_terminal_and_no_text_of_an_item(
    study: Path, tmp_path: Path, debug: str
) -> None:
    folder = tmp_path / "faulty"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(FAULT, encoding="utf-8")
    path = f"{folder}{os.pathsep}{desk_environment(study)['PYTHONPATH']}"
    with DeskTerminal(study, env={"PYTHONPATH": path, "OVERREAD_DEBUG": debug}) as terminal:
        terminal.label("c")
        terminal.send("s")
        assert terminal.wait_exit() == 70
        assert terminal.left_behind() == []
        said = "".join(terminal.screen.split())
        assert "ValueError" in said and "sitecustomize.py" in said
        assert "Martin" not in said
    assert labels(study) == ["Correct"]


def test_a_locale_without_utf_8_neither_stops_the_desk_nor_loses_a_label(study: Path) -> None:
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    with DeskTerminal(study, env=env) as terminal:
        terminal.label("c", "h")
        terminal.send("n")
        terminal.type("药 é")
        terminal.send("enter", "q")
        assert terminal.wait_exit() == 0
        assert terminal.left_behind() == []
    assert labels(study) == ["Correct", "Hallucination"]
    assert stored(study)[-1]["state"]["note"] == "药 é"


def test_a_sitting_at_the_desk_reaches_no_network(study: Path, no_network: NoNetwork) -> None:
    with DeskTerminal(study, mode="item", env=no_network.env) as terminal:
        terminal.send("v", "d", "]", pause=0.05)
        for key in "g?":
            terminal.send(key)
            terminal.wait_for("any key closes")
            terminal.send("%")
            terminal.wait_gone("any key closes")
        terminal.send("ctrl+p")
        terminal.wait_for("Search")
        terminal.send("escape")
        terminal.wait_gone("Search")
        time.sleep(UNGUARDED)
        terminal.send("c")
        terminal.wait_for("saved: Correct")
        terminal.send("q")
        assert terminal.wait_exit() == 0
    assert no_network.attempts() == []
    assert labels(study) == ["Correct"]
