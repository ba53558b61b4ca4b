"""The scores of one run: as coded, as described, and with people's labels put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores
from judges.benchmarks.medmemorybench.answers import OFFICIAL
from judges.benchmarks.medmemorybench.counted import Counted, Facts, decided, judged, people
from judges.benchmarks.medmemorybench.measures import described, hallucination, mean_of_six, strict
from judges.benchmarks.medmemorybench.people import abstains_by_people, retrieval_use, safety
from judges.benchmarks.medmemorybench.summary import Adder, fitting_adder, official


def as_coded(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """What the official code writes into both files, over the judge's verdicts."""
    rows = judged(items, facts)
    return official(rows, adder_of(rows, facts))


def as_described(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """What the paper reports and the code does not compute (`measures`)."""
    return described(judged(items, facts))


def overridden(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """Wrong answers passed as right first, then `as_coded` with people's labels, then what rests on them.

    `cannot judge` leaves the judge's verdict.
    """
    kept = list(items)
    rows = decided(kept, facts)
    once = [row for row in rows if row.item is not None]
    return {
        "safety": safety(kept, facts),
        **official(rows, adder_of(judged(kept, facts), facts)),
        "mean_of_six": mean_of_six(once),
        "strict": strict(once),
        "hallucination": hallucination(once, abstains_by_people),
        "retrieval_use": retrieval_use(kept),
        "people": people(kept, facts),
    }


def stated_scores(facts: Facts, judge: str) -> Mapping[str, Any] | None:
    """What the files that came with this judge's verdicts state, both together; None when they state nothing."""
    stated: dict[str, Any] = {}
    for payload in facts.get(OFFICIAL, {}).values():
        if payload["judge"] == judge:
            stated |= payload["overall_score"]
    return stated or None


def adder_of(rows: Sequence[Counted], facts: Facts) -> Adder:
    """The addition of the Python that ran the benchmark, told by the file's own numbers."""
    judge_ids = {row.item.verdict.judge_id for row in rows if row.item and row.item.verdict}
    return fitting_adder(rows, facts, judge_ids)
