"""Ratings reduced to their distinct patterns: what every coefficient and every resample is computed from.

A million items have no more distinct pairs of labels than a thousand have, so the cost of a statistic or of a
bootstrap does not grow with the number of items once they are counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.scale import FloatArray, IntArray, Scale

_KEY_LIMIT = 2**62
_TABLE_LIMIT = 2**22


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of a matrix, in lexicographic order.

    Attributes:
        rows: shape (P, columns). inverse: row of each input row, shape (N,). counts: input rows per row, shape (P,).
    """

    rows: IntArray
    inverse: IntArray
    counts: IntArray


@dataclass(frozen=True)
class Clusters:
    """Items by cluster, clusters of the same content put together.

    Attributes:
        contents: items per rating pattern in each distinct cluster, shape (T, P).
        counts: clusters of that content, shape (T,).
    """

    contents: IntArray
    counts: IntArray

    @property
    def n(self) -> int:
        return int(self.counts.sum())


@dataclass(frozen=True)
class LabelCounts:
    """Items by how many raters gave each label; which rater gave it does not matter here.

    Attributes:
        scale: the declared labels.
        patterns: ratings per label in each distinct pattern, shape (P, q).
        counts: items per pattern, shape (P,).
        clusters: the same items by cluster, or None when items are independent.
        dropped: items left out before, by rule.
        weights: what an item of each pattern counts for, shape (P,), put so that all count for as many as they are;
            None where every item counts for one.
    """

    scale: Scale
    patterns: IntArray
    counts: IntArray
    clusters: Clusters | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    weights: FloatArray | None = None

    @classmethod
    def of_codes(
        cls,
        scale: Scale,
        codes: ArrayLike,
        clusters: ArrayLike | None = None,
        dropped: Mapping[str, int] | None = None,
        report_unrated: bool = True,
    ) -> LabelCounts:
        """Count ratings of any number of raters: `codes` has shape (items, raters), negative for not rated.

        Items nobody rated are left out, and counted as `not_rated` if `report_unrated`; items rated once stay (alpha
        drops them, the others use their label).
        """
        matrix = np.atleast_2d(np.asarray(codes, dtype=np.int64))
        per_label = np.stack([(matrix == code).sum(axis=1) for code in range(scale.size)], axis=1)
        rated = per_label.sum(axis=1) > 0
        distinct = distinct_rows(per_label[rated])
        unrated = int((~rated).sum()) if report_unrated else 0
        left_out = {**(dropped or {}), **_nonzero("not_rated", unrated)}
        return cls(scale, distinct.rows, distinct.counts, group_by_cluster(clusters, rated, distinct), left_out)

    @classmethod
    def of_ratings(
        cls, scale: Scale, ratings: Sequence[Sequence[str | None]], clusters: Sequence[str] | None = None
    ) -> LabelCounts:
        """The same from labels: one row an item, one column a rater, None for not rated."""
        codes = np.array([scale.encode(row) for row in ratings], dtype=np.int64)
        return cls.of_codes(scale, codes, None if clusters is None else cluster_codes(clusters))

    @property
    def mass(self) -> FloatArray:
        """What the items of each pattern count for, shape (P,)."""
        return mass_of(self.counts, self.weights)

    @property
    def raters(self) -> IntArray:
        """Ratings in each pattern, shape (P,)."""
        return np.asarray(self.patterns.sum(axis=1), dtype=np.int64)

    @property
    def pairable(self) -> int:
        """Items with at least two ratings."""
        return int(self.counts[self.raters >= 2].sum())

    @property
    def rated_once(self) -> int:
        return int(self.counts[self.raters == 1].sum())

    @property
    def items_by_label(self) -> IntArray:
        """Items on which at least one rater gave the label, shape (q,)."""
        return np.asarray(self.counts @ (self.patterns > 0), dtype=np.int64)

    def agreement(self, weights: FloatArray, label_weights: FloatArray) -> FloatArray:
        """Mean over items with two or more ratings of the agreeing share of rater pairs (Fleiss 1971 per item, then
        averaged, so that unequal numbers of raters are right; weighted as in Gwet 2014).

        Args:
            weights: items per pattern, shape (..., P); rows may be resamples.
            label_weights: agreement weights, shape (q, q).
        """
        raters = self.raters
        pairable = raters >= 2
        patterns = self.patterns[pairable].astype(np.float64)
        m = raters[pairable]
        share = (patterns * (patterns @ label_weights - 1)).sum(axis=1) / (m * (m - 1))
        kept = weights[..., pairable]
        return quotient(kept @ share, kept.sum(axis=-1))

    def shares(self, weights: FloatArray) -> FloatArray:
        """Mean over items of the share of raters giving each label, shape (..., q). Items rated once count."""
        per_item = self.patterns / self.raters[:, np.newaxis]
        return quotient(weights @ per_item, weights.sum(axis=-1)[..., np.newaxis])


@dataclass(frozen=True)
class PairTable:
    """Items by the labels of two raters: the reference (rows: people) and the compared one (columns: the judge).

    Attributes:
        scale: the declared labels.
        rows, columns: codes of each distinct pair, shape (P,).
        counts: items per pair, shape (P,).
        clusters: the same items by cluster, or None when items are independent.
        dropped: items left out, by rule.
        row_name, column_name: who rated, for messages.
        weights: as in `LabelCounts`; a pair of labels then stands once for each weight.
    """

    scale: Scale
    rows: IntArray
    columns: IntArray
    counts: IntArray
    clusters: Clusters | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    row_name: str = "people"
    column_name: str = "the judge"
    weights: FloatArray | None = None

    @classmethod
    def of_codes(
        cls,
        scale: Scale,
        rows: ArrayLike,
        columns: ArrayLike,
        clusters: ArrayLike | None = None,
        dropped: Mapping[str, int] | None = None,
        names: tuple[str, str] = ("people", "the judge"),
    ) -> PairTable:
        """Count pairs of codes, each of shape (items,). An item with a negative code on either side is left out; unless
        `dropped` says by which rules, it is counted as `not_paired`."""
        matrix = np.stack([_integers(rows), _integers(columns)], axis=1)
        paired = np.asarray((matrix >= 0).all(axis=1))
        distinct = distinct_rows(matrix[paired])
        left_out = _nonzero("not_paired", int((~paired).sum())) if dropped is None else dict(dropped)
        first, second = distinct.rows[:, 0], distinct.rows[:, 1]
        grouped = group_by_cluster(clusters, paired, distinct)
        return cls(scale, first, second, distinct.counts, grouped, left_out, *names)

    @classmethod
    def of_labels(
        cls,
        scale: Scale,
        rows: Sequence[str | None],
        columns: Sequence[str | None],
        clusters: Sequence[str] | None = None,
    ) -> PairTable:
        """The same from labels, None for not rated."""
        codes = None if clusters is None else cluster_codes(clusters)
        return cls.of_codes(scale, scale.encode(rows), scale.encode(columns), codes)

    @classmethod
    def of_confusion(cls, scale: Scale, table: ArrayLike) -> PairTable:
        """From a q x q table of counts, rows the reference."""
        counts = np.asarray(table, dtype=np.int64)
        rows, columns = np.nonzero(counts)
        return cls(scale, rows.astype(np.int64), columns.astype(np.int64), counts[rows, columns])

    @property
    def n(self) -> int:
        """Items both rated."""
        return int(self.counts.sum())

    @property
    def mass(self) -> FloatArray:
        """What the items of each pair count for, shape (P,)."""
        return mass_of(self.counts, self.weights)

    @property
    def confusion(self) -> IntArray:
        """Counts over the whole declared set, shape (q, q), rows the reference."""
        table = np.zeros((self.scale.size, self.scale.size), dtype=np.int64)
        np.add.at(table, (self.rows, self.columns), self.counts)
        return table

    def tables(self, weights: FloatArray) -> FloatArray:
        """Items over the whole declared set, shape (..., q, q), for items per pattern of shape (..., P)."""
        q = self.scale.size
        cells = np.eye(q * q)[self.rows * q + self.columns]
        return np.asarray((weights @ cells).reshape(*weights.shape[:-1], q, q))

    def row_sums(self, weights: FloatArray) -> FloatArray:
        """Items per label of the rows, shape (..., q), for items per pattern of shape (..., P)."""
        return np.asarray(weights @ np.eye(self.scale.size)[self.rows])

    def column_sums(self, weights: FloatArray) -> FloatArray:
        """Items per label of the columns, shape (..., q)."""
        return np.asarray(weights @ np.eye(self.scale.size)[self.columns])

    def label_counts(self) -> LabelCounts:
        """The same items as counts of labels; pattern for pattern in the same order, so resamples serve both."""
        identity = np.eye(self.scale.size, dtype=np.int64)
        patterns = identity[self.rows] + identity[self.columns]
        return LabelCounts(self.scale, patterns, self.counts, self.clusters, self.dropped, self.weights)


def mass_of(counts: IntArray, weights: FloatArray | None) -> FloatArray:
    """What items count for, pattern by pattern, shape (P,)."""
    return counts.astype(np.float64) if weights is None else counts * weights


def counting(weights: FloatArray, counts: IntArray) -> FloatArray:
    """Weights put so that all items together count for as many as they are, shape (P,)."""
    total = float(weights @ counts)
    return weights * (counts.sum() / total) if total else weights


def distinct_rows(matrix: NDArray[np.integer]) -> DistinctRows:
    """Distinct rows of an integer matrix of shape (N, C), by folding the columns into one key.

    Some forty times faster than `numpy.unique(axis=0)` on a million narrow rows.
    """
    n = len(matrix)
    key = np.zeros(n, dtype=np.int64)
    size = 1
    for values in matrix.T:
        column = values.astype(np.int64)
        low = int(column.min()) if n else 0
        span = (int(column.max()) - low if n else 0) + 1
        if size * span > _KEY_LIMIT:
            size, key = _compact(key)
        key = key * span + (column - low)
        size *= span
    if size <= _TABLE_LIMIT:
        table = np.bincount(key, minlength=size)
        present = np.flatnonzero(table)
        place = np.zeros(size, dtype=np.int64)
        place[present] = np.arange(len(present))
        inverse, counts = place[key], table[present]
    else:
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    first = np.zeros(len(counts), dtype=np.int64)
    first[inverse[::-1]] = np.arange(n - 1, -1, -1)
    return DistinctRows(np.asarray(matrix[first], dtype=np.int64), inverse, counts.astype(np.int64))


def cluster_codes(clusters: Sequence[Hashable]) -> IntArray:
    """Codes of cluster names in the order of first sight, shape (n,)."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in clusters], dtype=np.int64)


def quotient(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Elementwise quotient; nan where the denominator is 0, without a warning."""
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def _dense(names: NDArray[Any]) -> IntArray:
    """Clusters as codes from 0 on; where they are that already, most of them used, they stay."""
    if np.issubdtype(names.dtype, np.integer) and int(names.min()) >= 0 and int(names.max()) < 2 * len(names):
        return names.astype(np.int64, copy=False)
    return np.unique(names, return_inverse=True)[1].astype(np.int64, copy=False)


def _integers(codes: ArrayLike) -> NDArray[np.integer]:
    """Codes as they are where they are whole numbers: a million int16 take a quarter of what int64 take."""
    found = np.asarray(codes)
    return found if np.issubdtype(found.dtype, np.integer) else found.astype(np.int64)


def _compact(key: IntArray) -> tuple[int, IntArray]:
    values, inverse = np.unique(key, return_inverse=True)
    return len(values), inverse.astype(np.int64)


def group_by_cluster(clusters: ArrayLike | None, kept: NDArray[np.bool_], distinct: DistinctRows) -> Clusters | None:
    """Kept items by cluster; None when nothing was given or every cluster holds one item."""
    if clusters is None or not kept.any():
        return None
    codes = _dense(np.asarray(clusters)[kept])
    number = int(codes.max()) + 1
    if number == len(codes):
        return None
    width = len(distinct.counts)
    table = np.bincount(codes * width + distinct.inverse, minlength=number * width).reshape(number, width)
    kinds = distinct_rows(table[table.any(axis=1)])
    if kinds.counts.sum() == len(codes):
        return None
    return Clusters(kinds.rows, kinds.counts)


def _nonzero(rule: str, count: int) -> dict[str, int]:
    return {rule: count} if count else {}
