"""The editor on the rubric screen, in a real terminal: it has the terminal and Ctrl-C, then the screen comes back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from store.study import Study
from store.tasks import task_versions
from tests.commands import overread_command
from tests.terminal.desk_terminal import desk_environment, questions
from tests.terminal.harness import Terminal

pytestmark = pytest.mark.terminal

EDITOR = """
import sys, time
from pathlib import Path
file, calls = Path(sys.argv[1]), Path(sys.argv[0]).with_name("calls")
calls.write_text(calls.read_text() + "x" if calls.exists() else "x")
if calls.read_text() == "x":
    print("THE EDITOR IS HERE", flush=True)
    time.sleep(60)
file.write_text(file.read_text() + "\\n- Mind the units.\\n")
"""


def test_ctrl_c_ends_the_editor_alone_and_what_it_saves_is_a_new_version(tmp_path: Path) -> None:
    study = questions(tmp_path / "s.duckdb")
    script = tmp_path / "editor.py"
    script.write_text(EDITOR, encoding="utf-8")
    env = {**desk_environment(study), "EDITOR": f"{sys.executable} {script}"}
    command = overread_command("--study", str(study), "rubric", "--task", "qa")
    with Terminal(command, env=env, cwd=tmp_path) as terminal:
        terminal.wait_for("Versions", timeout=60)
        terminal.wait_quiet()
        terminal.send("e")
        terminal.wait_for("THE EDITOR IS HERE")
        assert not terminal.display.in_alternate
        terminal.interrupt()
        terminal.wait_for("The editor ended with")
        assert terminal.display.in_alternate
        terminal.send("e")
        terminal.wait_for("saved as version")
        terminal.send("d")
        terminal.wait_for(r"\+ - Mind the units\.")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.left_behind() == []
    with Study.open(study) as opened:
        versions = task_versions(opened, "qa")
    assert [version.definition["rubric"].endswith("- Mind the units.") for version in versions] == [False, True]
