"""Weighted kappa of two raters on an ordered scale."""

from __future__ import annotations

from typing import Literal

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.cohen_kappa import kappa_values
from judges.calibration.agreement.ratings import PairTable
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.undefined import undefined_pairs
from judges.calibration.statistic import Statistic


def weighted_kappa(
    pairs: PairTable, kind: Literal["linear", "quadratic"] = "quadratic", bootstrap: Bootstrap | None = None
) -> Statistic:
    """Kappa that forgives near misses (Cohen 1968, Psychol. Bull. 70:213-220).

    By declared rank on an ordinal scale, by value on an interval one. Distances are those of the declared set: a label
    nobody used still takes its place between its neighbours.

    Raises:
        ValueError: the scale is nominal.
    """
    if not pairs.scale.ordered:
        raise ValueError("weighted kappa needs an ordered scale")
    name = f"weighted kappa ({kind} weights)"
    undefined = undefined_pairs(pairs, name, constant_rater=True)
    if undefined:
        return undefined
    disagreement = 1 - pairs.scale.weights(kind)

    def kappa(weights: FloatArray) -> FloatArray:
        return kappa_values(pairs, weights, disagreement)

    plain = Statistic(float(kappa(pairs.mass)), pairs.n, name, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, kappa) if bootstrap else plain
