"""Is the judge worse in one slice than elsewhere? Every value of a slice against the rest, Holm over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.binomial import newcombe
from judges.calibration.agreement.holm import holm
from judges.calibration.agreement.scale import FloatArray, Scale
from judges.calibration.clustered import Codes, cluster_numbers, weighted_difference
from judges.calibration.statistic import Statistic

LEAST_ITEMS = 5


@dataclass(frozen=True, slots=True)
class SliceTest:
    """A slice value against the rest of its kind.

    Attributes:
        what: "agreement", or "recall of" a label. difference: inside less outside.
        p_value: Fisher's exact, adjusted over all tests made together.
    """

    kind: str
    value: str
    what: str
    difference: Statistic
    p_value: float

    @property
    def differs(self) -> bool:
        """At the level of the interval."""
        return self.p_value < 1 - (self.difference.level or 0.95)


def slice_tests(
    scale: Scale,
    people: ArrayLike,
    judge: ArrayLike,
    slices: Mapping[str, Sequence[str]],
    level: float = 0.95,
    least: int = LEAST_ITEMS,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> list[SliceTest]:
    """Agreement, and recall of each label, by slice; those with fewer than `least` items inside or outside left out.

    Args:
        people, judge: codes, shape (n,); negative ones are left out.
        slices: value of each item by kind, "" for none.
        weights: 1/π of each item, nan for one that is in no sample; then a t test of the weighted shares stands for
            Fisher's. clusters: what that takes as drawn apart.
    """
    y, f = np.asarray(people, dtype=np.int64), np.asarray(judge, dtype=np.int64)
    kept = (y >= 0) & (f >= 0)
    counted = None if weights is None else np.asarray(weights, dtype=np.float64)
    groups = None if counted is None else cluster_numbers(clusters)
    if counted is not None:
        kept &= np.isfinite(counted)
        counted = np.where(kept, counted, 0.0)
    among = {"agreement": kept} | {f"recall of {label}": kept & (y == code) for code, label in enumerate(scale.shown)}
    drafts: list[tuple[str, str, str, Statistic, float]] = []
    for kind, values in slices.items():
        column = np.asarray(values)
        for value in sorted(set(values) - {""}):
            for what, rows in among.items():
                inside, outside = rows & (column == value), rows & (column != value) & (column != "")
                if min(int(inside.sum()), int(outside.sum())) >= least:
                    compared = _compared(what, y == f, inside, outside, level, groups, counted)
                    drafts.append((kind, value, what, *compared))
    adjusted = holm([p for *_, p in drafts])
    return [
        SliceTest(kind, value, what, difference, p)
        for (kind, value, what, difference, _), p in zip(drafts, adjusted, strict=True)
    ]


def _compared(
    what: str,
    hits: NDArray[np.bool_],
    here: NDArray[np.bool_],
    rest: NDArray[np.bool_],
    level: float,
    clusters: Codes | None,
    weights: FloatArray | None,
) -> tuple[Statistic, float]:
    if weights is not None:
        name = f"{what} inside less outside, items weighted by 1/π"
        from judges.calibration.biases import tested

        found = weighted_difference(hits.astype(np.float64), weights, here, rest, clusters)
        statistic, p = tested(found, int(here.sum()), name, level, "t interval with half a miss that was not drawn")
        return statistic, p
    inside, outside = hits[here], hits[rest]
    from scipy.stats import fisher_exact

    a, b = int(inside.sum()), int(outside.sum())
    low, high = newcombe(b, len(outside), a, len(inside), level)
    plain = Statistic(a / len(inside) - b / len(outside), len(inside), f"{what} inside less outside")
    p = float(fisher_exact([[a, len(inside) - a], [b, len(outside) - b]]).pvalue)
    return plain.with_interval(low, high, level, "Newcombe interval"), p
