"""Reads what people and judges said of a row: labels exactly as they are spelled, everything else beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, get_args

from store.events import Mode
from store.records import LabelState

FAILURES = frozenset({"missing", "malformed", "off_menu", "refusal", "truncated", "timeout", "filtered"})
_TEXTS = ("note", "harm", "cannot_judge", "right_answer")
_FLAGS = ("unsure", "reference_wrong")


class WrongEntryError(ValueError):
    """What a row says of a label cannot be taken; the message says why."""


class HumanEntry(NamedTuple):
    """One person's label. `label` None is missing; `state` has everything else that was said."""

    annotator: str
    label: str | None
    state: LabelState
    mode: str = ""
    at: str = ""


class JudgeEntry(NamedTuple):
    """One judge's answer. `raw` is the entry itself as JSON; `failure` only where the file names one."""

    judge: str
    label: str | None
    score: float | None = None
    confidence: float | None = None
    rationale: str = ""
    failure: str = ""
    raw: str = ""


def label_text(value: Any) -> str | None:
    """A label as its text: numbers and truth values as JSON writes them; None when it is missing.

    Raises:
        WrongEntryError: a list or an object.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise WrongEntryError("a label is a text, a number or a truth value, not a list or object")


def plain_text(value: Any) -> str:
    """An id or name as text: 30 is "30", "0870" stays.

    Raises:
        WrongEntryError: a list or an object.
    """
    try:
        return label_text(value) or ""
    except WrongEntryError:
        raise WrongEntryError("an id or name is a text or a number, not a list or object") from None


def unpacked(value: Any, flat: bool) -> Any:
    """The value, read as JSON when a flat format could only hold it as text.

    Raises:
        WrongEntryError: it begins like JSON and is none.
    """
    if not flat or not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise WrongEntryError("a cell that begins with [ or { is not JSON") from None


def human_entries(value: Any) -> list[HumanEntry]:
    """The entries of a `human` field: a list of {annotator, label, …}, one of them, or a bare label.

    Raises:
        WrongEntryError: says what is wrong.
    """
    return [_human(entry) for entry in _as_list(value)]


def judge_entries(value: Any, unnamed: str) -> list[JudgeEntry]:
    """The entries of a `judge` field: a list of {judge, label, …}, one of them, or a bare label.

    Args:
        unnamed: the name of a judge that the file does not name.

    Raises:
        WrongEntryError: says what is wrong.
    """
    return [_judge(entry, unnamed) for entry in _as_list(value)]


def number(value: Any, what: str) -> float | None:
    """A number, also written as text.

    Raises:
        WrongEntryError: it is none, or not finite.
    """
    if value is None or value == "":
        return None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            found = float(value)
        except (ValueError, OverflowError):
            found = float("nan")
        if abs(found) < float("inf"):
            return found
    raise WrongEntryError(f"{what} is not a number")


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _human(entry: Any) -> HumanEntry:
    if not isinstance(entry, Mapping):
        return human_entry("human", label_text(entry), {})
    return human_entry(plain_text(entry.get("annotator")) or "human", label_text(entry.get("label")), entry)


def human_entry(annotator: str, label: str | None, said: Mapping[str, Any]) -> HumanEntry:
    """An entry with what `said` holds of a person's label beside its value.

    Raises:
        WrongEntryError: a field of a wrong type, or an unknown mode.
    """
    fields: dict[str, Any] = {name: _typed(said, name, str, "a text") for name in _TEXTS if said.get(name)}
    fields |= {name: _typed(said, name, bool, "true or false") for name in _FLAGS if said.get(name) is not None}
    if tags := said.get("tags"):
        fields["tags"] = tuple(plain_text(tag) for tag in _as_list(tags))
    if turns := said.get("evidence"):
        fields["evidence"] = tuple(_turn(turn) for turn in _as_list(turns))
    mode = said.get("mode") or ""
    if mode and mode not in get_args(Mode):
        raise WrongEntryError(f"the mode of a label is one of {', '.join(get_args(Mode))}")
    return HumanEntry(annotator, label, LabelState(value=label, **fields), mode, _moment(said.get("at")))


def _typed(said: Mapping[str, Any], name: str, kind: type, words: str) -> Any:
    if not isinstance(said[name], kind):
        raise WrongEntryError(f"{name} of a person's label is not {words}")
    return said[name]


def _turn(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise WrongEntryError("evidence of a person's label is not a list of turn numbers")
    return value


def _moment(value: Any) -> str:
    if not value:
        return ""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise WrongEntryError("the time of a label is not ISO 8601") from None
    if moment.tzinfo is None:
        raise WrongEntryError("the time of a label has no offset from UTC")
    return str(value)


def _judge(entry: Any, unnamed: str) -> JudgeEntry:
    if not isinstance(entry, Mapping):
        return JudgeEntry(unnamed, label_text(entry), raw=json.dumps({"label": entry}, ensure_ascii=False))
    name = plain_text(entry.get("judge")) or unnamed
    return judge_entry(name, entry)


def judge_entry(name: str, entry: Mapping[str, Any]) -> JudgeEntry:
    """One judge's entry from its fields.

    Raises:
        WrongEntryError: a field of a wrong type.
    """
    failure = plain_text(entry.get("failure"))
    if failure and failure not in FAILURES:
        raise WrongEntryError(f"a failure is one of {', '.join(sorted(FAILURES))}")
    rationale = entry.get("rationale")
    return JudgeEntry(
        judge=name,
        label=label_text(entry.get("label")),
        score=number(entry.get("score"), "the score"),
        confidence=number(entry.get("confidence"), "the confidence"),
        rationale=rationale if isinstance(rationale, str) else "" if rationale is None else json.dumps(rationale),
        failure=failure,
        raw=json.dumps(dict(entry), ensure_ascii=False),
    )
