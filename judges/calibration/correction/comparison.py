"""Two systems, or two judges, on the same labels: differences with interval, p-value and power."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.binomial import mcnemar_exact
from judges.calibration.correction.choice import CorrectionSettings
from judges.calibration.correction.corrected import corrected_scores
from judges.calibration.correction.power import Power, power_of
from judges.calibration.correction.records import Block, Combine, Totals
from judges.calibration.correction.result import CorrectedMetric
from judges.calibration.distributions import t_half_width, two_sided_p
from judges.calibration.statistic import Statistic

FIRST, SECOND = "a:", "b:"


@dataclass(frozen=True, slots=True)
class Difference:
    """a − b of one metric.

    Attributes:
        found: the difference as a corrected metric: value, interval, and whether the judge helped.
        p_value: two-sided, of no difference; None where there is no interval.
        power: to find a difference as large as `worth_finding`; None where there is no interval.
        paired: the two were labelled on the same items.
    """

    found: CorrectedMetric
    p_value: float | None
    power: Power | None
    paired: bool

    @property
    def separable(self) -> bool:
        """Whether the interval leaves 0 out."""
        low, high = self.found.statistic.low, self.found.statistic.high
        return low is not None and high is not None and (low > 0 or high < 0)


def compare_systems(
    first: Sequence[Block],
    second: Sequence[Block],
    combine: Combine,
    settings: CorrectionSettings | None = None,
    paired: bool | Collection[str] = True,
    worth_finding: float = 0.05,
    only: Collection[str] = (),
) -> dict[str, Difference]:
    """What people would say of the difference a − b in every metric, or in those of `only`.

    Paired, the same linear estimator is applied to the pairs' terms together (PPI++ on differences for a mean).

    Args:
        first, second: the blocks of either system, task by task. Paired: item by item the same natural key, and one
            draw by that key.
        paired: False when the two were drawn apart; or the names of the blocks that are pairs, others being apart. A
            difference is called paired only when all blocks are.

    Raises:
        ValueError: paired blocks do not fit each other.
    """
    settings = settings or CorrectionSettings()
    names = {block.name for block in first} if paired is True else set(paired or ())
    pairs = [(a, b) for a in first for b in second if a.name == b.name and a.name in names]
    apart = [[block for block in blocks if block.name not in names] for blocks in (first, second)]
    blocks = [
        *_paired([a for a, _ in pairs], [b for _, b in pairs]), *_named(apart[0], FIRST), *_named(apart[1], SECOND)
    ]  # fmt: skip
    whole = not apart[0] and not apart[1]

    def difference(totals: Totals) -> dict[str, float | None]:
        a, b = (combine(_own(totals, prefix)) for prefix in (FIRST, SECOND))
        return {name: _minus(a[name], b[name]) for name in a if name in b and (not only or name in only)}

    own = replace(settings, shares={}, families=(), gradient=None)
    scores = corrected_scores(blocks, difference, own)
    items = sum(scores.items.values()) if settings.target == "finite" else 0
    return {
        name: _difference(found, whole, worth_finding, items, settings.level) for name, found in scores.metrics.items()
    }


def _difference(found: CorrectedMetric, paired: bool, worth: float, items: int, level: float) -> Difference:
    statistic = found.statistic
    if statistic.value is None or found.error is None or found.df is None:
        return Difference(found, None, None, paired)
    power = power_of(found.error, worth, statistic.n, items, level)
    return Difference(found, two_sided_p(statistic.value, found.error, found.df), power, paired)


def _own(totals: Totals, prefix: str) -> dict[str, float]:
    return {term.removeprefix(prefix): total for term, total in totals.items() if term.startswith(prefix)}


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _named(blocks: Sequence[Block], prefix: str) -> list[Block]:
    return [
        replace(
            block,
            name=f"{prefix}{block.name}",
            terms=tuple(prefix + term for term in block.terms),
            fixed=frozenset(prefix + term for term in block.fixed),
        )
        for block in blocks
    ]


def _paired(first: Sequence[Block], second: Sequence[Block]) -> list[Block]:
    return [_pair(a, b) for a, b in zip(_named(first, FIRST), _named(second, SECOND), strict=True)]


def _pair(a: Block, b: Block) -> Block:
    if a.items != b.items or not np.array_equal(a.draw.drawn, b.draw.drawn):
        raise ValueError(f"{a.name} and {b.name} are not one draw of the same pairs of items")
    if a.verdicts is None or b.verdicts is None:
        verdicts = None
    else:
        verdicts = a.verdicts * (int(b.verdicts.max(initial=0)) + 1) + b.verdicts
    return replace(
        a,
        name=a.name.removeprefix(FIRST),
        terms=(*a.terms, *b.terms),
        judge_terms=np.hstack([a.judge_terms, b.judge_terms]),
        human_terms=np.hstack([a.human_terms, b.human_terms]),
        fixed=a.fixed | b.fixed,
        verdicts=verdicts,
        missing={},
    )


@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """Two judges (or prompts) against the same people's labels.

    Attributes:
        accuracy: difference a − b of agreement with people. informedness: of the mean recall over labels, rescaled so
            that chance is 0 and perfect 1 (Youden's J for two labels).
        only_first, only_second: items on which one alone agrees with people.
        p_value: McNemar's exact test of the two counts. power: of the accuracy difference.
    """

    accuracy: Statistic
    informedness: Statistic
    only_first: int
    only_second: int
    p_value: float
    power: Power


def compare_judges(
    people: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    labels: int,
    level: float = 0.95,
    worth_finding: float = 0.05,
) -> JudgeComparison:
    """Which of two judges agrees better with people, on items labelled at random.

    Args:
        people, first, second: codes 0 … labels − 1 of the same items, shape (n,); a verdict that could not be read is
            negative and agrees with nobody.

    Raises:
        ValueError: no item is labelled.
    """
    y, a, b = (np.asarray(codes, dtype=np.int64) for codes in (people, first, second))
    if not len(y):
        raise ValueError("no item is labelled")
    right_a, right_b = a == y, b == y
    gain = right_a.astype(np.float64) - right_b
    only_a, only_b = int((right_a & ~right_b).sum()), int((~right_a & right_b).sum())
    accuracy, error = _mean(gain, "difference of accuracy", level)
    return JudgeComparison(
        accuracy,
        _informedness(y, gain, labels, level),
        only_a,
        only_b,
        mcnemar_exact(only_a, only_b),
        power_of(error, worth_finding, len(y), level=level),
    )


def _mean(values: np.ndarray, name: str, level: float) -> tuple[Statistic, float]:
    """Mean with a t interval; a discordant pair each way is added to the variance, so that none seen is not none."""
    n = len(values)
    mean = float(values.mean())
    padded = np.concatenate([values, [1.0, -1.0]])
    error = float(padded.std(ddof=1)) / math.sqrt(n + 2)
    half = t_half_width(level, max(n - 1, 1)) * error
    plain = Statistic(mean, n, name)
    return plain.with_interval(max(mean - half, -1), min(mean + half, 1), level, "paired t interval"), error


def _informedness(people: np.ndarray, gain: np.ndarray, labels: int, level: float) -> Statistic:
    """Difference of (mean recall·q − 1)/(q − 1), label by label independent."""
    name, n = "difference of informedness", len(people)
    counts = np.bincount(people, minlength=labels)
    if int((counts > 0).sum()) < labels:
        why = "people gave one of the labels to no item"
        return Statistic.undefined("label_not_used", why, n, method=name)
    parts = [gain[people == label] for label in range(labels)]
    scale = 1 / (labels - 1)
    value = scale * sum(float(part.mean()) for part in parts)
    padded = [np.concatenate([part, [0.5, -0.5]]) for part in parts]
    error = scale * math.sqrt(sum(float(part.var(ddof=1)) / len(part) for part in padded))
    half = t_half_width(level, max(int(counts.min()) - 1, 1)) * error
    return Statistic(value, n, name).with_interval(value - half, value + half, level, "paired t interval by label")
