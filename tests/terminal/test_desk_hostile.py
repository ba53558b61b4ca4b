"""Hostile texts in every field: no control byte of theirs reaches the terminal, nothing crashes, no action runs."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest

from tests.commands import overread_command
from tests.terminal.desk_terminal import UNGUARDED, DeskTerminal, desk_environment, label_command, stored
from tests.terminal.harness import Terminal
from tests.terminal.hostile_study import (
    ANNOTATOR,
    JUDGE,
    MARK,
    PAYLOAD,
    RATIONALE,
    SYSTEM,
    make_hostile_study,
    without_nul,
)
from tests.terminal.sequences import c1_characters, tokens, written_text
from tests.terminal.tmux import Tmux

pytestmark = pytest.mark.terminal

WHO = without_nul(f"{ANNOTATOR} {PAYLOAD}")
OWN_OSC = re.compile(rb"\x1b\]22;[a-z-]*\x07\Z")
"""The only such sequence the program sends of its own: the shape of the mouse pointer."""
OWN_CONTROLS = {b"\r", b"\n"}
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@pytest.fixture(scope="module")
def hostile_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_hostile_study(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def study(hostile_study: Path, tmp_path: Path) -> Path:
    """A copy of the study and its journal under its hostile name."""
    for file in hostile_study.parent.glob(f"{hostile_study.stem.replace('[', '[[]')}*"):
        shutil.copy(file, tmp_path)
    return tmp_path / hostile_study.name


def assert_nothing_obeyed(recording: bytes) -> None:
    """Every sequence is the program's own, and every text is text."""
    for token in tokens(recording):
        if token.kind == "csi":
            assert MARK.encode() not in token.data, token
        elif token.kind == "control":
            assert token.data in OWN_CONTROLS, token
        elif token.kind == "osc":
            assert OWN_OSC.match(token.data), token
        else:
            assert token.kind == "text", token
    assert c1_characters(recording) == []
    text = recording.decode("utf-8")
    assert BIDI.search(text) is None
    assert "\ufffd" not in text or "\ud83d" not in text


def items(terminal: Terminal) -> tuple[int, int]:
    found = terminal.wait_for(r"(\d+) / (\d+)")
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])
def test_no_control_byte_of_an_item_arrives_and_nothing_is_run(study: Path, size: tuple[int, int]) -> None:
    with DeskTerminal(study, mode="item", annotator=WHO, columns=size[0], rows=size[1]) as terminal:
        _, count = items(terminal)
        for number in range(1, count + 1):
            terminal.send(":", *str(number), "enter", pause=0.02)
            terminal.wait_for(rf"\b{number} / {count}")
            terminal.send(
                "v", "pagedown", "pagedown", "d", "]", "}", "/", *"click", "enter", ".", ".", "g", "q", pause=0.02
            )
            terminal.send("pageup", "pageup", "n", *"[/x] [@click=app.quit]\\[", "enter", "t", "1", pause=0.01)
            terminal.wait_quiet(0.2)
            click_everything(terminal, "CLICKME")
            time.sleep(UNGUARDED)
            terminal.send("2")
            terminal.send("7")
            terminal.wait_quiet(0.2)
            terminal.send("j", "pagedown", "q", "?", "q", pause=0.02)
            assert terminal.running
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.left_behind() == []
        recording = terminal.recording
    assert_nothing_obeyed(recording)
    seen = written_text(recording)
    for words in (SYSTEM, JUDGE, RATIONALE, ANNOTATOR, "[@click=app.quit]CLICKME[/]", "[tag=value: x", f"TITLE{MARK}"):
        assert words in seen, words
    kept = stored(study, WHO)
    assert {event["kind"] for event in kept} >= {"label", "mark"}
    assert all(event["state"]["note"] == "[/x] [@click=app.quit]\\[" for event in kept if event["state"]["note"])


def click_everything(terminal: Terminal, words: str) -> None:
    """Press and release the mouse on every place of the screen where these words are."""
    for row, line in enumerate(terminal.screen.splitlines(), start=1):
        for place in re.finditer(words, line):
            column = place.start() + 2
            for kind in "Mm":
                terminal.write(f"\x1b[<0;{column};{row}{kind}".encode())
    terminal.wait_quiet(0.1)


def test_the_review_of_hostile_items(study: Path) -> None:
    with DeskTerminal(study, "--task", "qa", mode="block", annotator=WHO) as terminal:
        _, count = items(terminal)
        for _ in range(count):
            time.sleep(UNGUARDED)
            terminal.send("2")
            terminal.wait_quiet(0.2)
        terminal.wait_for("Review")
        terminal.send(
            "v",
            "space",
            "pagedown",
            "q",
            "j",
            "pagedown",
            "q",
            "n",
            *"[/x]",
            "enter",
            "t",
            "1",
            "down",
            "up",
            pause=0.05,
        )
        terminal.wait_quiet(0.2)
        click_everything(terminal, "CLICKME")
        assert terminal.running
        terminal.send("q")
        assert terminal.wait_exit() == 0
        recording = terminal.recording
    assert_nothing_obeyed(recording)
    assert RATIONALE in written_text(recording)


@pytest.mark.parametrize("mode", ["item", "block", "never"])
def test_no_byte_of_a_verdict_or_a_system_arrives_before_the_label(study: Path, mode: str) -> None:
    with DeskTerminal(study, "--task", "qa", mode=mode, columns=140, rows=45) as terminal:
        terminal.send(
            "v", "d", "]", "/", *"zq", "enter", "g", "q", "?", "q", "j", "right", "left", "s", "u", pause=0.05
        )
        terminal.send("ctrl+p", *"judge", pause=0.05)
        terminal.wait_quiet(0.3)
        terminal.send("escape")
        terminal.wait_quiet(0.3)
        blind = terminal.recording
        for secret in (RATIONALE, SYSTEM, JUDGE):
            assert secret.encode() not in blind
            assert secret not in written_text(blind)
        assert terminal.running
        terminal.send("q")
        terminal.wait_exit()


def test_messages_of_commands_are_clean_too(study: Path) -> None:
    for command in (["status"], ["audit"], ["score"], ["label", "--plain"], ["label", "--task", "no\x1b]0;such\x07"]):
        with Terminal(
            overread_command("--study", str(study), *command), env=desk_environment(study), cwd=study.parent, rows=60
        ) as terminal:
            terminal.wait_quiet(1.0, timeout=60)
            if terminal.running:
                terminal.send("ctrl+d")
            terminal.wait_exit(60)
            assert_nothing_obeyed(terminal.recording)


def test_the_window_of_tmux_keeps_its_title(study: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    command = label_command(study, mode="assisted", annotator=WHO)
    with Tmux(command, columns=140, rows=45, env=desk_environment(study), cwd=study.parent) as window:
        title = window.title
        window.wait_for(r"\d+ / \d+", timeout=60)
        window.send("v", "enter")
        time.sleep(1)
        window.send("enter")
        window.wait_for("ASSISTED")
        assert window.title == title
        assert MARK not in window.title
        window.send("q")
        assert window.wait_exit() == 0
        assert not window.in_alternate
