"""Agreement of a judge and people on numbers and on rankings, item by item.

A number of several people is their mean. A ranking of several people is compared with the judge's one by one, and the
item counts with the mean of its τ: people who differ need not be reconciled first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import mean
from typing import Generic, TypeVar

import numpy as np

from judges.calibration.agreement.binomial import wilson
from judges.calibration.agreement.kendall import kendall_tau_b
from judges.calibration.agreement.pearson import pearson
from judges.calibration.agreement.ratings import cluster_codes
from judges.calibration.agreement.rmse import rmse
from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.agreement.scored_pairs import ScoredPairs
from judges.calibration.agreement.spearman import spearman
from judges.calibration.agreement.tau_of_rankings import tau_of_rankings
from judges.calibration.audit_result import Settings
from judges.calibration.distributions import t_half_width
from judges.calibration.measured_result import MeasuredAgreement, MeasuredAudit, MeasuredHumans
from judges.calibration.statistic import Statistic

T = TypeVar("T")
Places = Mapping[str, int]
"""A ranking: entry → place, 0 for the best; tied entries share one."""

STRONG = 0.5
"""A τ from which on an item counts as ranked much alike, as HalBench reports it."""
SLICE_ITEMS = 2
"""Below so many items a slice's mean has no interval."""


@dataclass(frozen=True, slots=True)
class MeasuredItem(Generic[T]):
    """What people and judges said of one item, read already.

    Attributes:
        people: by annotator, blind. adjudicated: what an adjudicator decided instead.
        judges: by judge; None for a verdict that could not be read, absent for one that says nothing.
        unread: labels of people that are none (out of bounds, other entries).
    """

    item_id: str
    people: Mapping[str, T] = field(default_factory=dict)
    adjudicated: T | None = None
    judges: Mapping[str, T | None] = field(default_factory=dict)
    cluster: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)
    estimate: bool = True
    unread: int = 0

    @property
    def said(self) -> list[T]:
        """What counts of people: the adjudication, else everybody's own."""
        return [self.adjudicated] if self.adjudicated is not None else list(self.people.values())


def audit_numbers(title: str, items: Sequence[MeasuredItem[float]], settings: Settings) -> MeasuredAudit:
    """Correlation and distance of the judges' numbers and people's."""
    counted = [item for item in items if item.estimate and item.said]
    people = np.array([mean(item.said) for item in counted], dtype=np.float64)
    clusters = cluster_codes([_cluster(item) for item in counted])

    def compare(name: str) -> MeasuredAgreement:
        judged = [item.judges.get(name) for item in counted]
        scores = np.array([math.nan if value is None else value for value in judged], dtype=np.float64)
        unreadable, silent = _unread(counted, name)
        dropped = _some(unreadable=unreadable, no_verdict=silent)
        found = _number_statistics(people, scores, clusters, dropped, settings)
        return MeasuredAgreement(int(np.isfinite(scores).sum()), unreadable, silent, found)

    def pair(first: str, second: str) -> dict[str, Statistic]:
        own = [item for item in items if item.estimate and first in item.people and second in item.people]
        one, other = (np.array([item.people[who] for item in own], dtype=np.float64) for who in (first, second))
        return _number_statistics(one, other, cluster_codes([_cluster(item) for item in own]), {}, settings)

    return _audit("number", title, items, counted, compare, pair, several="mean_of_several")


def audit_rankings(title: str, items: Sequence[MeasuredItem[Places]], settings: Settings) -> MeasuredAudit:
    """Kendall's τ-b of the judges' rankings and people's: mean over items, shares, by slice."""
    counted = [item for item in items if item.estimate and item.said]

    def compare(name: str) -> MeasuredAgreement:
        unreadable, silent = _unread(counted, name)
        taus: list[tuple[float, MeasuredItem[Places]]] = []
        counts = {"with_ties": 0, "people_tied_all": 0, "judge_tied_all": 0}
        for item in counted:
            judge = item.judges.get(name)
            if judge is None:
                continue
            counts["with_ties"] += any(map(_has_ties, (judge, *item.said)))
            counts["judge_tied_all"] += _all_tied(judge)
            counts["people_tied_all"] += all(map(_all_tied, item.said))
            known = [tau for said in item.said if (tau := tau_of_rankings(said, judge)) is not None]
            if known:
                taus.append((mean(known), item))
        both = sum(item.judges.get(name) is not None for item in counted)
        dropped = _some(unreadable=unreadable, no_verdict=silent, tied_all=both - len(taus))
        notes = [f"{both - len(taus)} of {both} items have no tau: a side ties everything"] if both > len(taus) else []
        return MeasuredAgreement(
            both, unreadable, silent, _tau_statistics(taus, dropped, settings.level), counts,
            _tau_slices(taus, settings.level), tuple(notes),
        )  # fmt: skip

    def pair(first: str, second: str) -> dict[str, Statistic]:
        own = [item for item in items if item.estimate and first in item.people and second in item.people]
        found = [(tau_of_rankings(item.people[first], item.people[second]), item) for item in own]
        known = [(tau, item) for tau, item in found if tau is not None]
        return _tau_statistics(known, _some(tied_all=len(found) - len(known)), settings.level)

    return _audit("ranking", title, items, counted, compare, pair, several="each_of_several")


# What both have in common


def _audit(
    kind: str,
    title: str,
    items: Sequence[MeasuredItem[T]],
    counted: Sequence[MeasuredItem[T]],
    compare: Callable[[str], MeasuredAgreement],
    pair: Callable[[str, str], dict[str, Statistic]],
    several: str,
) -> MeasuredAudit:
    judges = sorted({name for item in items for name in item.judges})
    own: dict[str, int] = {}
    for item in items:
        for who in item.people if item.estimate else ():
            own[who] = own.get(who, 0) + 1
    rules = [
        "adjudicated" if i.adjudicated is not None else "one_annotator" if len(i.people) == 1 else several
        for i in counted
    ]
    other = sum(len(item.said) for item in items if not item.estimate)
    return MeasuredAudit(
        "number" if kind == "number" else "ranking", title, len(items), len(counted),
        {rule: rules.count(rule) for rule in sorted(set(rules))},
        _some(labels_not_estimate=other, labels_outside_bounds=sum(item.unread for item in items)),
        {name: compare(name) for name in judges},
        MeasuredHumans(own, {f"{a}|{b}": pair(a, b) for a, b in combinations(sorted(own), 2)}),
    )  # fmt: skip


def _unread(counted: Iterable[MeasuredItem[T]], judge: str) -> tuple[int, int]:
    """Verdicts that could not be read, and items without one."""
    found = [("missing" if judge not in item.judges else "read" if item.judges[judge] is not None else "unread")
             for item in counted]  # fmt: skip
    return found.count("unread"), found.count("missing")


def _cluster(item: MeasuredItem[float] | MeasuredItem[Places]) -> tuple[str, str]:
    return ("cluster", item.cluster) if item.cluster else ("item", item.item_id)


def _some(**counts: int) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


# Numbers


def _number_statistics(
    people: FloatArray, judge: FloatArray, clusters: IntArray, dropped: dict[str, int], settings: Settings
) -> dict[str, Statistic]:
    pairs = ScoredPairs.of_values(people, judge, clusters, dropped)
    bootstrap = pairs.bootstrap(settings.seed, settings.resamples, settings.level)
    both = np.isfinite(people) & np.isfinite(judge)
    keys = [(int(code), "") for code in clusters[both]] if len(both) else []
    apart = _mean_of([float(gap) for gap in (judge - people)[both]], keys, dropped, settings.level, "mean difference")
    return {
        "pearson": pearson(pairs, bootstrap),
        "spearman": spearman(pairs, bootstrap),
        "kendall_tau": kendall_tau_b(pairs, bootstrap),
        "rmse": rmse(pairs, bootstrap),
        "mean_difference": apart,
    }


# Rankings


def _tau_statistics(
    taus: Sequence[tuple[float, MeasuredItem[Places]]], dropped: dict[str, int], level: float
) -> dict[str, Statistic]:
    values = [tau for tau, _ in taus]
    name = "Kendall's tau-b, mean over items"
    return {
        "kendall_tau": _mean_of(values, [_cluster(item) for _, item in taus], dropped, level, name),
        "share_at_least_0.5": _share(sum(tau >= STRONG for tau in values), len(values), dropped, level),
        "share_above_0": _share(sum(tau > 0 for tau in values), len(values), dropped, level),
        "share_at_most_-0.5": _share(sum(tau <= -STRONG for tau in values), len(values), dropped, level),
    }


def _tau_slices(taus: Sequence[tuple[float, MeasuredItem[Places]]], level: float) -> dict[str, dict[str, Statistic]]:
    slices: dict[str, dict[str, list[tuple[float, MeasuredItem[Places]]]]] = {}
    for tau, item in taus:
        for name, value in item.slices.items():
            slices.setdefault(name, {}).setdefault(value, []).append((tau, item))
    return {
        name: {
            value: _mean_of([tau for tau, _ in found], [_cluster(item) for _, item in found], {}, level, "mean tau-b")
            for value, found in sorted(values.items())
        }
        for name, values in sorted(slices.items())
    }


def _mean_of(
    values: Sequence[float], clusters: Sequence[tuple[object, str]], dropped: dict[str, int], level: float, name: str
) -> Statistic:
    """The mean with a t interval; items of one cluster count as one draw (linearised, df: clusters less one)."""
    n = len(values)
    if not n:
        return Statistic.undefined("no_pairable_items", "no item was given by both sides", 0, dict(dropped), name)
    middle = math.fsum(values) / n
    plain = Statistic(middle, n, name, dropped=dict(dropped))
    sums: dict[tuple[object, str], float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value - middle
    groups = len(sums)
    if groups < SLICE_ITEMS:
        return plain.without_interval(f"{groups} independent item; an interval needs {SLICE_ITEMS}")
    error = math.sqrt(groups / (groups - 1) * math.fsum(total**2 for total in sums.values())) / n
    reach = t_half_width(level, groups - 1) * error
    return plain.with_interval(middle - reach, middle + reach, level, f"t interval over {groups} independent items")


def _share(count: int, n: int, dropped: dict[str, int], level: float) -> Statistic:
    name = "share of items"
    if not n:
        return Statistic.undefined("no_pairable_items", "no item was ranked by both sides", 0, dict(dropped), name)
    low, high = wilson(count, n, level)
    return Statistic(count / n, n, name, dropped=dict(dropped)).with_interval(
        low, high, level, "Wilson interval, items taken as independent"
    )


def _all_tied(ranking: Places) -> bool:
    return len(set(ranking.values())) < 2


def _has_ties(ranking: Places) -> bool:
    return len(set(ranking.values())) < len(ranking)
