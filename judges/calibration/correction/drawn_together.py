"""Tasks whose items came with the same texts: what one text does to the totals of several tasks at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from judges.calibration.agreement.scale import FloatArray, IntArray
from judges.calibration.correction.estimate import Drawn


class Part(NamedTuple):
    """A block with the metric's gradient by its terms, shape (K_b,), and its λ."""

    block: Drawn
    gradient: FloatArray
    tuning: float


def covariance_of(parts: Sequence[Part]) -> float:
    """What blocks drawn together add to a metric's variance: twice the covariance of each pair.

    Blocks of one two-stage draw share its groups, so they are not independent. The covariance is that of the groups'
    expanded residuals (ultimate clusters, Hansen, Hurwitz & Madow 1953). Where it would lessen the variance it is left
    out: of few groups it is a coarse number.
    """
    found = 0.0
    for a, b in combinations([part for part in parts if part.block.block.draw.together], 2):
        if a.block.block.draw.together == b.block.block.draw.together:
            found += max(2 * _covariance(a, b), 0.0)
    return found


def _covariance(a: Part, b: Part) -> float:
    groups_a, added_a = _by_group(a)
    groups_b, added_b = _by_group(b)
    drawn = np.union1d(groups_a, groups_b)
    number, all_groups = len(drawn), len(np.union1d(_groups(a), _groups(b)))
    if number < 2:
        return 0.0
    one, two = np.zeros(number), np.zeros(number)
    one[np.searchsorted(drawn, groups_a)] = added_a
    two[np.searchsorted(drawn, groups_b)] = added_b
    return float((1 - number / all_groups) * number / (number - 1) * ((one - one.mean()) @ (two - two.mean())))


def _groups(part: Part) -> IntArray:
    groups = part.block.block.draw.groups
    assert groups is not None
    return np.asarray(groups, dtype=np.int64)


def _by_group(part: Part) -> tuple[IntArray, FloatArray]:
    """The groups with a resolved item, and what each adds to the linearised total beyond its share of the mean."""
    sample = part.block.sample
    residuals = ((part.block.human - part.tuning * part.block.judge) @ part.gradient)[:, np.newaxis]
    centred = (residuals - sample.means(residuals)[sample.stratum])[:, 0]
    groups, codes = np.unique(_groups(part)[sample.rows], return_inverse=True)
    return groups, np.bincount(codes, sample.weights * centred, len(groups)).astype(np.float64)
