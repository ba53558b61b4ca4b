"""Rules as judges: they give verdicts like any other judge, are audited like any other, and cost nothing.

A rule compares texts; it understands nothing. A benchmark may add its own (`RuledBenchmark`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from judges.benchmarks.benchmark import TaskDefinition
from judges.verdict_reader import MISSING
from store.errors import UsageError

ROUTE: Final = "rule"


class RuleInput(NamedTuple):
    """What a rule may look at: the item's own fields; no verdict and no label."""

    task: str
    payload: Mapping[str, Any]
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """A rule's verdict, or the kind of failure. `why` is what it compared, in words."""

    label: str | None
    failure: str = ""
    why: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of one task. `version` is part of the judge's identity, as are `parameters`."""

    name: str
    version: str
    judge: Callable[[RuleInput], RuleVerdict]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class RuledBenchmark(Protocol):
    """A benchmark with rules of its own."""

    def judge_rules(self) -> Mapping[str, Mapping[str, Rule]]:
        """Task → name → rule."""
        ...


GENERIC: Final = ("exact", "contains", "token_f1")
"""Rules for every task with a reference and a response: the same text; the reference within the response; enough words
in common."""

DEFAULT_F1 = 0.5
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+")


def rules_of(benchmark: Any, task: TaskDefinition) -> list[str]:
    """Names of the rules that a task has."""
    own = benchmark.judge_rules().get(task.task, {}) if isinstance(benchmark, RuledBenchmark) else {}
    compares = _field(task, "reference") and _field(task, "response") and task.kind == "choice"
    return [*own, *(GENERIC if compares else ())]


def make_rule(
    benchmark: Any, task: TaskDefinition, name: str, *, right: str = "", wrong: str = "", threshold: float = DEFAULT_F1
) -> Rule:
    """The rule of that name for a task.

    Args:
        right, wrong: the labels that a comparison gives; the two labels of a task that has two, in their order.
        threshold: of token F1, from which on the answer is right.

    Raises:
        UsageError: the task has no such rule, or its labels do not say which one is right.
    """
    if isinstance(benchmark, RuledBenchmark) and name in (own := benchmark.judge_rules().get(task.task, {})):
        return own[name]
    if name not in (known := rules_of(benchmark, task)):
        raise UsageError(f"{task.task} has no rule {name!r}.", "", f"It has: {', '.join(known) or 'none'}.")
    labels = _labels(task, right, wrong)
    reference, response = _field(task, "reference"), _field(task, "response")
    parameters = {"right": labels[0], "wrong": labels[1], **({"threshold": threshold} if name == "token_f1" else {})}

    def judge(given: RuleInput) -> RuleVerdict:
        expected, said = _text(given.payload.get(reference)), _text(given.payload.get(response))
        if expected is None or said is None:
            return RuleVerdict(None, MISSING, "there is no reference or no response to compare")
        score = _COMPARE[name](expected, said)
        label = labels[0] if score >= (threshold if name == "token_f1" else 1.0) else labels[1]
        return RuleVerdict(label, why=f"{name}: {score:.3g}", score=score)

    return Rule(name, "1", judge, parameters)


def _labels(task: TaskDefinition, right: str, wrong: str) -> tuple[str, str]:
    if not right and not wrong and len(task.values) == 2:
        right, wrong = task.values
    for label in (right, wrong):
        if label not in task.values:
            raise UsageError(
                f"Which labels of {task.task} mean right and wrong?", f"Its labels are {', '.join(task.values)}.",
                "Say --right LABEL --wrong LABEL.",
            )  # fmt: skip
    return right, wrong


def _field(task: TaskDefinition, role: str) -> str:
    return next((panel.field for panel in task.panels if panel.role == role), "")


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return "\n".join(str(entry) for entry in value)
    return value if isinstance(value, str) else None


def normalised(text: str) -> str:
    """NFKC, case folded, white space made one blank, stops at the end left out."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!?。！？ ")


def words_of(text: str) -> list[str]:
    """Numbers whole with their decimals, words, and single Chinese characters; punctuation is none."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def exact(reference: str, response: str) -> float:
    """1 when both are the same text but for case, width, blanks and a stop at the end."""
    return float(normalised(reference) == normalised(response))


def contains(reference: str, response: str) -> float:
    """1 when the reference's words stand in the response one after the other; none is a piece of a longer word."""
    wanted, found = words_of(reference), words_of(response)
    n = len(wanted)
    return float(n > 0 and any(found[i : i + n] == wanted for i in range(len(found) - n + 1)))


def token_f1(reference: str, response: str) -> float:
    """F1 of the two bags of words (Rajpurkar et al. 2016); 1 for two empty ones."""
    wanted, found = Counter(words_of(reference)), Counter(words_of(response))
    if not wanted or not found:
        return float(not wanted and not found)
    common = (wanted & found).total()
    return 2 * common / (wanted.total() + found.total())


_COMPARE: Final[Mapping[str, Callable[[str, str], float]]] = {
    "exact": exact, "contains": contains, "token_f1": token_f1,
}  # fmt: skip
