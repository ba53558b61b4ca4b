"""May a judge calibrated on one system's items be trusted on another's?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.binomial import newcombe
from judges.calibration.agreement.holm import holm
from judges.calibration.agreement.scale import Scale
from judges.calibration.statistic import Statistic

Verdict = Literal["transports", "does_not_transport", "undecided", "out_of_range"]

MARGIN = 0.1
"""A difference of recall below this does not change a benchmark's ranking much; larger ones must be excluded."""
LABELS_FOR_A_CLASS = 5


@dataclass(frozen=True, slots=True)
class Transport:
    """Recall of each label on the new system less that on the calibrated one.

    Attributes:
        verdict: `transports` when every interval lies within ± margin; `does_not_transport` when one label's recall
            differs (Holm over labels); `out_of_range` when the new system has verdicts the calibrated one never had;
            else `undecided`.
        why: in words.
        differences: by label, with intervals. p_values: Holm-adjusted, by label.
        labels_needed: labels on the new system that would decide, when undecided.
    """

    verdict: Verdict
    why: str
    differences: dict[str, Statistic]
    p_values: dict[str, float]
    labels_needed: int | None = None


def transport(
    scale: Scale,
    calibrated: tuple[ArrayLike, ArrayLike],
    new: tuple[ArrayLike, ArrayLike],
    level: float = 0.95,
    margin: float = MARGIN,
) -> Transport:
    """Compare a judge's error rates on two systems.

    Args:
        calibrated, new: (people's codes, the judge's codes) of labelled items of either system, each of shape (n,);
            of the new system people's may be negative (not labelled) where only the judge has been.
    """
    (y_a, f_a), (y_b, f_b) = ((np.asarray(y, np.int64), np.asarray(f, np.int64)) for y, f in (calibrated, new))
    unseen = sorted(set(f_b[f_b >= 0].tolist()) - set(f_a[f_a >= 0].tolist()))
    differences, tests = {}, {}
    for code, label in enumerate(scale.labels):
        found, p = _recall_difference(label, f_a[y_a == code] == code, f_b[y_b == code] == code, level)
        differences[label] = found
        if p is not None:
            tests[label] = p
    adjusted = dict(zip(tests, holm(list(tests.values())), strict=True))
    labelled = int((y_b >= 0).sum())
    return _conclude(scale, unseen, differences, adjusted, labelled, level, margin)


def _conclude(
    scale: Scale,
    unseen: list[int],
    differences: dict[str, Statistic],
    adjusted: dict[str, float],
    labelled: int,
    level: float,
    margin: float,
) -> Transport:
    if unseen:
        names = ", ".join(scale.labels[code] for code in unseen)
        why = f"the judge says {names} of the new system and never did where it was calibrated"
        return Transport("out_of_range", why, differences, adjusted)
    worst = min(adjusted, key=lambda label: adjusted[label], default=None)
    if worst is not None and adjusted[worst] <= 1 - level:
        change = differences[worst].value or 0.0
        why = f"the judge's recall of {worst} is {change:+.0%} on the new system: label there before correcting"
        return Transport("does_not_transport", why, differences, adjusted)
    known = [one for one in differences.values() if one.low is not None and one.high is not None]
    if len(known) == len(differences) and all(max(-(one.low or 0), one.high or 0) <= margin for one in known):
        why = f"every label's recall differs by less than {margin:.0%}"
        return Transport("transports", why, differences, adjusted)
    widest = max((max(-(one.low or 0), one.high or 0) for one in known), default=math.inf)
    needed = math.ceil(labelled * (widest / margin) ** 2) if math.isfinite(widest) and labelled else None
    why = f"the labels of the new system cannot exclude a change of recall of {margin:.0%}"
    return Transport("undecided", why, differences, adjusted, needed)


def _recall_difference(
    label: str, before: np.ndarray, after: np.ndarray, level: float
) -> tuple[Statistic, float | None]:
    """Newcombe 1998's interval (method 10) of a difference of shares, and Fisher's exact p."""
    name, n = f"difference of recall of {label}", len(after)
    if min(len(before), len(after)) < LABELS_FOR_A_CLASS:
        where = "the new" if len(after) <= len(before) else "the calibrated"
        why = f"fewer than {LABELS_FOR_A_CLASS} items of {where} system are {label}"
        return Statistic.undefined("too_few", why, n, method=name), None
    from scipy.stats import fisher_exact

    hits = int(before.sum()), int(after.sum())
    low, high = newcombe(hits[0], len(before), hits[1], len(after), level)
    value = hits[1] / len(after) - hits[0] / len(before)
    table = [[hits[0], len(before) - hits[0]], [hits[1], len(after) - hits[1]]]
    exact = float(fisher_exact(table).pvalue)
    return Statistic(value, n, name).with_interval(low, high, level, "Newcombe interval"), exact
