"""Logistic regression without penalty, with the standard errors that a measurement needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judges.calibration.agreement.scale import FloatArray

STEPS = 100
SEPARATED = 25.0
"""A linear predictor so large, with no outcome on its wrong side, means that the data are separated and the coefficient
has no bound. With some on the wrong side it only means that one predictor lies far out."""
BOUNDLESS = 500.0
WRONG_SIDE = 0.01


class SeparatedError(ValueError):
    """The predictors tell the outcomes apart without error: no finite coefficient is likeliest."""


@dataclass(frozen=True)
class Logistic:
    """Coefficients, shape (p,), and their covariance, shape (p, p)."""

    coefficients: FloatArray
    covariance: FloatArray

    @property
    def errors(self) -> FloatArray:
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def fit_logistic(predictors: FloatArray, outcomes: FloatArray) -> Logistic:
    """Maximum likelihood by Newton's method.

    Args:
        predictors: shape (n, p), a column of ones where an intercept is wanted. outcomes: 0 or 1, shape (n,).

    Raises:
        SeparatedError: the outcomes are separated. ValueError: the predictors are collinear.
    """
    coefficients = np.zeros(predictors.shape[1])
    for _ in range(STEPS):
        information, gradient = _derivatives(predictors, outcomes, coefficients)
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            raise ValueError("two predictors say the same") from None
        coefficients = coefficients + step * min(1.0, 5.0 / max(float(np.abs(predictors @ step).max()), 1e-300))
        fitted = predictors @ coefficients
        largest, worst = float(np.abs(fitted).max()), float((np.where(outcomes == 1, 1.0, -1.0) * fitted).min())
        if largest > BOUNDLESS or (largest > SEPARATED and worst > -WRONG_SIDE):
            raise SeparatedError("the predictors separate the outcomes")
        if float(np.abs(step).max()) < 1e-12:
            break
    information, _ = _derivatives(predictors, outcomes, coefficients)
    return Logistic(coefficients, np.asarray(np.linalg.inv(information), dtype=np.float64))


def _derivatives(
    predictors: FloatArray, outcomes: FloatArray, coefficients: FloatArray
) -> tuple[FloatArray, FloatArray]:
    fitted = 1 / (1 + np.exp(-(predictors @ coefficients)))
    information = (predictors * (fitted * (1 - fitted))[:, np.newaxis]).T @ predictors
    return information, predictors.T @ (outcomes - fitted)
