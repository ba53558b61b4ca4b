"""`overread label --plain` as a user runs it: piped lines, bytes on the way out, exit codes, other encodings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from store.study import Study
from tests.commands import Overread, overread_command, overread_environment
from tests.desk.desk_studies import JUDGE, RATIONALE, SYSTEM, current_labels, events, journaled, kinds, make_study, qa
from tests.offline import NoNetwork


@pytest.fixture
def study(study_folder: Path) -> Path:
    """Twelve questions in the current folder."""
    path = study_folder / "s.duckdb"
    make_study(path, [qa("Omission") for _ in range(12)]).close()
    return path


def raw(*arguments: str, typed: bytes, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """The command with bytes in and bytes out."""
    return subprocess.run(
        overread_command(*arguments), input=typed, capture_output=True, env=overread_environment(env), check=False
    )


LABEL = ("label", "--plain", "--annotator", "dr.li")


def test_a_sitting_end_to_end(study: Path, overread_cli: Overread, no_network: NoNetwork) -> None:
    done = overread_cli(
        *LABEL, "--mode", "never", "--seed", "5", stdin="c\nH\nx o\nn isn't “so”\nq\n", env=no_network.env
    )
    assert done.exit_code == 0 and done.stderr == ""
    assert "2 of 12 items are labelled." not in done.stdout and "3 of 12 items are labelled." in done.stdout
    assert no_network.attempts() == []
    with Study.open(study) as opened:
        assert [event["state"]["value"] for event in events(opened)] == ["Correct", "Hallucination", None, None]
        assert [draw[0] for draw in opened.rows("SELECT seed FROM draws")] == [5]
    again = overread_cli(*LABEL, stdin="u\n")
    assert "Item 4 of 12." in again.stdout and "Marked: note: isn't “so”." in again.stdout
    assert "Undone" in again.stdout


@pytest.mark.parametrize("mode", ["item", "block", "never"])
def test_in_blind_modes_no_byte_of_the_verdict_or_the_system_comes_before_the_label(study: Path, mode: str) -> None:
    before = raw(*LABEL, "--mode", mode, typed=b"?\nv\nj\nd\n]\n/ o\ng\nw\nn note\ns\n\n")
    for word in (JUDGE, RATIONALE, SYSTEM, "Northwind"):
        assert word.encode() not in before.stdout + before.stderr
    assert before.returncode == 0
    with Study.open(study) as opened:
        assert journaled(opened, "reveal") == []


def test_item_shows_after_the_label(study: Path) -> None:
    done = raw(*LABEL, "--mode", "item", "--seed", "5", typed=b"h\n\n" * 12)
    assert done.stdout.count(f"Judge {JUDGE} says: Omission. It differs from yours.".encode()) >= 5
    with Study.open(study) as opened:
        assert done.stdout.count(b"says: Omission") == len(journaled(opened, "reveal")) < 12
        assert b"12 of 12 items are labelled." in done.stdout


def test_block_reviews_and_assisted_confirms(study: Path) -> None:
    block = raw(*LABEL, "--mode", "block", typed=b"h\n" * 10 + b"o\n" + b"\n" * 12)
    assert b"Review of a block: 10 labelled" in block.stdout and b"Item 11 of 12." in block.stdout
    with Study.open(study) as opened:
        assert kinds(opened).count("revise") == 1
    refused = raw("label", "--plain", "--annotator", "b", "--mode", "assisted", typed=b"")
    assert refused.returncode == 2 and b"would show more" in refused.stderr


def test_bytes_that_are_no_text_are_kept_as_text(study: Path) -> None:
    done = raw(*LABEL, "--mode", "never", typed=b"n half \xff\xfe\x00 bytes \xf0\x9f\x90\xb6\nc\n")
    assert done.returncode == 0 and b"Note saved." in done.stdout
    with Study.open(study) as opened:
        [state] = current_labels(opened).values()
        assert state.value == "Correct" and state.note.startswith("half \ufffd") and state.note.endswith("\U0001f436")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_that_cannot_show_a_character_gets_another(study_folder: Path, encoding: str) -> None:
    make_study(study_folder / "s.duckdb", [qa(question="他喜欢什么狗？ “quoted”")]).close()
    done = raw(*LABEL, "--mode", "never", typed=b"c\n", env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 0, done.stderr
    assert b"Question: ????" in done.stdout and b"1 of 1 items are labelled." in done.stdout


def test_carriage_returns_of_windows_are_no_part_of_a_line(study: Path) -> None:
    done = raw(*LABEL, "--mode", "never", typed=b"c\r\nn a note\r\nq\r\n")
    assert b"Saved: Correct." in done.stdout
    with Study.open(study) as opened:
        assert events(opened)[1]["state"]["note"] == "a note"


def test_the_end_of_input_leaves_with_what_was_given(study: Path) -> None:
    done = raw(*LABEL, "--mode", "never", typed=b"c\nh")
    assert done.returncode == 0 and b"2 of 12 items are labelled." in done.stdout
    assert raw(*LABEL, typed=b"").returncode == 0


def test_nobody_reading_the_output_is_no_error(study: Path) -> None:
    process = subprocess.Popen(
        overread_command(*LABEL, "--mode", "never"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=overread_environment(),
    )  # fmt: skip
    assert process.stdout is not None and process.stdin is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b"c\n" * 50)
    process.stdin.close()
    assert b"Traceback" not in process.stderr.read()
    process.wait(timeout=60)


# --- the full screen where there is none ---


def test_full_screen_without_a_terminal_refuses_and_names_plain(study: Path, overread_cli: Overread) -> None:
    done = overread_cli("label", "--annotator", "dr.li")
    assert done.exit_code == 2 and done.stdout == ""
    assert "needs a terminal" in done.stderr and "label --plain" in done.stderr
    with Study.open(study) as opened:
        assert opened.rows("SELECT count(*) FROM draws") == [(0,)], "refused before anything is drawn"


def test_a_dumb_terminal_refuses_and_names_plain(study: Path) -> None:
    import os

    controller, terminal = os.openpty()
    done = subprocess.run(
        overread_command("label", "--annotator", "dr.li"), stdin=terminal, stdout=terminal, stderr=terminal,
        env=overread_environment({"TERM": "dumb"}), check=False, timeout=60,
    )  # fmt: skip
    os.close(terminal)
    said = os.read(controller, 10_000).decode()
    os.close(controller)
    assert done.returncode == 2 and "TERM=dumb" in said and "label --plain" in said and "\x1b" not in said


IMPOSSIBLE = [
    ("--mode", "blind", "no mode 'blind'"), ("--task", "poetry", "no task 'poetry'"), ("--minutes", "0", "cannot last"),
    ("--seed", "-3", "cannot be a seed"), ("--annotator", "a\tb", "annotator"),
]  # fmt: skip


@pytest.mark.parametrize(("option", "value", "words"), IMPOSSIBLE)
def test_what_cannot_be_is_refused(study: Path, overread_cli: Overread, option: str, value: str, words: str) -> None:
    done = overread_cli("label", "--plain", option, value, stdin="c\n")
    assert done.exit_code == 2 and words in done.stderr and done.stdout == ""


def test_a_bad_key_file_is_refused_with_its_name(study: Path, overread_cli: Overread) -> None:
    (study.parent / "mine.toml").write_text('skip = "c"\n', encoding="utf-8")
    done = overread_cli(*LABEL, "--keys", "mine.toml", stdin="c\n")
    assert done.exit_code == 2 and "mine.toml: Key 'c' has two owners: label" in done.stderr
    assert "action 'skip'" in done.stderr


def test_a_key_file_moves_keys(study: Path, overread_cli: Overread) -> None:
    (study.parent / "mine.toml").write_text('skip = "k"\n', encoding="utf-8")
    done = overread_cli(*LABEL, "--mode", "never", "--keys", "mine.toml", stdin="k\n")
    assert done.exit_code == 0
    with Study.open(study) as opened:
        assert kinds(opened) == ["skip"]
