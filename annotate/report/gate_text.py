"""A gate as text, as Markdown for a pull request, and as JUnit XML for a CI server.

All three read what a gate says as JSON (`Gate.as_json`), so that a certificate without its study can be told too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree

from store.safe_text import safe_text

Document = Mapping[str, Any]

SIGNS = {"passed": "ok", "failed": "NO", "undecided": "??", "skipped": "--"}
_HEADLINES = {
    "open": "The gate is OPEN: this judge may score the full run.",
    "closed": "The gate is CLOSED: this judge may not score the full run.",
    "undecided": "The gate is UNDECIDED: the labels do not settle it yet.",
}
_NOT_VALID: Final = "The certificate is NOT VALID: the gate is closed."
_LOOK_AGAIN: Final = "look again: overread gate"


def gate_lines(gate: Document) -> Iterator[str | list[list[str]]]:
    """Lines, and tables as lists of rows."""
    for one in gate["tasks"].values():
        yield f"{one['task']}, judged by {one['judge']['name']}: look {one['look']} of {one['looks']}"
        yield [
            [f"{SIGNS[check['status']]}  {title_of(check)}", _value(check), _bound(check)] for check in one["checks"]
        ]
        yield from (f"  {title_of(check)}: {check['why']}" for check in one["checks"] if check["status"] != "passed")
    yield _HEADLINES[gate["outcome"]]
    yield from (f"  {number}. {act}" for number, act in enumerate(_acts(gate), start=1))


def _acts(gate: Document) -> list[str]:
    """What to do, each act once."""
    return list(dict.fromkeys(act for one in gate["tasks"].values() for act in one["next"]))


def title_of(check: Document) -> str:
    """What a check is called: "recall of wrong", "parse rate"."""
    return f"{check['name']} of {check['label']}" if check["label"] else str(check["name"]).replace("_", " ")


def value_text(value: float | None, low: float | None, high: float | None) -> str:
    """What a check measured, with its interval."""
    if value is None:
        return "not measured"
    if low is None or high is None:
        return _whole(value) or f"{value:.3g}"
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def bound_text(bound: float | None, side: str) -> str:
    """What a check asks for; `side` "least" or "most"."""
    return "" if bound is None else f"at {side} {_whole(bound) or f'{bound:g}'}"


def _whole(number: float) -> str:
    """A whole number with all its digits, as counts are; "" for any other."""
    return f"{number:,.0f}" if float(number).is_integer() else ""


def _value(check: Document) -> str:
    return value_text(check["value"], check["low"], check["high"])


def _bound(check: Document) -> str:
    return bound_text(check["bound"], check["side"])


def gate_markdown(gate: Document, problems: Sequence[str] = ()) -> str:
    """A summary to paste or post: one table a task, then what to do; first what is wrong with a certificate."""
    lines = [f"### {_NOT_VALID if problems else _HEADLINES[gate['outcome']]}", ""]
    lines += [*(f"- {_cell(problem)}" for problem in problems), ""] if problems else []
    for one in gate["tasks"].values():
        lines += [
            f"**{_cell(one['task'])}**, judged by {_cell(one['judge']['name'])}, look {one['look']} of {one['looks']}",
            "",
        ]
        lines += ["| check | outcome | value | bound | |", "| --- | --- | --- | --- | --- |"]
        for check in one["checks"]:
            cells = (title_of(check), check["status"], _value(check), _bound(check), check["why"])
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
        lines.append("")
    acts = [_LOOK_AGAIN] if problems else _acts(gate)
    lines += [f"{number}. {_cell(act)}" for number, act in enumerate(acts, start=1)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Foreign text inside a table's cell: nothing in it can end the cell or begin markup."""
    safe = safe_text(text).replace("\\", "\\\\")
    for sign in "|<>`*_[]":
        safe = safe.replace(sign, f"\\{sign}")
    return safe.replace("\n", " ")


def gate_junit(gate: Document, problems: Sequence[str] = ()) -> str:
    """JUnit XML: a suite a task, a case a check; undecided counts as a failure of its own type. What is wrong with a
    certificate is a suite before them."""
    root = ElementTree.Element("testsuites", name="overread gate")
    if problems:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name="gate.certificate",
            tests=str(len(problems)),
            failures=str(len(problems)),
            skipped="0",
        )
        for number, problem in enumerate(problems, start=1):
            case = ElementTree.SubElement(suite, "testcase", classname="gate.certificate", name=f"problem {number}")
            failure = ElementTree.SubElement(case, "failure", type="not valid", message=_xml(problem))
            failure.text = _LOOK_AGAIN
    for one in gate["tasks"].values():
        root.append(_suite(one))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(gate: Document) -> ElementTree.Element:
    counts = {status: sum(1 for check in gate["checks"] if check["status"] == status) for status in SIGNS}
    name = _xml(f"gate.{gate['task']}")
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(gate["checks"])),
        failures=str(counts["failed"] + counts["undecided"]),
        skipped=str(counts["skipped"]),
    )
    for check in gate["checks"]:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=_xml(title_of(check)))
        message = _xml(f"{_value(check)}, {_bound(check)}: {check['why']}")
        if check["status"] in ("failed", "undecided"):
            failure = ElementTree.SubElement(case, "failure", type=check["status"], message=message)
            failure.text = _xml(check["next"])
        elif check["status"] == "skipped":
            ElementTree.SubElement(case, "skipped", message=message)
    return suite


def _xml(text: str) -> str:
    """Text that XML 1.0 can hold."""
    return "".join(
        char for char in safe_text(text) if char in "\t\n" or (ord(char) >= 32 and char not in "\ufffe\uffff")
    )
