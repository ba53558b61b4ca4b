"""Does the judge say the same again, and the same whichever answer stands first?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.binomial import Bounds, mcnemar_exact, wilson
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.biases import LEVEL, Finding, nothing
from judges.calibration.distributions import t_half_width
from judges.calibration.statistic import Statistic


def repeat_instability(verdicts: NDArray[np.integer], level: float = LEVEL) -> Finding:
    """Does the judge say the same again? P(two repeats of an item differ), mean over items.

    Args:
        verdicts: codes, shape (items, repeats), negative for none; items with fewer than two are left out.
    """
    title, name = "chance that two repeats of one item differ", "repeats"
    given = (verdicts >= 0).sum(axis=1)
    rows = verdicts[given >= 2]
    dropped = {"judged_once": int((given == 1).sum())} if (given == 1).any() else {}
    if not len(rows):
        return nothing(name, Statistic.undefined("no_repeats", "no item was judged twice", 0, dropped, title))
    values = np.array([_pair_difference(row[row >= 0]) for row in rows])
    unstable = int((values > 0).sum())
    low, high = _mean_bounds(values, level)
    statistic = Statistic(float(values.mean()), len(rows), title, dropped=dropped)
    statistic = statistic.with_interval(max(low, 0.0), min(high, 1.0), level, "t interval over items")
    words = f"{unstable} of {len(rows)} items got different verdicts when judged again"
    return Finding(name, statistic, None, unstable > 0, words)


def _pair_difference(row: NDArray[np.integer]) -> float:
    _, counts = np.unique(row, return_counts=True)
    m = len(row)
    return 1 - float((counts * (counts - 1)).sum()) / (m * (m - 1))


def position_preference(
    forward: ArrayLike, backward: ArrayLike, repeat_flips: float | None = None, level: float = LEVEL
) -> list[Finding]:
    """Does a pairwise judge follow the order? Consistency over both orders, and which place wins when it is not.

    Args:
        forward, backward: the place that won, 0 first, 1 second, −1 tie or unreadable, with the answers in one order
            and in the other, shape (n,).
        repeat_flips: how often the judge flips without any swap (`repeat_instability`): swaps that flip no more often
            say nothing of position.
    """
    a, b = np.asarray(forward), np.asarray(backward)
    decided = (a >= 0) & (b >= 0)
    n, same = int(decided.sum()), int((decided & (a != b)).sum())
    dropped = {"tie_or_unreadable": int((~decided).sum())} if not decided.all() else {}
    title = "share of pairs with the same winner in both orders"
    if not n:
        none = Statistic.undefined("no_pairable_items", "no pair was decided in both orders", 0, dropped, title)
        return [nothing("position consistency", none)]
    consistent = Statistic(same / n, n, title, dropped=dropped).with_interval(
        *wilson(same, n, level), level, "Wilson interval"
    )
    limit = 1 - (repeat_flips or 0.0)
    flagged = consistent.high is not None and consistent.high < limit
    words = f"{n - same} of {n} pairs change their winner when the order is swapped"
    first = Finding("position consistency", consistent, None, flagged, words)
    return [first, _place(a[decided & (a == b)], dropped, level)]


def _place(places: NDArray[np.integer], dropped: dict[str, int], level: float) -> Finding:
    name, title, n = "position preference", "share of changed pairs won by the first place", len(places)
    if not n:
        return nothing(name, Statistic.undefined("no_flips", "no pair changed its winner", 0, dropped, title))
    first = int((places == 0).sum())
    p = mcnemar_exact(first, n - first)
    statistic = Statistic(first / n, n, title, dropped=dropped).with_interval(
        *wilson(first, n, level), level, "Wilson interval"
    )
    flagged = p < 1 - level
    side = "first" if 2 * first > n else "second"
    words = f"The judge prefers whatever stands {side}" if flagged else "Neither place is shown to be preferred"
    return Finding(name, statistic, p, flagged, words)


def _mean_bounds(values: FloatArray, level: float) -> Bounds:
    """t interval with half a full difference added to the variance, so that none seen is not none."""
    n = len(values)
    spread = float(((values - values.mean()) ** 2).sum()) + 0.5
    half = t_half_width(level, max(n - 1, 1)) * math.sqrt(spread / max(n - 1, 1) / n)
    return Bounds(float(values.mean()) - half, float(values.mean()) + half)
