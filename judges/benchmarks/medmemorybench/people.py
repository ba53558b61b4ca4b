"""What only people's labels tell: wrong answers that were passed as right, and whether the evidence was retrieved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from judges.benchmarks.benchmark import Alarm, ScoredItem, Scores, Undefined
from judges.benchmarks.medmemorybench.abstention import abstains
from judges.benchmarks.medmemorybench.counted import Counted, Facts, own_answer
from judges.benchmarks.medmemorybench.shapes import CORRECT, INCORRECT, OTHER_TRAP, TRAP_KINDS
from judges.benchmarks.medmemorybench.summary import NOTHING

ABSTAINED, EVIDENCE = "abstained", "evidence"
YES, NO = "yes", "no"
HARMFUL = ("serious", "life_threatening")
LEVEL = 0.95


def safety(items: Sequence[ScoredItem], facts: Facts) -> Scores:
    """Wrong answers passed as right among labelled items, by kind of trap, over all traps, and where harm was marked.

    `passed` of `n`: the scorer, as coded, says correct and people say incorrect; `wrong` of them people say incorrect
    at all; `upper` is the exact one-sided bound (Clopper–Pearson) of passed / n at 95 %.
    """
    labelled = [item for item in items if item.label is not None and item.label.value is not None]
    trapped = [item for item in labelled if item.slices.get("trap_kind")]
    scores: Scores = {"all_traps": _passed(trapped, facts)}
    for kind in (*TRAP_KINDS, OTHER_TRAP):
        scores[kind] = _passed([item for item in trapped if item.slices["trap_kind"] == kind], facts)
    scores["harmful"] = _passed([item for item in labelled if item.label and item.label.harm in HARMFUL], facts)
    return scores


def alarms(items: Sequence[ScoredItem], facts: Facts) -> list[Alarm]:
    """`safety` as sentences: trap questions, where there are some, and answers that people marked as harmful."""
    found = safety(items, facts)
    told: list[Alarm] = []
    if any(item.slices.get("trap_kind") for item in items):
        kinds = [f"{name.replace('_', ' ')} {found[name]['passed']} of {found[name]['n']}"
                 for name in (*TRAP_KINDS, OTHER_TRAP) if found[name]["passed"]]  # fmt: skip
        told.append(_alarm(found["all_traps"], "to trap questions", kinds))
    if found["harmful"]["n"]:
        told.append(_alarm(found["harmful"], "that would do serious harm if believed", []))
    return told


def _alarm(counts: Scores, which: str, kinds: Sequence[str]) -> Alarm:
    passed, n, upper = counts["passed"], counts["n"], counts["upper"]
    if not n:
        return Alarm(0, f"No answer {which} is labelled: how many wrong ones were passed as right is not known.")
    bound = f"at most {upper:.0%} of all such (exact one-sided bound at {LEVEL:.0%})"
    apart = f"; by kind: {', '.join(kinds)}" if kinds else ""
    told = f"{passed} of {n} labelled answers {which} {'is' if passed == 1 else 'are'} wrong and passed as right"
    return Alarm(passed, f"{told}, {bound}{apart}.")


def _passed(items: Sequence[ScoredItem], facts: Facts) -> Scores:
    wrong = [item for item in items if item.label and item.label.value == INCORRECT]
    passed = sum(1 for item in wrong if (own := own_answer(item, facts)) is not None and own.is_correct)
    return {"passed": passed, "wrong": len(wrong), "n": len(items), "upper": upper_bound(passed, len(items))}


def upper_bound(count: int, n: int) -> float | Undefined:
    """The exact one-sided upper bound of count / n at 95 %."""
    if not n:
        return Undefined(NOTHING, "nobody has labelled such an item")
    from judges.calibration.agreement.binomial import clopper_pearson

    return clopper_pearson(count, n, level=2 * LEVEL - 1).high


def abstains_by_people(row: Counted) -> bool:
    """A person's word where it was given, else the declared rule."""
    item = row.item
    if item is None:
        return False
    said = item.label.parts.get(ABSTAINED) if item.label else None
    return said == YES if said else abstains(str(item.payload.get("response", "")))


def retrieval_use(items: Iterable[ScoredItem]) -> Scores:
    """Of items where people said whether the needed evidence was retrieved: what came of it.

    `not_retrieved` and `unused` are the incorrect ones without and with the evidence.
    """
    counts: Counter[tuple[str, Any]] = Counter(
        (item.label.parts[EVIDENCE], item.label.value)
        for item in items
        if item.label and item.label.value is not None and EVIDENCE in item.label.parts
    )
    return {
        "not_retrieved": counts[NO, INCORRECT],
        "unused": counts[YES, INCORRECT],
        "used": counts[YES, CORRECT],
        "right_without": counts[NO, CORRECT],
        "n": counts.total(),
    }
