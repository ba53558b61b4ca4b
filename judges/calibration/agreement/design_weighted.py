"""Agreement over all items from a draw in which some were likelier than others.

A label drawn with probability π stands for 1/π items. Unweighted, a draw that takes many of the judge's fails would
show the agreement on fails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.class_agreement import positive_agreement
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.gwet import gwet_ac1
from judges.calibration.agreement.krippendorff_alpha import krippendorff_alpha
from judges.calibration.agreement.ratings import PairTable, counting, distinct_rows, group_by_cluster
from judges.calibration.agreement.sample_design import SampleDesign
from judges.calibration.agreement.scale import FloatArray, IntArray, Scale
from judges.calibration.agreement.weighted_kappa import weighted_kappa
from judges.calibration.agreement.weighted_share import Cells, recall_bounds, weighted_share
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


def design_weighted(scale: Scale, people: ArrayLike, judge: ArrayLike, design: SampleDesign) -> DesignWeighted:
    """Agreement with each item counting for its weight, items (or clusters) resampled with theirs.

    Recall and precision have bounds that do not come from resampling: a label of which none was missed in the sample is
    missed in no resample either.

    Args:
        people, judge: codes of the drawn items, shape (n,); negative ones are left out.
    """
    pairs, bootstrap = weighted_pairs(scale, people, judge, design)
    counts, always = pairs.label_counts(), replace(bootstrap, withheld="")
    shares = _Shares.of(scale, people, judge, design, bootstrap)
    return DesignWeighted(
        _raw(pairs, always),
        cohen_kappa(pairs, bootstrap),
        krippendorff_alpha(counts, bootstrap),
        gwet_ac1(counts, bootstrap),
        {label: shares.recall(code) for code, label in enumerate(scale.labels)},
        {label: shares.precision(code) for code, label in enumerate(scale.labels)},
        {label: positive_agreement(pairs, label, always, f"F1 of {scale.shown[code]}")
         for code, label in enumerate(scale.labels)},
        weighted_kappa(pairs, bootstrap=bootstrap) if scale.ordered else None,
    )  # fmt: skip


def weighted_pairs(
    scale: Scale, people: ArrayLike, judge: ArrayLike, design: SampleDesign
) -> tuple[PairTable, Bootstrap]:
    """The table whose items count for their weights, and how its intervals are made; see `design_weighted`.

    Where strata are the judge's verdicts, whole tables are simulated: a resample of such a draw has no miss among items
    that stand for many when the sample has none.
    """
    values, codes = np.unique(design.weights, return_inverse=True)
    rows = np.stack([np.asarray(people, np.int64), np.asarray(judge, np.int64), codes], axis=1)
    kept = np.asarray((rows[:, :2] >= 0).all(axis=1))
    dropped = {"not_paired": int((~kept).sum())} if not kept.all() else {}
    distinct = distinct_rows(rows[kept])
    grouped = group_by_cluster(design.clusters, kept, distinct)
    counted = counting(values[distinct.rows[:, 2]], distinct.counts)
    pairs = PairTable(
        scale, distinct.rows[:, 0], distinct.rows[:, 1], distinct.counts, grouped, dropped, weights=counted
    )
    bootstrap = Bootstrap.of_pairs(pairs, design.seed, design.resamples, design.level)
    shares = _Shares.of(scale, people, judge, design, bootstrap)
    if not shares.by_verdict:
        return pairs, bootstrap
    return _simulated(pairs, bootstrap, shares.simulated(design.resamples))


def _simulated(pairs: PairTable, bootstrap: Bootstrap, masses: FloatArray) -> tuple[PairTable, Bootstrap]:
    """The table with a row for every cell before its own, on which simulated masses, shape (resamples, q²), lie."""
    q, before = pairs.scale.size, len(pairs.counts)
    rows, columns = np.divmod(np.arange(q * q), q)
    grown = replace(
        pairs,
        rows=np.concatenate([rows, pairs.rows]),
        columns=np.concatenate([columns, pairs.columns]),
        counts=np.concatenate([np.zeros(q * q, dtype=np.int64), pairs.counts]),
        weights=np.concatenate([np.ones(q * q), pairs.weights]),
        clusters=None,
    )
    simulated = np.concatenate([masses, np.zeros((len(masses), before))], axis=1)
    how = f"{len(masses):,} tables simulated from each verdict's share of every label"
    return grown, replace(
        bootstrap, counts=grown.counts, clusters=None, weights=grown.weights, simulated=simulated, how=how
    )


def _raw(pairs: PairTable, bootstrap: Bootstrap) -> Statistic:
    name, dropped = "raw agreement", dict(pairs.dropped)
    if pairs.n == 0:
        return Statistic.undefined("no_pairable_items", "no item was rated by both sides", 0, dropped, name)
    agreed = pairs.rows == pairs.columns

    def coefficient(weights: FloatArray) -> FloatArray:
        return np.asarray((weights @ agreed) / weights.sum(axis=-1))

    return bootstrap.attach(Statistic(float(coefficient(pairs.mass)), pairs.n, name, dropped=dropped), coefficient)


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
        cls, scale: Scale, people: ArrayLike, judge: ArrayLike, design: SampleDesign, bootstrap: Bootstrap
    ) -> _Shares:
        y, f = np.asarray(people, np.int64), np.asarray(judge, np.int64)
        kept = (y >= 0) & (f >= 0)
        by_verdict = False
        if design.strata is not None and design.groups is None:
            pairs = np.unique(np.stack([design.strata[kept], f[kept]], axis=1), axis=0)
            by_verdict = len(np.unique(pairs[:, 0])) == len(pairs)
        together = None if design.groups is None else design.groups[kept]
        return cls(scale, y[kept], f[kept], design.weights[kept], together, by_verdict, bootstrap)

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
        return weighted_share(name, hits[among], self.weights[among], groups, self.bootstrap.level)


_HOW = "items weighted by 1/π"


def _not_used(label: str, name: str) -> Statistic:
    return Statistic.undefined("label_not_used", f"{label} was given to no item", 0, method=name)


def _alike(weights: FloatArray) -> float:
    """Equally likely items that these count as (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())
