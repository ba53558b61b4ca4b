"""Agreement over all items from a draw in which some were likelier than others.

A label drawn with probability π stands for 1/π items. Unweighted, a draw that takes many of the judge's fails would
show the agreement on fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.bootstrap import LEVEL, RESAMPLES, Bootstrap, rarest_label
from judges.calibration.agreement.cohen_kappa import kappa_values
from judges.calibration.agreement.gwet import ac_values
from judges.calibration.agreement.krippendorff_alpha import alpha_values
from judges.calibration.agreement.ratings import PairTable, distinct_rows, group_by_cluster
from judges.calibration.agreement.scale import FloatArray, Scale
from judges.calibration.agreement.undefined import undefined_pairs
from judges.calibration.statistic import Statistic


@dataclass(frozen=True)
class DesignWeighted:
    """Agreement of a judge with people over all items.

    Attributes:
        recall, precision: by label.
    """

    raw_agreement: Statistic
    cohen_kappa: Statistic
    krippendorff_alpha: Statistic
    gwet_ac1: Statistic
    recall: dict[str, Statistic]
    precision: dict[str, Statistic]


def design_weighted(
    scale: Scale,
    people: ArrayLike,
    judge: ArrayLike,
    weights: ArrayLike,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> DesignWeighted:
    """Agreement with each item counting for its weight, items (or clusters) resampled with theirs.

    Args:
        people, judge: codes of the drawn items, shape (n,); negative ones are left out.
        weights: 1/π of each, shape (n,), above 0. clusters: groups that were drawn together.

    Raises:
        ValueError: a weight is not above 0.
    """
    table = _Weighted.of(scale, people, judge, weights, clusters, seed, resamples, level)
    pairs, counts = table.pairs, table.pairs.label_counts()
    identity = scale.weights("identity")
    disagreement = 1 - identity

    def raw(mass: FloatArray) -> FloatArray:
        return np.asarray((mass @ (pairs.rows == pairs.columns)) / mass.sum(axis=-1))

    by_label = {code: label for code, label in enumerate(scale.labels)}
    return DesignWeighted(
        table.statistic("raw agreement", raw, False),
        table.statistic("Cohen's kappa", lambda mass: kappa_values(pairs, mass, disagreement), True, True),
        table.statistic("Krippendorff's alpha", lambda mass: alpha_values(counts, mass, scale.level), True),
        table.statistic("Gwet's AC1", lambda mass: ac_values(counts, mass, identity), True),
        {label: table.share(f"recall of {label}", pairs.rows == code, code) for code, label in by_label.items()},
        {label: table.share(f"precision of {label}", pairs.columns == code, code) for code, label in by_label.items()},
    )


@dataclass(frozen=True)
class _Weighted:
    """Distinct (people, judge, weight) rows with their counts; coefficients see counts times weights.

    Attributes:
        pairs: a pair of labels stands in it once for each weight, so its `confusion` is not to be used.
        mass: weight of each row, put so that all items together weigh as many as they are.
    """

    pairs: PairTable
    mass: FloatArray
    bootstrap: Bootstrap

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
        coefficient: Callable[[FloatArray], FloatArray],
        chance_corrected: bool,
        constant_rater: bool = False,
    ) -> Statistic:
        method = f"{name}, items weighted by 1/π"
        if self.pairs.n == 0:
            why = "no item was rated by both sides"
            return Statistic.undefined("no_pairable_items", why, 0, dict(self.pairs.dropped), method)
        undefined = undefined_pairs(self.pairs, method, constant_rater) if chance_corrected else None
        if undefined:
            return undefined

        def weighted(items: FloatArray) -> FloatArray:
            return coefficient(items * self.mass)

        value = float(weighted(self.bootstrap.counts.astype(np.float64)))
        plain = Statistic(value, self.pairs.n, method, dropped=dict(self.pairs.dropped))
        bootstrap = self.bootstrap if chance_corrected else replace(self.bootstrap, withheld="")
        return bootstrap.attach(plain, weighted)

    def share(self, name: str, among: np.ndarray, code: int) -> Statistic:
        """Share of the rows `among` in which both sides gave the label."""
        hits = (self.pairs.rows == code) & (self.pairs.columns == code)
        n = int(self.pairs.counts[among].sum())
        if n == 0:
            why = f"{self.pairs.scale.shown[code]} was given to no item"
            return Statistic.undefined("label_not_used", why, 0, dict(self.pairs.dropped), name)

        def coefficient(mass: FloatArray) -> FloatArray:
            below = mass @ among
            return np.asarray(np.where(below > 0, (mass @ hits) / np.where(below > 0, below, 1.0), np.nan))

        return replace(self.statistic(name, coefficient, False), n=n)
