"""What commands print and where they write, with names, paths and streams that mean harm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from store.journal import journal_path
from store.safe_text import TERMINAL_UNSAFE
from tests.commands import Overread, overread_command, overread_environment

HOSTILE = "J\x1b]52;c;QUJD\x07\x9b31m\u202e\x7f[@click=app.quit]x[/x]"
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "halumem"
overread = Overread()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose system and judge have hostile names."""
    path = tmp_path_factory.mktemp("hostile") / "s.duckdb"
    assert overread("init", path, "--benchmark", "halumem").exit_code == 0
    result = sorted(SAMPLE.glob("*_eval_stat_result.json"))[0]
    told = overread("--study", path, "import", result, "--system", HOSTILE, "--judge", HOSTILE)
    assert told.exit_code == 0, told
    return path


@pytest.mark.slow
@pytest.mark.parametrize("command", ["status", "status --json", "audit --json", "score", "score --json"])
def test_no_command_prints_a_control_character_of_a_name(study: Path, command: str) -> None:
    told = overread("--study", study, *command.split())
    printed = told.stdout + told.stderr
    assert told.exit_code == 0 or "no person's own labels" in printed, told
    assert not TERMINAL_UNSAFE.search(printed.replace("\n", "")), told


def test_json_still_holds_the_name_itself(study: Path) -> None:
    told = overread("--study", study, "status", "--json").json()
    assert told["judges"] == [HOSTILE]
    assert told["systems"] == [HOSTILE]


@pytest.mark.parametrize(("chosen", "linked"), [("jsonl", False), ("csv", True), ("native", False)])
def test_an_export_never_replaces_the_study_or_its_journal(study: Path, chosen: str, linked: bool) -> None:
    for own in (study, journal_path(study)):
        target = own
        if linked:
            target = own.with_name(f"link-{chosen}-{own.name}.out")
            target.symlink_to(own)
        before = journal_path(study).read_bytes()
        told = overread("--study", study, "export", target, "--format", chosen)
        assert told.exit_code == 2 and "part of the study" in told.stderr, told
        assert journal_path(study).read_bytes() == before


def test_a_stream_that_cannot_take_a_character_gets_an_escape(study: Path) -> None:
    told = overread("--study", study, "score", env={"PYTHONIOENCODING": "ascii"})
    assert told.exit_code == 0, told
    assert told.stdout.isascii()


def test_label_with_its_input_closed_says_so(study: Path) -> None:
    command = overread_command("--study", str(study), "label", "--plain", "--annotator", "a")
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command],
        env=overread_environment(), capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "nothing to read keys from" in done.stderr


@pytest.mark.slow
def test_an_output_that_takes_nothing_ends_the_command_with_a_reason(study: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    for command in ("status", "score --json", "label --plain --annotator a", "--help"):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                overread_command("--study", str(study), *command.split()), stdin=subprocess.DEVNULL, stdout=full,
                stderr=subprocess.PIPE, env=overread_environment(), encoding="utf-8", timeout=60, check=False,
            )  # fmt: skip
        assert done.returncode == 4, (command, done.stderr)
        assert "cannot be written" in done.stderr and "Free disk space" in done.stderr, (command, done.stderr)


@pytest.mark.parametrize("command", ["status", "score", "score --json", "label --plain --annotator a"])
def test_a_reader_that_leaves_is_no_failure(study: Path, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            overread_command("--study", str(study), *command.split()), stdin=subprocess.DEVNULL, stdout=writing,
            stderr=subprocess.PIPE, env=overread_environment(), encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, ""), done


def test_a_deleted_folder_is_named_as_such(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    for command in ("status", "demo --no-tui"):
        gone.mkdir()
        done = subprocess.run(
            ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *overread_command(*command.split())],
            env=overread_environment(), capture_output=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 2, done
        assert "current folder is no longer there" in done.stderr
