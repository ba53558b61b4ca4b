"""Gwet's AC1 and AC2."""

from __future__ import annotations

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import LabelCounts, quotient
from judges.calibration.agreement.scale import FloatArray, WeightKind
from judges.calibration.agreement.undefined import undefined_counts, with_rated_once
from judges.calibration.statistic import Statistic


def gwet_ac1(ratings: LabelCounts, bootstrap: Bootstrap | None = None) -> Statistic:
    """AC1: (p_a − p_e)/(1 − p_e) with p_e = Σ π(1−π)/(q−1) over the declared labels (Gwet 2008, BJMSP 61:29-48).

    It rises with a skewed prevalence where kappa falls and is not 0 for independent raters, so it stands beside kappa
    and never shares its verbal scale (Vach & Gerke 2023). Items rated once enter the label shares only.
    """
    return _coefficient(ratings, "Gwet's AC1", "identity", bootstrap)


def gwet_ac2(ratings: LabelCounts, kind: WeightKind = "quadratic", bootstrap: Bootstrap | None = None) -> Statistic:
    """AC2: AC1 with agreement weights, p_e = T/(q(q−1))·Σ π(1−π), T the sum of the weights (Gwet 2014).

    Raises:
        ValueError: the scale is nominal.
    """
    if not ratings.scale.ordered:
        raise ValueError("AC2 needs an ordered scale")
    return _coefficient(ratings, f"Gwet's AC2 ({kind} weights)", kind, bootstrap)


def _coefficient(ratings: LabelCounts, name: str, kind: WeightKind, bootstrap: Bootstrap | None) -> Statistic:
    undefined = undefined_counts(ratings, name)
    if undefined:
        return undefined
    label_weights = ratings.scale.weights(kind)

    def coefficient(weights: FloatArray) -> FloatArray:
        return ac_values(ratings, weights, label_weights)

    value = float(coefficient(ratings.mass))
    plain = Statistic(value, ratings.pairable, name, dropped=with_rated_once(ratings))
    return bootstrap.attach(plain, coefficient) if bootstrap else plain


def ac_values(ratings: LabelCounts, weights: FloatArray, label_weights: FloatArray) -> FloatArray:
    """AC1 or AC2 from counts of patterns, shape (...), for items per pattern of shape (..., P)."""
    q = ratings.scale.size
    agreement, shares = ratings.agreement(weights, label_weights), ratings.shares(weights)
    chance = label_weights.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=-1)
    return quotient(agreement - chance, 1 - chance)
