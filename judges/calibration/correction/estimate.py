"""Totals and metrics with the judge as covariate: how much weight (λ) its verdicts get, and what then comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.correction.delta import Metrics
from judges.calibration.correction.records import Block
from judges.calibration.correction.sample import Sample

ROUNDS = 25
SETTLED = 1e-11
"""λ that moves by less is kept."""
WEAK_JUDGE = 0.2
"""Below this slope of the judge's terms on people's (Youden's J for a yes/no label) a judge is no covariate."""


class Covariances(NamedTuple):
    """Of k terms, each of shape (k, k): people's with the judge's, the judge's, people's."""

    shared: FloatArray
    judge: FloatArray
    people: FloatArray


@dataclass(frozen=True)
class Drawn:
    """A block ready to estimate from.

    Attributes:
        columns: places of its terms in the vector of all totals, shape (K_b,).
    """

    block: Block
    sample: Sample
    columns: IntArray
    kept: dict[bytes, Covariances] = field(default_factory=dict, repr=False, compare=False)

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

    def covariance(self, used: IntArray) -> Covariances:
        """How the totals of some terms vary, to tune λ by. Kept: every round of tuning asks for the same."""
        key = used.tobytes()
        if key not in self.kept:
            both = np.concatenate([self.human[:, used], self.judge[:, used]], axis=1)
            number, found = len(used), self._by_design(both)
            self.kept[key] = Covariances(found[:number, number:], found[number:, number:], found[:number, :number])
        return self.kept[key]

    def _by_design(self, values: FloatArray) -> FloatArray:
        sample = self.sample
        if sample.draw.design == "two_stage":
            # The covariance of groups is too coarse to tune by: where 95 % pass and the fails lie in few texts, λ tuned
            # by it left nominal 95 % intervals at .89 (20 texts), .923 (30) and .915 (70); by items .93, .937 and .925.
            centred = values - sample.means(values)[sample.stratum]
            return np.asarray((centred * sample.weights[:, np.newaxis]).T @ centred)
        return sample.covariance(values).whole


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

    def tuned(self, names: Sequence[str], touched: Sequence[bool], usable: Sequence[bool]) -> dict[str, Estimate]:
        """Metrics with one λ for each block, chosen for all of them together.

        λ minimises the estimated variance of the linearised metrics: Cov(u, z)/Var(z) by the design, u and z people's
        and the judge's terms times the metric's gradient (for a mean of a simple random sample, the regression
        coefficient). It is not let below 0.

        Args:
            touched: False for a block that the metrics do not depend on.
            usable: False for a block whose judge is no covariate; its λ stays 0.
        """
        needed = np.zeros(len(self.metrics.terms), dtype=bool)
        for block, touches in zip(self.blocks, touched, strict=True):
            needed[block.columns] |= touches
        tuning = np.zeros(len(self.blocks))
        for _ in range(ROUNDS):
            gradients = self.metrics.gradients(self.totals(tuning), names, needed)
            found = np.array(
                [
                    tune(block, gradients[:, block.columns]) if use else 0.0
                    for block, use in zip(self.blocks, usable, strict=True)
                ]
            )
            if float(np.abs(found - tuning).max(initial=0.0)) < SETTLED:
                break
            tuning = found
        return self._at(tuning, names, needed)

    def _at(
        self, tuning: FloatArray, names: Sequence[str], needed: NDArray[np.bool_] | None = None
    ) -> dict[str, Estimate]:
        totals = self.totals(tuning)
        values, gradients = self.metrics.values(totals), self.metrics.gradients(totals, names, needed)
        return {
            name: Estimate(values[name], totals, tuning, gradient)
            for name, gradient in zip(names, gradients, strict=True)
        }


def tune(block: Drawn, gradients: FloatArray) -> float:
    """λ of a block for metrics whose gradients by its terms are given, shape (M, K_b)."""
    if not block.sample.n or not np.isfinite(gradients).all():
        return 0.0
    used = np.flatnonzero((gradients != 0).any(axis=0))
    slopes = gradients[:, used]
    covariance = block.covariance(used)
    shared, own, people = (np.einsum("mk,kl,ml->", slopes, part, slopes) for part in covariance)
    # Where nothing varies, rounding may leave a variance a little below 0.
    return max(float(shared / own), 0.0) if own > 1e-12 * (own + max(people, 0.0)) else 0.0


def informedness(block: Drawn, gradients: FloatArray) -> float:
    """Slope of the judge's linearised terms on people's, weighted: Youden's J = TPR + TNR − 1 for a yes/no label.

    0 when people's do not vary.
    """
    people, judge = block.human @ gradients.T, block.judge @ gradients.T
    weights = block.sample.weights / block.sample.weights.sum()
    people = people - weights @ people
    spread = float((weights @ people**2).sum())
    return float((weights @ (people * judge)).sum()) / spread if spread > 0 else 0.0
