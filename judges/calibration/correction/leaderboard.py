"""Several systems by one corrected metric: which ranks the labels can tell apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from judges.calibration.agreement.holm import holm
from judges.calibration.correction.comparison import Difference
from judges.calibration.correction.result import CorrectedMetric
from judges.calibration.distributions import two_sided_p
from judges.calibration.statistic import Statistic


@dataclass(frozen=True, slots=True)
class Rank:
    """A system's place.

    Attributes:
        statistic: its metric. rank: 1 for the best value; None without a value.
        best, worst: ranks it may have when only separable differences count.
        not_separable: systems whose difference from this one the labels do not show.
    """

    system: str
    statistic: Statistic
    rank: int | None
    best: int | None
    worst: int | None
    not_separable: tuple[str, ...]


def leaderboard(
    metrics: Mapping[str, CorrectedMetric],
    paired: Mapping[tuple[str, str], Difference] | None = None,
    higher_is_better: bool = True,
    level: float = 0.95,
) -> list[Rank]:
    """Systems in order, with the ranks that their intervals leave open.

    Every pair is tested, Holm over the pairs: by the paired difference where one is given, else as drawn apart.

    Args:
        metrics: the metric of each system. paired: differences by (a, b).
    """
    known = {name: found for name, found in metrics.items() if found.statistic.value is not None}
    order = sorted(known, key=lambda name: _value(known[name]), reverse=higher_is_better)
    apart = _separable(known, paired or {}, level)
    ranks = [_rank(name, order, known, apart) for name in order]
    rest = [Rank(name, found.statistic, None, None, None, ()) for name, found in metrics.items() if name not in known]
    return ranks + rest


def _rank(
    name: str, order: Sequence[str], known: Mapping[str, CorrectedMetric], apart: frozenset[frozenset[str]]
) -> Rank:
    place = order.index(name)
    better = sum(frozenset((name, other)) in apart for other in order[:place])
    worse = sum(frozenset((name, other)) in apart for other in order[place + 1 :])
    close = tuple(other for other in order if other != name and frozenset((name, other)) not in apart)
    return Rank(name, known[name].statistic, place + 1, 1 + better, len(order) - worse, close)


def _separable(
    known: Mapping[str, CorrectedMetric], paired: Mapping[tuple[str, str], Difference], level: float
) -> frozenset[frozenset[str]]:
    pairs = list(combinations(known, 2))
    tests = [_p_value(known, paired, a, b) for a, b in pairs]
    adjusted = holm(tests)
    return frozenset(frozenset(pair) for pair, p in zip(pairs, adjusted, strict=True) if p <= 1 - level)


def _p_value(
    known: Mapping[str, CorrectedMetric], paired: Mapping[tuple[str, str], Difference], a: str, b: str
) -> float:
    given = paired.get((a, b)) or paired.get((b, a))
    if given is not None:
        return 1.0 if given.p_value is None else given.p_value
    one, two = known[a], known[b]
    if one.error is None or two.error is None or one.df is None or two.df is None:
        return 1.0
    return two_sided_p(_value(one) - _value(two), math.hypot(one.error, two.error), min(one.df, two.df))


def _value(found: CorrectedMetric) -> float:
    assert found.statistic.value is not None
    return found.statistic.value
