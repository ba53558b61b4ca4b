"""Agreement over all items from a draw in which some were likelier than others.

A label drawn with probability π stands for 1/π items. Unweighted, a draw that takes many of the judge's fails would
show the agreement on fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.bootstrap import LEVEL, RESAMPLES, Bootstrap, rarest_label
from judges.calibration.agreement.cohen_kappa import kappa_values
from judges.calibration.agreement.gwet import ac_values
from judges.calibration.agreement.krippendorff_alpha import alpha_values
from judges.calibration.agreement.ratings import PairTable, distinct_rows, group_by_cluster
from judges.calibration.agreement.scale import FloatArray, IntArray, Scale
from judges.calibration.agreement.undefined import undefined_pairs
from judges.calibration.agreement.weighted_share import Cells, effective_share_bounds, recall_bounds
from judges.calibration.statistic import Statistic


@dataclass(frozen=True)
class DesignWeighted:
    """Agreement of a judge with people over all items.

    Attributes:
        recall, precision, f1: by label. weighted_kappa: on ordered scales.
    """

    raw_agreement: Statistic
    cohen_kappa: Statistic
    krippendorff_alpha: Statistic
    gwet_ac1: Statistic
    recall: dict[str, Statistic]
    precision: dict[str, Statistic]
    f1: dict[str, Statistic]
    weighted_kappa: Statistic | None = None


def design_weighted(
    scale: Scale,
    people: ArrayLike,
    judge: ArrayLike,
    weights: ArrayLike,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> DesignWeighted:
    """Agreement with each item counting for its weight, items (or clusters) resampled with theirs.

    Recall and precision have bounds that do not come from resampling: a label of which none was missed in the sample is
    missed in no resample either.

    Args:
        people, judge: codes of the drawn items, shape (n,); negative ones are left out.
        weights: 1/π of each, shape (n,), above 0. clusters: what is resampled.
        strata: codes of what was drawn apart, shape (n,). groups: of what was drawn together, shape (n,).

    Raises:
        ValueError: a weight is not above 0.
    """
    table = _Weighted.of(scale, people, judge, weights, clusters, seed, resamples, level)
    shares = _Shares.of(scale, people, judge, weights, groups, strata, table.bootstrap)
    table = replace(table, simulated=shares.simulated(resamples) if shares.by_verdict else None)
    identity = scale.weights("identity")
    return DesignWeighted(
        table.statistic("raw agreement", _raw, False),
        table.statistic("Cohen's kappa", _kappa(1 - identity), True, True),
        table.statistic("Krippendorff's alpha", _alpha, True),
        table.statistic("Gwet's AC1", _ac1, True),
        {label: shares.recall(code) for code, label in enumerate(scale.labels)},
        {label: shares.precision(code) for code, label in enumerate(scale.labels)},
        {label: table.f1(code) for code, label in enumerate(scale.labels)},
        table.statistic("weighted kappa", _kappa(1 - scale.weights("quadratic")), True, True)
        if scale.ordered
        else None,
    )


Of = Callable[[PairTable, FloatArray], FloatArray]
"""A coefficient: a table's pairs and their masses, shape (..., P), to values of shape (...)."""


def _raw(pairs: PairTable, mass: FloatArray) -> FloatArray:
    return np.asarray((mass @ (pairs.rows == pairs.columns)) / mass.sum(axis=-1))


def _kappa(disagreement: FloatArray) -> Of:
    return lambda pairs, mass: kappa_values(pairs, mass, disagreement)


def _alpha(pairs: PairTable, mass: FloatArray) -> FloatArray:
    return np.asarray(alpha_values(pairs.label_counts(), mass, pairs.scale.level))


def _ac1(pairs: PairTable, mass: FloatArray) -> FloatArray:
    return ac_values(pairs.label_counts(), mass, pairs.scale.weights("identity"))


@dataclass(frozen=True)
class _Weighted:
    """Distinct (people, judge, weight) rows with their counts; coefficients see counts times weights.

    Attributes:
        pairs: a pair of labels stands in it once for each weight, so its `confusion` is not to be used.
        mass: weight of each row, put so that all items together weigh as many as they are.
        simulated: masses of all cells of the table, shape (resamples, q²), where strata are the judge's verdicts. A
            resample of such a draw has no miss among items that stand for many when the sample has none.
    """

    pairs: PairTable
    mass: FloatArray
    bootstrap: Bootstrap
    simulated: FloatArray | None = None

    @classmethod
    def of(
        cls,
        scale: Scale,
        people: ArrayLike,
        judge: ArrayLike,
        weights: ArrayLike,
        clusters: ArrayLike | None,
        seed: int,
        resamples: int,
        level: float,
    ) -> _Weighted:
        given = np.asarray(weights, dtype=np.float64)
        if not bool((given > 0).all()):
            raise ValueError("a weight is not above 0")
        values, codes = np.unique(given, return_inverse=True)
        rows = np.stack([np.asarray(people, np.int64), np.asarray(judge, np.int64), codes], axis=1)
        kept = np.asarray((rows[:, :2] >= 0).all(axis=1))
        dropped = {"not_paired": int((~kept).sum())} if not kept.all() else {}
        distinct = distinct_rows(rows[kept])
        grouped = group_by_cluster(clusters, kept, distinct)
        pairs = PairTable(scale, distinct.rows[:, 0], distinct.rows[:, 1], distinct.counts, grouped, dropped)
        by_label = np.bincount(pairs.rows, pairs.counts, scale.size).astype(np.int64)
        withheld = rarest_label(by_label, scale.shown, pairs.n) if pairs.n else ""
        bootstrap = Bootstrap(distinct.counts, grouped, withheld, resamples, seed, level)
        mass = values[distinct.rows[:, 2]]
        total = float(mass @ distinct.counts)
        return cls(pairs, mass * pairs.n / total if total else mass, bootstrap)

    def statistic(
        self,
        name: str,
        coefficient: Of,
        chance_corrected: bool,
        constant_rater: bool = False,
    ) -> Statistic:
        method = f"{name}, {_HOW}"
        if self.pairs.n == 0:
            why = "no item was rated by both sides"
            return Statistic.undefined("no_pairable_items", why, 0, dict(self.pairs.dropped), method)
        undefined = undefined_pairs(self.pairs, method, constant_rater) if chance_corrected else None
        if undefined:
            return undefined

        def weighted(items: FloatArray) -> FloatArray:
            return coefficient(self.pairs, items * self.mass)

        value = float(weighted(self.bootstrap.counts.astype(np.float64)))
        plain = Statistic(value, self.pairs.n, method, dropped=dict(self.pairs.dropped))
        bootstrap = self.bootstrap if chance_corrected else replace(self.bootstrap, withheld="")
        if self.simulated is None or bootstrap.withheld:
            return bootstrap.attach(plain, weighted)
        scale = self.pairs.scale
        cells = PairTable.of_confusion(scale, np.ones((scale.size, scale.size), dtype=np.int64))
        values = coefficient(cells, self.simulated)
        tail = 50 * (1 - bootstrap.level)
        low, high = (float(bound) for bound in np.percentile(values[np.isfinite(values)], [tail, 100 - tail]))
        how = f"{len(values):,} tables simulated from each verdict's share of every label, seed {bootstrap.seed}"
        return plain.with_interval(min(low, value), max(high, value), bootstrap.level, how)

    def f1(self, code: int) -> Statistic:
        """Twice the items both sides gave the label, of those either did."""
        mine, its = self.pairs.rows == code, self.pairs.columns == code
        name, n = f"F1 of {self.pairs.scale.shown[code]}", int(self.pairs.counts[mine | its].sum())
        if n == 0:
            return _not_used(self.pairs.scale.shown[code], name)

        def coefficient(pairs: PairTable, mass: FloatArray) -> FloatArray:
            mine, its = pairs.rows == code, pairs.columns == code
            below = mass @ mine + mass @ its
            return np.asarray(np.where(below > 0, 2 * (mass @ (mine & its)) / np.where(below > 0, below, 1.0), np.nan))

        return replace(self.statistic(name, coefficient, False), n=n)


@dataclass(frozen=True)
class _Shares:
    """Drawn items one by one: labels of both sides, weights, what was drawn together, and whether strata are verdicts.

    Attributes:
        people, judge, weights, groups: shape (n,).
    """

    scale: Scale
    people: IntArray
    judge: IntArray
    weights: FloatArray
    groups: NDArray[np.integer] | None
    by_verdict: bool
    bootstrap: Bootstrap

    @classmethod
    def of(
        cls,
        scale: Scale,
        people: ArrayLike,
        judge: ArrayLike,
        weights: ArrayLike,
        groups: ArrayLike | None,
        strata: ArrayLike | None,
        bootstrap: Bootstrap,
    ) -> _Shares:
        y, f, w = np.asarray(people, np.int64), np.asarray(judge, np.int64), np.asarray(weights, np.float64)
        kept = (y >= 0) & (f >= 0)
        by_verdict = False
        if strata is not None and groups is None:
            pairs = np.unique(np.stack([np.asarray(strata)[kept], f[kept]], axis=1), axis=0)
            by_verdict = len(np.unique(pairs[:, 0])) == len(pairs)
        together = None if groups is None else np.asarray(groups)[kept]
        return cls(scale, y[kept], f[kept], w[kept], together, by_verdict, bootstrap)

    def simulated(self, times: int) -> FloatArray:
        """Masses of the table's cells, shape (times, q²), row by row: each verdict's shares of the labels as Jeffreys'
        prior and the sample leave them."""
        q = self.scale.size
        rng = np.random.default_rng(self.bootstrap.seed)
        masses = np.zeros((times, q, q))
        for verdict in np.unique(self.judge):
            here = self.judge == verdict
            size = float(self.weights[here].sum())
            seen = np.bincount(self.people[here], self.weights[here], q) / size * _alike(self.weights[here])
            masses[:, :, verdict] = size * rng.dirichlet(seen + 0.5, times)
        return masses.reshape(times, q * q)

    def recall(self, code: int) -> Statistic:
        name, among = f"recall of {self.scale.shown[code]}", self.people == code
        if not among.any() or not self.by_verdict:
            return self._share(name, among, code)
        verdicts = np.unique(self.judge)
        size = np.array([self.weights[self.judge == verdict].sum() for verdict in verdicts])
        drawn = np.array([_alike(self.weights[self.judge == verdict]) for verdict in verdicts])
        found = np.array([self.weights[among & (self.judge == verdict)].sum() for verdict in verdicts]) / size * drawn
        value = float(self.weights[among & (self.judge == code)].sum() / self.weights[among].sum())
        plain = Statistic(value, int(among.sum()), f"{name}, {_HOW}")
        if code not in verdicts:
            # Nothing the judge says is this label: what people gave it is all missed.
            return plain.with_interval(0.0, 0.0, self.bootstrap.level, "the judge never says it")
        hit = int(np.searchsorted(verdicts, code))
        low, high = recall_bounds(Cells(size, drawn, found), hit, self.bootstrap.level, self.bootstrap.seed)
        how = "simulated bounds of each verdict's share"
        return plain.with_interval(min(low, value), max(high, value), self.bootstrap.level, how)

    def precision(self, code: int) -> Statistic:
        return self._share(f"precision of {self.scale.shown[code]}", self.judge == code, code)

    def _share(self, name: str, among: NDArray[np.bool_], code: int) -> Statistic:
        """Share of the items `among` in which both sides gave the label."""
        if not among.any():
            return _not_used(self.scale.shown[code], name)
        hits = (self.people == code) & (self.judge == code)
        groups = None if self.groups is None else self.groups[among]
        low, high = effective_share_bounds(hits[among], self.weights[among], groups, self.bootstrap.level)
        value = float(self.weights[among & hits].sum() / self.weights[among].sum())
        plain = Statistic(value, int(among.sum()), f"{name}, {_HOW}")
        return plain.with_interval(low, high, self.bootstrap.level, "exact interval of the effective number of items")


_HOW = "items weighted by 1/π"


def _not_used(label: str, name: str) -> Statistic:
    return Statistic.undefined("label_not_used", f"{label} was given to no item", 0, method=name)


def _alike(weights: FloatArray) -> float:
    """Equally likely items that these count as (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())
