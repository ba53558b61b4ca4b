"""The whole item in a pager, from the desk: nothing of the judge is in it, and the desk is where it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.desk.desk_studies import JUDGE, RATIONALE, SYSTEM
from tests.terminal.desk_terminal import UNGUARDED, DeskTerminal, questions, stored

pytestmark = pytest.mark.terminal

PAGER = """
import os, sys, time
from pathlib import Path
file = Path(sys.argv[1])
text = file.read_text(encoding="utf-8")
Path(sys.argv[0]).with_name("shown").write_text(f"{file.stat().st_mode & 0o777:o} {os.environ['LESSSECURE']}\\n{text}")
print("THE PAGER IS HERE", flush=True)
time.sleep(60)
"""


def test_the_whole_item_is_read_in_a_pager_and_nothing_of_the_judge(tmp_path: Path) -> None:
    study = questions(tmp_path / "s.duckdb")
    script = tmp_path / "pager.py"
    script.write_text(PAGER, encoding="utf-8")
    with DeskTerminal(study, env={"PAGER": f"{sys.executable} {script}"}) as terminal:
        place = terminal.wait_for(r"(\d+) / \d+")[1]
        terminal.wait_quiet()
        terminal.send("ctrl+o")
        terminal.wait_for("THE PAGER IS HERE")
        assert not terminal.display.in_alternate
        terminal.interrupt()
        terminal.wait_for("The pager ended with")
        assert terminal.display.in_alternate
        assert terminal.wait_for(r"(\d+) / \d+")[1] == place
        script.write_text(PAGER.replace("time.sleep(60)", ""), encoding="utf-8")
        terminal.send("ctrl+o")
        terminal.wait_for(r"BLIND")
        terminal.wait_quiet(UNGUARDED)
        terminal.label("c")
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.left_behind() == []
    head, _, text = (tmp_path / "shown").read_text(encoding="utf-8").partition("\n")
    assert head == "600 1"
    assert "── Question ──" in text and "── Dialogue" in text
    assert not [word for word in (JUDGE, SYSTEM, RATIONALE) if word in text]
    assert [event["panels"] for event in stored(study) if event["kind"] == "label"] == [["context", "dialogue"]]
