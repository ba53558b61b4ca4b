"""How the items of a table of agreement were drawn, and how its intervals are made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.bootstrap import LEVEL, RESAMPLES
from judges.calibration.agreement.scale import FloatArray


@dataclass(frozen=True)
class SampleDesign:
    """What each item of a table stands for, what was drawn apart and what together; all arrays of shape (n,).

    Attributes:
        weights: 1/π, above 0. clusters: codes of what is resampled; None for items one by one.
        strata: codes of what was drawn apart. groups: codes of what was drawn together; None for items one by one.
        seed, resamples, level: of the intervals.

    Raises:
        ValueError: a weight is not above 0.
    """

    weights: FloatArray
    clusters: NDArray[np.integer] | None = None
    strata: NDArray[np.integer] | None = None
    groups: NDArray[np.integer] | None = None
    seed: int = 0
    resamples: int = RESAMPLES
    level: float = LEVEL

    def __post_init__(self) -> None:
        if not bool((self.weights > 0).all()):
            raise ValueError("a weight is not above 0")
