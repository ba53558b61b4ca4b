"""Where the judge may decide alone: a confidence threshold with a guaranteed rate of agreement with people.

The guarantee holds for items drawn like the labelled ones and for this very judge; what falls below the threshold is
for people (Jung, Brahman & Choi 2024, "Trust or Escalate"; Clopper & Pearson 1934).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.binomial import clopper_pearson

LEAST_SELECTED = 30


@dataclass(frozen=True, slots=True)
class Selection:
    """A threshold, or the reason why there is none.

    Attributes:
        threshold: the judge decides at this confidence and above; None to leave every item to people.
        selected, errors: labelled items there and how often people disagree.
        upper: exact upper bound of the rate of disagreement there, with probability 1 − delta at most `alpha`.
        coverage: share of labelled items the judge would decide.
        n: labelled items.
        why: in words when there is no threshold.
    """

    alpha: float
    delta: float
    threshold: float | None
    selected: int
    errors: int
    upper: float | None
    coverage: float
    n: int
    why: str = ""

    @property
    def agreement(self) -> float | None:
        """Share of agreement on the selected labelled items."""
        return 1 - self.errors / self.selected if self.selected else None

    def as_json(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "why"}
        return {**fields, "agreement": self.agreement, **({"why": self.why} if self.why else {})}


def least_selected(alpha: float, delta: float) -> int:
    """Below so many items even no error cannot show a rate of `alpha` or less."""
    return math.ceil(math.log(delta) / math.log(1 - alpha))


def selection(confidence: ArrayLike, agrees: ArrayLike, alpha: float = 0.05, delta: float = 0.1) -> Selection:
    """The lowest threshold with at most `alpha` disagreement, wrong with probability at most `delta`.

    Thresholds are tested downward from the highest observed confidence that has enough items, each by the exact bound
    at full level; the first failure ends it, so that no correction for many thresholds is needed.

    Args:
        confidence: the judge's confidence in its verdict on each labelled item, shape (n,).
        agrees: whether people gave the same label, shape (n,).

    Raises:
        ValueError: a confidence is not a number, or alpha or delta is not between 0 and 1.
    """
    levels, right = np.asarray(confidence, dtype=np.float64), np.asarray(agrees, dtype=bool)
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError("alpha and delta lie between 0 and 1")
    if not bool(np.isfinite(levels).all()):
        raise ValueError("a confidence is not a number")
    needed = max(LEAST_SELECTED, least_selected(alpha, delta))
    best: Selection | None = None
    for threshold, selected, errors in _steps(levels, right):
        if selected < needed:
            continue
        upper = clopper_pearson(errors, selected, 1 - 2 * delta).high
        if upper > alpha:
            break
        best = Selection(alpha, delta, threshold, selected, errors, upper, selected / len(levels), len(levels))
    return best or Selection(alpha, delta, None, 0, 0, None, 0.0, len(levels), _why(levels, right, alpha, needed))


def _steps(levels: np.ndarray, right: np.ndarray) -> list[tuple[float, int, int]]:
    """(threshold, items at or above it, errors among them), highest first."""
    distinct, inverse = np.unique(levels, return_inverse=True)
    counts = np.bincount(inverse, minlength=len(distinct))[::-1].cumsum()
    errors = np.bincount(inverse, ~right, minlength=len(distinct))[::-1].cumsum()
    return [(float(t), int(n), int(k)) for t, n, k in zip(distinct[::-1], counts, errors, strict=True)]


def _why(levels: np.ndarray, right: np.ndarray, alpha: float, needed: int) -> str:
    if len(levels) < needed:
        return f"{len(levels)} labelled items; {needed} are needed for any threshold"
    wrong = int((~right).sum())
    return (
        f"even the {needed} or more most confident verdicts do not show at most {alpha:.0%} disagreement "
        f"({wrong} errors in {len(levels)} labelled items): leave all to people"
    )
