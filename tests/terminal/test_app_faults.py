"""A fault of any screen, in a real terminal: the terminal is as it was, exit 70, kind and place, no text of an item."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from store.study import Study
from tests.commands import overread_command
from tests.desk.desk_studies import make_study, press, qa, sit
from tests.judging.chat_server import always, serving
from tests.terminal.desk_terminal import desk_environment
from tests.terminal.harness import Terminal

pytestmark = pytest.mark.terminal

FAULTS = {
    "audit": """
from annotate.tui.screens.audit.screen import AuditScreen as Screen
def crash(screen):
    raise ValueError(str([row for row in screen._facts.study.rows("SELECT payload FROM items")]))
Screen.show_disagreements = crash
""",
    "judge": """
from annotate.tui.screens.judge.screen import JudgeScreen as Screen
def crash(screen, **how):
    patient = "What dog does Martin like now?"
    raise ValueError(patient)
Screen.stop = crash
""",
}
SHOWS = {"audit": "d disagreements", "judge": "on their way"}
KEYS = {"audit": ["d"], "judge": ["s"]}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "s.duckdb"
    with make_study(path, [qa("Correct" if n % 2 else "Omission") for n in range(12)]) as opened:
        label_all(opened)
    return path


def label_all(study: Study) -> None:
    desk = sit(study, "never")
    while desk.phase != "done":
        press(desk, "c")
        desk.confirm()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_leaves_a_clean_terminal_and_no_text_of_an_item(study: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "faulty"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(FAULTS[name], encoding="utf-8")
    path = f"{folder}{os.pathsep}{desk_environment(study)['PYTHONPATH']}"
    env = {**desk_environment(study), "PYTHONPATH": path, "OPENAI_API_KEY": "none"}
    with serving(always("Correct"), latency=0.3) as server:
        screens = {"judge": ["judge", "--screen", "--model", "m", "--base-url", server.url, "--concurrency", "1"]}
        arguments = screens.get(name, ["audit", "--tui", "--as", "lead"])
        command = overread_command("--study", str(study), *arguments)
        with Terminal(command, columns=100, rows=30, env=env, cwd=tmp_path) as terminal:
            terminal.wait_for(SHOWS[name], timeout=60)
            for key in KEYS[name]:
                terminal.send(key)
            assert terminal.wait_exit(60) == 70
            assert terminal.left_behind() == []
            said = "".join(terminal.screen.split())
    assert "unexpectedValueErrorat" in said and "sitecustomize.py" in said
    assert "Martin" not in said
