"""Brennan–Prediger's coefficient; PABAK for two labels."""

from __future__ import annotations

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import LabelCounts
from judges.calibration.agreement.scale import FloatArray, WeightKind
from judges.calibration.agreement.undefined import undefined_counts, with_rated_once
from judges.calibration.statistic import Statistic


def brennan_prediger(
    ratings: LabelCounts, kind: WeightKind = "identity", bootstrap: Bootstrap | None = None
) -> Statistic:
    """(p_a − p_e)/(1 − p_e) with p_e = T/q², the agreement of raters who pick labels blindly (Brennan & Prediger 1981,
    Educ. Psychol. Meas. 41:687-699). For two labels it is PABAK, 2·p_a − 1 (Byrt, Bishop & Carlin 1993)."""
    name = "PABAK" if ratings.scale.size == 2 else "Brennan-Prediger coefficient"
    undefined = undefined_counts(ratings, name)
    if undefined:
        return undefined
    label_weights = ratings.scale.weights(kind)
    chance = float(label_weights.sum()) / ratings.scale.size**2

    def coefficient(weights: FloatArray) -> FloatArray:
        return (ratings.agreement(weights, label_weights) - chance) / (1 - chance)

    value = float(coefficient(ratings.mass))
    plain = Statistic(value, ratings.pairable, name, dropped=with_rated_once(ratings))
    return bootstrap.attach(plain, coefficient) if bootstrap else plain
