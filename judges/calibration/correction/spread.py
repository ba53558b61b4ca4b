"""How far a corrected metric may be off: its variance block by block, guarded where a small sample shows too little.

Two guards. A simple random sample in which one term depends on labels gets half a pseudo-item in each corner of
(people, judge): for a yes/no label that adds 0.5 to each cell of the labelled table (coverage at nominal 95 % of .944
and more in 45 settings where the plain interval fell to .546). Strata share them by size: where half of the labels are
in the tenth that the judge fails, an error not seen among the others stands for many (.97 where it was .86). Elsewhere
the residual variance of each total that labels change gets 0.5·range²/n added: half of one full-range disagreement,
and in texts or other groups drawn as such half of those that come together (where 95 % pass, people's labels of 20
texts held the truth .87 of the time where the judge gained nothing, now .94). Both vanish when all items are labelled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from judges.calibration.agreement.scale import FloatArray
from judges.calibration.clustered import intraclass
from judges.calibration.correction.estimate import Drawn
from judges.calibration.correction.records import Target
from judges.calibration.correction.sample import strata_of

CORNER = 0.5
HALF_DISAGREEMENT = 0.5


class Spread(NamedTuple):
    """A block's part in a metric's variance.

    Attributes:
        shift: what the guard moves the interval's centre by.
        df: degrees of freedom.
    """

    variance: float
    shift: float
    df: float


def spread(block: Drawn, gradient: FloatArray, tuning: float, target: Target, shared_tuning: bool = False) -> Spread:
    """Variance of a linearised metric from one block.

    Args:
        gradient: of the metric by the block's terms, shape (K_b,).
        tuning: the block's λ; 0 for people's labels alone.
        shared_tuning: λ was chosen for several metrics together and is not chosen anew with the corners.
    """
    by_clusters = target == "population" and block.block.clusters is not None
    if (
        block.sample.draw.design == "simple"
        and not by_clusters
        and (tuning == 0 or _terms_at_stake(block, gradient) == 1)
    ):
        return _smoothed(block, gradient, tuning, target, shared_tuning)
    if by_clusters:
        return _clustered(block, gradient, tuning)
    return _guarded(block, gradient, tuning, target)


def plain_variance(block: Drawn, gradient: FloatArray, tuning: float) -> Spread:
    """The design variance of the linearised residuals, without guard, for the items at hand.

    A tuned λ costs one degree of freedom; strata are pooled by Satterthwaite 1946.
    """
    residuals = (block.human - tuning * block.judge) @ gradient
    parts, df = block.sample.covariance(residuals[:, np.newaxis])
    variances = parts[:, 0, 0]
    total, all_df = float(variances.sum()), float(df.sum())
    effective = all_df
    if total > 0:
        weights = np.where(variances > 0, variances**2 / np.maximum(df, 1), 0.0)
        effective = min(total**2 / float(weights.sum()), all_df)
    if tuning > 0:
        total *= all_df / max(all_df - 1, 1)
        effective -= 1
    return Spread(total, 0.0, max(effective, 1.0))


def _guarded(block: Drawn, gradient: FloatArray, tuning: float, target: Target) -> Spread:
    plain = plain_variance(block, gradient, tuning)
    variance = plain.variance + _half_disagreement(block, gradient, _come_together(block, gradient))
    if target == "population":
        variance += _between_items(block, gradient)
    return Spread(variance, 0.0, plain.df)


def _half_disagreement(block: Drawn, gradient: FloatArray, together: float = 1.0) -> float:
    """What half of one full-range disagreement on a drawn item, and on those that come with it, would add to each
    total's variance.

    Args:
        together: disagreements that come where one does, itself counted.
    """
    weights = block.sample.weights
    squares = (1 - block.sample.probabilities) * weights**2
    # Where chances differ item by item, the disagreement not seen is among all items, not among those drawn: most of
    # those may be ones that were likely to be drawn and count for little.
    unequal = block.sample.draw.design == "unequal"
    expansion = float(weights @ squares / weights.sum() if unequal else squares.mean())
    size = together * gradient * block.ranges
    return HALF_DISAGREEMENT * float((size**2).sum()) * expansion


def _come_together(block: Drawn, gradient: FloatArray) -> float:
    """Disagreements that a drawn group brings where it brings one: 1 + (b − 1)ρ of b drawn items a group (Kish 1965);
    1 where groups were not drawn, or all were.

    ρ is how alike the judge's verdicts on all items are within groups: a sample that happens to lack such a group does
    not show it in people's labels.
    """
    sample = block.sample
    if sample.draw.design != "two_stage":
        return 1.0
    every, drawn = (counts.sum() for counts in sample.groups_by_stratum)
    if every == drawn:
        return 1.0
    of_item = strata_of(sample.draw).of_item
    judged = block.block.judge_terms @ gradient
    judged = judged - (np.bincount(of_item, judged) / sample.sizes)[of_item]
    held = np.bincount(sample.group_codes[sample.rows])
    size = float((held**2).sum() / held.sum())
    return 1 + (size - 1) * intraclass(judged, sample.group_codes)


def unstratified(block: Drawn, gradient: FloatArray) -> Spread:
    """What people's labels alone would show in a simple random sample of as many items."""
    n, size = block.sample.n, block.items
    guard = HALF_DISAGREEMENT * float(((gradient * block.ranges) ** 2).sum()) * (1 - n / size) * (size / n) ** 2
    return Spread(size * (1 / n - 1 / size) * _between_items(block, gradient) + guard, 0.0, max(n - 1.0, 1.0))


def _between_items(block: Drawn, gradient: FloatArray) -> float:
    """Variance of the finite total when its items are themselves a sample of independent ones."""
    people = block.human @ gradient
    weights = block.sample.weights
    centred = people - weights @ people / weights.sum()
    n = block.sample.n
    return float(weights @ centred**2) * n / max(n - 1, 1)


def _clustered(block: Drawn, gradient: FloatArray, tuning: float) -> Spread:
    """Between clusters, each with all it adds to the estimate (ultimate clusters, Hansen, Hurwitz & Madow 1953).

    Unequal clusters count as (Σ size)²/Σ size² equal ones (Carter, Schnepel & Steigerwald 2017).
    """
    assert block.block.clusters is not None
    _, codes, sizes = np.unique(block.block.clusters, return_inverse=True, return_counts=True)
    judge = tuning * (block.block.judge_terms @ gradient)
    residuals = ((block.human - tuning * block.judge) @ gradient)[:, np.newaxis]
    centred = (residuals - block.sample.means(residuals)[block.sample.stratum])[:, 0]
    number = len(sizes)
    added = np.bincount(codes, judge - judge.mean(), number)
    added += np.bincount(codes[block.sample.rows], block.sample.weights * centred, number)
    variance = number / (number - 1) * float(((added - added.mean()) ** 2).sum())
    effective = float(sizes.sum() ** 2 / (sizes.astype(float) ** 2).sum()) - 1 - (tuning > 0)
    return Spread(variance + _half_disagreement(block, gradient), 0.0, max(effective, 1.0))


def _smoothed(block: Drawn, gradient: FloatArray, tuning: float, target: Target, shared_tuning: bool) -> Spread:
    sample = block.sample
    everyone = block.block.judge_terms @ gradient
    people, judge = block.human @ gradient, block.judge @ gradient
    low, high = min(everyone.min(), people.min()), max(everyone.max(), people.max())
    judged = np.bincount(strata_of(sample.draw).of_item, everyone, len(sample.sizes))
    keeps = shared_tuning or tuning == 0 or len(sample.sizes) > 1
    parts = []
    for h, (size, n) in enumerate(zip(sample.sizes.tolist(), sample.per_stratum.tolist(), strict=True)):
        here = sample.stratum == h
        own = _Stratum(size, n, people[here], judge[here], sample.weights[here] * n / size, float(judged[h]))
        # A corner weighs by its stratum's part of the items: together all of them weigh as they do without strata.
        parts.append(own.smoothed((low, high), CORNER * size / block.items, tuning, keeps, target == "finite"))
    variances = np.array([part.variance for part in parts])
    total = float(variances.sum())
    df = total**2 / float((variances**2 / [part.df for part in parts]).sum()) if total > 0 else sample.n - 1.0
    if target == "population":
        total += _between_items(block, gradient)
    return Spread(total, sum(part.shift for part in parts), max(df, 1.0))


class _Stratum(NamedTuple):
    """Linearised values of a stratum's drawn items, their weights summing to their number, and the judge's total."""

    size: int
    n: int
    people: FloatArray
    judge: FloatArray
    weights: FloatArray
    judged: float

    def smoothed(
        self, ends: tuple[float, float], corner: float, tuning: float, keeps_tuning: bool, finite: bool
    ) -> Spread:
        """Its part in the variance with a pseudo-item of weight `corner` in each corner of (people, judge)."""
        low, high = ends
        y = np.concatenate([self.people, [low, low, high, high]])
        f = np.concatenate([self.judge, [low, high, low, high]])
        w = np.concatenate([self.weights, np.full(4, corner)])
        smoothed_tuning = tuning if keeps_tuning else max(_slope(y, f, w), 0.0)
        residuals = y - smoothed_tuning * f
        mass = float(w.sum())
        mean = float(w @ residuals) / mass
        left = 1 - self.n / self.size
        variance = float(w @ (residuals - mean) ** 2) / max(mass - 1, 4 * corner) / mass
        own_mean = float(self.weights @ (self.people - tuning * self.judge)) / self.n
        shift = self.size * (mean - own_mean) + (smoothed_tuning - tuning) * self.judged
        # For the finite target, what is not labelled is what the smoothed mean speaks of.
        return Spread(self.size**2 * left * variance, shift * left if finite else shift, max(self.n - 1.0, 1.0))


def _slope(y: FloatArray, f: FloatArray, w: FloatArray) -> float:
    centred = f - w @ f / w.sum()
    own = float(w @ centred**2)
    return float(w @ (centred * y)) / own if own > 0 else 0.0


def _terms_at_stake(block: Drawn, gradient: FloatArray) -> int:
    """Terms that the metric uses and a label may change."""
    return int(((gradient * block.ranges) != 0).sum())


def seen_range(block: Drawn, gradient: FloatArray) -> float:
    """Largest minus smallest linearised value that the judge gave any item or people a drawn one."""
    everyone, people = block.block.judge_terms @ gradient, block.human @ gradient
    values = np.concatenate([everyone, people])
    found = float(values.max() - values.min())
    return 0.0 if found <= 1e-12 * max(float(np.abs(values).max()), math.ulp(0.0)) else found
