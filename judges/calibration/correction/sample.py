"""A block's drawn and resolved items as a survey sample: weights, totals, and their covariance by the design."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.correction.chance_strata import as_strata
from judges.calibration.correction.records import Block, Draw


class Covariance(NamedTuple):
    """Covariance of the totals of p variables, stratum by stratum.

    Attributes:
        parts: shape (H, p, p). df: degrees of freedom of each stratum's part, shape (H,).
    """

    parts: FloatArray
    df: FloatArray

    @property
    def whole(self) -> FloatArray:
        return np.asarray(self.parts.sum(axis=0))


@dataclass(frozen=True)
class Sample:
    """The resolved items of a block.

    Attributes:
        draw: how items were drawn.
        place: rows of the block's human terms that are resolved, shape (r,).
        weights: expansion weights, shape (r,): 1/π, raised within stratum and verdict for unresolved items, then so
            that they sum to each stratum's size.
        stratum: code of each resolved item's stratum, shape (r,). sizes: items of each stratum, shape (H,).
    """

    draw: Draw
    place: IntArray
    weights: FloatArray
    stratum: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, block: Block) -> Sample:
        """The sample of a block; weights are finite only where every stratum has a resolved item (`empty_strata`)."""
        draw = as_strata(block)
        place = np.flatnonzero(resolved_rows(block.human_terms))
        sizes, of_item = strata_of(draw)
        weights = design_weights(draw)
        cells = of_item[draw.drawn]
        if block.verdicts is not None:
            _, verdicts = np.unique(block.verdicts, return_inverse=True)
            cells = cells * (int(verdicts.max(initial=0)) + 1) + verdicts[draw.drawn]
        raised = _raised(weights, cells, place)
        stratum = of_item[draw.drawn][place]
        sums = np.bincount(stratum, raised, len(sizes))
        return cls(draw, place, raised * (sizes / np.where(sums > 0, sums, np.nan))[stratum], stratum, sizes)

    @property
    def n(self) -> int:
        return len(self.place)

    @property
    def rows(self) -> IntArray:
        """The resolved items among the block's N, shape (r,)."""
        return self.draw.drawn[self.place]

    @cached_property
    def per_stratum(self) -> IntArray:
        """Resolved items of each stratum, shape (H,)."""
        return np.bincount(self.stratum, minlength=len(self.sizes))

    @property
    def probabilities(self) -> FloatArray:
        """Effective inclusion probabilities, shape (r,)."""
        return np.asarray(np.minimum(1.0, 1.0 / self.weights))

    @property
    def simple(self) -> bool:
        """A simple random sample of one stratum."""
        return self.draw.design == "simple" and len(self.sizes) == 1

    @property
    def complete(self) -> bool:
        return self.n == self.draw.items

    @property
    def empty_strata(self) -> int:
        return int((self.per_stratum == 0).sum())

    @property
    def lone_strata(self) -> int:
        """Strata whose sample shows no variance: a single unit was drawn although there are more."""
        units, drawn = self.sizes, self.per_stratum
        if self.draw.groups is not None and self.draw.design == "two_stage":
            units, drawn = self.groups_by_stratum
        return int(((drawn == 1) & (units > 1)).sum())

    def means(self, values: FloatArray) -> FloatArray:
        """Weighted mean of each stratum, shape (H, p), of values of shape (r, p)."""
        sums = np.stack([np.bincount(self.stratum, self.weights * column, len(self.sizes)) for column in values.T], 1)
        return np.asarray(sums / self.sizes[:, np.newaxis])

    def totals(self, values: FloatArray) -> FloatArray:
        """Expanded totals, shape (p,), of values of shape (r, p)."""
        return np.asarray(self.weights @ values)

    def covariance(self, values: FloatArray) -> Covariance:
        """Estimated design covariance of `totals`, of values of shape (r, p).

        Needs two units in every stratum that has more than one (`lone_strata` is 0). Simple: Cochran 1977, eq. 5.6.
        Two-stage: Cochran 1977, eq. 10.15 for the estimated group totals; where groups are unequal, larger ones are
        raised as the jackknife does and count for fewer degrees of freedom. Unequal: Hájek 1964 for a fixed size.
        """
        centred = values - self.means(values)[self.stratum]
        kind = {"simple": self._simple, "two_stage": self._two_stage, "unequal": self._unequal}[self.draw.design]
        found = [kind(centred, h) for h in range(len(self.sizes))]
        return Covariance(np.stack([part for part, _ in found]), np.array([df for _, df in found], dtype=np.float64))

    def _simple(self, centred: FloatArray, h: int) -> tuple[FloatArray, float]:
        here = self.stratum == h
        n, size = int(here.sum()), int(self.sizes[h])
        a, w = centred[here], self.weights[here] / size
        if n < 2:
            return np.zeros((a.shape[1],) * 2), 0.0
        squares = (a * w[:, np.newaxis]).T @ a * n / (n - 1)
        return np.asarray(size**2 * (1 - n / size) / n * squares), n - 1.0

    def _two_stage(self, centred: FloatArray, h: int) -> tuple[FloatArray, float]:
        here = self.stratum == h
        groups = self.group_codes
        drawn, inverse = np.unique(groups[self.rows[here]], return_inverse=True)
        m, all_groups = len(drawn), int(self.groups_by_stratum[0][h])
        a = centred[here] * (self.weights[here] * m / all_groups)[:, np.newaxis]
        sums = np.stack([np.bincount(inverse, column, m) for column in a.T], axis=1)
        held = np.bincount(inverse, self.weights[here], m) / self.weights[here].sum()
        between = np.zeros((a.shape[1],) * 2)
        if m > 1:
            sums = sums * ((m - 1) / m / np.maximum(1 - held, 1 / m))[:, np.newaxis]
            spread = sums - sums.mean(axis=0)
            between = all_groups**2 * (1 - m / all_groups) / m * (spread.T @ spread) / (m - 1)
        within = self._within(centred[here], inverse, np.bincount(groups)[drawn])
        df = 1 / float((held**2).sum()) - 1 if m < all_groups else float(len(inverse) - m)
        return np.asarray(between + all_groups / m * within), df

    @staticmethod
    def _within(a: FloatArray, group: IntArray, sizes: IntArray) -> FloatArray:
        """Sum over groups of the covariance of each one's total; one drawn item shows none."""
        n = np.bincount(group)
        means = np.stack([np.bincount(group, column) / n for column in a.T], axis=1)
        spread = a - means[group]
        factor = np.where(n > 1, sizes**2 * (1 - n / sizes) / (n * np.maximum(n - 1, 1)), 0.0)
        return np.asarray((spread * factor[group, np.newaxis]).T @ spread)

    def _unequal(self, centred: FloatArray, h: int) -> tuple[FloatArray, float]:
        here = self.stratum == h
        n = int(here.sum())
        a = centred[here] * self.weights[here][:, np.newaxis]
        if n < 2:
            return np.zeros((a.shape[1],) * 2), 0.0
        left = 1 - self.probabilities[here]
        pull = left.sum()
        a = a - (left @ a / pull if pull > 0 else 0.0)
        return np.asarray((a * left[:, np.newaxis]).T @ a * n / (n - 1)), n - 1.0

    @cached_property
    def group_codes(self) -> IntArray:
        """Code of each item's group, shape (N,), in a two-stage draw."""
        assert self.draw.groups is not None
        return np.unique(self.draw.groups, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def groups_by_stratum(self) -> tuple[IntArray, IntArray]:
        """Groups of each stratum: all, and those with a resolved item."""
        _, of_item = strata_of(self.draw)
        codes = self.group_codes
        stratum_of_group = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
        stratum_of_group[codes] = of_item
        drawn = np.unique(codes[self.rows])
        h = len(self.sizes)
        return np.bincount(stratum_of_group, minlength=h), np.bincount(stratum_of_group[drawn], minlength=h)


def resolved_rows(human_terms: FloatArray) -> NDArray[np.bool_]:
    """Rows with a number in every term that has any, shape (n,)."""
    known = ~np.isnan(human_terms)
    labelled = known.any(axis=0)
    return np.asarray(known[:, labelled].all(axis=1) & labelled.any())


class Strata(NamedTuple):
    """Sizes of the strata, shape (H,), and the code of each item's stratum, shape (N,)."""

    sizes: IntArray
    of_item: IntArray


def strata_of(draw: Draw) -> Strata:
    """The strata of a draw; one where it names none."""
    if draw.strata is None:
        return Strata(np.array([draw.items], dtype=np.int64), np.zeros(draw.items, dtype=np.int64))
    _, codes, counts = np.unique(draw.strata, return_inverse=True, return_counts=True)
    return Strata(counts.astype(np.int64), codes.astype(np.int64))


def design_weights(draw: Draw) -> FloatArray:
    """1/π of each drawn item, shape (n,), by the design (Horvitz & Thompson 1952)."""
    if draw.design == "unequal":
        assert draw.probabilities is not None
        return np.asarray(1.0 / draw.probabilities[draw.drawn])
    sizes, of_item = strata_of(draw)
    if draw.design == "simple":
        counts = np.bincount(of_item[draw.drawn], minlength=len(sizes))
        return np.asarray((sizes / np.maximum(counts, 1))[of_item[draw.drawn]])
    return _two_stage_weights(draw, of_item)


def _two_stage_weights(draw: Draw, of_item: IntArray) -> FloatArray:
    assert draw.groups is not None
    _, codes = np.unique(draw.groups, return_inverse=True)
    number = int(codes.max()) + 1
    stratum_of_group = np.zeros(number, dtype=np.int64)
    stratum_of_group[codes] = of_item
    size, taken = np.bincount(codes, minlength=number), np.bincount(codes[draw.drawn], minlength=number)
    groups, drawn = np.bincount(stratum_of_group), np.bincount(stratum_of_group[taken > 0], minlength=of_item.max() + 1)
    first = groups / np.maximum(drawn, 1)
    mine = codes[draw.drawn]
    return np.asarray(first[stratum_of_group[mine]] * size[mine] / taken[mine])


def _raised(weights: FloatArray, cells: IntArray, place: IntArray) -> FloatArray:
    """Weights of resolved items, raised to carry those of the unresolved ones of their cell."""
    number = int(cells.max(initial=-1)) + 1
    drawn = np.bincount(cells, weights, number)
    resolved = np.bincount(cells[place], weights[place], number)
    factor = drawn / np.where(resolved > 0, resolved, np.nan)
    return np.asarray(weights[place] * factor[cells[place]])
