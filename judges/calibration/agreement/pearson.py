"""Pearson's correlation of people's values and a judge's scores."""

from __future__ import annotations

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.scored_pairs import ScoredPairs, correlation
from judges.calibration.statistic import Statistic

NAME = "Pearson's correlation"


def pearson(pairs: ScoredPairs, bootstrap: Bootstrap | None = None) -> Statistic:
    """Linear correlation, by `scipy.stats.pearsonr`; resamples by the same formula over counts."""
    undefined = pairs.undefined(NAME)
    if undefined:
        return undefined
    from scipy.stats import pearsonr

    x, y = pairs.x[pairs.x_index], pairs.y[pairs.y_index]

    def coefficient(weights: FloatArray) -> FloatArray:
        return correlation(weights, x, y)

    value = pearsonr(*pairs.columns()).statistic if pairs.weights is None else coefficient(pairs.mass)
    plain = Statistic(float(value), pairs.n, NAME, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, coefficient) if bootstrap else plain
