"""The official aggregation (`metrics/__init__.py`, `src/result.py`): same operations, same order, same quirks.

Everything truthy is correct, the text "false" included; whoever could not be judged is incorrect and stays in n; the
published thresholds of a deduction are not looked at; a query that a resumed run asked twice counts twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from judges.benchmarks.benchmark import Scores, Undefined
from judges.benchmarks.medmemorybench.answers import OFFICIAL
from judges.benchmarks.medmemorybench.counted import Counted, Facts

MCD_TYPE = "multi_hop_clinical_deduction"
MALFORMED = "malformed"
NOTHING = "undefined_nothing_to_count"
Metric = float | int | Undefined
Adder = Callable[[Iterable[Any]], Any]


def add_plainly(values: Iterable[Any]) -> Any:
    """`sum` as Python 3.11 and older have it: one rounding an addition."""
    total: Any = 0
    for value in values:
        total = total + value
    return total


def add_compensated(values: Iterable[Any]) -> Any:
    """`sum` as Python 3.12 and newer have it: floats with Neumaier's compensation."""
    total: Any = 0
    lost = 0.0
    for value in values:
        if isinstance(total, float) and isinstance(value, float):
            added = total + value
            larger, smaller = (total, value) if abs(total) >= abs(value) else (value, total)
            lost += (larger - added) + smaller
            total = added
        else:
            total = total + value
    return total + lost if lost and math.isfinite(lost) else total


def official(rows: Sequence[Counted], add: Adder = add_plainly) -> Scores:
    """What the two files state: `summary` of *_result.json, `summary` and `by_context` of *_query_answer.json."""
    return {
        "summary": result_summary(rows, add),
        "query_answer": answer_summary(rows, add),
        "by_context": context_sums(rows),
    }


def fitting_adder(rows: Sequence[Counted], facts: Facts, judge_ids: Iterable[str]) -> Adder:
    """The addition that gives the file's own numbers; they depend on the Python that ran the benchmark."""
    stated = stated_scores(facts, judge_ids)
    if stated and contradicted(official(rows), stated) and not contradicted(official(rows, add_compensated), stated):
        return add_compensated
    return add_plainly


def stated_scores(facts: Facts, judge_ids: Iterable[str]) -> dict[str, Any]:
    """What the files that came with one of these judges state of themselves, together."""
    wanted = set(judge_ids)
    stated: dict[str, Any] = {}
    for payload in facts.get(OFFICIAL, {}).values():
        if wanted & set(payload["judge_ids"]):
            stated |= payload["overall_score"]
    return stated


def contradicted(scores: Mapping[str, Any], stated: Mapping[str, Any], path: str = "") -> list[str]:
    """Names ("summary / overall_accuracy") of the stated numbers that `scores` does not equal exactly."""
    found: list[str] = []
    for name, value in stated.items():
        here = f"{path} / {name}" if path else name
        mine = scores.get(name)
        if isinstance(value, Mapping) and isinstance(mine, Mapping):
            found += contradicted(mine, value, here)
        elif mine != value:
            found.append(here)
    return found


def result_summary(rows: Sequence[Counted], add: Adder = add_plainly) -> Scores:
    """The `summary` of a *_result.json: pooled accuracy, and the types in order of appearance."""
    correct = _correct(rows)
    by_type: dict[str, list[Counted]] = {}
    for row in rows:
        by_type.setdefault(row.query_type, []).append(row)
    return {
        "total_queries": len(rows),
        "correct_count": correct,
        "overall_accuracy": correct / len(rows) if rows else 0.0,
        "overall_avg_score": _mean([row.answer.score for row in rows], add, "score"),
        "by_type": {name: _type_stats(name, group, add) for name, group in by_type.items()},
    }


def _type_stats(name: str, rows: Sequence[Counted], add: Adder) -> Scores:
    stats: Scores = {
        "total": len(rows),
        "correct": _correct(rows),
        "accuracy": _correct(rows) / len(rows),
        "avg_score": _mean([row.answer.score for row in rows], add, "score"),
    }
    return stats | _deduction_stats(rows, add) if name == MCD_TYPE else stats


def _deduction_stats(rows: Sequence[Counted], add: Adder) -> Scores:
    """Means over all deductions, failures as 0; node rates over all nodes that were validated, if any."""
    stats: Scores = {
        f"avg_{name}": _mean([row.answer.details.get(f"{name}_score", 0.0) for row in rows], add, f"{name}_score")
        for name in ("ncr", "crc", "cc")
    }
    listed = [row.answer.details.get("node_validations", []) for row in rows]
    nodes = [node for entries in listed if isinstance(entries, list) for node in entries if isinstance(node, dict)]
    if nodes:
        stats["node_mention_rate"] = sum(bool(node.get("mentioned", False)) for node in nodes) / len(nodes)
        stats["node_causal_rate"] = sum(bool(node.get("causal_link_correct", False)) for node in nodes) / len(nodes)
        stats["total_nodes_validated"] = len(nodes)
    return stats


def answer_summary(rows: Sequence[Counted], add: Adder = add_plainly) -> Scores:
    """The `summary` of a *_query_answer.json; times in seconds."""
    times, counts = [row.query_time for row in rows], [row.retrieved_count for row in rows]
    return {
        "total_queries": len(rows),
        "correct_count": _correct(rows),
        "total_query_time": _sum(times, add, "query_time"),
        "avg_query_time": _mean(times, add, "query_time"),
        "avg_retrieved_count": _mean(counts, add, "retrieved_count"),
    }


def context_sums(rows: Sequence[Counted]) -> Scores:
    """Queries and correct ones by persona, in order of appearance."""
    sums: dict[str, Scores] = {}
    for row in rows:
        entry = sums.setdefault(row.persona, {"total": 0, "correct": 0})
        entry["total"] += 1
        entry["correct"] += bool(row.answer.is_correct)
    return dict(sums)


def _correct(rows: Sequence[Counted]) -> int:
    return sum(bool(row.answer.is_correct) for row in rows)


def _sum(values: Sequence[Any], add: Adder, name: str) -> Any:
    wrong = sum(not isinstance(value, int | float) for value in values)
    if wrong:
        return Undefined(MALFORMED, f"{name} is no number in {wrong} of {len(values)} records")
    return add(values)


def _mean(values: Sequence[Any], add: Adder, name: str) -> Metric:
    if not values:
        return 0.0
    total = _sum(values, add, name)
    return total if isinstance(total, Undefined) else total / len(values)
