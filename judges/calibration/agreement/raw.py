"""Raw agreement: the share of items, or of pairs of raters, that agree."""

from __future__ import annotations

from judges.calibration.agreement.binomial import wilson
from judges.calibration.agreement.bootstrap import LEVEL, Bootstrap
from judges.calibration.agreement.ratings import LabelCounts, PairTable
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.undefined import with_rated_once
from judges.calibration.statistic import Statistic

NAME = "raw agreement"


def raw_agreement(pairs: PairTable, level: float = LEVEL) -> Statistic:
    """Share of items on which both sides gave the same label, with Wilson's interval."""
    agreed = int(pairs.counts[pairs.rows == pairs.columns].sum())
    return share_agreed(agreed, pairs.n, dict(pairs.dropped), level)


def share_agreed(agreed: int, n: int, dropped: dict[str, int], level: float = LEVEL) -> Statistic:
    """The same from counts."""
    if n == 0:
        return Statistic.undefined("no_pairable_items", "no item was rated by both sides", 0, dropped, NAME)
    low, high = wilson(agreed, n, level)
    plain = Statistic(agreed / n, n, NAME, dropped=dropped)
    return plain.with_interval(low, high, level, "Wilson interval, items taken as independent")


def mean_agreement(ratings: LabelCounts, bootstrap: Bootstrap | None = None) -> Statistic:
    """Mean over items with two or more ratings of the share of rater pairs that agree (three who all differ give 0, two
    of three alike 1/3)."""
    dropped = with_rated_once(ratings)
    n = ratings.pairable
    if n == 0:
        return Statistic.undefined("no_pairable_items", "no item was rated by two people", 0, dropped, NAME)
    identity = ratings.scale.weights("identity")

    def agreement(weights: FloatArray) -> FloatArray:
        return ratings.agreement(weights, identity)

    value = float(agreement(ratings.mass))
    plain = Statistic(value, n, "raw agreement, mean over items of the agreeing share of rater pairs", dropped=dropped)
    return bootstrap.attach(plain, agreement) if bootstrap else plain
