"""`retune` in a terminal: a screen, closed to an annotator in mid-queue before anything is asked or edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import overread_command
from tests.desk.desk_studies import ANNOTATOR, make_study, press, qa, sit
from tests.terminal.desk_terminal import desk_environment
from tests.terminal.harness import Terminal

pytestmark = pytest.mark.terminal


def test_somebody_in_mid_queue_is_told_so_before_the_editor_opens(tmp_path: Path) -> None:
    study = tmp_path / "s.duckdb"
    with make_study(study, [qa("Correct") for _ in range(3)]) as opened:
        press(sit(opened, "never"), "c")
    env = {**desk_environment(study), "EDITOR": "touch edited"}
    asked = ["retune", "--model", "m", "--edit", "--annotator", ANNOTATOR, "--base-url", "http://127.0.0.1:9/v1"]
    with Terminal(overread_command("--study", str(study), *asked), columns=200, env=env, cwd=tmp_path) as terminal:
        assert terminal.wait_exit(60) == 2
        said = " ".join(terminal.screen.split())
    assert "in the middle of a queue: 1 of 3 labelled" in said and "--as lead" in said
    assert not (tmp_path / "edited").exists()
