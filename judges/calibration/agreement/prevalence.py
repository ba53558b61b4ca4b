"""Prevalence and bias index of a two-label table: what pulls kappa away from raw agreement."""

from __future__ import annotations

from judges.calibration.agreement.ratings import PairTable
from judges.calibration.statistic import Statistic


def prevalence_index(pairs: PairTable) -> Statistic:
    """(a−d)/n: how much more often both gave the first label than the second (Byrt, Bishop & Carlin 1993).

    Raises:
        ValueError: the scale has not exactly two labels.
    """
    (a, _), (_, d) = _cells(pairs)
    return _index(pairs, a - d, "prevalence index")


def bias_index(pairs: PairTable) -> Statistic:
    """(b−c)/n: how much more often the rows gave the first label than the columns did.

    Raises:
        ValueError: the scale has not exactly two labels.
    """
    (_, b), (c, _) = _cells(pairs)
    return _index(pairs, b - c, "bias index")


def _cells(pairs: PairTable) -> list[list[float]]:
    if pairs.scale.size != 2:
        raise ValueError("prevalence and bias index are defined for two labels")
    cells: list[list[float]] = pairs.tables(pairs.mass).tolist()
    return cells


def _index(pairs: PairTable, difference: float, name: str) -> Statistic:
    dropped = dict(pairs.dropped)
    if pairs.n == 0:
        return Statistic.undefined("no_pairable_items", "no item was rated by both sides", 0, dropped, name)
    return Statistic(difference / pairs.n, pairs.n, name, dropped=dropped)
