"""When a coefficient has no value: the reasons, checked before any division."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judges.calibration.agreement.ratings import LabelCounts, PairTable
from judges.calibration.agreement.scale import Scale
from judges.calibration.statistic import Statistic


def undefined_pairs(pairs: PairTable, name: str, constant_rater: bool = False) -> Statistic | None:
    """Why a coefficient of two raters has no value, or None when it has one.

    Args:
        name: the coefficient, for the message.
        constant_rater: True for coefficients that are the same whatever a rater who never varies does (kappa is 0).
    """
    early = _too_few(pairs.n, name, pairs.dropped, f"{pairs.row_name} and {pairs.column_name}")
    if early:
        return early
    rows, columns = (np.flatnonzero(np.bincount(codes)) for codes in (pairs.rows, pairs.columns))
    if len(rows) == 1 and np.array_equal(rows, columns):
        return _single(pairs.scale, int(rows[0]), pairs.n, name, pairs.dropped)
    if constant_rater and min(len(rows), len(columns)) == 1:
        who, code = (pairs.row_name, rows[0]) if len(rows) == 1 else (pairs.column_name, columns[0])
        why = (
            f"{who} gave {pairs.scale.shown[code]} to all {pairs.n} items; {name} then says nothing, "
            "whatever the other side answers"
        )
        return Statistic.undefined("constant_rater", why, pairs.n, dict(pairs.dropped), name)
    return None


def undefined_counts(ratings: LabelCounts, name: str) -> Statistic | None:
    """Why a coefficient of any number of raters has no value, or None when it has one."""
    dropped = with_rated_once(ratings)
    early = _too_few(ratings.pairable, name, dropped, "two raters")
    if early:
        return early
    used = np.flatnonzero(ratings.patterns[ratings.raters >= 2].sum(axis=0))
    if len(used) == 1:
        return _single(ratings.scale, int(used[0]), ratings.pairable, name, dropped)
    return None


def with_rated_once(ratings: LabelCounts) -> dict[str, int]:
    """What was left out, with the items that only one rater rated."""
    once = {"rated_once": ratings.rated_once} if ratings.rated_once else {}
    return {**ratings.dropped, **once}


def _too_few(n: int, name: str, dropped: Mapping[str, int], who: str) -> Statistic | None:
    left_out = dict(dropped)
    if n == 0:
        return Statistic.undefined("no_pairable_items", f"no item was rated by {who}", 0, left_out, name)
    if n == 1:
        return Statistic.undefined(
            "too_few", f"one item cannot show {name}; at least two are needed", 1, left_out, name
        )
    return None


def _single(scale: Scale, code: int, n: int, name: str, dropped: Mapping[str, int]) -> Statistic:
    why = f"all {n} items were given {scale.shown[code]} by everyone: without variation {name} is undefined"
    return Statistic.undefined("undefined_single_category", why, n, dict(dropped), name)
