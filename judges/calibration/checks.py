"""Is a judge good enough? Each key number against its threshold, with "undecided" as an answer of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from judges.calibration.agreement.binomial import clopper_pearson
from judges.calibration.agreement.bootstrap import LEVEL, RAREST_LABEL
from judges.calibration.audit_result import JudgeAgreement
from judges.calibration.distributions import beta_share
from judges.calibration.plain_words import FIRST_ANSWER
from judges.calibration.statistic import Statistic

CheckName = Literal["recall", "precision", "kappa"]
Answer = Literal["met", "missed", "undecided", "untested"]
"""met: the whole interval reaches the threshold. missed: all of it lies below. untested: the label was not used."""

Outcome = Literal["good_enough", "falls_short", "undecided"]
NO_MORE_THAN: Final = 2_000
"""Beyond so many further labels, a week of a clinician's work, no number is named: it is too close to call."""
_MOST_ITEMS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a judge has to reach: recall and precision of every label, Cohen's kappa over all."""

    recall: float = 0.80
    precision: float = 0.80
    kappa: float = 0.60


@dataclass(frozen=True, slots=True)
class Check:
    """One number against its threshold.

    Attributes:
        label: whose recall or precision it is; "" for kappa.
        more_labels: undecided: further labels of the task that would decide it as often as not, if the rates stay what
            they are; None when that takes more than `NO_MORE_THAN`, cannot be said, or is not needed.
    """

    name: CheckName
    label: str
    threshold: float
    statistic: Statistic
    answer: Answer
    more_labels: int | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """All checks of one judge on one task, and what they come to.

    Attributes:
        more_labels: undecided: further labels that would decide every open check; None when that cannot be said.
        untested: labels that neither people nor the judge used: nothing is known of them.
    """

    outcome: Outcome
    checks: tuple[Check, ...]
    more_labels: int | None = None
    untested: tuple[str, ...] = ()


def assess(judge: JudgeAgreement, thresholds: Thresholds | None = None, level: float = LEVEL) -> Assessment:
    """Check recall and precision of every declared label, and kappa.

    The outcome is `falls_short` when one check is missed, `good_enough` when all that could be tested are met, and
    `undecided` else, always so on fewer than `FIRST_ANSWER` items. That all must be met needs no correction for their
    number (an intersection-union test, Berger 1982, Technometrics 24:295-300); that one is missed is said at the
    interval's level of each.
    """
    limits = thresholds or Thresholds()
    checks = [
        _share_check(name, label, threshold, statistic, judge.n, level)
        for label, found in judge.per_label.items()
        for name, threshold, statistic in _of_label(limits, found.recall, found.precision)
    ]
    checks.append(_kappa_check(judge, limits.kappa, level))
    untested = [label for label, found in judge.per_label.items() if found.n == 0 and found.called == 0]
    outcome = _outcome(judge.n, checks)
    more = _more(judge.n, checks) if outcome == "undecided" else None
    return Assessment(outcome, tuple(checks), more, tuple(untested))


def decisive_items(share: float, threshold: float, level: float = LEVEL) -> int | None:
    """The least number of items at which the exact interval of `share` leaves the threshold outside.

    Clopper-Pearson's bounds (as in `agreement.binomial`) with a fractional count share·n, so that the answer does not
    jump with rounding. None when the share is at the threshold, or so close that a million items do not do.
    """
    tail = (1 - level) / 2

    def excludes(n: int) -> bool:
        hits = share * n
        if share > threshold:
            return beta_share(threshold, hits, n - hits + 1) < tail
        return beta_share(threshold, hits + 1, n - hits) > 1 - tail

    return None if share == threshold else _least(excludes)


def _least(holds: Callable[[int], bool]) -> int | None:
    """The least n ≥ 1 for which a condition holds that, once true, stays true; None beyond a million."""
    high = 1
    while not holds(high):
        if high >= _MOST_ITEMS:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _of_label(
    limits: Thresholds, recall: Statistic, precision: Statistic
) -> tuple[tuple[CheckName, float, Statistic], ...]:
    return ("recall", limits.recall, recall), ("precision", limits.precision, precision)


def _share_check(
    name: CheckName, label: str, threshold: float, statistic: Statistic, judged: int, level: float
) -> Check:
    """A recall or precision: its own items grow with the labels of the task at their present rate."""
    answer = _answer(statistic, threshold)
    if statistic.value is None:
        return Check(name, label, threshold, statistic, "untested")
    if answer != "undecided":
        return Check(name, label, threshold, statistic, answer)
    needed = decisive_items(statistic.value, threshold, level)
    more = None if needed is None else _named(max(needed - statistic.n, 1) * judged / statistic.n)
    return Check(name, label, threshold, statistic, answer, more)


def _named(labels: float) -> int | None:
    """A number of labels rounded up, or None where it is no use to name it."""
    return math.ceil(labels) if labels <= NO_MORE_THAN else None


def _kappa_check(judge: JudgeAgreement, threshold: float, level: float) -> Check:
    """Kappa: its interval narrows as 1/√n; without an interval, until the rarest label has enough items for one."""
    kappa = judge.cohen_kappa
    if kappa.value == 1 and _rarest(judge) >= RAREST_LABEL:
        return _perfect_check(judge, threshold, level)
    answer = _answer(kappa, threshold)
    more = _kappa_labels(kappa, threshold) if kappa.low is not None else _interval_labels(judge)
    return Check("kappa", "", threshold, kappa, answer, more if answer == "undecided" else None)


def _perfect_check(judge: JudgeAgreement, threshold: float, level: float) -> Check:
    """Kappa where judge and people agree on every item: no resample differs, and so no percentile interval is there.

    Its lower bound is that of kappa's formula, (p_o − p_e)/(1 − p_e), at the exact lower bound of the agreement p_o and
    the chance agreement p_e of the labels' shares.
    """
    chance = sum((sum(row.values()) / judge.n) ** 2 for row in judge.confusion.values())
    low = (clopper_pearson(judge.n, judge.n, level).low - chance) / (1 - chance)
    method = "lower bound from the exact one of raw agreement, all items agreeing"
    found = judge.cohen_kappa.with_interval(low, 1.0, level, method)
    if low >= threshold:
        return Check("kappa", "", threshold, found, "met")
    needed = decisive_items(1.0, threshold * (1 - chance) + chance, level)
    return Check("kappa", "", threshold, found, "undecided", None if needed is None else _named(needed - judge.n))


def _answer(statistic: Statistic, threshold: float) -> Answer:
    if statistic.low is None or statistic.high is None:
        return "undecided"
    if statistic.low >= threshold:
        return "met"
    return "missed" if statistic.high < threshold else "undecided"


def _kappa_labels(kappa: Statistic, threshold: float) -> int | None:
    """n·((distance to the bound on the threshold's side / distance to the threshold)² − 1), rounded up."""
    if kappa.value is None or kappa.low is None or kappa.high is None or kappa.value == threshold:
        return None
    bound = kappa.low if kappa.value > threshold else kappa.high
    needed = kappa.n * ((kappa.value - bound) / (kappa.value - threshold)) ** 2
    return _named(max(needed - kappa.n, 1))


def _interval_labels(judge: JudgeAgreement) -> int | None:
    """Further labels until the rarest label people use has the items that an interval of kappa needs."""
    rarest = _rarest(judge)
    return _named((RAREST_LABEL - rarest) * judge.n / rarest) if 0 < rarest < RAREST_LABEL else None


def _rarest(judge: JudgeAgreement) -> int:
    """Items of the rarest label people use; 0 where they use fewer than two."""
    used = [sum(row.values()) for row in judge.confusion.values() if sum(row.values())]
    return min(used) if len(used) > 1 else 0


def _outcome(n: int, checks: Sequence[Check]) -> Outcome:
    answers = {check.answer for check in checks}
    if n < FIRST_ANSWER:
        return "undecided"
    if "missed" in answers:
        return "falls_short"
    return "good_enough" if "met" in answers and "undecided" not in answers else "undecided"


def _more(n: int, checks: Sequence[Check]) -> int | None:
    if n < FIRST_ANSWER:
        return FIRST_ANSWER - n
    numbers = [check.more_labels for check in checks if check.answer == "undecided"]
    known = [number for number in numbers if number is not None]
    return max(known) if known and len(known) == len(numbers) else None
