"""The declared label set of a task and how its labels compare."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Level = Literal["nominal", "ordinal", "interval", "ratio"]
WeightKind = Literal["identity", "linear", "quadratic", "ordinal"]

MISSING = -1
"""The code of a rating that is not there; any negative code is unusable."""


@dataclass(frozen=True)
class Scale:
    """A label set as the rubric declares it. Statistics use it whole, whichever labels occur in the data.

    Attributes:
        labels: in declared order; for ordinal sets best first.
        level: how labels compare. Interval and ratio labels are written as numbers ("0", "2.5").
        titles: what a reader calls each label, in the same order; () where they are called what they are.

    Raises:
        ValueError: fewer than two labels, a repeated label, or an interval label that is no finite number.
    """

    labels: tuple[str, ...]
    level: Level = "nominal"
    titles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.labels) < 2:
            raise ValueError("a label set has at least two labels")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("a label is declared twice")
        if self.level in ("interval", "ratio"):
            numbers = [_finite(label) for label in self.labels]
            if len(set(numbers)) != len(numbers):
                raise ValueError("two labels of an interval scale are the same number")

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def shown(self) -> tuple[str, ...]:
        """The labels as a sentence names them."""
        return self.titles or self.labels

    @property
    def ordered(self) -> bool:
        return self.level != "nominal"

    @cached_property
    def codes(self) -> dict[str, int]:
        """Label to code: its 0-based place in the declared order."""
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def values(self) -> FloatArray:
        """The number each label stands for, shape (q,): its own for interval and ratio, else its rank, best highest."""
        if self.level in ("interval", "ratio"):
            return np.array([float(label) for label in self.labels])
        return np.arange(self.size - 1, -1, -1, dtype=np.float64)

    def encode(self, labels: Iterable[str | None]) -> IntArray:
        """Codes of labels, shape (n,); None becomes MISSING.

        Raises:
            ValueError: a label is not one of the declared ones (no type is coerced: 1 is not "1").
        """
        return np.array([self._code(label) for label in labels], dtype=np.int64)

    def _code(self, label: str | None) -> int:
        if label is None:
            return MISSING
        code = self.codes.get(label)
        if code is None:
            raise ValueError(f"{label!r} is not one of the declared labels {self.labels}")
        return code

    def weights(self, kind: WeightKind) -> FloatArray:
        """Agreement weights, shape (q, q), 1 on the diagonal.

        `linear` and `quadratic` follow the distance of `values`; `ordinal` is Gwet's 1 − C(|k−l|+1, 2)/C(q, 2)
        (Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, ch. 3).

        Raises:
            ValueError: weights of another kind.
        """
        if kind == "identity":
            return np.eye(self.size)
        if kind == "ordinal":
            steps = np.abs(np.subtract.outer(np.arange(self.size), np.arange(self.size))).astype(np.float64)
            return np.asarray(1 - steps * (steps + 1) / (self.size * (self.size - 1)))
        if kind not in ("linear", "quadratic"):
            raise ValueError(f"no agreement weights are called {kind!r}")
        distance = np.abs(np.subtract.outer(self.values, self.values))
        distance /= distance.max()
        return np.asarray(1 - (distance if kind == "linear" else distance**2))


def _finite(label: str) -> float:
    try:
        number = float(label)
    except ValueError:
        raise ValueError(f"{label!r} on an interval or ratio scale is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{label!r} on an interval or ratio scale is not a finite number")
    return number
