"""Foreign text made safe to show: every string of an item, a verdict or a note passes here before anybody sees it.

What could act on a terminal, reorder a line or hide inside one is made visible; ordinary text of any script passes
unchanged. The stored text is never altered: this is a view of it.

What is ordinary, and kept: right-to-left and Arabic letter marks (U+200E, U+200F, U+061C: Arabic and Hebrew need them
and they only place neighbouring punctuation), joiners beside a letter that is not ASCII (Persian, Indic scripts and
emoji), one variation selector after a character, the flags of England, Scotland and Wales (the only ones made of tags).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TAB_STOP: Final = "    "
"""What a tab becomes."""

HIDDEN: Final = "\u25ab"
"""What stands for a character that has no shape and no place in ordinary text: a small white square."""

_BIDI_NAMES: Final = {
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
_LINE_ENDS: Final = "\r\x85\u2028\u2029"
_SHAPELESS: Final = "\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
_CONTROLS: Final = "\x00-\x09\x0b-\x1f\x7f-\x9f"
_BIDI: Final = "\u202a-\u202e\u2066-\u2069"
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SURROGATES: Final = "\ud800-\udfff"

TERMINAL_UNSAFE: Final = re.compile(f"[\x0a{_CONTROLS}{_BIDI}\u2028\u2029{_SURROGATES}]")
"""A character that must never be inside one line sent to a terminal."""

_ALONE: Final = f"{_CONTROLS}{_BIDI}\u2028\u2029{_SHAPELESS}{_SURROGATES}"
# One range above U+FFFF at most: with more, `re` searches three times as long.
_SUSPECT: Final = re.compile(f"[{_ALONE}{_JOINERS}\ufe00-\ufe0f\U000e0000-\U000e0fff]")
_SINGLE: Final = re.compile(f"[{_ALONE}]")
_SURROGATE_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_TAG_FLAG: Final = "\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(letter)) for letter in nation) for nation in ("eng", "sct", "wls"))
)
_TAG_RUN: Final = re.compile(f"({_TAG_FLAG})|[\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]+")
_JOINER_RUN: Final = re.compile(f"[{_JOINERS}]+")
_SELECTOR_RUN: Final = re.compile(f"[{_SELECTORS}]{{2,}}")
_PLANE_14: Final = re.compile("[\U000e0000-\U000e0fff]")


def _picture(code: int) -> str:
    """What a control character or other shapeless character is shown as."""
    character = chr(code)
    if character == "\t":
        return TAB_STOP
    if character in _LINE_ENDS:
        return "\n"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code < 0xA0:
        return f"‹{code:02X}›"
    if character in _BIDI_NAMES:
        return f"‹{_BIDI_NAMES[character]}›"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else HIDDEN


_ASCII_TABLE: Final = {code: _picture(code) for code in (*range(10), *range(11, 32), 127)}


def safe_text(text: str) -> str:
    """`text` with nothing left in it that a terminal obeys or a reader cannot see; lines end in "\\n" alone.

    Control characters become their Unicode pictures (␛, ␀), C1 codes ‹9B›, bidirectional overrides and isolates ‹RLO›,
    tabs four spaces, every line or paragraph separator a newline, lone surrogates U+FFFD, zero-width characters with no
    ordinary use a small square, runs of tag characters the text they smuggle. Applying it twice changes nothing more.
    """
    if text.isascii():
        return text.replace("\r\n", "\n").translate(_ASCII_TABLE)
    if _SUSPECT.search(text) is None:
        return text
    text = _SURROGATE_PAIR.sub(_joined_pair, text).replace("\r\n", "\n")
    text = _SINGLE.sub(lambda match: _picture(ord(match[0])), text)
    if _PLANE_14.search(text):
        text = _TAG_RUN.sub(_shown_tags, text)
    text = _SELECTOR_RUN.sub(lambda match: match[0][0] + HIDDEN * (len(match[0]) - 1), text)
    return _JOINER_RUN.sub(_shown_joiners, text)


def _joined_pair(match: re.Match[str]) -> str:
    """The character two surrogates spell together."""
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _shown_tags(match: re.Match[str]) -> str:
    """The ASCII a run of tag characters hides, in the open; a flag as it is."""
    flag: str | None = match[1]
    if flag:
        return flag
    codes = (ord(character) - 0xE0000 for character in match[0])
    return "‹tags: {}›".format("".join(chr(code) if 0x20 <= code < 0x7F else HIDDEN for code in codes))


def _shown_joiners(match: re.Match[str]) -> str:
    """A run of joiners: one stays where it can join something, all others are shown."""
    text, start, end = match.string, match.start(), match.end()
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if before.isascii() and after.isascii():
        return HIDDEN * (end - start)
    return match[0][0] + HIDDEN * (end - start - 1)


def safe_line(text: str, limit: int = 200) -> str:
    """`text` as one safe line of at most `limit` code points: newlines shown as ↵, what is too long cut with "…".

    Raises:
        ValueError: `limit` is less than 1.
    """
    if limit < 1:
        raise ValueError(f"limit {limit} leaves no room")
    head = text[: 2 * limit + 2]
    line = safe_text(head).replace("\n", "↵")
    if len(line) <= limit and len(head) == len(text):
        return line
    end = min(len(line), limit - 1)
    while end and end < len(line) and _continues(line, end):
        end -= 1
    return line[:end] + "…"


def _continues(line: str, index: int) -> bool:
    """True when a cut at `index` would part a letter from its marks or an emoji from what it is joined to."""
    character = line[index]
    return unicodedata.category(character)[0] == "M" or character in _JOINERS or line[index - 1] == "\u200d"


_UNPRINTED: Final = (
    "\\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_FORMULA: Final = re.compile(f"'*(?:[{_UNPRINTED}]*[-=+@＝＋－＠]|[\t\r\n])")


def csv_safe(value: str) -> str:
    """A CSV cell that no spreadsheet runs as a formula: an apostrophe before whatever could start one.

    That is "=", "+", "-" or "@" (half or full width), also behind blanks and zero-width characters, and a leading tab
    or line end (OWASP, "CSV Injection"). Cells that already start with apostrophes before such a character get one
    more, so that `csv_unsafe` gives back every value exactly, "-5 mg" included.
    """
    return f"'{value}" if _FORMULA.match(value) else value


def csv_unsafe(value: str) -> str:
    """The value that `csv_safe` turned into this cell."""
    return value[1:] if value.startswith("'") and _FORMULA.match(value, 1) else value
