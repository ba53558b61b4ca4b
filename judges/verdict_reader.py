"""Reads what a judge answered: exactly, or not at all.

There are three states: a label of the set, nothing (`missing`), or a failure by kind. The verdict is the last anchored
one: a JSON object with a member `verdict`, or a line `VERDICT: label` by itself, or an answer that is a label and
nothing else. What is merely mentioned is no verdict, an off-menu verdict is never replaced by an earlier one, and no
label is looked for inside a longer text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

from judges.backends.answer import OVERLONG
from judges.menu import Decision, Menu
from store.records import canonical_json

MISSING, MALFORMED, OFF_MENU = "missing", "malformed", "off_menu"
REFUSAL, TRUNCATED, TIMEOUT, FILTERED = "refusal", "truncated", "timeout", "filtered"
SERVER_ERROR, TOO_LONG, REJECTED = "server_error", "too_long", "rejected"
FAILURES: Final = (
    MISSING, MALFORMED, OFF_MENU, REFUSAL, TRUNCATED, TIMEOUT, FILTERED, SERVER_ERROR, TOO_LONG, REJECTED,
)  # fmt: skip
"""Every kind. The last three are the server's: it failed again and again, the prompt is too long, it took no part."""

NO_RATIONALE, VERDICT_FIRST, SEVERAL = "no_rationale", "verdict_before_reasoning", "several_verdicts"
"""Remarks on a verdict that could be read: nothing was said for it; it came before the reasoning; it was changed."""

_THINK_END = "</think>"
_THINK_START = re.compile(r"\A\s*<think>")
_LINE = re.compile(r"^[ \t]*(?:\*\*)?(?:VERDICT|判定)(?:\*\*)?[ \t]*[:：]", re.MULTILINE)
_ANSWER_OPENING = re.compile(r'\{\s*"(?:reasoning|verdict|parts)"')
_REFUSES = re.compile(
    r"\A\W*(?:(?:I(?:'|’)?m|I am) (?:very )?sorry\b|Sorry\b|I (?:can(?:'|’)?t|cannot|can not|won(?:'|’)?t|am unable to"
    r"|(?:'|’)m unable to|must decline)\b|(?:As|Being) an AI\b|(?:很|非常)?抱歉|对不起|我(?:不能|无法))",
    re.IGNORECASE,
)
_MOST_TRIES = 2000
"""Opening braces that are tried before a text is given up as unreadable."""
_DECODER = JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict, or why there is none.

    Attributes:
        label: a label of the set, None when `failure` says why not.
        parts: every required part ({} on failure).
        failure: "" or one of `FAILURES`. why: in words, without text of the answer.
        rationale: the judge's own words; "" for none.
        span: offsets of the label in the text that was read, for token probabilities; None where it has none.
        remarks: what is odd about a verdict that could be read.
    """

    label: str | None
    parts: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""
    why: str = ""
    rationale: str = ""
    span: tuple[int, int] | None = None
    remarks: tuple[str, ...] = ()


class _Pair(NamedTuple):
    key: str
    value: Any
    start: int
    end: int


class _Anchor(NamedTuple):
    """A place where the text gives a verdict: an object's members, or a line's label; both None for a broken one."""

    start: int
    end: int
    pairs: tuple[_Pair, ...] | None = None
    line: str | None = None


def read_answer(text: str | None, menu: Menu, *, finish_reason: str = "", refusal: str = "") -> Reading:
    """The verdict in an answer.

    Args:
        text: the message's content; None or "" when it had none.
        finish_reason: as the server gave it. refusal: the message's refusal, where the server has such a field.
    """
    if finish_reason == "content_filter":
        return _failed(FILTERED, "the server's content filter stopped the answer")
    if refusal:
        return _failed(REFUSAL, "the model refused")
    if finish_reason == OVERLONG:
        return _failed(TRUNCATED, "the answer was so long that only its beginning was kept")
    if finish_reason in ("length", "max_tokens"):
        return _failed(TRUNCATED, "the answer was cut at the token limit")
    if not (text or "").strip():
        return _failed(MISSING, "the answer is empty")
    assert text is not None
    start = text.rfind(_THINK_END)
    if start < 0 and _THINK_START.match(text):
        return _failed(TRUNCATED, "the answer ends within its thinking")
    skipped = start + len(_THINK_END) if start >= 0 else 0
    reading = _read(text[skipped:], menu)
    if reading.span is None or not skipped:
        return reading
    return replace(reading, span=(reading.span[0] + skipped, reading.span[1] + skipped))


def _failed(kind: str, why: str) -> Reading:
    return Reading(None, failure=kind, why=why)


def _read(text: str, menu: Menu) -> Reading:
    anchors = _anchors(text)
    if anchors is None:
        return _failed(MALFORMED, "the answer has too many braces to be read")
    if not anchors:
        return _bare(text, menu)
    if any(anchor.pairs is None and anchor.line is None for anchor in anchors):
        return _failed(MALFORMED, "the JSON of the answer is broken or cut")
    last = anchors[-1]
    several = (SEVERAL,) if len({_said(anchor) for anchor in anchors}) > 1 else ()
    if last.pairs is not None:
        return _of_object(last.pairs, menu, several)
    return _of_line(text, last, menu, several)


def _said(anchor: _Anchor) -> str:
    """What an anchor says, to tell whether the model changed its mind."""
    if anchor.pairs is None:
        return str(anchor.line)
    return next((_plain(pair.value) for pair in anchor.pairs if pair.key == "verdict"), "")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


# Where verdicts stand


def _anchors(text: str) -> list[_Anchor] | None:
    """All anchors in order; lines within objects are none. None when there is no end of braces."""
    found: list[_Anchor] = []
    position = 0
    for _ in range(_MOST_TRIES):
        opening = text.find("{", position)
        found += _lines(text, position, opening if opening >= 0 else len(text))
        if opening < 0:
            return found
        try:
            pairs, end = _object(text, opening)
        except (ValueError, RecursionError):
            if _ANSWER_OPENING.match(text, opening):
                found.append(_Anchor(opening, len(text)))
            position = opening + 1
            continue
        if any(pair.key == "verdict" for pair in pairs):
            found.append(_Anchor(opening, end, pairs))
        position = end
    return None


def _lines(text: str, start: int, end: int) -> Iterator[_Anchor]:
    """Lines that begin between `start` and `end` and give a verdict, each to its own end."""
    for match in _LINE.finditer(text, start, end):
        line_end = text.find("\n", match.end())
        line_end = len(text) if line_end < 0 else line_end
        yield _Anchor(match.start(), line_end, line=text[match.end() : line_end])


def _object(text: str, start: int) -> tuple[tuple[_Pair, ...], int]:
    """The members of the JSON object at `start`, with the place of each value, and where it ends.

    Raises:
        ValueError: it is no JSON object. RecursionError: it is nested too deeply.
    """
    pairs: list[_Pair] = []
    position = _skip(text, start + 1)
    if text[position : position + 1] == "}":
        return (), position + 1
    while True:
        if text[position : position + 1] != '"':
            raise ValueError
        key, position = scanstring(text, position + 1, False)
        position = _skip(text, position)
        if text[position : position + 1] != ":":
            raise ValueError
        begin = _skip(text, position + 1)
        try:
            value, position = _DECODER.raw_decode(text, begin)
        except StopIteration as error:
            raise ValueError from error
        pairs.append(_Pair(key, value, begin, position))
        position = _skip(text, position)
        mark = text[position : position + 1]
        if mark == "}":
            return tuple(pairs), position + 1
        if mark != ",":
            raise ValueError
        position = _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


# What they say


def _of_object(pairs: tuple[_Pair, ...], menu: Menu, remarks: tuple[str, ...]) -> Reading:
    names = [pair.key for pair in pairs]
    if any(names.count(name) > 1 for name in ("verdict", "reasoning", "parts")):
        return _failed(MALFORMED, "a member of the answer is there twice")
    members = {pair.key: pair for pair in pairs}
    words = members["reasoning"].value if "reasoning" in members else ""
    rationale = words.strip() if isinstance(words, str) else ""
    given = members["verdict"]
    label, failure = read_decision(given.value, menu.value)
    if failure:
        return Reading(None, failure=failure, why=_why("the verdict", failure), rationale=rationale)
    parts: dict[str, str] = {}
    said = members["parts"].value if "parts" in members else {}
    for name, decision in menu.parts.items():
        value, failure = read_decision(said.get(name) if isinstance(said, dict) else None, decision)
        if value is None:
            return Reading(None, failure=failure, why=_why(f"the part {name}", failure), rationale=rationale)
        parts[name] = value
    late = (VERDICT_FIRST,) if "reasoning" in names and names.index("verdict") < names.index("reasoning") else ()
    silent = () if rationale else (NO_RATIONALE,)
    inside = 1 if isinstance(given.value, str) else 0
    return Reading(label, parts, rationale=rationale, span=(given.start + inside, given.end - inside),
                   remarks=(*remarks, *late, *silent))  # fmt: skip


def _of_line(text: str, anchor: _Anchor, menu: Menu, remarks: tuple[str, ...]) -> Reading:
    rationale = text[: anchor.start].strip()
    if menu.parts or menu.value.kind != "choice":
        return Reading(None, failure=MALFORMED, why="the answer is a line and lacks the parts", rationale=rationale)
    label = (anchor.line or "").strip().removeprefix("**").removesuffix("**").strip()
    if label not in menu.value.values:
        kind = OFF_MENU if label else MISSING
        return Reading(None, failure=kind, why=_why("the verdict", kind), rationale=rationale)
    place = text.rindex(label, anchor.start, anchor.end)
    return Reading(label, rationale=rationale, span=(place, place + len(label)),
                   remarks=remarks + (() if rationale else (NO_RATIONALE,)))  # fmt: skip


def _bare(text: str, menu: Menu) -> Reading:
    """An answer without any anchor: a label and nothing else, a refusal, or nothing that can be read."""
    words = text.strip()
    if menu.value.kind == "choice" and not menu.parts and words in menu.value.values:
        place = text.index(words)
        return Reading(words, span=(place, place + len(words)), remarks=(NO_RATIONALE,))
    if not words:
        return _failed(MISSING, "the answer is empty")
    if _REFUSES.match(words):
        return _failed(REFUSAL, "the answer refuses and gives no verdict")
    return _failed(MALFORMED, "no verdict stands in the answer")


def _why(what: str, failure: str) -> str:
    return {
        MISSING: f"{what} is null or not there",
        OFF_MENU: f"{what} is not in the label set",
        MALFORMED: f"{what} has a wrong form",
    }[failure]


def read_decision(value: Any, decision: Decision) -> tuple[str | None, str]:
    """A decision as it is stored, and "" – or None and the kind of failure. Nothing is guessed or repaired."""
    if value is None:
        return None, MISSING
    if decision.kind == "choice":
        return _choice(value, decision.values)
    if decision.kind == "number":
        return _number(value, decision)
    return _ranking(value, decision) if decision.kind == "ranking" else _checklist(value, decision)


def _choice(value: Any, values: tuple[str, ...]) -> tuple[str | None, str]:
    """A text as it stands; JSON's true, false and whole numbers as their JSON text."""
    if isinstance(value, str):
        return (value, "") if value in values else (None, OFF_MENU)
    if isinstance(value, bool | int):
        try:
            text = json.dumps(value)
        except ValueError:
            return None, OFF_MENU
        return (text, "") if text in values else (None, OFF_MENU)
    return None, OFF_MENU if isinstance(value, float) else MALFORMED


def _number(value: Any, decision: Decision) -> tuple[str | None, str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, MALFORMED
    if not decision.low <= value <= decision.high or not math.isfinite(value):
        return None, OFF_MENU
    return (str(int(value)) if value == int(value) else repr(float(value))), ""


def _ranking(value: Any, decision: Decision) -> tuple[str | None, str]:
    """Every entry exactly once; a text stands for a group of one."""
    if not isinstance(value, list):
        return None, MALFORMED
    groups = [[group] if isinstance(group, str) else group for group in value]
    if not all(isinstance(group, list) and group and all(isinstance(e, str) for e in group) for group in groups):
        return None, MALFORMED
    named = [entry for group in groups for entry in group]
    if sorted(named) != sorted(decision.rows):
        return None, OFF_MENU
    return canonical_json([sorted(group) for group in groups]), ""


def _checklist(value: Any, decision: Decision) -> tuple[str | None, str]:
    """Every cell of every row."""
    if not isinstance(value, dict):
        return None, MALFORMED
    if set(value) != set(decision.rows):
        return None, MISSING if set(value) < set(decision.rows) else OFF_MENU
    cells: dict[str, dict[str, str]] = {}
    for row, given in value.items():
        if not isinstance(given, dict):
            return None, MALFORMED
        for column, _ in decision.columns:
            label, failure = _choice(given.get(column), decision.values) if column in given else (None, MISSING)
            if label is None:
                return None, failure
            cells.setdefault(row, {})[column] = label
    return canonical_json(cells), ""
