"""Texts of items and notes stay in the files that are named for them, for their owner alone, and on this machine."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from tests.commands import Overread
from tests.offline import NoNetwork
from tests.sample_study import SAMPLE

NOTE = "PATIENT-4711"
COMMANDS = (
    ("open", "tidepool_eval_stat_result.json", "tidepool_eval_results.jsonl", "--no-tui"),
    ("label", "--plain", "--annotator", "dr.li", "--task", "qa"),
    ("status",),
    ("audit",),
    ("score", "--json"),
    ("export", "out.jsonl"),
    ("export", "out.csv"),
    ("export", "out.json", "--format", "native"),
    ("doctor",),
    ("doctor", "--rebuild"),
)
HOLDERS = {"tidepool.duckdb", "tidepool.journal.jsonl", "out.jsonl", "out.csv", "tidepool.duckdb.damaged-1"}
"""Files that may hold the note; the native export keeps it in a file beside it."""


@pytest.fixture
def folder(study_folder: Path) -> Path:
    for name in ("tidepool_eval_stat_result.json", "tidepool_eval_results.jsonl"):
        shutil.copy(SAMPLE / name, study_folder)
    return study_folder


@pytest.mark.slow
def test_a_whole_project_reaches_no_network_and_leaves_no_text_where_nobody_looks(
    folder: Path, overread_cli: Overread, no_network: NoNetwork, tmp_path: Path
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    env = {**no_network.env, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    given = {path.name for path in folder.iterdir()}
    for command in COMMANDS:
        told = overread_cli(*command, env=env, stdin=f"c\nn {NOTE}\nc\n")
        assert told.exit_code in (0, 3), (command, told)
        assert NOTE not in told.stderr
        assert NOTE not in told.stdout or command[0] == "label"
    assert no_network.attempts() == []
    assert list(home.rglob("*")) == [] and list(temporary.rglob("*")) == []
    made = [path for path in folder.iterdir() if path.name not in given]
    assert {path.name for path in made} >= HOLDERS
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    holding = {path.name for path in made if NOTE.encode() in path.read_bytes()}
    assert {"tidepool.journal.jsonl", "out.jsonl", "out.csv"} <= holding
    assert {name for name in holding - HOLDERS if not name.startswith("out")} == set()


@pytest.mark.slow
def test_the_demo_needs_no_network(study_folder: Path, overread_cli: Overread, no_network: NoNetwork) -> None:
    told = overread_cli("demo", "--no-tui", env=no_network.env)
    assert told.exit_code == 0, told
    assert no_network.attempts() == []
