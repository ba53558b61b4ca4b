"""Totals and metrics with the judge as covariate: how much weight (λ) its verdicts get, and what then comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.correction.delta import Metrics
from judges.calibration.correction.records import Block
from judges.calibration.correction.sample import Sample

ROUNDS = 25
FEW_GROUPS = 30
"""Of fewer groups the covariance is too coarse to tune by; items are taken as if drawn alone. With 20 whole texts, 95 %
passing and fails in few of them, a λ tuned by groups left nominal 95 % intervals at .89, one tuned by items at .93."""
WEAK_JUDGE = 0.2
"""Below this slope of the judge's terms on people's (Youden's J for a yes/no label) a judge is no covariate."""


@dataclass(frozen=True)
class Drawn:
    """A block ready to estimate from.

    Attributes:
        columns: places of its terms in the vector of all totals, shape (K_b,).
    """

    block: Block
    sample: Sample
    columns: IntArray

    @property
    def items(self) -> int:
        return self.block.items

    @cached_property
    def human(self) -> FloatArray:
        """People's terms of resolved items, shape (r, K_b); 0 in terms that have no labels."""
        return np.nan_to_num(self.block.human_terms[self.sample.place])

    @cached_property
    def judge(self) -> FloatArray:
        """The judge's terms of the same items, shape (r, K_b)."""
        return self.block.judge_terms[self.sample.rows]

    @cached_property
    def judge_totals(self) -> FloatArray:
        return np.asarray(self.block.judge_terms.sum(axis=0))

    @cached_property
    def human_totals(self) -> FloatArray:
        return self.sample.totals(self.human)

    @cached_property
    def judge_expanded(self) -> FloatArray:
        """The judge's totals as the sample alone would give them."""
        return self.sample.totals(self.judge)

    @cached_property
    def unfixed(self) -> FloatArray:
        """1 for terms that a label may change, 0 for others, shape (K_b,)."""
        return np.array([term not in self.block.fixed for term in self.block.terms], dtype=np.float64)

    @cached_property
    def ranges(self) -> FloatArray:
        """Largest minus smallest value seen of each term, shape (K_b,); 0 for fixed ones."""
        seen = np.concatenate([self.block.judge_terms, self.human])
        return np.asarray((seen.max(axis=0) - seen.min(axis=0)) * self.unfixed)

    def totals(self, tuning: float) -> FloatArray:
        """λ Σ_all f + Σ_drawn w (y − λf), shape (K_b,)."""
        return np.asarray(self.human_totals + tuning * (self.judge_totals - self.judge_expanded))


class Estimate(NamedTuple):
    """One metric at one choice of λ.

    Attributes:
        totals: shape (K,). tuning: λ of each block, shape (B,). gradient: at those totals, shape (K,).
    """

    value: float
    totals: FloatArray
    tuning: FloatArray
    gradient: FloatArray


@dataclass(frozen=True)
class Problem:
    """Blocks drawn apart and the metrics over their totals."""

    blocks: tuple[Drawn, ...]
    metrics: Metrics

    def totals(self, tuning: FloatArray) -> FloatArray:
        """Totals of all blocks, shape (K,). A block without labels gives the judge's: metrics that touch it are not
        reported, and others do not depend on it."""
        totals = np.zeros(len(self.metrics.terms))
        for block, weight in zip(self.blocks, tuning.tolist(), strict=True):
            np.add.at(totals, block.columns, block.totals(weight) if block.sample.n else block.judge_totals)
        return totals

    @cached_property
    def judge_totals(self) -> FloatArray:
        totals = np.zeros(len(self.metrics.terms))
        for block in self.blocks:
            np.add.at(totals, block.columns, block.judge_totals)
        return totals

    def humans_only(self, names: Sequence[str]) -> dict[str, Estimate]:
        """Every metric with λ = 0: people's labels expanded by the design."""
        return self._at(np.zeros(len(self.blocks)), names)

    def tuned(self, names: Sequence[str], usable: Sequence[bool]) -> dict[str, Estimate]:
        """Metrics with one λ for each block, chosen for all of them together.

        λ minimises the estimated variance of the linearised metrics: Cov(u, z)/Var(z) by the design, u and z people's
        and the judge's terms times the metric's gradient (for a mean of a simple random sample, the regression
        coefficient). It is not let below 0.

        Args:
            usable: False for a block whose judge is no covariate; its λ stays 0.
        """
        tuning = np.zeros(len(self.blocks))
        for _ in range(ROUNDS):
            gradients = self.metrics.gradients(self.totals(tuning), names)
            found = np.array(
                [
                    tune(block, gradients[:, block.columns]) if use else 0.0
                    for block, use in zip(self.blocks, usable, strict=True)
                ]
            )
            moved = float(np.abs(found - tuning).max(initial=0.0))
            tuning = found
            if moved < 1e-10:
                break
        return self._at(tuning, names)

    def _at(self, tuning: FloatArray, names: Sequence[str]) -> dict[str, Estimate]:
        totals = self.totals(tuning)
        values, gradients = self.metrics.values(totals), self.metrics.gradients(totals, names)
        return {
            name: Estimate(values[name], totals, tuning, gradient)
            for name, gradient in zip(names, gradients, strict=True)
        }


def tune(block: Drawn, gradients: FloatArray) -> float:
    """λ of a block for metrics whose gradients by its terms are given, shape (M, K_b)."""
    if not block.sample.n or not np.isfinite(gradients).all():
        return 0.0
    number = len(gradients)
    people, judge = block.human @ gradients.T, block.judge @ gradients.T
    both = np.concatenate([people, judge], axis=1)
    groups = block.sample.draw.groups
    if block.sample.draw.design == "two_stage" and groups is not None:
        few = len(np.unique(groups[block.sample.rows])) < FEW_GROUPS
        covariance = _plain(block.sample, both) if few else block.sample.covariance(both).whole
    else:
        covariance = block.sample.covariance(both).whole
    variances = np.diagonal(covariance)
    shared, own = float(np.trace(covariance[:number, number:])), float(variances[number:].sum())
    if own <= 1e-12 * float(variances.sum()):
        return 0.0
    return max(shared / own, 0.0)


def informedness(block: Drawn, gradients: FloatArray) -> float:
    """Slope of the judge's linearised terms on people's, weighted: Youden's J = TPR + TNR − 1 for a yes/no label.

    0 when people's do not vary.
    """
    people, judge = block.human @ gradients.T, block.judge @ gradients.T
    weights = block.sample.weights / block.sample.weights.sum()
    people = people - weights @ people
    spread = float((weights @ people**2).sum())
    return float((weights @ (people * judge)).sum()) / spread if spread > 0 else 0.0


def _plain(sample: Sample, values: FloatArray) -> FloatArray:
    centred = values - sample.means(values)[sample.stratum]
    return np.asarray((centred * sample.weights[:, np.newaxis]).T @ centred)
