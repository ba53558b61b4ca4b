"""Matthews correlation of two raters."""

from __future__ import annotations

import numpy as np

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import PairTable, quotient
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.undefined import undefined_pairs
from judges.calibration.statistic import Statistic

NAME = "Matthews correlation"


def matthews_correlation(pairs: PairTable, bootstrap: Bootstrap | None = None) -> Statistic:
    """Correlation of two labellings for any number of labels (Gorodkin 2004, Comput. Biol. Chem. 28:367-374).

    0/0, and so undefined, when one side never varies.
    """
    undefined = undefined_pairs(pairs, NAME, constant_rater=True)
    if undefined:
        return undefined
    agreed = (pairs.rows == pairs.columns).astype(float)

    def correlation(weights: FloatArray) -> FloatArray:
        n = weights.sum(axis=-1)
        rows, columns = pairs.row_sums(weights), pairs.column_sums(weights)
        shared = n * (weights @ agreed) - (rows * columns).sum(axis=-1)
        spread = (n**2 - (rows**2).sum(axis=-1)) * (n**2 - (columns**2).sum(axis=-1))
        return quotient(shared, np.sqrt(spread))

    plain = Statistic(float(correlation(pairs.mass)), pairs.n, NAME, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, correlation) if bootstrap else plain
