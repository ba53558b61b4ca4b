"""Unequal chances that take few values, as the strata they make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judges.calibration.agreement.scale import IntArray
from judges.calibration.correction.records import Block, Draw

LEAST_DRAWN = 2
"""Items that must have been drawn with each chance: of fewer nothing shows how they vary."""
FURTHEST = 4.0
"""Standard errors that the items of one verdict may be away from as many as those drawn stand for."""


def as_strata(block: Block) -> Draw:
    """A block's draw; where its chances are few, or follow the judge's verdict, as a random one of each kind.

    Given how many items of each chance were drawn, one set of them is as likely as the other, drawn one by one or in
    random order. The weights then are exact, and few items that stand for many are guarded as a stratum of their own:
    with judge's fails ten times likelier an interval from 1/π alone held the truth .81 times instead of .95.
    """
    draw = block.draw
    if draw.design != "unequal" or draw.strata is not None or not len(draw.drawn):
        return draw
    kinds = _kinds(block)
    if kinds is None or np.bincount(kinds[draw.drawn], minlength=int(kinds.max()) + 1).min() < LEAST_DRAWN:
        return draw
    return replace(draw, design="simple", strata=kinds, probabilities=None)


def _kinds(block: Block) -> IntArray | None:
    """What kind each item is of, shape (N,): by its chance, else by the judge's verdict if that sets the chance."""
    draw = block.draw
    assert draw.probabilities is not None
    if np.isfinite(draw.probabilities).all():
        return np.unique(np.round(draw.probabilities, 12), return_inverse=True)[1].astype(np.int64)
    if block.verdicts is None:
        return None
    kinds = np.unique(block.verdicts, return_inverse=True)[1].astype(np.int64)
    chances, mine = draw.probabilities[draw.drawn], kinds[draw.drawn]
    for kind, size in enumerate(np.bincount(kinds).tolist()):
        own = chances[mine == kind]
        if not len(own) or np.ptp(own) > 1e-9 * own.max():
            return None
        # Items of the verdict that had another chance would show as a sum of weights that is not their number.
        if abs(len(own) / own[0] - size) > FURTHEST * np.sqrt(max(len(own) * (1 - own[0]), 0.0)) / own[0] + 1e-6 * size:
            return None
    return kinds
