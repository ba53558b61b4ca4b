"""Macro-F1 as HealthBench defines it: one rater against every other rater of the same item, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.bootstrap import LEVEL, RESAMPLES, Bootstrap, rarest_label
from judges.calibration.agreement.ratings import PairTable, distinct_rows, group_by_cluster, quotient
from judges.calibration.agreement.scale import FloatArray, IntArray, Scale
from judges.calibration.statistic import Statistic

NAME = "macro-F1 over pairs of raters"


@dataclass(frozen=True)
class _Pairs:
    """Distinct items: the label of the rater and how many others gave each label.

    Attributes:
        own: shape (P,). others: shape (P, q). bootstrap: over items or clusters.
    """

    scale: Scale
    own: IntArray
    others: IntArray
    bootstrap: Bootstrap
    dropped: Mapping[str, int]

    @property
    def n(self) -> int:
        return int(self.bootstrap.counts.sum())

    def tables(self, weights: FloatArray) -> FloatArray:
        """Pairs by (rater, other), shape (..., q, q), for items per pattern of shape (..., P)."""
        q = self.scale.size
        rows = [weights[..., self.own == code] @ self.others[self.own == code] for code in range(q)]
        return np.stack(rows, axis=-2)


def macro_f1(
    scale: Scale,
    rater: ArrayLike,
    others: ArrayLike,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Statistic:
    """Mean over labels of F1, precision and recall counted over (rater, one other rater) pairs.

    Precision of a label is the agreement over pairs in which the rater gave it, recall over those in which the other
    did; F1 is 0 where both are. Undefined when either side never gave a label of the set.

    Args:
        rater: codes of shape (items,), negative for none. others: shape (others, items); never the rater's own.
    """
    pairs = _pairs(scale, rater, others, clusters, seed, resamples, level)
    if pairs.n == 0:
        why = "no item was rated by the rater and by somebody else"
        return Statistic.undefined("no_pairable_items", why, 0, dict(pairs.dropped), NAME)
    counts = pairs.bootstrap.counts.astype(np.float64)
    table = pairs.tables(counts)
    unused = np.flatnonzero((table.sum(axis=1) == 0) | (table.sum(axis=0) == 0))
    if len(unused):
        return _unused(scale, unused, pairs.n, pairs.dropped)

    def coefficient(weights: FloatArray) -> FloatArray:
        return macro_f1_of_tables(pairs.tables(weights))

    plain = Statistic(float(coefficient(counts)), pairs.n, NAME, dropped=dict(pairs.dropped))
    return pairs.bootstrap.attach(plain, coefficient)


def macro_f1_of_pairs(pairs: PairTable, bootstrap: Bootstrap) -> Statistic:
    """The same of one rater (columns) against one other (rows), where items may count differently."""
    if pairs.n == 0:
        why = "no item was rated by the rater and by somebody else"
        return Statistic.undefined("no_pairable_items", why, 0, dict(pairs.dropped), NAME)
    table = pairs.confusion
    unused = np.flatnonzero((table.sum(axis=1) == 0) | (table.sum(axis=0) == 0))
    if len(unused):
        return _unused(pairs.scale, unused, pairs.n, pairs.dropped)

    def coefficient(weights: FloatArray) -> FloatArray:
        return macro_f1_of_tables(np.swapaxes(pairs.tables(weights), -1, -2))

    plain = Statistic(float(coefficient(pairs.mass)), pairs.n, NAME, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, coefficient)


def _unused(scale: Scale, codes: IntArray, n: int, dropped: Mapping[str, int]) -> Statistic:
    names = ", ".join(scale.shown[code] for code in codes)
    why = f"{names} was not given by both sides: F1 of a label nobody gave is undefined"
    return Statistic.undefined("label_not_used", why, n, dict(dropped), NAME)


def leave_one_out(scale: Scale, people: Mapping[str, ArrayLike], seed: int = 0) -> dict[str, Statistic]:
    """Each person against the others on the same items: the ceiling a judge's macro-F1 is read beside."""
    names = list(people)
    table = np.array([np.asarray(people[name], dtype=np.int64) for name in names])
    return {
        name: macro_f1(scale, table[place], np.delete(table, place, axis=0), seed=seed)
        for place, name in enumerate(names)
    }


def macro_f1_of_tables(tables: FloatArray) -> FloatArray:
    """Of tables of pairs, shape (..., q, q), rows the rater; nan where a side never gave a label."""
    hits = np.diagonal(tables, axis1=-2, axis2=-1)
    precision, recall = quotient(hits, tables.sum(axis=-1)), quotient(hits, tables.sum(axis=-2))
    total = precision + recall
    f1 = np.where(total == 0, 0.0, quotient(2 * precision * recall, np.where(total == 0, 1.0, total)))
    return np.asarray(f1.mean(axis=-1))


def _pairs(
    scale: Scale,
    rater: ArrayLike,
    others: ArrayLike,
    clusters: ArrayLike | None,
    seed: int,
    resamples: int,
    level: float,
) -> _Pairs:
    own = np.asarray(rater, dtype=np.int64)
    rest = np.asarray(others, dtype=np.int64).reshape(-1, len(own))
    counts = np.stack([(rest == code).sum(axis=0) for code in range(scale.size)], axis=1)
    kept = (own >= 0) & (counts.sum(axis=1) > 0)
    dropped = {"not_paired": int((~kept).sum())} if not kept.all() else {}
    distinct = distinct_rows(np.column_stack([own[kept], counts[kept]]))
    labels = counts[kept].sum(axis=0)
    withheld = rarest_label(labels, scale.shown, int(labels.sum())) if kept.any() else ""
    grouped = group_by_cluster(clusters, kept, distinct)
    bootstrap = Bootstrap(distinct.counts, grouped, withheld, resamples, seed, level)
    return _Pairs(scale, distinct.rows[:, 0], distinct.rows[:, 1:], bootstrap, dropped)
