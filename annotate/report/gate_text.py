"""A gate as text, as Markdown for a pull request, and as JUnit XML for a CI server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from store.safe_text import safe_text

if TYPE_CHECKING:
    from judges.gate.checks import Check
    from judges.gate.gate import Gate, TaskGate

SIGNS = {"passed": "ok", "failed": "NO", "undecided": "??", "skipped": "--"}
_HEADLINES = {
    "open": "The gate is OPEN: this judge may score the full run.",
    "closed": "The gate is CLOSED: this judge may not score the full run.",
    "undecided": "The gate is UNDECIDED: the labels do not settle it yet.",
}


def gate_lines(gate: Gate) -> Iterator[str | list[list[str]]]:
    """Lines, and tables as lists of rows."""
    for one in gate.tasks:
        yield f"{one.task}, judged by {one.judge.name}: look {one.look} of {one.limits.looks}"
        yield [[SIGNS[check.status] + "  " + check.title, _value(check), _bound(check)] for check in one.checks]
        yield from (f"  {check.title}: {check.why}" for check in one.checks if check.status != "passed")
    yield _HEADLINES[gate.outcome]
    for number, act in enumerate(dict.fromkeys(act for one in gate.tasks for act in one.next), start=1):
        yield f"  {number}. {act}"


def value_text(value: float | None, low: float | None, high: float | None) -> str:
    """What a check measured, with its interval."""
    if value is None:
        return "not measured"
    if low is None or high is None:
        return f"{value:.3g}"
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def bound_text(bound: float | None, side: str) -> str:
    """What a check asks for; `side` "least" or "most"."""
    return "" if bound is None else f"at {side} {bound:g}"


def _value(check: Check) -> str:
    return value_text(check.statistic.value, check.statistic.low, check.statistic.high)


def _bound(check: Check) -> str:
    return bound_text(check.bound, check.side)


def gate_markdown(gate: Gate) -> str:
    """A summary to paste or post: one table a task, then what to do."""
    lines = [f"### {_HEADLINES[gate.outcome]}", ""]
    for one in gate.tasks:
        lines += [
            f"**{_cell(one.task)}**, judged by {_cell(one.judge.name)}, look {one.look} of {one.limits.looks}",
            "",
        ]
        lines += ["| check | outcome | value | bound | |", "| --- | --- | --- | --- | --- |"]
        for check in one.checks:
            cells = (check.title, check.status, _value(check), _bound(check), check.why)
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
        lines.append("")
    acts = list(dict.fromkeys(act for one in gate.tasks for act in one.next))
    lines += [f"{number}. {_cell(act)}" for number, act in enumerate(acts, start=1)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Foreign text inside a table's cell: nothing in it can end the cell or begin markup."""
    safe = safe_text(text).replace("\\", "\\\\")
    for sign in "|<>`*_[]":
        safe = safe.replace(sign, f"\\{sign}")
    return safe.replace("\n", " ")


def gate_junit(gate: Gate) -> str:
    """JUnit XML: a suite a task, a case a check; undecided counts as a failure of its own type."""
    root = ElementTree.Element("testsuites", name="overread gate")
    for one in gate.tasks:
        root.append(_suite(one))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(gate: TaskGate) -> ElementTree.Element:
    counts = {status: sum(1 for check in gate.checks if check.status == status) for status in SIGNS}
    suite = ElementTree.Element(
        "testsuite",
        name=_xml(f"gate.{gate.task}"),
        tests=str(len(gate.checks)),
        failures=str(counts["failed"] + counts["undecided"]),
        skipped=str(counts["skipped"]),
    )
    for check in gate.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(f"gate.{gate.task}"), name=_xml(check.title))
        message = _xml(f"{_value(check)}, {_bound(check)}: {check.why}")
        if check.status in ("failed", "undecided"):
            failure = ElementTree.SubElement(case, "failure", type=check.status, message=message)
            failure.text = _xml(check.next)
        elif check.status == "skipped":
            ElementTree.SubElement(case, "skipped", message=message)
    return suite


def _xml(text: str) -> str:
    """Text that XML 1.0 can hold."""
    return "".join(char for char in safe_text(text) if char in "\t\n" or ord(char) >= 32)
