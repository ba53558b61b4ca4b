"""Shares of several labels: post-stratified, by inversion of the judge's confusion, and how far the two agree.

Under random labelling the post-stratified shares are efficient and never negative; the inversion is what survives a
calibration set of another make-up, and leaves [0, 1] when the judge mixes labels up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.scale import FloatArray


@dataclass(frozen=True)
class InvertedShares:
    """Shares of q labels from the judge's shares and its confusion.

    Attributes:
        raw: (Rᵀ)⁻¹ of the judge's shares, shape (q,); may leave [0, 1].
        covariance: of `raw` by the delta method, shape (q, q).
        shares: the nearest shares, shape (q,): none negative, sum 1 (least squares of Rᵀp against the judge's).
        condition: of Rᵀ; what an error of the judge's shares may be multiplied by.
    """

    raw: FloatArray
    covariance: FloatArray
    shares: FloatArray
    condition: float

    @property
    def inside(self) -> bool:
        """True when the inversion itself is a set of shares."""
        return bool((self.raw >= 0).all() and (self.raw <= 1).all())


def invert_confusion(confusion: ArrayLike, judge_shares: ArrayLike, judged: int) -> InvertedShares:
    """People's shares from the judge's.

    Args:
        confusion: labelled items, shape (q, q), rows what people said, columns what the judge said.
        judge_shares: the judge's shares on other items, shape (q,). judged: how many items they rest on.

    Raises:
        ValueError: people gave one of the labels to no item, or two rows are the same mix of verdicts.
    """
    table = np.asarray(confusion, dtype=np.float64)
    q = np.asarray(judge_shares, dtype=np.float64)
    counts = table.sum(axis=1)
    if not bool((counts > 0).all()):
        raise ValueError("people gave one of the labels to no item: its row of the confusion is empty")
    rates = table / counts[:, np.newaxis]
    condition = float(np.linalg.cond(rates.T))
    if not np.isfinite(condition) or condition > 1e12:
        raise ValueError("the judge does not tell some labels apart: its confusion cannot be inverted")
    inverse = np.linalg.inv(rates.T)
    raw = inverse @ q
    noise = (np.diag(q) - np.outer(q, q)) / judged
    for share, row, count in zip(raw, rates, counts, strict=True):
        noise = noise + share**2 * (np.diag(row) - np.outer(row, row)) / count
    return InvertedShares(raw, inverse @ noise @ inverse.T, simplex_least_squares(rates.T, q), condition)


def simplex_least_squares(matrix: FloatArray, target: FloatArray) -> FloatArray:
    """The p with p ≥ 0 and Σp = 1 that makes |matrix·p − target| smallest, shape (q,): exact, by non-negative least
    squares with the sum as a heavily weighted row and one projection back."""
    from scipy.optimize import nnls

    size = matrix.shape[1]
    weight = 1e6 * max(1.0, float(np.abs(matrix).max()))
    found, _ = nnls(np.vstack([matrix, np.full((1, size), weight)]), np.append(target, weight))
    support = np.flatnonzero(found > 1e-12)
    exact = _on_support(matrix, target, support)
    return exact if bool((exact >= 0).all()) else np.asarray(found / found.sum())


def _on_support(matrix: FloatArray, target: FloatArray, support: np.ndarray) -> FloatArray:
    """Least squares with Σp = 1 over the labels of the support, by Lagrange's equations."""
    part = matrix[:, support]
    size = len(support)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size], system[:size, size], system[size, :size] = part.T @ part, 1, 1
    solution = np.linalg.lstsq(system, np.append(part.T @ target, 1.0), rcond=None)[0][:size]
    shares = np.zeros(matrix.shape[1])
    shares[support] = solution
    shares[np.abs(shares) < 1e-12] = 0.0
    return shares


def post_stratified_shares(confusion: ArrayLike, judge_shares: ArrayLike) -> FloatArray:
    """Σ_k P(judge says k)·P(people say j | judge says k), shape (q,): the efficient influence function's estimate.

    A judge's label that no labelled item has is weighted like the rest.

    Args:
        confusion: labelled items, shape (q, q), rows people. judge_shares: of the judge on the items asked about.

    Raises:
        ValueError: no item is labelled.
    """
    table = np.asarray(confusion, dtype=np.float64)
    shares = np.asarray(judge_shares, dtype=np.float64)
    counts = table.sum(axis=0)
    if not bool((counts > 0).any()):
        raise ValueError("no item is labelled")
    seen = counts > 0
    weights = np.where(seen, shares, 0.0)
    weights = weights / weights.sum() if weights.sum() > 0 else counts / counts.sum()
    return np.asarray((table[:, seen] / counts[seen]) @ weights[seen])
