"""The list of what is doubtful about the string rules of one run: queries that a person should look at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from judges.benchmarks.benchmark import Doubt as ListedDoubt
from judges.benchmarks.benchmark import ScoredItem
from judges.benchmarks.medmemorybench.rules import Doubt, choice_doubt, entity_doubt
from judges.benchmarks.medmemorybench.shapes import Answer, answer_of

NO_DOUBT, UNKNOWN_DOUBT, STORED_DIFFERS = "none", "cannot_recompute", "stored_differs"


class RuleDoubt(NamedTuple):
    """One doubtful outcome.

    Attributes:
        kind: `number_cut`, `word_cut`, `spelling`, `negated`, `letters_missed`, `letters_extra`, `letters_differ`,
            `letters_unread`, `stored_differs` (the file says something else than the rule gives), `cannot_recompute`.
        stored: what the file says. as_coded, read_better: what the two readings give; None when the answer that is
            looked for is not known.
    """

    item_id: str
    task: str
    persona: str
    query_id: str
    kind: str
    stored: bool
    as_coded: bool | None
    read_better: bool | None
    why: str


def doubts(items: Iterable[ScoredItem]) -> Iterator[ListedDoubt]:
    """The doubtful items with what is to be seen of each."""
    for item in items:
        if (kind := kind_of_doubt(item)) != NO_DOUBT:
            found = _doubt(item, kind)
            yield ListedDoubt(item.item_id, found.kind, _cells(item, found))


def _cells(item: ScoredItem, found: RuleDoubt) -> dict[str, str]:
    gold = item.extra.get("gold") or item.payload.get("reference", "")
    return {
        "task": found.task,
        "persona": found.persona,
        "query": found.query_id,
        "looked for": gold if isinstance(gold, str) else ", ".join(map(str, gold)),
        "answer": str(item.payload.get("response", "")),
        "stored": _word(found.stored),
        "read better": _word(found.read_better),
        "why": found.why,
    }


def _word(value: bool | None) -> str:
    return "not known" if value is None else "right" if value else "wrong"


def rule_doubts(items: Iterable[ScoredItem]) -> Iterator[RuleDoubt]:
    """The doubtful items of entity match and multiple choice, in their order."""
    for item in items:
        if (kind := kind_of_doubt(item)) != NO_DOUBT:
            yield _doubt(item, kind)


def kind_of_doubt(item: ScoredItem) -> str:
    """What is doubtful about what a string rule gave: a kind, or "none", also where no rule gave anything."""
    return doubt_about(item, answer_of(json.loads(item.extra["rule"]))) if "rule" in item.extra else NO_DOUBT


def doubt_about(item: ScoredItem, answer: Answer) -> str:
    """What is doubtful about an answer that a string rule gave on the item."""
    if answer.details.get("api_error"):
        return NO_DOUBT
    if item.extra["gold"] is None:
        return UNKNOWN_DOUBT
    doubt = _compare(item)
    if isinstance(answer.is_correct, bool) and answer.is_correct != doubt.as_coded:
        return STORED_DIFFERS
    return doubt.kind or NO_DOUBT


def _doubt(item: ScoredItem, kind: str) -> RuleDoubt:
    stored = bool(answer_of(json.loads(item.extra["rule"])).is_correct)
    place = (item.item_id, item.task, item.cluster, str(item.extra["query_id"]), kind, stored)
    if kind == UNKNOWN_DOUBT:
        return RuleDoubt(*place, None, None, "the single answers cannot be told without the query file")
    found = _compare(item)
    why = "the file says something else than the rule gives" if kind == STORED_DIFFERS else found.why
    return RuleDoubt(*place, found.as_coded, found.read_better, why)


def _compare(item: ScoredItem) -> Doubt:
    gold, output = item.extra["gold"], str(item.payload.get("response", ""))
    return entity_doubt(gold, output) if item.task == "eem" else choice_doubt(frozenset(gold), output)
