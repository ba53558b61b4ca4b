"""Root mean square difference of people's values and a judge's scores, on their own scale."""

from __future__ import annotations

import numpy as np

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import quotient
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.scored_pairs import ScoredPairs
from judges.calibration.statistic import Statistic

NAME = "root mean square error"


def rmse(pairs: ScoredPairs, bootstrap: Bootstrap | None = None) -> Statistic:
    """√ mean (judge − people)². Only where both are on one scale."""
    if pairs.n == 0:
        why = "no item has both a label and a score"
        return Statistic.undefined("no_pairable_items", why, 0, dict(pairs.dropped), NAME)
    squares = (pairs.x[pairs.x_index] - pairs.y[pairs.y_index]) ** 2

    def coefficient(weights: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(quotient(weights @ squares, weights.sum(axis=-1))))

    plain = Statistic(float(coefficient(pairs.mass)), pairs.n, NAME, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, coefficient) if bootstrap else plain
