"""Reads the scorer's answer in a record: exactly, or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from judges.benchmarks.medmemorybench.chain import judge_parts
from judges.benchmarks.medmemorybench.shapes import (
    CORRECT,
    INCORRECT,
    JUDGE_FAILED,
    NO_RESPONSE,
    RULE_TASKS,
    Answer,
    answer_of,
)
from store.records import VerdictRecord

ROUTES = {JUDGE_FAILED: "judge_failed", NO_RESPONSE: "no_response"}


class VerdictLabel(NamedTuple):
    """A label, or the kind of failure; `route` says who or what gave it."""

    label: str | None
    failure: str = ""
    route: str = "judged"
    parts: Mapping[str, str] = {}


def read_label(task: str, answer: Answer) -> VerdictLabel:
    """The verdict of a record.

    As coded, anything truthy is correct, the text "false" included, and whoever could not be judged is incorrect. Here
    only the JSON booleans are labels: another value is `malformed`, and what nobody judged is `missing`, by the route
    `api_error` (the system never answered), `no_response` (it answered nothing) or `judge_failed`.
    """
    if answer.details.get("api_error"):
        return VerdictLabel(None, "missing", "api_error")
    reason = answer.details.get("judge_reason")
    if isinstance(reason, str) and reason in ROUTES:
        return VerdictLabel(None, "missing", ROUTES[reason])
    route = "rule" if by_rule(task, answer) else "judged"
    if answer.is_correct is None:
        return VerdictLabel(None, "missing", route)
    if not isinstance(answer.is_correct, bool):
        return VerdictLabel(None, "malformed", route)
    parts = judge_parts(answer.details) if task == "mcd" else {}
    return VerdictLabel(CORRECT if answer.is_correct else INCORRECT, route=route, parts=parts)


def stated_answer(verdict: VerdictRecord | None) -> Answer | None:
    """The answer in the benchmark's own fields, where a verdict is one of its kind; another judge's words are none,
    however much like JSON they look."""
    try:
        raw: Any = json.loads(verdict.raw) if verdict is not None else {}
    except ValueError:
        return None
    return answer_of(raw) if isinstance(raw, dict) and "is_correct" in raw and "score" in raw else None


def by_rule(task: str, answer: Answer) -> bool:
    """Whether a string rule gave the verdict; a fork may have an LLM judge entities, and then keeps its reason."""
    return task in RULE_TASKS and "judge_reason" not in answer.details


def rationale_of(task: str, answer: Answer) -> str:
    """The judge's own words, or what the rule compared."""
    details = answer.details
    if isinstance(details.get("judge_reason"), str):
        return str(details["judge_reason"])
    if task == "eem" and "total_expected" in details:
        return f"{details.get('total_matched')} of {details['total_expected']} answers found in the output"
    if task == "mq" and "selected_options" in details:
        return f"read {_letters(details['selected_options'])}; right is {_letters(details.get('correct_options'))}"
    return ""


def _letters(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) and value else "no letter"
