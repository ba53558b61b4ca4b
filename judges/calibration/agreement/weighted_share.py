"""Bounds of a share where some items were likelier to be drawn than others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.binomial import Bounds
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.distributions import beta_quantile, t_quantile

SIMULATED = 20_000


class Cells(NamedTuple):
    """Drawn items by the judge's verdict.

    Attributes:
        sizes: items of each verdict in all, shape (k,). drawn: of them in the sample, as a number of equally likely
            ones, which need not be whole. found: of those, with the label.
    """

    sizes: FloatArray
    drawn: FloatArray
    found: FloatArray


def recall_bounds(cells: Cells, hit: int, level: float, seed: int = 0) -> Bounds:
    """Bounds of the share of all items with a label that have the verdict `hit`.

    What is missed lies among the other verdicts, where few items may stand for many: no miss in 50 of 900 is no proof
    that there is none. So each verdict's share of the label is drawn from its fiducial distribution, for the lower
    bound with one more miss and no more hit than was seen, for the upper the other way round, as the two bounds of
    Clopper and Pearson are.
    """
    tail = (1 - level) / 2
    rng = np.random.default_rng(seed)
    rows = len(cells.sizes)
    mine = np.arange(rows) == hit

    def totals(more: NDArray[np.bool_]) -> FloatArray:
        """Items with the label by verdict, shape (SIMULATED, k); `more` are taken from the upper distribution."""
        a = cells.found + more
        b = cells.drawn - cells.found + ~more
        shares = rng.beta(np.maximum(a, 1e-9), np.maximum(b, 1e-9), size=(SIMULATED, rows))
        shares = np.where(a == 0, 0.0, np.where(b == 0, 1.0, shares))
        return np.asarray(shares * cells.sizes)

    low, high = totals(~mine), totals(mine)
    return Bounds(float(np.quantile(_part(low, hit), tail)), float(np.quantile(_part(high, hit), 1 - tail)))


def _part(totals: FloatArray, hit: int) -> FloatArray:
    whole = totals.sum(axis=1)
    return np.where(whole > 0, totals[:, hit] / np.where(whole > 0, whole, 1.0), 0.0)


def effective_share_bounds(
    hits: NDArray[np.bool_], weights: FloatArray, groups: NDArray[np.integer] | None, level: float
) -> Bounds:
    """Clopper and Pearson's bounds with the effective number of items (Korn & Graubard 1998, Survey Methodology
    24:193-201), which is never more than there are, nor than (Σw)²/Σw².

    Args:
        hits, weights: of the items the share is of, shape (n,). groups: what was drawn together, or None.
    """
    total = float(weights.sum())
    share = float(weights @ hits) / total
    codes = np.arange(len(hits)) if groups is None else np.unique(groups, return_inverse=True)[1]
    held = np.bincount(codes, weights)
    units = len(held)
    n = min(total**2 / float((weights**2).sum()), float(len(hits)))
    if share in (0.0, 1.0):
        # Nothing shows how alike the items of a group are: each group counts once.
        n = min(n, total**2 / float((held**2).sum()))
    elif units > 1:
        sums = np.bincount(codes, weights * (hits - share)) / total
        variance = units / (units - 1) * float((sums**2).sum())
        tail = (1 - level) / 2
        shrink = (t_quantile(tail, max(n - 1, 1.0)) / t_quantile(tail, units - 1)) ** 2
        if variance > 0:
            n = min(n, share * (1 - share) / variance * min(shrink, 1.0))
    else:
        n = min(n, 1.0)
    found, tail = share * n, (1 - level) / 2
    low = 0.0 if share == 0 else beta_quantile(tail, found, n - found + 1)
    high = 1.0 if share == 1 else beta_quantile(1 - tail, found + 1, n - found)
    return Bounds(low, high)
