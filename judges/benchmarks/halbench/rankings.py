"""Rankings with ties, and how far two of them agree: Kendall's τ-b, item by item and by cell.

A ranking is canonical JSON, best first, ties together: [["r2"], ["r1", "r4"], ["r3"]].
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import mean, stdev
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halbench.shapes import CELLS, FIELDS
from judges.calibration.agreement.tau_of_rankings import tau_of_rankings
from judges.calibration.distributions import t_half_width
from store.records import canonical_json

LEVEL = 0.95


def ranking_of_scores(scores: Mapping[str, float | None]) -> str | None:
    """Entries by score, highest first, equal ones together; None when one has no score."""
    known = {entry: score for entry, score in scores.items() if score is not None}
    if len(known) < len(scores):
        return None
    ordered = sorted(known, key=lambda entry: (-known[entry], entry))
    return canonical_json([list(group) for _, group in groupby(ordered, key=lambda entry: known[entry])])


def ranks(ranking: str) -> dict[str, int]:
    """Entry → place, 0 for the best; tied entries share one.

    Raises:
        ValueError: it is no ranking.
    """
    groups = json.loads(ranking)
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise ValueError("a ranking is a list of lists of entries")
    return {str(entry): place for place, group in enumerate(groups) for entry in group}


def agreement(items: Iterable[ScoredItem]) -> Scores:
    """τ-b of people's rankings and the judge's over the items that both ranked: mean with a t interval, shares, by cell
    and by cell and field. Items on which one side ties everything are counted and have no τ."""
    taus: list[tuple[float, Mapping[str, str]]] = []
    counts = {"labelled": 0, "no_verdict": 0, "people_tied_all": 0, "judge_tied_all": 0, "with_ties": 0}
    for item in items:
        if item.label is None or item.label.value is None:
            continue
        counts["labelled"] += 1
        if item.verdict is None or item.verdict.label is None:
            counts["no_verdict"] += 1
            continue
        people, judge = ranks(item.label.value), ranks(item.verdict.label)
        counts["people_tied_all"] += _all_tied(people)
        counts["judge_tied_all"] += _all_tied(judge)
        counts["with_ties"] += _has_ties(people) or _has_ties(judge)
        tau = tau_of_rankings(people, judge)
        if tau is not None:
            taus.append((tau, item.slices))
    if not counts["labelled"]:
        return {}
    values = [tau for tau, _ in taus]
    by_cell = {cell: _mean(tau for tau, slices in taus if slices.get("cell") == cell) for cell in CELLS}
    heat = {
        cell: {
            name: _mean(tau for tau, s in taus if (s.get("cell"), s.get("field")) == (cell, name)) for name in FIELDS
        }
        for cell in CELLS
    }
    return {"n": len(values), **counts, **_summary(values), "by_cell": by_cell, "heat_map": heat}


def _summary(values: Sequence[float]) -> Scores:
    if not values:
        none = Undefined("no_pairable_items", "no item has two rankings that can be compared")
        return {"mean": none}
    shares = {
        "share_at_least_0.5": sum(tau >= 0.5 for tau in values) / len(values),
        "share_above_0": sum(tau > 0 for tau in values) / len(values),
        "share_at_most_-0.5": sum(tau <= -0.5 for tau in values) / len(values),
    }
    if len(values) < 2:
        one = Undefined("too_few", "one item has no spread")
        return {"mean": values[0], "sd": one, "low": one, "high": one, **shares}
    spread = stdev(values)
    reach = t_half_width(LEVEL, len(values) - 1) * spread / math.sqrt(len(values))
    middle = mean(values)
    return {"mean": middle, "sd": spread, "low": middle - reach, "high": middle + reach, **shares}


def _mean(values: Iterable[float]) -> Scores:
    found = list(values)
    none = Undefined("no_pairable_items", "no item of this cell has two rankings")
    return {"mean": mean(found) if found else none, "n": len(found)}


def _all_tied(ranking: Mapping[str, Any]) -> bool:
    return len(set(ranking.values())) < 2


def _has_ties(ranking: Mapping[str, Any]) -> bool:
    return len(set(ranking.values())) < len(ranking)
