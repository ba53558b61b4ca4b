"""How far a judge moves each system's score: its mean less people's on the same items, system by system.

One correction for all systems misleads where the judge lifts one and lowers another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.binomial import mcnemar_exact
from judges.calibration.agreement.holm import holm
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.biases import tested
from judges.calibration.clustered import Codes, cluster_numbers, clustered_mean, mean_of_means, weighted_mean
from judges.calibration.distributions import t_half_width, two_sided_p
from judges.calibration.statistic import Statistic

LEVEL = 0.95
LEAST_ITEMS = 10
NOTABLE = 0.02
"""A smaller gap is not named, however sure it is."""


@dataclass(frozen=True, slots=True)
class SystemGap:
    """One system under one judge.

    Attributes:
        kind: "system", or the slice whose value it is.
        people, judge: means on the same items: the share of the favourable label, or the mean of the scale's values as
            shares of its range.
        gap: judge less people, each item counting once. p_value: of no gap, adjusted over systems by Holm.
        gap_by_cluster: the same with each cluster (a summary, a dialogue) counting once; None where items are single.
    """

    system: str
    people: float
    judge: float
    gap: Statistic
    p_value: float
    kind: str = "system"
    gap_by_cluster: Statistic | None = None

    @property
    def notable(self) -> bool:
        """Whether the system's own interval leaves 0 out and the size matters."""
        low, high, value = self.gap.low, self.gap.high, self.gap.value or 0.0
        return low is not None and high is not None and not low <= 0 <= high and abs(value) >= NOTABLE

    def as_json(self) -> dict[str, Any]:
        by_cluster = {"gap_by_cluster": self.gap_by_cluster.as_json()} if self.gap_by_cluster is not None else {}
        return {
            "kind": self.kind, "system": self.system, "people": self.people, "judge": self.judge,
            "gap": self.gap.as_json(), **by_cluster, "p_value": self.p_value,
        }  # fmt: skip


def system_gaps(
    systems: Mapping[str, NDArray[np.bool_]],
    people: FloatArray,
    judge: FloatArray,
    level: float = LEVEL,
    kind: str = "system",
    clusters: ArrayLike | None = None,
    weights: FloatArray | None = None,
) -> list[SystemGap]:
    """The gap of every system with at least `LEAST_ITEMS` items, the largest first.

    Args:
        systems: which items are of each system, shape (n,) each; an item may be of several.
        people, judge: values, 0 and 1 for a favourable label, shape (n,); nan is left out on both sides.
        clusters: of each item, shape (n,): a system's items that share one are not taken as independent.
        weights: items each stands for, shape (n,), nan for one that is in no sample; None where all count the same.
    """
    known = np.isfinite(people) & np.isfinite(judge)
    if weights is not None:
        known &= np.isfinite(weights)
    drafts = []
    for system, rows in systems.items():
        here = rows & known
        if int(here.sum()) >= LEAST_ITEMS:
            groups = None if clusters is None else cluster_numbers(np.asarray(clusters)[here])
            missing, counted = int((rows & ~known).sum()), None if weights is None else weights[here]
            measured = _measured(people[here], judge[here], missing, level, groups, counted)
            theirs, its = (float(np.average(one[here], weights=counted)) for one in (people, judge))
            drafts.append((system, theirs, its, measured))
    p_values = holm([measured.p_value for *_, measured in drafts])
    found = [
        SystemGap(system, theirs, its, measured.gap, p, kind, measured.by_cluster)
        for (system, theirs, its, measured), p in zip(drafts, p_values, strict=True)
    ]
    return sorted(found, key=lambda one: -(one.gap.value or 0.0))


class _Measured(NamedTuple):
    gap: Statistic
    p_value: float
    by_cluster: Statistic | None


def _measured(
    people: FloatArray,
    judge: FloatArray,
    missing: int,
    level: float,
    clusters: Codes | None,
    weights: FloatArray | None,
) -> _Measured:
    if weights is not None:
        name, how = "judge less people, items weighted by 1/π", "t interval with half a difference that was not drawn"
        gap, p = tested(weighted_mean(judge - people, weights, clusters), len(people), name, level, how)
        return _Measured(replace(gap, dropped={"no_label_or_verdict": missing} if missing else {}), p, None)
    if clusters is None:
        return _Measured(_gap(people, judge, missing, level), _p_value(people, judge), None)
    differences, number = judge - people, int(clusters.max()) + 1
    name, how = "judge less people on the same items", f"t interval over {number} clusters"
    gap, p = tested(clustered_mean(differences, clusters), len(people), name, level, how)
    each = f"judge less people, mean of {number} clusters' means"
    by_cluster = tested(mean_of_means(differences, clusters), number, each, level, how).statistic
    dropped = {"no_label_or_verdict": missing} if missing else {}
    return _Measured(replace(gap, dropped=dropped), p, by_cluster)


def opposite(gaps: Sequence[SystemGap]) -> tuple[SystemGap, SystemGap] | None:
    """The system the judge lifts most and the one it lowers most, where both gaps are notable."""
    if len(gaps) < 2:
        return None
    highest, lowest = gaps[0], gaps[-1]
    apart = (highest.gap.value or 0.0) > 0 > (lowest.gap.value or 0.0)
    return (highest, lowest) if apart and highest.notable and lowest.notable else None


def _is_binary(*values: FloatArray) -> bool:
    return all(bool(np.isin(one, (0.0, 1.0)).all()) for one in values)


def _p_value(people: FloatArray, judge: FloatArray) -> float:
    """Exact McNemar for shares, else Student's t of the differences."""
    if _is_binary(people, judge):
        up, down = int((judge > people).sum()), int((judge < people).sum())
        return mcnemar_exact(up, down) if up + down else 1.0
    differences = judge - people
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return two_sided_p(float(differences.mean()), error, len(differences) - 1)


def _gap(people: FloatArray, judge: FloatArray, missing: int, level: float) -> Statistic:
    n, differences = len(people), judge - people
    dropped = {"no_label_or_verdict": missing} if missing else {}
    plain = Statistic(float(differences.mean()), n, "judge less people on the same items", dropped=dropped)
    if _is_binary(people, judge):
        low, high = paired_bounds(int((differences > 0).sum()), int((differences < 0).sum()), n, level)
        return plain.with_interval(low, high, level, "Wald interval with half an item added to each cell of the pairs")
    half = t_half_width(level, n - 1) * float(differences.std(ddof=1)) / math.sqrt(n)
    return plain.with_interval(plain.value - half, plain.value + half, level, "t interval of the differences")  # type: ignore[operator]


def paired_bounds(up: int, down: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Interval of the difference of two shares of the same n items, `up` and `down` the discordant ones (Agresti & Min
    2005, Statist. Med. 24:729-740)."""
    from statistics import NormalDist

    b, c, m = up + 0.5, down + 0.5, n + 2.0
    centre = (b - c) / m
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(b + c - (b - c) ** 2 / m) / m
    return max(centre - half, -1.0), min(centre + half, 1.0)
