"""Models side by side: paired tests on the items that all of them have a score for.

The benchmark names these statistics and publishes no script for them. Here: Wilcoxon's signed-rank test, two-sided,
zero differences left out, p times the number of pairs (Bonferroni); Cohen's d in two variants, as it does not say which
it means: of the paired differences (their mean over their sd), and pooled (difference of means over the root of the
mean variance); Friedman's χ² over all, by mechanism and by field.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import mean, stdev, variance
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halbench.leaderboard import Entry, leaderboard, length_confound
from judges.benchmarks.halbench.scoring import Decide, decided_entry, native_judges, stated_entry
from judges.benchmarks.halbench.shapes import CELLS, FIELDS
from judges.benchmarks.halbench.tasks import STANCE

ModelEntries = Mapping[str, Mapping[str, Entry]]
"""Model → item → its entry."""

FEWEST_MODELS = 3
"""Friedman's test compares three and more."""


def compared(
    systems: Mapping[str, Iterable[ScoredItem]],
    facts: Mapping[str, Mapping[str, Mapping[str, Any]]],
    *,
    overridden: bool = False,
) -> Scores:
    """{leaderboard, length, pairwise, overall, by_cell, by_field}; the last four from two models on. A pair is named
    "a | b", and its delta is a's mean less b's.

    The leaderboard is over all rows, sorted by the unfloored mean. In pairs, of several rows of one item the last
    counts, as where the benchmark pairs them.
    """
    decide: Decide = decided_entry if overridden else stated_entry
    models: dict[str, dict[str, Entry]] = {}
    rows: dict[str, list[Entry]] = {}
    for name, items in systems.items():
        native = native_judges(facts.get(name, {}))
        entries = [entry for item in items if item.task == STANCE.task and (entry := decide(item, native)) is not None]
        if entries:
            rows[name] = entries
        found = {entry.item: entry for entry in entries if entry.is_valid}
        if found:
            models[name] = found
    if not rows:
        return {}
    board = {name: leaderboard(entries) for name, entries in rows.items()}
    scores: Scores = {
        "leaderboard": {
            name: board[name] for name in sorted(board, key=lambda name: _place(board[name]["mean"], name))
        },
        "length": {name: length_confound(entries) for name, entries in rows.items()},
    }
    return scores | (_paired(models) if len(models) > 1 else {})


def _place(mean_score: Any, name: str) -> tuple[float, str]:
    """Highest mean first; a model without one last."""
    return (-mean_score if isinstance(mean_score, float) else math.inf, name)


def _paired(models: ModelEntries) -> Scores:
    pairs = list(combinations(models, 2))
    shared = set.intersection(*(set(entries) for entries in models.values()))
    first = next(iter(models.values()))
    return {
        "pairwise": {f"{a} | {b}": _pair(models[a], models[b], len(pairs)) for a, b in pairs},
        "overall": _friedman(models, sorted(shared)),
        "by_cell": {c: _friedman(models, sorted(i for i in shared if first[i].slices.get("cell") == c)) for c in CELLS},
        "by_field": {
            f: _friedman(models, sorted(i for i in shared if first[i].slices.get("field") == f)) for f in FIELDS
        },
    }


def _pair(first: Mapping[str, Entry], second: Mapping[str, Entry], comparisons: int) -> Scores:
    shared = sorted(first.keys() & second.keys())
    one, two = _scores(first, shared), _scores(second, shared)
    if not shared:
        return {"n_paired": 0, "delta": Undefined("no_pairable_items", "no item has a score of both")}
    p = _wilcoxon(one, two)
    adjusted = p if isinstance(p, Undefined) else min(1.0, p * comparisons)
    return {
        "n_paired": len(shared),
        "delta": mean(one) - mean(two),
        "p": p,
        "p_bonferroni": adjusted,
        "comparisons": comparisons,
        "cohens_d_paired": _d_paired(one, two),
        "cohens_d_pooled": _d_pooled(one, two),
    }


def _scores(entries: Mapping[str, Entry], items: Sequence[str]) -> list[float]:
    return [float(score) for item in items if (score := entries[item].score) is not None]


def _wilcoxon(one: Sequence[float], two: Sequence[float]) -> float | Undefined:
    if all(a == b for a, b in zip(one, two, strict=True)):
        return Undefined("no_difference", "both have the same score on every item")
    from scipy.stats import wilcoxon

    return float(wilcoxon(one, two).pvalue)


def _d_paired(one: Sequence[float], two: Sequence[float]) -> float | Undefined:
    differences = [a - b for a, b in zip(one, two, strict=True)]
    spread = stdev(differences) if len(differences) > 1 else 0.0
    return mean(differences) / spread if spread else _no_spread()


def _d_pooled(one: Sequence[float], two: Sequence[float]) -> float | Undefined:
    pooled = math.sqrt((variance(one) + variance(two)) / 2) if len(one) > 1 else 0.0
    return (mean(one) - mean(two)) / pooled if pooled else _no_spread()


def _no_spread() -> Undefined:
    return Undefined("no_spread", "the scores do not vary")


def _friedman(models: ModelEntries, items: Sequence[str]) -> Scores:
    """Means on the items that all models have, and whether they differ."""
    columns = {name: _scores(entries, items) for name, entries in models.items()}
    nothing = Undefined("no_pairable_items", "no item has a score of every model")
    means: dict[str, Any] = {name: mean(column) if column else nothing for name, column in columns.items()}
    statistic, p = _test(list(columns.values()))
    return {"n_paired": len(items), "means": means, "friedman_chi2": statistic, "friedman_p": p}


def _test(columns: Sequence[Sequence[float]]) -> tuple[float | Undefined, float | Undefined]:
    none: Undefined | None = None
    if len(columns) < FEWEST_MODELS:
        none = Undefined("too_few", f"Friedman's test compares {FEWEST_MODELS} models and more")
    elif len(columns[0]) < 2:
        none = Undefined("too_few", "fewer than two items have a score of every model")
    elif all(len(set(scores)) == 1 for scores in zip(*columns, strict=True)):
        none = Undefined("no_difference", "all models have the same score on every item")
    if none is not None:
        return none, none
    from scipy.stats import friedmanchisquare

    found = friedmanchisquare(*columns)
    return float(found.statistic), float(found.pvalue)
