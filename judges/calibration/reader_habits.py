"""How steadily people label: repeats, hurried decisions, and what they were unsure of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.binomial import wilson
from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.ratings import PairTable
from judges.calibration.agreement.raw import raw_agreement
from judges.calibration.agreement.scale import FloatArray, Scale
from judges.calibration.agreement.weighted_share import weighted_share
from judges.calibration.statistic import Statistic

TOO_FAST = 2.0
"""Seconds in which nobody reads a question, a reference and an answer."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """One person's labels of the same items at two times. What they agree with themselves no judge can beat."""

    raw_agreement: Statistic
    cohen_kappa: Statistic

    def as_json(self) -> dict[str, Any]:
        return {"raw_agreement": self.raw_agreement.as_json(), "cohen_kappa": self.cohen_kappa.as_json()}


def self_consistency(scale: Scale, first: ArrayLike, again: ArrayLike, seed: int = 0) -> SelfConsistency:
    """Agreement of repeats, negative codes left out, of shape (items,)."""
    pairs = PairTable.of_codes(scale, first, again, names=("the first time", "the second time"))
    return SelfConsistency(raw_agreement(pairs), cohen_kappa(pairs, Bootstrap.of_pairs(pairs, seed)))


@dataclass(frozen=True, slots=True)
class Subset:
    """Agreement with the judge on some labels beside the rest."""

    n: int
    inside: Statistic
    outside: Statistic

    def as_json(self) -> dict[str, Any]:
        return {"n": self.n, "inside": self.inside.as_json(), "outside": self.outside.as_json()}


def hurried(seconds: ArrayLike, agrees: ArrayLike, limit: float = TOO_FAST) -> Subset:
    """Labels given within `limit` seconds of active time beside the others; unknown times (nan) count as not hurried.

    Args:
        seconds, agrees: of each label, shape (n,); `agrees` whether it is the judge's verdict.
    """
    return subset(np.asarray(seconds, dtype=np.float64) < limit, agrees)


def subset(
    rows: ArrayLike, agrees: ArrayLike, weights: FloatArray | None = None, groups: NDArray[np.integer] | None = None
) -> Subset:
    """Agreement with the judge where `rows` is true (unsure labels, hurried ones) and where it is not, shape (n,).

    Args:
        weights: 1/π of each item, where they were not all as likely to be drawn; groups: what was drawn together.
    """
    chosen, right = np.asarray(rows, dtype=bool), np.asarray(agrees, dtype=bool)
    inside, outside = (
        _share(right[part], None if weights is None else weights[part], None if groups is None else groups[part])
        for part in (chosen, ~chosen)
    )
    return Subset(int(chosen.sum()), inside, outside)


def _share(right: NDArray[np.bool_], weights: FloatArray | None, groups: NDArray[np.integer] | None) -> Statistic:
    name, n = "agreement with the judge", len(right)
    if n == 0:
        return Statistic.undefined("no_items", "no such label", 0, method=name)
    if weights is not None:
        return weighted_share(name, right, weights, groups, 0.95)
    hits = int(right.sum())
    return Statistic(hits / n, n, name).with_interval(*wilson(hits, n), 0.95, "Wilson interval")
