"""Recordings taken apart: no byte lost, nothing hidden, modes counted as a terminal counts them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.terminal.sequences import c1_characters, left_behind, modes_set, tokens, written_text
from tests.terminal.virtual_screen import VirtualScreen

PIECES = st.sampled_from(
    [
        b"text",
        "漢字".encode(),
        b"\x1b[1;31m",
        b"\x1b[?1049h",
        b"\x1b]2;title\x07",
        b"\x1b]52;c;aGk=\x1b\\",
        b"\x1bPq\x1b\\",
        b"\x1b[H",
        b"\x1b[>1u",
        b"\x1b(B",
        b"\x1b",
        b"\r\n",
        b"\x00",
        b"\x7f",
        b"\x9b",
        b"\x1b]unfinished",
    ]
)


@given(st.lists(PIECES | st.binary(max_size=8)))
def test_tokens_joined_are_the_recording(pieces: list[bytes]) -> None:
    recording = b"".join(pieces)
    assert b"".join(token.data for token in tokens(recording)) == recording


@given(st.lists(PIECES), st.integers(min_value=1, max_value=7))
def test_the_screen_does_not_depend_on_how_the_bytes_were_cut(pieces: list[bytes], size: int) -> None:
    recording = b"".join(pieces)
    whole, cut = VirtualScreen(40, 8), VirtualScreen(40, 8)
    whole.feed(recording)
    for start in range(0, len(recording), size):
        cut.feed(recording[start : start + size])
    assert cut.text == whole.text


def test_kinds_of_tokens() -> None:
    recording = b"a\x1b[?25l\x1b]52;c;aGk=\x07\x1bPx\x1b\\\x1b(B\x08"
    assert [token.kind for token in tokens(recording)] == ["text", "csi", "osc", "string", "escape", "control"]


def test_written_text_hides_no_word_in_colours_or_moves() -> None:
    recording = b"\x1b[2;5Hom\x1b[1mission\x1b[0m\x1b[3;1Hgpt\x1b[3;9H-4o"
    assert "omission" in written_text(recording)
    assert "gpt-4o" not in written_text(recording)


def test_c1_characters_are_found_in_both_forms() -> None:
    assert c1_characters("fine é ü".encode()) == []
    assert c1_characters("\x9b31m".encode()) == ["\x9b"]
    assert len(c1_characters(b"raw \x9b31m")) == 1


def test_last_state_of_a_mode_counts() -> None:
    assert modes_set(b"\x1b[?1049h\x1b[?1000;1006h\x1b[?1049l") == {1049: False, 1000: True, 1006: True}
    assert left_behind(b"\x1b[?1049h\x1b[?25l\x1b[>1u\x1b[<u\x1b[?25h") == ["alternate screen"]
    assert left_behind(b"\x1b[?25l\x1b[>1u") == ["cursor hidden", "kitty keyboard protocol"]
    assert left_behind(b"plain text, \x1b[31mcolours\x1b[0m") == []


def test_the_alternate_screen_gives_the_main_one_back() -> None:
    screen = VirtualScreen(20, 3)
    screen.feed(b"before\x1b[?1049h\x1b[Hinside")
    assert (screen.text.strip(), screen.in_alternate) == ("inside", True)
    screen.feed(b"\x1b[?1049l")
    assert (screen.text.strip(), screen.in_alternate) == ("before", False)


def test_half_of_a_wide_character_painted_over_is_blank() -> None:
    screen = VirtualScreen(10, 1)
    screen.feed("漢字x\x1b[1;1Ha\x1b[1;4Hb".encode())
    assert screen.text == "a  bx"
