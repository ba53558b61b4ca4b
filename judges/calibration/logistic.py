"""Logistic regression without penalty, with the standard errors that a measurement needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.scale import FloatArray

STEPS = 100
SEPARATED = 25.0
"""A linear predictor so large, with no outcome on its wrong side, means that the data are separated and the coefficient
has no bound. With some on the wrong side it only means that one predictor lies far out."""
BOUNDLESS = 500.0
WRONG_SIDE = 0.01


class SeparatedError(ValueError):
    """The predictors tell all outcomes apart, or those of some items: no finite coefficient is likeliest (Albert &
    Anderson 1984, Biometrika 71:1-10)."""


@dataclass(frozen=True)
class Logistic:
    """Coefficients, shape (p,), and their covariance, shape (p, p)."""

    coefficients: FloatArray
    covariance: FloatArray

    @property
    def errors(self) -> FloatArray:
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def clustered_errors(
        self,
        predictors: FloatArray,
        outcomes: FloatArray,
        clusters: NDArray[np.int64],
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Standard errors where outcomes of a cluster go together (Liang & Zeger 1986, Biometrika 73:13-22, with
        G/(G − 1)), or where they were weighted (Binder 1983, Int. Stat. Rev. 51:279-292).

        Args:
            predictors, outcomes, weights: those it was fitted to. clusters: numbers 0 … G − 1, shape (n,).
        """
        groups = int(clusters.max()) + 1
        left = outcomes - 1 / (1 + np.exp(-(predictors @ self.coefficients)))
        left = left if weights is None else left * weights
        scores = np.stack([np.bincount(clusters, left * column, groups) for column in predictors.T], axis=1)
        meat = groups / (groups - 1) * scores.T @ scores
        return np.asarray(np.sqrt(np.diag(self.covariance @ meat @ self.covariance)))


def fit_logistic(predictors: FloatArray, outcomes: FloatArray, weights: FloatArray | None = None) -> Logistic:
    """Maximum likelihood by Newton's method. Weighted, the covariance is no error: take `clustered_errors`.

    Args:
        predictors: shape (n, p), a column of ones where an intercept is wanted. outcomes: 0 or 1, shape (n,).
        weights: what each outcome counts for, shape (n,); None for one each.

    Raises:
        SeparatedError: the outcomes, or a part of them, are separated. ValueError: the predictors are collinear.
    """
    if np.linalg.matrix_rank(predictors) < predictors.shape[1]:
        raise ValueError("two predictors say the same")
    coefficients = np.zeros(predictors.shape[1])
    for _ in range(STEPS):
        information, gradient = _derivatives(predictors, outcomes, coefficients, weights)
        step = np.linalg.solve(information, gradient)
        coefficients = coefficients + step * min(1.0, 5.0 / max(float(np.abs(predictors @ step).max()), 1e-300))
        fitted = predictors @ coefficients
        if _separated(predictors, outcomes, fitted):
            raise SeparatedError("the predictors separate the outcomes")
        if float(np.abs(step).max()) < 1e-12:
            break
    information, _ = _derivatives(predictors, outcomes, coefficients, weights)
    return Logistic(coefficients, np.asarray(np.linalg.inv(information), dtype=np.float64))


def _separated(predictors: FloatArray, outcomes: FloatArray, fitted: FloatArray) -> bool:
    """Whether the coefficients run off: nobody is on the wrong side, or those far out on the right side alone hold a
    direction that says nothing of the others."""
    far = np.abs(fitted) > SEPARATED
    if not far.any():
        return False
    right = np.where(outcomes == 1, 1.0, -1.0) * fitted
    if float(np.abs(fitted).max()) > BOUNDLESS or float(right.min()) > -WRONG_SIDE:
        return True
    near = predictors[~far]
    return bool((right[far] > 0).all()) and int(np.linalg.matrix_rank(near)) < predictors.shape[1]


def _derivatives(
    predictors: FloatArray, outcomes: FloatArray, coefficients: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    fitted = 1 / (1 + np.exp(-(predictors @ coefficients)))
    spread, left = fitted * (1 - fitted), outcomes - fitted
    if weights is not None:
        spread, left = weights * spread, weights * left
    return (predictors * spread[:, np.newaxis]).T @ predictors, predictors.T @ left
