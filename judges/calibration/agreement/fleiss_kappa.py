"""Fleiss' kappa of any number of raters."""

from __future__ import annotations

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import LabelCounts, quotient
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.undefined import undefined_counts, with_rated_once
from judges.calibration.statistic import Statistic

NAME = "Fleiss' kappa"


def fleiss_kappa(ratings: LabelCounts, bootstrap: Bootstrap | None = None, name: str = NAME) -> Statistic:
    """(p_a − p_e)/(1 − p_e) with p_e = Σ π² (Fleiss 1971, Psychol. Bull. 76:378-382).

    With unequal numbers of raters p_a is the mean over items of each item's own agreeing share of pairs, and π the mean
    over items of each item's label shares (Gwet 2014); pooling the counts of all items instead overstates agreement.
    """
    undefined = undefined_counts(ratings, name)
    if undefined:
        return undefined
    identity = ratings.scale.weights("identity")

    def coefficient(weights: FloatArray) -> FloatArray:
        agreement = ratings.agreement(weights, identity)
        chance = (ratings.shares(weights) ** 2).sum(axis=-1)
        return quotient(agreement - chance, 1 - chance)

    value = float(coefficient(ratings.mass))
    plain = Statistic(value, ratings.pairable, name, dropped=with_rated_once(ratings))
    return bootstrap.attach(plain, coefficient) if bootstrap else plain
