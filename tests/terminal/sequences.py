"""What a program wrote to its terminal, taken apart: text, control sequences, and the modes it left switched on.

Grammar: ECMA-48 (CSI, OSC, DCS, SOS, PM, APC, C0, C1); private modes as in xterm's ctlseqs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

Kind = Literal["text", "csi", "osc", "string", "escape", "control"]
"""string: DCS, SOS, PM or APC. escape: any other two- or three-byte ESC sequence. control: a lone C0 byte or DEL."""

TOKEN = re.compile(
    rb"(?P<csi>\x1b\[[0-?]*[ -/]*[@-~])"
    rb"|(?P<osc>\x1b\][^\x07\x1b]*(?:\x07|\x1b\\))"
    rb"|(?P<string>\x1b[PX^_][^\x1b]*\x1b\\)"
    rb"|(?P<escape>\x1b[ -/]*[0-Z\\`-~]|\x1b)"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    rb"|(?P<text>[^\x00-\x1f\x7f]+)"
)
PRIVATE_MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])\Z")
KITTY_PUSH, KITTY_POP = re.compile(rb"\x1b\[>[0-9]*u\Z"), re.compile(rb"\x1b\[<[0-9]*u\Z")

CURSOR_SHOWN = 25
MUST_BE_OFF = {
    9: "mouse (X10)",
    47: "alternate screen",
    1000: "mouse clicks",
    1002: "mouse drags",
    1003: "mouse moves",
    1004: "focus reports",
    1005: "mouse (UTF-8)",
    1006: "mouse (SGR)",
    1015: "mouse (urxvt)",
    1016: "mouse (pixels)",
    1047: "alternate screen",
    1049: "alternate screen",
    2004: "bracketed paste",
    2026: "synchronised output",
    2048: "resize reports",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a recording."""

    kind: Kind
    data: bytes


def tokens(recording: bytes) -> Iterator[Token]:
    """Cut a recording into tokens; their `data` joined is the recording again."""
    for match in TOKEN.finditer(recording):
        yield Token(cast(Kind, match.lastgroup), match.group())


def written_text(recording: bytes) -> str:
    """The text the program wrote, without colours, moves or other sequences: where a word would show if it leaked.

    A cursor move between two pieces becomes a line break, so that words from two places are not read as one.
    """
    pieces: list[str] = []
    for token in tokens(recording):
        if token.kind == "text":
            pieces.append(token.data.decode("utf-8", "replace"))
        elif token.kind == "control" or (token.kind == "csi" and not token.data.endswith(b"m")):
            pieces.append("\n")
    return re.sub("\n+", "\n", "".join(pieces))


def c1_characters(recording: bytes) -> list[str]:
    """The C1 controls (U+0080 … U+009F) that reached the terminal inside text, as code points or as lone bytes."""
    return [
        character
        for token in tokens(recording)
        if token.kind == "text"
        for character in token.data.decode("utf-8", "surrogateescape")
        if "\x80" <= character <= "\x9f" or "\udc80" <= character <= "\udc9f"
    ]


def modes_set(recording: bytes) -> dict[int, bool]:
    """Private modes the program touched, with their last state."""
    state: dict[int, bool] = {}
    for token in tokens(recording):
        if match := PRIVATE_MODE.match(token.data):
            for number in match[1].split(b";"):
                state[int(number)] = match[2] == b"h"
    return state


def left_behind(recording: bytes) -> list[str]:
    """What the program changed in the terminal and did not put back, in words; empty when the terminal is restored."""
    modes = modes_set(recording)
    left = [name for number, name in MUST_BE_OFF.items() if modes.get(number, False)]
    if not modes.get(CURSOR_SHOWN, True):
        left.append("cursor hidden")
    if _kitty_depth(recording) > 0:
        left.append("kitty keyboard protocol")
    return left


def _kitty_depth(recording: bytes) -> int:
    """How many keyboard modes are still pushed (kitty keyboard protocol, `CSI > flags u` / `CSI < number u`)."""
    depth = 0
    for token in tokens(recording):
        if KITTY_PUSH.match(token.data):
            depth += 1
        elif KITTY_POP.match(token.data):
            depth -= max(1, int(token.data[3:-1] or b"1"))
    return depth
