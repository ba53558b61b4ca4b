"""The string rules of entity match and multiple choice as judges: as the benchmark codes them, and read better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judges.backends.rules import Rule, RuleInput, RuleVerdict
from judges.benchmarks.medmemorybench.rules import (
    choice_as_coded,
    choice_read_better,
    entity_as_coded,
    entity_read_better,
)
from judges.benchmarks.medmemorybench.shapes import CORRECT, INCORRECT

Compare = Callable[[Sequence[str], str], bool]


def _rule(name: str, compare: Compare) -> Rule:
    def judge(given: RuleInput) -> RuleVerdict:
        gold: Any = given.extra.get("gold")
        if not isinstance(gold, list):
            return RuleVerdict(None, "missing", "the correct answers are not known")
        right = compare([str(answer) for answer in gold], str(given.payload.get("response", "")))
        words = f"compared with {', '.join(map(str, gold))}"
        return RuleVerdict(CORRECT if right else INCORRECT, why=words, score=float(right))

    return Rule(name, "1", judge)


RULES: Mapping[str, Mapping[str, Rule]] = {
    "eem": {
        "eem": _rule("eem", entity_as_coded),
        "eem_better": _rule("eem_better", entity_read_better),
    },
    "mq": {
        "mq": _rule("mq", lambda gold, output: choice_as_coded(frozenset(gold), output)),
        "mq_better": _rule("mq_better", lambda gold, output: choice_read_better(frozenset(gold), output)),
    },
}
