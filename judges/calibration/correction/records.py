"""What a correction reads: blocks of items with judge's and people's terms, how they were drawn, where labels are from.

A *term* is a number a benchmark sums over items (full points, points, weights …); a metric is combined from sums of
terms. A *block* is a task whose items were drawn together; blocks drawn apart are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from judges.calibration.agreement.scale import FloatArray, IntArray

Target = Literal["finite", "population"]
"""finite: these items, all of them; population: whatever the items (or their clusters) were sampled from."""

Design = Literal["simple", "two_stage", "unequal"]
"""How items were drawn within each stratum.

simple: at random, each as likely as the other. two_stage: groups at random, then items at random within each (all of
them: a cluster sample). unequal: with the inclusion probabilities given.
"""

Sampling = Literal["random", "class_balanced", "unknown"]
"""Where the labelled items are from: drawn by the block's design, chosen for equal numbers of each label, not known."""

Totals = Mapping[str, float]
Combine = Callable[[Totals], Mapping[str, float | None]]
"""Totals to metrics; None (or nan) for a metric that these totals leave undefined."""
Gradient = Callable[[Totals], Mapping[str, Mapping[str, float]]]
"""Totals to {metric: {term: derivative}}; a term left out has derivative 0."""


@dataclass(frozen=True)
class Draw:
    """Which of a block's N items were drawn, and how.

    Attributes:
        drawn: indices into the block's items, shape (n,). Of a served order only the served prefix.
        design: the design within each stratum.
        strata: stratum of each item as a number, shape (N,); None for one stratum.
        groups: group of each item as a number, shape (N,); needed for two_stage. A group lies within one stratum.
        probabilities: inclusion probability of each item, shape (N,); needed for unequal.
        together: names the two-stage draw that other blocks' items came with; their groups then have the same numbers.

    Raises:
        ValueError: an index is out of range or drawn twice; what the design needs is missing or of another length.
    """

    drawn: IntArray
    items: int
    design: Design = "simple"
    strata: IntArray | None = None
    groups: IntArray | None = None
    probabilities: FloatArray | None = None
    together: str = ""

    def __post_init__(self) -> None:
        drawn = np.asarray(self.drawn, dtype=np.int64)
        object.__setattr__(self, "drawn", drawn)
        if len(np.unique(drawn)) != len(drawn):
            raise ValueError("an item is drawn twice")
        if len(drawn) and not (drawn.min() >= 0 and drawn.max() < self.items):
            raise ValueError(f"a drawn index is not among the {self.items} items")
        for name in ("strata", "groups", "probabilities"):
            given = getattr(self, name)
            if given is not None and len(given) != self.items:
                raise ValueError(f"{name} has {len(given)} values for {self.items} items")
        if self.design == "two_stage":
            self._check_groups()
        if self.design == "unequal":
            self._check_probabilities()

    def _check_groups(self) -> None:
        if self.groups is None:
            raise ValueError("a two-stage draw needs the group of each item")
        if self.strata is not None:
            pairs = np.unique(np.stack([self.groups, self.strata], axis=1), axis=0)
            if len(pairs) != len(np.unique(self.groups)):
                raise ValueError("a group lies in two strata")

    def _check_probabilities(self) -> None:
        if self.probabilities is None:
            raise ValueError("an unequal draw needs the inclusion probability of each item")
        drawn = self.probabilities[self.drawn]
        if not bool(((drawn > 0) & (drawn <= 1)).all()):
            raise ValueError("the inclusion probability of a drawn item is not in (0, 1]")


@dataclass(frozen=True)
class Block:
    """A task's items with the judge's terms for all and people's for those drawn.

    Attributes:
        name: the task, for messages.
        terms: names of the K terms.
        judge_terms: shape (N, K): of the judge's verdicts as coded, failed ones included.
        human_terms: shape (n, K), a row for each drawn item. A row of nan is an item that people left unresolved or
            cannot judge; a column of nan a term whose part has no labels.
        draw: how the n were drawn from the N.
        fixed: terms that no label changes (the number of gold points, a sum of weights).
        verdicts: the judge's verdict of each item as a number, shape (N,): unresolved items are weighted for within
            stratum and verdict. None to weight within strata alone.
        clusters: what a new sample of the population would draw, as numbers, shape (N,); None when that is items.
        missing: the unresolved items by reason; what it does not explain is called unresolved.

    Raises:
        ValueError: shapes that do not fit, or a judge's term that is not finite.
    """

    name: str
    terms: tuple[str, ...]
    judge_terms: FloatArray
    human_terms: FloatArray
    draw: Draw
    fixed: frozenset[str] = frozenset()
    verdicts: IntArray | None = None
    clusters: IntArray | None = None
    missing: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        judge = np.asarray(self.judge_terms, dtype=np.float64)
        human = np.asarray(self.human_terms, dtype=np.float64)
        object.__setattr__(self, "judge_terms", judge)
        object.__setattr__(self, "human_terms", human)
        if judge.shape != (self.draw.items, len(self.terms)):
            raise ValueError(f"judge terms of {self.name} have shape {judge.shape}")
        if human.shape != (len(self.draw.drawn), len(self.terms)):
            raise ValueError(f"human terms of {self.name} have shape {human.shape}")
        if not bool(np.isfinite(judge).all()):
            raise ValueError(f"a judge's term of {self.name} is not a number")
        for name in ("verdicts", "clusters"):
            given = getattr(self, name)
            if given is not None and len(given) != self.draw.items:
                raise ValueError(f"{name} of {self.name} has {len(given)} values for {self.draw.items} items")

    @property
    def items(self) -> int:
        return self.draw.items


@dataclass(frozen=True, slots=True)
class Share:
    """A metric that is numerator/denominator, with 0 ≤ numerator ≤ denominator in every item."""

    numerator: str
    denominator: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """What decides whether labels may be used at all.

    Attributes:
        sampling: how the labelled items were chosen. why: in words, what makes it unknown.
        blind: every label was given before its person saw a verdict on the item.
        judge_calibrated: name or hash of the judge whose verdicts stood when items were drawn; judge_scored: of the
            judge whose verdicts are corrected. They must be the same.
    """

    sampling: Sampling = "random"
    why: str = ""
    blind: bool = True
    judge_calibrated: str = ""
    judge_scored: str = ""
