"""Recall, precision and F1 of one label: what the judge misses of it, and what it calls so wrongly."""

from __future__ import annotations

from collections.abc import Mapping

from judges.calibration.agreement.binomial import clopper_pearson
from judges.calibration.agreement.bootstrap import LEVEL, Bootstrap
from judges.calibration.agreement.class_agreement import positive_agreement
from judges.calibration.agreement.ratings import PairTable
from judges.calibration.statistic import Statistic


def recall(pairs: PairTable, label: str, level: float = LEVEL) -> Statistic:
    """Of the items people gave the label, the share the judge gave it too; exact interval, n are those items."""
    table, code = pairs.confusion, pairs.scale.codes[label]
    hits, n = int(table[code, code]), int(table[code].sum())
    return exact_share(
        hits, n, f"recall of {pairs.scale.shown[code]}", pairs.row_name, pairs.scale.shown[code], level, pairs.dropped
    )


def precision(pairs: PairTable, label: str, level: float = LEVEL) -> Statistic:
    """Of the items the judge gave the label, the share people gave it too; exact interval, n are those items."""
    table, code = pairs.confusion, pairs.scale.codes[label]
    hits, n = int(table[code, code]), int(table[:, code].sum())
    return exact_share(
        hits,
        n,
        f"precision of {pairs.scale.shown[code]}",
        pairs.column_name,
        pairs.scale.shown[code],
        level,
        pairs.dropped,
    )


def f1(pairs: PairTable, label: str, bootstrap: Bootstrap | None = None) -> Statistic:
    """Harmonic mean of recall and precision, which is the label's positive agreement; n are the items either side gave
    the label."""
    return positive_agreement(pairs, label, bootstrap, name=f"F1 of {pairs.scale.shown[pairs.scale.codes[label]]}")


def exact_share(
    hits: int,
    n: int,
    name: str,
    who: str,
    label: str,
    level: float = LEVEL,
    dropped: Mapping[str, int] | None = None,
) -> Statistic:
    """hits/n with Clopper–Pearson's interval, or `label_not_used` when n is 0."""
    if n == 0:
        return Statistic.undefined("label_not_used", f"{who} gave {label} to no item", 0, dict(dropped or {}), name)
    low, high = clopper_pearson(hits, n, level)
    plain = Statistic(hits / n, n, name, dropped=dict(dropped or {}))
    return plain.with_interval(low, high, level, "exact (Clopper-Pearson) interval")
