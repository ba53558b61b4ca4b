"""What seeing the judge's verdict does to people's labels, and how to take it out of a score.

Model: a person shown the verdict copies it with probability a whenever they would have disagreed, so that
E[label | shown] = (1 − a)·θ + a·p, p the judge's. Items are shown or not at random, so the two arms differ in nothing
else. Shown item by item this measures the direct effect of a verdict on its own item only; what a person learns of the
judge and carries to later items is in both arms (`agreement_by_reveals` looks for it).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.binomial import mcnemar_exact, wilson
from judges.calibration.agreement.scale import IntArray, Scale
from judges.calibration.distributions import t_half_width
from judges.calibration.statistic import Statistic

LEAST_DISAGREEMENTS = 5
"""Fewer disagreements in the blind arm say nothing of what showing verdicts does to them."""
LEAST_LABELS = 20


@dataclass(frozen=True, slots=True)
class Arm:
    """Items of one arm: how many, and on how many of them the label differs from the verdict."""

    n: int
    disagree: int


@dataclass(frozen=True)
class LabelActs:
    """Labels given to items that have a verdict, one row a label, all of shape (n,), as codes of one scale.

    Attributes:
        verdict: the judge's. first: what the person said first, before a verdict unless `assisted`.
        final: after a reveal, where there was one; else the same as `first`.
        shown: the verdict was shown after `first`. assisted: it was beside the item from the start.
        adjudicated: what an adjudicator decided, −1 for none.
        reveals: verdicts this person had been shown before this label.
    """

    verdict: IntArray
    first: IntArray
    final: IntArray
    shown: NDArray[np.bool_]
    assisted: NDArray[np.bool_]
    adjudicated: IntArray
    reveals: IntArray

    @property
    def never_shown(self) -> NDArray[np.bool_]:
        return np.asarray(~self.shown & ~self.assisted)


@dataclass(frozen=True, slots=True)
class Flips:
    """What people did after a verdict that differed from their first label was shown.

    Attributes:
        differed: such reveals. toward: label changed to the verdict. away: changed to something else.
        against: changed although the verdict agreed.
        right_to_wrong, wrong_to_right: changes of adjudicated items, by what the adjudicator says.
        p_value: exact, of the two being alike; None without adjudicated changes.
    """

    differed: int
    toward: int
    away: int
    against: int
    right_to_wrong: int
    wrong_to_right: int
    rate: Statistic
    p_value: float | None

    def as_json(self) -> dict[str, Any]:
        names = ("differed", "toward", "away", "against", "right_to_wrong", "wrong_to_right", "p_value")
        return {**{name: getattr(self, name) for name in names}, "rate": self.rate.as_json()}


@dataclass(frozen=True, slots=True)
class Anchoring:
    """What verdicts did to labels.

    Attributes:
        assisted: a of labels given beside the verdict, against the never-shown arm's first labels. revealed: a of final
            labels after a reveal, against the same.
        by_verdict: a of `assisted` by what the verdict was ("the judge passes, people would not").
        by_reveals: change of agreement of blind first labels per ten verdicts seen before.
    """

    assisted: Statistic
    revealed: Statistic
    by_verdict: Mapping[str, Statistic] = field(default_factory=dict)
    by_reveals: Statistic | None = None
    flips: Flips | None = None

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "assisted": self.assisted.as_json(),
            "revealed": self.revealed.as_json(),
            "by_verdict": {name: found.as_json() for name, found in self.by_verdict.items()},
        }
        if self.by_reveals is not None:
            fields["by_reveals"] = self.by_reveals.as_json()
        if self.flips is not None:
            fields["flips"] = self.flips.as_json()
        return fields


def anchoring(acts: LabelActs, scale: Scale, level: float = 0.95) -> Anchoring:
    """Everything that labels say of what verdicts do to them."""
    blind = acts.never_shown
    differs_first, differs_final = acts.first != acts.verdict, acts.final != acts.verdict

    def arm(rows: NDArray[np.bool_], differs: NDArray[np.bool_]) -> Arm:
        return Arm(int(rows.sum()), int((rows & differs).sum()))

    by_verdict = {}
    for code, label in enumerate(scale.labels):
        here = acts.verdict == code
        found = copy_rate(arm(blind & here, differs_first), arm(acts.assisted & here, differs_first), level)
        if found.value is not None:
            by_verdict[label] = found
    return Anchoring(
        copy_rate(arm(blind, differs_first), arm(acts.assisted, differs_first), level),
        copy_rate(arm(blind, differs_first), arm(acts.shown, differs_final), level),
        by_verdict,
        agreement_by_reveals(acts.reveals[~acts.assisted], ~differs_first[~acts.assisted], level),
        flips(acts, level),
    )


def copy_rate(blind: Arm, visible: Arm, level: float = 0.95) -> Statistic:
    """a = 1 − P(disagree | visible)/P(disagree | blind), with the interval of the log ratio.

    Below 0 people disagreed more with verdicts they saw. Without a disagreement in the visible arm half a one is taken
    for the interval.
    """
    name, n = "share of disagreements that follow the verdict when it is seen (direct effect)", blind.n + visible.n
    if not visible.n:
        return Statistic.undefined("no_visible_labels", "no verdict was seen", n, method=name)
    if blind.disagree < LEAST_DISAGREEMENTS:
        why = (
            f"{blind.disagree} disagreements among {blind.n} labels whose verdict was never seen; "
            f"{LEAST_DISAGREEMENTS} are needed"
        )
        return Statistic.undefined("too_few", why, n, method=name)
    value = 1 - (visible.disagree / visible.n) / (blind.disagree / blind.n)
    seen = max(visible.disagree, 0.5)
    error = log_ratio_error(blind, Arm(visible.n, visible.disagree) if visible.disagree else visible)
    z = NormalDist().inv_cdf((1 + level) / 2)
    log_ratio = math.log(seen / visible.n / (blind.disagree / blind.n))
    low, high = 1 - math.exp(log_ratio + z * error), 1 - math.exp(log_ratio - z * error)
    if not visible.disagree:
        high = 1.0
    return Statistic(value, n, name).with_interval(low, high, level, "interval of the log ratio of disagreement")


def log_ratio_error(blind: Arm, visible: Arm) -> float:
    """Standard error of the log of the two shares' ratio (Katz et al. 1978)."""
    seen = max(visible.disagree, 0.5)
    return math.sqrt(1 / seen - 1 / visible.n + 1 / blind.disagree - 1 / blind.n)


def de_anchored(shown: float, judge: float, copied: Statistic, n: int, level: float = 0.95) -> Statistic:
    """θ = (shown − a·p)/(1 − a): the share people would give blind, from labels given beside the verdict.

    The interval adds a's error and that of `shown` as a share of n labels; the judge's share is taken as known.

    Args:
        shown: share among the n labels given with the verdict in view. judge: p on the same items. copied: a.
    """
    name = "share without the pull of the verdict"
    if copied.value is None:
        return Statistic.undefined(copied.status, copied.why, n, method=name)
    a = copied.value
    if a >= 1:
        why = "people followed every verdict they saw: nothing of their own is left in these labels"
        return Statistic.undefined("undefined", why, n, method=name)
    value = (shown - a * judge) / (1 - a)
    if copied.low is None or copied.high is None:
        return Statistic(value, n, name).without_interval(copied.why)
    z = NormalDist().inv_cdf((1 + level) / 2)
    by_copying = (shown - judge) / (1 - a) ** 2 * (copied.high - copied.low) / (2 * z)
    by_sampling = math.sqrt(shown * (1 - shown) / n) / (1 - a)
    half = z * math.hypot(by_copying, by_sampling)
    return Statistic(value, n, name).with_interval(
        max(value - half, 0.0), min(value + half, 1.0), level, "delta method"
    )


def agreement_by_reveals(reveals: ArrayLike, agrees: ArrayLike, level: float = 0.95) -> Statistic:
    """Change of the share of first labels that agree with the judge per ten verdicts seen before: a slope above 0 says
    that people learn to think like the judge. Least squares with errors that allow for unequal variance (HC3)."""
    x, y = np.asarray(reveals, dtype=np.float64), np.asarray(agrees, dtype=np.float64)
    name = "change of agreement with the judge per 10 verdicts seen before"
    if len(x) < LEAST_LABELS:
        return Statistic.undefined("too_few", f"{len(x)} blind labels; {LEAST_LABELS} are needed", len(x), method=name)
    if float(np.ptp(x)) == 0:
        why = "every label was given after the same number of verdicts"
        return Statistic.undefined("constant", why, len(x), method=name)
    design = np.column_stack([np.ones(len(x)), x / 10])
    inverse = np.linalg.inv(design.T @ design)
    slope = inverse @ design.T @ y
    lever = np.einsum("ij,jk,ik->i", design, inverse, design)
    residuals = (y - design @ slope) / np.maximum(1 - lever, 1e-9)
    spread = inverse @ (design * residuals[:, np.newaxis] ** 2).T @ design @ inverse
    half = t_half_width(level, len(x) - 2) * math.sqrt(float(spread[1, 1]))
    plain = Statistic(float(slope[1]), len(x), name)
    return plain.with_interval(float(slope[1]) - half, float(slope[1]) + half, level, "least squares, HC3 errors")


def flips(acts: LabelActs, level: float = 0.95) -> Flips:
    """What people changed after a reveal, and whether for the better."""
    changed = acts.shown & (acts.final != acts.first)
    differed = acts.shown & (acts.first != acts.verdict)
    toward = changed & differed & (acts.final == acts.verdict)
    away = changed & differed & (acts.final != acts.verdict)
    known = changed & (acts.adjudicated >= 0)
    worse = int((known & (acts.first == acts.adjudicated)).sum())
    better = int((known & (acts.final == acts.adjudicated)).sum())
    n = int(differed.sum())
    name = "share of differing verdicts that people took over after seeing them"
    if n:
        rate = Statistic(int(toward.sum()) / n, n, name)
        rate = rate.with_interval(*wilson(int(toward.sum()), n, level), level, "Wilson interval")
    else:
        rate = Statistic.undefined("no_disagreements", "no verdict that was shown differed", 0, method=name)
    return Flips(
        n,
        int(toward.sum()),
        int(away.sum()),
        int((changed & ~differed).sum()),
        worse,
        better,
        rate,
        mcnemar_exact(worse, better) if worse + better else None,
    )
