"""A window of decoded text that slides over a JSON file: characters, places, single values. Used by `json_stream`."""

from __future__ import annotations

import codecs
import json
import math
import re
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from judges.benchmarks.meter import tell
from store.records import Problem

CHUNK = 1 << 18
"""Bytes read at a time; the window doubles only while one value does not fit."""

BLANK = re.compile(r"[ \t\r\n\ufeff]*")
"""A byte order mark counts as blank wherever files were joined."""

INDENT = re.compile(r"\n([ \t]*)\Z")
LONGEST_INDENT = 64

SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
"""Escapes that can leave a NUL or half a surrogate pair in a string."""

WRONG_CHARACTERS = re.compile("[\x00\ud800-\udfff]")
LITERALS = ("true", "false", "null", "NaN", "-Infinity")
LONGEST_LITERAL = len("-Infinity")
CUT_NUMBER = re.compile(r"\.|[eE][+-]?")
"""What is left of a number behind the digits that already make one."""

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class Place(NamedTuple):
    """1-based; columns count characters."""

    line: int
    column: int


class Parsed(NamedTuple):
    """A value, what is wrong with it, and the position behind it in the window."""

    value: Any
    problems: list[Problem]
    end: int


class Unreadable(Exception):  # noqa: N818
    """There is no JSON value here. `cut` says that the text simply ended."""

    def __init__(self, what: str, place: Place, *, cut: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.place = place
        self.cut = cut


class Window:
    """The text of a file around `at`, where reading stands; `place` is its line and column.

    Raises:
        OSError: the file cannot be opened or read.
    """

    def __init__(self, path: Path) -> None:
        self.file = str(path)
        self.place = Place(1, 1)
        self.wrong_bytes = ""
        self._text, self._at, self._ended = "", 0, False
        self._constants: list[str] = []
        self._duplicates: list[tuple[str, bool]] = []
        self._scan = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=self._float, parse_constant=self._constants.append
        ).raw_decode
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._stream = path.open("rb")

    def __enter__(self) -> Window:
        encoding = encoding_of(self._stream.read(64))
        self._stream.seek(0)
        if encoding:
            self.wrong_bytes, self._ended = f"the file is {encoding}, not UTF-8", True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()

    def problem(self, what: str, remedy: str, place: Place | None = None, *, fatal: bool = True) -> Problem:
        line, column = place or self.place
        return Problem(self.file, line, column, what, remedy, fatal)

    def cut_short(self) -> Problem:
        """The problem of a text that ended too early, at its end."""
        self._advance(len(self._text))
        if self.wrong_bytes:
            return self.problem(self.wrong_bytes, "save it as UTF-8 and import it again")
        what = "the file ends in the middle of a value; was its writer stopped?"
        return self.problem(what, "write the file again, or delete the unfinished end")

    # Characters

    def peek(self) -> str:
        """Move to the next character that is not blank and give it; "" at the end."""
        while True:
            blank = BLANK.match(self._text, self._at)
            self._advance(blank.end() if blank else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def step(self) -> None:
        """Move over one character."""
        self._advance(self._at + 1)

    def move_to(self, mark: re.Pattern[str], longest: int) -> bool:
        """Move to the last character of the next match; False, at the end of the text, when there is none.

        Args:
            longest: characters a match can have.
        """
        start = self._at
        while True:
            found = mark.search(self._text, start)
            if found:
                self._advance(found.end() - 1)
                return True
            self._advance(max(self._at, len(self._text) - longest))
            if not self._more():
                self._advance(len(self._text))
                return False
            start = self._at

    def indent(self) -> str | None:
        """The blanks before this place on its line; None when something else stands there."""
        match = INDENT.search(self._text[max(0, self._at - LONGEST_INDENT) : self._at])
        return match.group(1) if match else None

    # Values

    def value(self) -> Parsed:
        """Parse the value that starts here; stays before it until `move_over`.

        Raises:
            Unreadable: there is none.
        """
        while True:
            self._constants.clear()
            self._duplicates.clear()
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._is_cut(error) and self._more():
                    continue
                cut = self._ended and self._is_cut(error)
                raise Unreadable(f"this is not JSON: {error.msg}", self._place(error.pos), cut=cut) from None
            except RecursionError:
                raise Unreadable("values are nested too deep", self.place) from None
            except ValueError:
                raise Unreadable("a number has too many digits", self.place) from None
            if end < len(self._text) or isinstance(value, dict | list | str) or not self._more():
                return self._inspect(value, end)

    def move_over(self, parsed: Parsed) -> None:
        self._advance(parsed.end)

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether more text could turn the error into a value."""
        if error.msg.startswith("Unterminated string"):
            return True
        rest = self._text[error.pos : error.pos + LONGEST_LITERAL + 1].strip()
        if len(rest) > LONGEST_LITERAL:
            return False
        if error.msg.startswith("Invalid \\"):
            return len(rest) < len("\\uXXXX") and '"' not in rest
        return not rest or bool(CUT_NUMBER.fullmatch(rest)) or any(literal.startswith(rest) for literal in LITERALS)

    def _inspect(self, value: Any, end: int) -> Parsed:
        """What is wrong with a value that could be parsed; characters nothing can show are replaced."""
        found = [
            self.problem(f"{constant} is no JSON value", "write null or a number")
            for constant in dict.fromkeys(self._constants)
        ]
        for name, same in dict.fromkeys(self._duplicates):
            values = "the same value" if same else "two values"
            what = f"the field {shown(name)!r} is there twice with {values}"
            found.append(self.problem(what, "keep one of the two", fatal=not same))
        if SUSPECT.search(self._text, self._at, end):
            repaired: list[str] = []
            value = _repair(value, "", repaired)
            found += [self.problem(what, "correct the text if it matters", fatal=False) for what in repaired]
        return Parsed(value, found, end)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            first: dict[str, Any] = {}
            for name, value in pairs:
                if name in first:
                    self._duplicates.append((name, bool(first[name] == value)))
                first.setdefault(name, value)
        return members

    def _float(self, text: str) -> float:
        number = float(text)
        if math.isinf(number):
            self._constants.append("a number beyond the range of floats")
        return number

    # The window

    def _advance(self, to: int) -> None:
        self.place = self._place(to)
        self._at = to

    def _place(self, position: int) -> Place:
        lines = self._text.count("\n", self._at, position)
        if lines:
            return Place(self.place.line + lines, position - self._text.rfind("\n", self._at, position))
        return Place(self.place.line, self.place.column + position - self._at)

    def _more(self) -> bool:
        """Read on; False when nothing came. What lies more than an indent behind is dropped."""
        if self._ended:
            return False
        kept_from = max(0, self._at - LONGEST_INDENT)
        raw = self._stream.read(max(CHUNK, len(self._text) - self._at))
        try:
            fresh = self._decode(raw, not raw)
        except UnicodeDecodeError as error:
            fresh = error.object[: error.start].decode("utf-8", "ignore")
            self.wrong_bytes, raw = _wrong_bytes(error), b""
        tell(self.file, self._stream.tell())
        self._text = self._text[kept_from:] + fresh
        self._at -= kept_from
        self._ended = not raw
        return bool(fresh) or not self._ended


def encoding_of(head: bytes) -> str:
    """The encoding that the first bytes of a file show when it is not UTF-8: "UTF-16", "UTF-32" or ""."""
    for mark, name in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    return "UTF-16" if head[:2] in (b"{\0", b"[\0", b"\0{", b"\0[") else ""


def shown(name: str) -> str:
    """A field name fit for a message: short and printable."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name[:40])


def _wrong_bytes(error: UnicodeDecodeError) -> str:
    """Names the bytes that are not UTF-8, and the encoding they are likely to be in."""
    if error.reason == "unexpected end of data":
        return "the file ends in the middle of a character; was its writer stopped?"
    sample = error.object[error.start : error.start + 4096]
    what = f"the file is not UTF-8: byte 0x{sample[0]:02x} stands here"
    for trimmed in (sample, sample[:-1]):
        try:
            text = trimmed.decode("gb18030")
        except UnicodeDecodeError:
            continue
        if any("\u4e00" <= char <= "\u9fff" for char in text):
            return f"{what}; it looks like GB18030 (GBK, GB2312)"
    return f"{what}; it may be a Windows code page"


def _repair(value: Any, field: str, repaired: list[str]) -> Any:
    """The value with NUL and half surrogate pairs replaced in every string; `repaired` gets what and where."""
    if isinstance(value, str):
        return _repair_text(value, field or "the value", repaired)
    if isinstance(value, list):
        return [_repair(part, f"{field}[{number}]", repaired) for number, part in enumerate(value)]
    if isinstance(value, dict):
        return {
            _repair_text(name, f"the name {shown(name)!r}", repaired): _repair(
                part, f"{field}.{shown(name)}" if field else shown(name), repaired
            )
            for name, part in value.items()
        }
    return value


def _repair_text(text: str, field: str, repaired: list[str]) -> str:
    if not WRONG_CHARACTERS.search(text):
        return text
    if "\x00" in text:
        repaired.append(f"a NUL character in {field} was replaced by ␀")
        text = text.replace("\x00", "\u2400")
    whole = WRONG_CHARACTERS.sub("\ufffd", text)
    if whole != text:
        repaired.append(f"half a surrogate pair (a broken emoji) in {field} was replaced by U+FFFD")
    return whole
