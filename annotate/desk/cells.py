"""How many terminal cells each character of a text takes, fast enough for a megabyte.

The widths are rich's, which the screen uses too, with three corrections, each on the safe side: a joiner joins emoji
only (rich lets it hide any letter), a skin tone that follows no emoji is as wide as it looks, and of a long run of
zero-width characters only the first `LONGEST_CLUSTER` are free, so that no line holds unlimited characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, get_character_cell_size

LONGEST_CLUSTER: Final = 32
"""Zero-width characters after one base that count nothing; 30 already exceed all known use (UAX #15, D4)."""

_JOINER: Final = "\u200d"
_EMOJI_SELECTOR: Final = "\ufe0f"
_SPECIAL: Final = re.compile("[\u200d\ufe0f\U0001f1e6-\U0001f3ff]")
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_FIRST_FLAG_LETTER, _LAST_FLAG_LETTER = "\U0001f1e6", "\U0001f1ff"
_FIRST_TONE, _LAST_TONE = "\U0001f3fb", "\U0001f3ff"
_ENDLESS: Final = re.compile(b"\x00{%d,}" % (LONGEST_CLUSTER + 1))


class _WidthTable(dict[str, int]):
    """Cells of a character, asked of rich once."""

    def __missing__(self, character: str) -> int:
        self[character] = width = get_character_cell_size(character)
        return width


_WIDTHS: Final = _WidthTable()


def cell_widths(text: str) -> bytearray:
    """The cells each character adds: the first of a cluster (letter and marks, joined emoji, flag) all, the rest 0."""
    if text.isascii():
        return bytearray(b"\x01" * len(text))
    widths = bytearray(map(_WIDTHS.__getitem__, text))
    if _SPECIAL.search(text):
        _join_emoji(text, widths)
    for run in _ENDLESS.finditer(bytes(widths)):
        free_end = run.start() + LONGEST_CLUSTER
        widths[free_end : run.end()] = b"\x01" * (run.end() - free_end)
    return widths


def cell_width(text: str) -> int:
    """The cells `text` takes on one line."""
    return len(text) if text.isascii() else sum(cell_widths(text))


def cut_to_width(text: str, width: int) -> str:
    """`text` if it fits in `width` cells, else its beginning and "…", no cluster split."""
    if len(text) <= width and text.isascii():
        return text
    room, end, fits = width - 1, 0, 0
    for index, cells in enumerate(cell_widths(text)):
        room -= cells
        if room >= 0:
            end = index + 1
        fits += cells
        if fits > width:
            return text[:end] + "…" if width > 0 else ""
    return text


def _join_emoji(text: str, widths: bytearray) -> None:
    """Correct `widths` where characters make one emoji together."""
    for pair in _FLAG.finditer(text):
        widths[pair.start()], widths[pair.start() + 1] = 2, 0
    for match in _SPECIAL.finditer(text):
        index, character = match.start(), match[0]
        if character == _JOINER:
            _join_next(text, widths, index)
        elif character == _EMOJI_SELECTOR:
            base = _base(widths, index)
            if base >= 0 and _widened_by_selector(text[base]):
                widths[base] = 2
        elif _FIRST_TONE <= character <= _LAST_TONE:
            _tone(text, widths, index)


def _base(widths: bytearray, index: int) -> int:
    """Index of the last character with a width before `index`; -1 when none is near."""
    near = max(index - 1 - LONGEST_CLUSTER, 0)
    length = len(widths[near:index].rstrip(b"\x00"))
    return near + length - 1 if length else -1


def _join_next(text: str, widths: bytearray, index: int) -> None:
    base = _base(widths, index)
    if base >= 0 and index + 1 < len(text) and _is_emoji(text[base]) and _is_emoji(text[index + 1]):
        widths[index + 1] = 0


def _tone(text: str, widths: bytearray, index: int) -> None:
    base = _base(widths, index)
    if base >= 0 and _is_emoji(text[base]):
        widths[base] = 2
    else:
        widths[index] = 2


@lru_cache(maxsize=4096)
def _is_emoji(character: str) -> bool:
    """True for a character that joiners join; flags' letters pair up by themselves."""
    if character.isascii() or _FIRST_FLAG_LETTER <= character <= _LAST_FLAG_LETTER:
        return False
    return unicodedata.category(character) == "So" or _widened_by_selector(character)


@lru_cache(maxsize=4096)
def _widened_by_selector(character: str) -> bool:
    """True for a character that is one cell wide alone and two as an emoji."""
    return cell_len(character + _EMOJI_SELECTOR) > cell_len(character)
