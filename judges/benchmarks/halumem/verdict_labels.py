"""Reads the verdict fields of a record: exactly, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from judges.benchmarks.halumem.shapes import FLAG_FIELD, VERDICT_FIELD

SCORES = ("2", "1", "0")
CLASSES: Mapping[str, tuple[str, ...]] = {
    "update": ("Correct", "Hallucination", "Omission", "Other"),
    "qa": ("Correct", "Hallucination", "Omission"),
}
FLAGS = {"true": "true", "True": "true", "false": "false", "False": "false"}

FAILURE_WORDS = ("", "fail", "error", "exception", "timeout", "none", "null", "nan", "n/a")
"""A text that is one of these, or has "fail", "error" or "exception" in it, reports a failure and is no label."""


class VerdictLabel(NamedTuple):
    """A label, or the kind of failure; `parts` and `score` only where they could be read."""

    label: str | None
    failure: str = ""
    parts: Mapping[str, str] = {}
    score: float | None = None


def read_label(task: str, record: Mapping[str, Any]) -> VerdictLabel:
    """The verdict in a record of the benchmark.

    null is `missing`; a number or word that is not on the menu is `off_menu`; what is no answer is `malformed`.
    """
    value = record.get(VERDICT_FIELD[task])
    if value is None:
        return VerdictLabel(None, "missing")
    if task in CLASSES:
        return _read_class(value, CLASSES[task])
    read = _read_score(value)
    if task == "accuracy" and read.label is not None:
        return read._replace(parts=_read_flag(record.get(FLAG_FIELD)))
    return read


def _read_score(value: Any) -> VerdictLabel:
    if isinstance(value, bool):
        return VerdictLabel(None, "malformed")
    if isinstance(value, int | float):
        text = str(int(value)) if value == int(value) else str(value)
    elif isinstance(value, str):
        text = value
    else:
        return VerdictLabel(None, "malformed")
    if text in SCORES:
        return VerdictLabel(text, score=float(text))
    is_number = not isinstance(value, str) or value.removeprefix("-").isdecimal()
    return VerdictLabel(None, "off_menu" if is_number else "malformed")


def _read_class(value: Any, menu: tuple[str, ...]) -> VerdictLabel:
    if value in menu:
        return VerdictLabel(value)
    if not isinstance(value, str) or _reports_failure(value):
        return VerdictLabel(None, "malformed")
    return VerdictLabel(None, "off_menu")


def _reports_failure(text: str) -> bool:
    words = text.strip().lower()
    return words in FAILURE_WORDS or any(word in words for word in ("fail", "error", "exception"))


def _read_flag(value: Any) -> Mapping[str, str]:
    """The part `included`; nothing when the flag cannot be read."""
    if isinstance(value, bool):
        return {"included": "true" if value else "false"}
    if isinstance(value, str) and value in FLAGS:
        return {"included": FLAGS[value]}
    return {}
