"""The asymptotic error of kappa: an interval at once, while labels are still coming in."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

from judges.calibration.agreement.bootstrap import LEVEL, RAREST_LABEL, rarest_label
from judges.calibration.agreement.ratings import PairTable
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.undefined import undefined_pairs
from judges.calibration.statistic import Statistic


def live_kappa(pairs: PairTable, label_weights: FloatArray | None = None, level: float = LEVEL) -> Statistic:
    """Cohen's kappa, weighted where agreement weights of shape (q, q) are given, with its normal interval.

    The interval is withheld where the rarer label has fewer than `RAREST_LABEL` items: it then covers far less than it
    says. Reports resample items instead.
    """
    name = "Cohen's kappa" if label_weights is None else "weighted kappa"
    undefined = undefined_pairs(pairs, name, constant_rater=True)
    if undefined:
        return undefined
    weights = pairs.scale.weights("identity") if label_weights is None else label_weights
    value, error = kappa_and_error(pairs.confusion.astype(float), weights)
    plain = Statistic(value, pairs.n, name, dropped=dict(pairs.dropped))
    withheld = rarest_label(pairs.confusion.sum(axis=1), pairs.scale.shown, pairs.n, RAREST_LABEL)
    if withheld:
        return plain.without_interval(withheld)
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    found = plain.with_interval(value - half, min(value + half, 1.0), level, "asymptotic interval")
    return replace(found, low=max(value - half, -1.0))


class KappaError(NamedTuple):
    """Kappa and its asymptotic standard error."""

    kappa: float
    error: float


def kappa_and_error(table: FloatArray, weights: FloatArray) -> KappaError:
    """Kappa and its asymptotic standard error (Fleiss, Cohen & Everitt 1969, Psych. Bull. 72:323).

    Args:
        table: counts, shape (q, q). weights: agreement weights, shape (q, q), 1 on the diagonal.
    """
    n = float(table.sum())
    p = table / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    expected = float(rows @ weights @ columns)
    kappa = (float((p * weights).sum()) - expected) / (1 - expected)
    means = (weights @ columns)[:, None] + (rows @ weights)[None, :]
    spread = float((p * (weights - means * (1 - kappa)) ** 2).sum()) - (kappa - expected * (1 - kappa)) ** 2
    return KappaError(kappa, math.sqrt(max(spread, 0.0) / n) / (1 - expected))


def error_without_agreement(table: FloatArray, weights: FloatArray) -> float:
    """Standard error of kappa if the raters were independent: for a test of no agreement (same source)."""
    n = float(table.sum())
    p = table / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    expected = float(rows @ weights @ columns)
    means = (weights @ columns)[:, None] + (rows @ weights)[None, :]
    spread = float((rows[:, None] * columns * (weights - means) ** 2).sum()) - expected**2
    return math.sqrt(max(spread, 0.0) / n) / (1 - expected)
