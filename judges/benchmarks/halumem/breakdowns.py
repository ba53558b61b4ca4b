"""HaluMem's scores by user, and question answering by question type: the tables the official script leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from judges.benchmarks.benchmark import Scores
from judges.benchmarks.halumem.scoring import Aggregation, Counted, Facts
from judges.benchmarks.halumem.tallies import ClassBlock, qa_block, timings, without_script


def by_user(records: Iterable[Counted], facts: Facts) -> dict[str, Scores]:
    """The official scores of each user alone, in order of appearance.

    Args:
        records: from `scoring.judged` or `scoring.decided`.
    """
    users: dict[str, Aggregation] = {}
    for counted in records:
        users.setdefault(counted.item.cluster, Aggregation()).add(counted)
    clocks: dict[str, list[Any]] = {}
    for payload in facts.get("timings", {}).values():
        clocks.setdefault(payload["uuid"], []).append(payload)
    return {uuid: aggregation.scores(timings(clocks.get(uuid, []))) for uuid, aggregation in users.items()}


def qa_by_question_type(records: Iterable[Counted]) -> dict[str, Scores]:
    """Correct, hallucination and omission ratios of each question type, in order of appearance.

    Args:
        records: from `scoring.judged` or `scoring.decided`.
    """
    kinds: dict[str, ClassBlock] = {}
    for counted in records:
        if counted.item.task == "qa":
            kind = counted.item.slices.get("question_type", "")
            kinds.setdefault(kind, qa_block()).add(counted.record, counted.item)
    return {kind: without_script(block.scores()) for kind, block in kinds.items()}
