"""What several raters' labels say together when each errs in their own way (Dawid & Skene 1979, Appl. Statist. 28:20).

With two or three raters and under a hundred items this adds little to adjudication; it is for crowds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.scale import FloatArray, IntArray

MOST_ITERATIONS = 2000
TOLERANCE = 1e-13
_TINY = 1e-300

Status = Literal["ok", "not_converged"]


@dataclass(frozen=True)
class DawidSkene:
    """Maximum likelihood by EM from the shares of votes.

    Attributes:
        shares: of the true labels, shape (q,).
        posteriors: of each item's true label, shape (items, q).
        error_rates: P(rater says l | true label is k), shape (raters, q, q); a row is nan where no item is k.
        log_likelihood: of all ratings. iterations: EM steps.
    """

    shares: FloatArray
    posteriors: FloatArray
    error_rates: FloatArray
    log_likelihood: float
    iterations: int
    status: Status

    @property
    def labels(self) -> IntArray:
        """The likeliest label of each item, shape (items,); −1 where two are equally likely."""
        best = self.posteriors.max(axis=1, keepdims=True)
        tied = (self.posteriors >= best - 1e-9).sum(axis=1) > 1
        return np.where(tied, -1, self.posteriors.argmax(axis=1))


def dawid_skene(
    items: ArrayLike, raters: ArrayLike, labels: ArrayLike, size: int, tolerance: float = TOLERANCE
) -> DawidSkene:
    """Fit the model.

    Args:
        items, raters, labels: codes of each rating, shape (ratings,); items and raters number from 0 without gaps. A
            rater may rate an item several times.
        size: labels q of the declared set.

    Raises:
        ValueError: no rating, or a label outside the set.
    """
    item, rater, label = (np.asarray(codes, dtype=np.int64) for codes in (items, raters, labels))
    if not len(item):
        raise ValueError("no rating")
    if label.min() < 0 or label.max() >= size:
        raise ValueError(f"a label code is not among 0 to {size - 1}")
    number, people = int(item.max()) + 1, int(rater.max()) + 1
    counts = np.bincount((item * people + rater) * size + label, minlength=number * people * size)
    votes = counts.reshape(number, people, size).astype(np.float64)
    posteriors = votes.sum(axis=1)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    return _fit(votes, posteriors, tolerance)


def _fit(votes: FloatArray, posteriors: FloatArray, tolerance: float) -> DawidSkene:
    before = -np.inf
    for iteration in range(1, MOST_ITERATIONS + 1):
        shares = posteriors.mean(axis=0)
        rates = _rates(votes, posteriors)
        joint = np.einsum("ijl,jkl->ik", votes, np.log(np.maximum(np.nan_to_num(rates), _TINY)))
        joint += np.log(np.maximum(shares, _TINY))
        highest = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - highest)
        likelihood = float((highest[:, 0] + np.log(weights.sum(axis=1))).sum())
        posteriors = weights / weights.sum(axis=1, keepdims=True)
        if likelihood - before <= tolerance * abs(likelihood):
            return DawidSkene(shares, posteriors, rates, likelihood, iteration, "ok")
        before = likelihood
    return DawidSkene(shares, posteriors, rates, likelihood, MOST_ITERATIONS, "not_converged")


def _rates(votes: FloatArray, posteriors: FloatArray) -> FloatArray:
    expected = np.einsum("ik,ijl->jkl", posteriors, votes)
    mass = expected.sum(axis=2, keepdims=True)
    rates = np.full(expected.shape, np.nan)
    np.divide(expected, mass, out=rates, where=mass > 0)
    return rates
