"""Agreement on one label and on its absence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import PairTable, quotient
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.statistic import Statistic


def positive_agreement(pairs: PairTable, label: str, bootstrap: Bootstrap | None = None, name: str = "") -> Statistic:
    """2a/(2a+b+c): given that one side gave the label, how often the other did (Cicchetti & Feinstein 1990, J. Clin.
    Epidemiol. 43:551-558). n are the items either side gave it."""
    code = pairs.scale.codes[label]
    title = pairs.scale.shown[code]
    rows, columns = pairs.rows == code, pairs.columns == code
    return _agreement(pairs, rows, columns, name or f"positive agreement on {title}", title, bootstrap)


def negative_agreement(pairs: PairTable, label: str, bootstrap: Bootstrap | None = None) -> Statistic:
    """2d/(2d+b+c): given that one side gave another label, how often the other did. n are the items either did."""
    code = pairs.scale.codes[label]
    title = pairs.scale.shown[code]
    rows, columns = pairs.rows != code, pairs.columns != code
    return _agreement(pairs, rows, columns, f"negative agreement on {title}", f"anything but {title}", bootstrap)


def _agreement(
    pairs: PairTable,
    rows: NDArray[np.bool_],
    columns: NDArray[np.bool_],
    name: str,
    what: str,
    bootstrap: Bootstrap | None,
) -> Statistic:
    n = int(pairs.counts[rows | columns].sum())
    if n == 0:
        return Statistic.undefined("label_not_used", f"neither side gave {what} to an item", 0, method=name)
    both = (rows & columns).astype(float)
    either = rows.astype(float) + columns.astype(float)

    def agreement(weights: FloatArray) -> FloatArray:
        return quotient(2 * (weights @ both), weights @ either)

    plain = Statistic(float(agreement(pairs.mass)), n, name, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, agreement) if bootstrap else plain
