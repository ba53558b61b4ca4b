"""Several tests at once: p-values adjusted so that finding any difference by chance keeps its level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (Holm 1979, Scand. J. Statist. 6:65-70), in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    adjusted = np.empty_like(p)
    adjusted[order] = stepped
    return [float(value) for value in adjusted]


def benjamini_yekutieli(p_values: Sequence[float], rate: float = 0.05) -> list[bool]:
    """Which hypotheses fall at a false discovery rate under any dependence (Benjamini & Yekutieli 2001)."""
    p = np.asarray(p_values, dtype=np.float64)
    m = len(p)
    if m == 0:
        return []
    order = np.argsort(p, kind="stable")
    steps = rate * np.arange(1, m + 1) / (m * float((1 / np.arange(1, m + 1)).sum()))
    under = np.flatnonzero(p[order] <= steps)
    rejected = np.zeros(m, dtype=bool)
    if len(under):
        rejected[order[: under[-1] + 1]] = True
    return [bool(value) for value in rejected]
