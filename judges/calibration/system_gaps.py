"""How far a judge moves each system's score: its mean less people's on the same items, system by system.

One correction for all systems misleads where the judge lifts one and lowers another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.holm import holm
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.correction.comparison import mcnemar_exact
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
        gap: judge less people. p_value: of no gap, adjusted over systems by Holm.
    """

    system: str
    people: float
    judge: float
    gap: Statistic
    p_value: float
    kind: str = "system"

    @property
    def notable(self) -> bool:
        """Whether the system's own interval leaves 0 out and the size matters."""
        low, high, value = self.gap.low, self.gap.high, self.gap.value or 0.0
        return low is not None and high is not None and not low <= 0 <= high and abs(value) >= NOTABLE

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "system": self.system, "people": self.people, "judge": self.judge,
            "gap": self.gap.as_json(), "p_value": self.p_value,
        }  # fmt: skip


def system_gaps(
    systems: Mapping[str, NDArray[np.bool_]],
    people: FloatArray,
    judge: FloatArray,
    level: float = LEVEL,
    kind: str = "system",
) -> list[SystemGap]:
    """The gap of every system with at least `LEAST_ITEMS` items, the largest first.

    Args:
        systems: which items are of each system, shape (n,) each; an item may be of several.
        people, judge: values, 0 and 1 for a favourable label, shape (n,); nan is left out on both sides.
    """
    known = np.isfinite(people) & np.isfinite(judge)
    drafts = []
    for system, rows in systems.items():
        here = rows & known
        if int(here.sum()) >= LEAST_ITEMS:
            drafts.append((system, people[here], judge[here], int((rows & ~known).sum())))
    p_values = holm([_p_value(theirs, its) for _, theirs, its, _ in drafts])
    found = [
        SystemGap(system, float(theirs.mean()), float(its.mean()), _gap(theirs, its, missing, level), p, kind)
        for (system, theirs, its, missing), p in zip(drafts, p_values, strict=True)
    ]
    return sorted(found, key=lambda one: -(one.gap.value or 0.0))


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
    from scipy.special import stdtr

    differences = judge - people
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    mean = float(differences.mean())
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * float(stdtr(len(differences) - 1, -abs(mean) / error))


def _gap(people: FloatArray, judge: FloatArray, missing: int, level: float) -> Statistic:
    n, differences = len(people), judge - people
    dropped = {"no_label_or_verdict": missing} if missing else {}
    plain = Statistic(float(differences.mean()), n, "judge less people on the same items", dropped=dropped)
    if _is_binary(people, judge):
        low, high = paired_bounds(int((differences > 0).sum()), int((differences < 0).sum()), n, level)
        return plain.with_interval(low, high, level, "Wald interval with half an item added to each cell of the pairs")
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(differences.std(ddof=1)) / math.sqrt(n)
    return plain.with_interval(plain.value - half, plain.value + half, level, "t interval of the differences")  # type: ignore[operator]


def paired_bounds(up: int, down: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Interval of the difference of two shares of the same n items, `up` and `down` the discordant ones (Agresti & Min
    2005, Statist. Med. 24:729-740)."""
    from statistics import NormalDist

    b, c, m = up + 0.5, down + 0.5, n + 2.0
    centre = (b - c) / m
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(b + c - (b - c) ** 2 / m) / m
    return max(centre - half, -1.0), min(centre + half, 1.0)
