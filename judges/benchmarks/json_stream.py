"""Streams JSON files too large to load: objects of a JSONL file, elements of the arrays of one huge object.

Memory holds one element and one window of text, whatever the size of the file. Every element and every fault has its
line and column. Faults come as `Problem`s among the elements; what follows a bad line is still read.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judges.benchmarks.json_text import LONGEST_INDENT, Parsed, Place, Unreadable, Window, shown
from store.records import Problem

NEXT_LINE_OBJECT = re.compile(r"\n\ufeff?\{")
"""Where an object of a sequence starts; inside a pretty-printed object every brace is indented."""

NEXT_LINE = re.compile(r"\n.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Element:
    """One JSON value and where it starts (1-based).

    Attributes:
        member: name of the top-level member it is, or is in; "" for an object of a sequence.
        index: 0-based place in its array or sequence; -1 for a member that is no array.
    """

    value: Any
    line: int
    column: int
    member: str = ""
    index: int = -1


@dataclass(frozen=True, slots=True)
class ArrayStart:
    """A top-level member that is an array; its elements follow."""

    member: str
    line: int
    column: int


class _Stop(Exception):  # noqa: N818
    """Nothing after this place can be read; the problem says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.what)
        self.problem = problem


def iter_objects(path: Path) -> Iterator[Element | Problem]:
    """The objects of a JSONL file, of one JSON array, or the one object of a JSON file, in file order.

    Raises:
        OSError: the file cannot be opened or read.
    """
    with Window(path) as window:
        try:
            if window.peek() == "[":
                yield from _array(window, "")
                yield from _end(window)
            else:
                yield from _sequence(window)
        except _Stop as stop:
            yield stop.problem


def iter_members(path: Path) -> Iterator[Element | ArrayStart | Problem]:
    """The members of one JSON object: array members as `ArrayStart` and then element by element, others whole.

    Raises:
        OSError: the file cannot be opened or read.
    """
    with Window(path) as window:
        try:
            yield from _members(window)
            yield from _end(window)
        except _Stop as stop:
            yield stop.problem


def _sequence(window: Window) -> Iterator[Element | Problem]:
    index = 0
    while char := window.peek():
        if char == "{":
            yield from _element(window, "", index, NEXT_LINE_OBJECT)
            index += 1
        else:
            yield window.problem("an object {…} should start here", "correct or delete this line")
            window.move_to(NEXT_LINE, longest=2)
    if window.wrong_bytes:
        yield window.cut_short()


def _members(window: Window) -> Iterator[Element | ArrayStart | Problem]:
    _require(window, "{", "a JSON object should start here")
    seen: set[str] = set()
    while (char := window.peek()) != "}":
        if seen:
            yield from _comma(window, char, '"')
            if window.peek() == "}":
                break
        place = window.place
        member = _member_name(window)
        if member in seen:
            yield window.problem(f"the member {shown(member)!r} is there twice", "keep one of the two", place)
        seen.add(member)
        if window.peek() == "[":
            yield ArrayStart(member, *window.place)
            yield from _array(window, member)
        else:
            yield from _element(window, member, -1, None)
    window.step()


def _member_name(window: Window) -> str:
    if window.peek() != '"':
        raise _stop(window, "a quoted name should start here")
    parsed = _value(window)
    window.move_over(parsed)
    _require(window, ":", "a colon should stand here")
    return str(parsed.value)


def _array(window: Window, member: str) -> Iterator[Element | Problem]:
    window.step()
    index = 0
    resumed = True
    while (char := window.peek()) != "]":
        if not resumed:
            yield from _comma(window, char, "{")
            if window.peek() == "]":
                break
        resumed = yield from _element(window, member, index, _next_in_array(window))
        index += 1
    window.step()


def _next_in_array(window: Window) -> re.Pattern[str] | None:
    """The line on which the next element of this array starts, or the array ends; None when they share a line."""
    indent = window.indent()
    if indent is None:
        return None
    return re.compile(rf"\n(?:{indent}\{{|[ \t]{{0,{max(0, len(indent) - 1)}}}\])")


def _comma(window: Window, char: str, follower: str) -> Iterator[Problem]:
    """Step over the comma between two elements; a missing or a superfluous one is a fault that is read over."""
    if char == ",":
        place = window.place
        window.step()
        if window.peek() in ("]", "}"):
            yield window.problem("there is a comma after the last element", "delete it", place)
    elif char == follower:
        yield window.problem("a comma is missing before this element", "write it")
    else:
        raise _stop(window, "a comma or a closing bracket should stand here")


def _element(
    window: Window, member: str, index: int, next_element: re.Pattern[str] | None
) -> Generator[Element | Problem, None, bool]:
    """The value that starts here, or the problem; moves behind it. Returns whether it moved on to a next element."""
    place = window.place
    try:
        parsed = window.value()
    except Unreadable as fault:
        yield _skip_over(window, place, fault, next_element)
        return True
    window.move_over(parsed)
    yield from parsed.problems
    if not any(problem.fatal for problem in parsed.problems):
        yield Element(parsed.value, *place, member, index)
    return False


def _skip_over(window: Window, start: Place, fault: Unreadable, next_element: re.Pattern[str] | None) -> Problem:
    """The problem of an unreadable element; moves to the next one.

    Raises:
        _Stop: there is no next one, or no way to tell where it starts.
    """
    if next_element is None:
        if fault.cut:
            raise _Stop(window.cut_short())
        raise _Stop(
            window.problem(f"{fault.what}; nothing after this place was read", "correct this place", fault.place)
        )
    found = window.move_to(next_element, LONGEST_INDENT + 2)
    if not found:
        ended = fault.cut or window.wrong_bytes
        raise _Stop(window.cut_short() if ended else window.problem(fault.what, "correct this place", fault.place))
    if window.place.line <= fault.place.line:
        return window.problem("the object that starts here has no end", "write the whole object, or delete it", start)
    last = window.place.line - 1
    left_out = f"; the object of lines {start.line} to {last} is left out" if last > start.line else ""
    return window.problem(fault.what + left_out, "correct this place", fault.place)


def _value(window: Window) -> Parsed:
    try:
        return window.value()
    except Unreadable as fault:
        raise _Stop(
            window.cut_short() if fault.cut else window.problem(fault.what, "correct this place", fault.place)
        ) from None


def _require(window: Window, char: str, what: str) -> None:
    if window.peek() != char:
        raise _stop(window, what)
    window.step()


def _stop(window: Window, what: str) -> _Stop:
    if not window.peek():
        return _Stop(window.cut_short())
    return _Stop(window.problem(f"{what}; nothing after this place was read", "correct this place"))


def _end(window: Window) -> Iterator[Problem]:
    if window.peek():
        yield window.problem("there is more after the end of the JSON value", "delete what follows, or split the file")
    elif window.wrong_bytes:
        yield window.cut_short()
