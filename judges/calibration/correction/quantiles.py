"""Quantiles of people's scores over all items, by inverting the corrected distribution (Woodruff 1952)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from judges.calibration.agreement.scale import FloatArray
from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.records import Block, Draw, Share, Totals
from judges.calibration.statistic import Statistic

MOST_CUTS = 64


def corrected_quantiles(
    judge: FloatArray,
    people: FloatArray,
    draw: Draw,
    levels: Sequence[float] = (0.5,),
    settings: CorrectionSettings | None = None,
) -> dict[float, Statistic]:
    """Quantiles of people's scores on all items.

    At each cut c the share of items that people would score c or less is corrected like any share; a quantile is the
    first cut whose share reaches the level, and its interval holds the cuts whose interval of shares contains it.

    Args:
        judge: the judge's score of each item, shape (N,). people: of the drawn items, shape (n,), nan for unresolved.
        levels: between 0 and 1.
    """
    settings = settings or CorrectionSettings()
    cuts = _cuts(people[np.isfinite(people)])
    if not len(cuts):
        return {
            level: Statistic.undefined("no_labels", "no item is labelled", 0, method="quantile") for level in levels
        }
    found = _distribution(judge, people, draw, cuts, settings)
    return {level: _quantile(level, cuts, found, settings.level) for level in levels}


def _cuts(values: FloatArray) -> FloatArray:
    distinct = np.unique(values)
    if len(distinct) <= MOST_CUTS:
        return distinct
    return np.unique(np.quantile(distinct, np.linspace(0, 1, MOST_CUTS), method="nearest"))


def _distribution(
    judge: FloatArray, people: FloatArray, draw: Draw, cuts: FloatArray, settings: CorrectionSettings
) -> list[Statistic]:
    names = [f"cut {place}" for place in range(len(cuts))]
    below = (people[:, np.newaxis] <= cuts).astype(np.float64)
    below[~np.isfinite(people)] = np.nan
    ones = np.where(np.isfinite(people), 1.0, np.nan)[:, np.newaxis]
    block = Block(
        "score",
        (*names, "items"),
        np.hstack([(judge[:, np.newaxis] <= cuts).astype(np.float64), np.ones((len(judge), 1))]),
        np.hstack([below, ones]),
        draw,
        fixed=frozenset({"items"}),
    )

    def combine(totals: Totals) -> dict[str, float | None]:
        return {name: totals[name] / totals["items"] for name in names}

    def gradient(totals: Totals) -> dict[str, dict[str, float]]:
        items = totals["items"]
        return {name: {name: 1 / items, "items": -totals[name] / items**2} for name in names}

    shares = {name: Share(name, "items") for name in names}
    scores = corrected_scores([block], combine, replace(settings, shares=shares, families=(), gradient=gradient))
    return [scores[name].statistic for name in names]


def _quantile(level: float, cuts: FloatArray, shares: Sequence[Statistic], interval: float) -> Statistic:
    missing = next((share for share in shares if share.value is None), None)
    if missing is not None:
        return replace(missing, method="quantile")
    values = np.maximum.accumulate(np.array([share.value or 0.0 for share in shares]))
    # The last cut is the largest score people gave: everything they gave is at or below it.
    values[-1] = 1.0
    place = int(np.searchsorted(values, level - 1e-12))
    method = f"{level:.0%} quantile by inverting the corrected distribution; {shares[place].method}"
    plain = Statistic(float(cuts[place]), shares[place].n, method, dropped=shares[place].dropped)
    if any(share.low is None or share.high is None for share in shares[:-1]):
        return plain.without_interval("the share at one of the cuts has no interval")
    low = next((p for p, share in enumerate(shares) if (share.high or 1.0) >= level), len(cuts) - 1)
    high = next((p for p, share in enumerate(shares) if (share.low or 0.0) >= level), len(cuts) - 1)
    return plain.with_interval(float(cuts[min(low, place)]), float(cuts[max(high, place)]), interval, "Woodruff")
