"""The harness against small programs: what it says of them has to be true before it is believed about overread."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from tests.terminal.harness import Terminal, key_bytes
from tests.terminal.tmux import Tmux

pytestmark = pytest.mark.terminal

SMALL_APP = [sys.executable, str(Path(__file__).parent / "programs" / "small_app.py")]
CARELESS_APP = [*SMALL_APP, "--careless"]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_keys_reach_the_program_and_the_screen_shows_what_it_paints() -> None:
    with Terminal(SMALL_APP) as terminal:
        terminal.wait_for("^ *count 0")
        terminal.send("n", "n", "n")
        terminal.wait_for("count 3")
        terminal.send("pagedown")
        terminal.wait_for("key pagedown")
        terminal.send("ctrl+e")
        terminal.wait_for(r"key ctrl\+e")
        assert terminal.running


def test_a_program_that_quits_leaves_the_terminal_as_it_was() -> None:
    with Terminal(SMALL_APP) as terminal:
        terminal.wait_for("count 0")
        assert terminal.display.in_alternate
        assert {"alternate screen", "cursor hidden", "mouse (SGR)"} <= set(terminal.left_behind())
        assert any("line settings" in left for left in terminal.left_behind())
        terminal.send("q")
        assert terminal.wait_exit() == 0
        assert terminal.left_behind() == []
        assert not terminal.display.in_alternate
        assert terminal.screen.strip() == "goodbye"


@pytest.mark.parametrize("blow", ["terminate", "hang_up"])
def test_a_careful_program_restores_the_terminal_when_told_to_end(blow: str) -> None:
    with Terminal(SMALL_APP) as terminal:
        terminal.wait_for("count 0")
        getattr(terminal, blow)()
        assert terminal.wait_exit() == 0
        assert terminal.left_behind() == []


def test_a_careless_program_is_found_out() -> None:
    with Terminal(CARELESS_APP) as terminal:
        terminal.wait_for("count 0")
        terminal.terminate()
        assert terminal.wait_exit() == -signal.SIGTERM
        assert "alternate screen" in terminal.left_behind()
        assert "cursor hidden" in terminal.left_behind()


def test_a_killed_program_is_gone_at_once_and_its_bytes_stay() -> None:
    with Terminal(SMALL_APP) as terminal:
        terminal.wait_for("count 0")
        terminal.kill()
        assert terminal.wait_exit() == -signal.SIGKILL
        assert not terminal.running
        assert b"count 0" in terminal.recording


def test_the_program_sees_a_terminal_of_the_size_asked_for_and_its_resizes() -> None:
    with Terminal(SMALL_APP, columns=140, rows=45) as terminal:
        terminal.wait_for("size 140x45")
        terminal.resize(60, 20)
        terminal.wait_for("size 60x20")


def test_chunks_carry_the_time_they_came() -> None:
    code = "import time; print('one', flush=True); time.sleep(0.5); print('two', flush=True)"
    with Terminal(python(code)) as terminal:
        terminal.wait_for("two")
        terminal.wait_exit()
        first, second = (next(chunk.at for chunk in terminal.chunks if word in chunk.data) for word in (b"one", b"two"))
        assert terminal.started_at < first < second < time.monotonic()
        assert 0.4 < second - first < 5


def test_waiting_in_vain_says_what_the_screen_shows() -> None:
    with (
        Terminal(python("print('something else')")) as terminal,
        pytest.raises(AssertionError, match=r"ended with 0(?s:.*)something else"),
    ):
        terminal.wait_for("never there")


def test_only_named_variables_leak_into_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERREAD_STUDY", "leak.duckdb")
    monkeypatch.setenv("NO_COLOR", "1")
    code = "import os; print([os.environ.get(n) for n in ('OVERREAD_STUDY', 'NO_COLOR', 'GIVEN')])"
    with Terminal(python(code), env={"GIVEN": "yes"}) as terminal:
        terminal.wait_for(r"\[None, None, 'yes'\]")


def test_a_program_that_leaves_a_child_behind_is_ended_whole(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    child = f"import pathlib, time\nwhile True: pathlib.Path({str(beat)!r}).touch(); time.sleep(0.02)"
    code = (
        "import signal, subprocess, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        f"subprocess.Popen([sys.executable, '-c', {child!r}]); print('started', flush=True)"
    )
    with Terminal(python(code)) as terminal:
        terminal.wait_for("started")
        while not beat.exists():
            time.sleep(0.02)
    time.sleep(0.2)
    beat.unlink()
    time.sleep(0.2)
    assert not beat.exists()


def test_unknown_keys_are_refused() -> None:
    assert key_bytes("ctrl+c") == b"\x03"
    assert key_bytes("é") == "é".encode()
    with pytest.raises(ValueError, match="hyper"):
        key_bytes("hyper+x")


def test_tmux_shows_wide_characters_sizes_and_the_end() -> None:
    with Tmux(SMALL_APP, columns=100, rows=30) as tmux:
        tmux.wait_for("size 100x30")
        assert tmux.in_alternate
        tmux.send("n", "w")
        tmux.wait_for("count 1")
        tmux.wait_for("漢字 and 👍 end")
        tmux.resize(60, 20)
        tmux.wait_for("size 60x20")
        assert tmux.exit_code is None
        tmux.send("q")
        assert tmux.wait_exit() == 0
        assert not tmux.in_alternate
        assert "goodbye" in tmux.screen


def test_tmux_tells_whether_a_title_was_set() -> None:
    with Tmux(python(r"print('\x1b]2;STOLEN\x1b\\done', flush=True); input()")) as tmux:
        tmux.wait_for("done")
        assert tmux.title == "STOLEN"
