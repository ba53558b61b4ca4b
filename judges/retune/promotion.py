"""May a tuned prompt take the old one's place? Decided once, on the sealed test, by what both said of the same items.

The claim is a higher balanced accuracy (the mean over labels of the share judged right; a verdict that could not be
read is not right). Its lower bound must lie above 0: the lower of two, a percentile bootstrap of whole groups and a
t interval of the groups' influence, which holds with few groups where the bootstrap does not. A prompt that is no worse
by more than a small margin may still be promoted when it costs less.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.binomial import clopper_pearson, mcnemar_exact
from judges.calibration.distributions import t_half_width
from judges.calibration.statistic import Statistic

Codes = NDArray[np.int64]
Outcome = Literal["better", "cheaper", "not_better", "refused"]

FEW_GROUPS: Final = 10
LEAST_GROUPS: Final = 5
"""Below so many groups in the test nothing is claimed; below `FEW_GROUPS` only the interval for few clusters counts."""
LEAST_OF_A_LABEL: Final = 5


@dataclass(frozen=True, slots=True)
class Settings:
    """How promotion is decided.

    Attributes:
        level: of the two-sided interval whose lower bound counts.
        margin: how much worse a cheaper prompt may be, in balanced accuracy.
        parse_margin: how much lower the parse rate may be before it counts as lower.
    """

    level: float = 0.95
    resamples: int = 2000
    seed: int = 0
    margin: float = 0.02
    parse_margin: float = 0.0


@dataclass(frozen=True, slots=True)
class Paired:
    """Two prompts on the same test items.

    Attributes:
        labels: in declared order.
        people, before, after: codes of shape (n,); a verdict that could not be read is negative.
        groups: what the items were split by.
    """

    labels: tuple[str, ...]
    people: Codes
    before: Codes
    after: Codes
    groups: Sequence[Hashable]


@dataclass(frozen=True, slots=True)
class Prompts:
    """What is known of the two prompts beside their verdicts on the test.

    Attributes:
        leaked: ids of items that the new prompt quotes.
        val_before, val_after: balanced accuracy on val, by which the prompt was chosen.
        cost_before, cost_after: of one verdict, in money or tokens; None when not known.
    """

    leaked: tuple[str, ...] = ()
    val_before: float | None = None
    val_after: float | None = None
    cost_before: float | None = None
    cost_after: float | None = None


@dataclass(frozen=True, slots=True)
class Promotion:
    """The decision, and all it rests on.

    Attributes:
        difference: balanced accuracy after less before, with the interval that counts.
        before, after: balanced accuracy of each. fixed, broken: test items by label people gave.
        p_value: McNemar's exact test of the two.
        curse: val gain less test gain: how much the choice on val flattered the prompt; None without val scores.
        reasons: why not, or what to know; sentences.
    """

    outcome: Outcome
    difference: Statistic
    before: Statistic
    after: Statistic
    fixed: dict[str, int]
    broken: dict[str, int]
    p_value: float
    parse_before: float
    parse_after: float
    val_gain: float | None
    curse: float | None
    reasons: tuple[str, ...] = field(default=())

    @property
    def promoted(self) -> bool:
        return self.outcome in ("better", "cheaper")

    def as_json(self) -> dict[str, Any]:
        statistics = {name: getattr(self, name).as_json() for name in ("difference", "before", "after")}
        names = ("fixed", "broken", "p_value", "parse_before", "parse_after", "val_gain", "curse")
        plain = {name: getattr(self, name) for name in names}
        return {"outcome": self.outcome, "promoted": self.promoted, **statistics, **plain,
                "reasons": list(self.reasons)}  # fmt: skip


def balanced_accuracy(people: Codes, judge: Codes, labels: int) -> float:
    """Mean over the labels people used of the share the judge gave too; nan without items."""
    used = [label for label in range(labels) if (people == label).any()]
    return float(np.mean([(judge[people == label] == label).mean() for label in used])) if used else math.nan


def promotion(test: Paired, prompts: Prompts | None = None, settings: Settings | None = None) -> Promotion:
    """Decide on a prompt. A leak refuses it whatever its numbers are.

    Raises:
        ValueError: no item is in the test.
    """
    prompts, settings = prompts or Prompts(), settings or Settings()
    y, a, b = test.people, test.before, test.after
    n, q = len(y), len(test.labels)
    if not n:
        raise ValueError("the test is empty")
    difference = _difference(test, settings)
    fixed, broken = (b == y) & (a != y), (a == y) & (b != y)
    parse_before, parse_after = float((a >= 0).mean()), float((b >= 0).mean())
    val_gain = (
        None if prompts.val_after is None or prompts.val_before is None else prompts.val_after - prompts.val_before
    )
    curse = None if val_gain is None or difference.value is None else val_gain - difference.value
    outcome, reasons = _decide(test, difference, prompts, settings)
    return Promotion(
        outcome,
        difference,
        Statistic(balanced_accuracy(y, a, q), n, "balanced accuracy of the old prompt"),
        Statistic(balanced_accuracy(y, b, q), n, "balanced accuracy of the new prompt"),
        _by_label(test, fixed),
        _by_label(test, broken),
        mcnemar_exact(int(broken.sum()), int(fixed.sum())),
        parse_before,
        parse_after,
        val_gain,
        curse,
        tuple([*reasons, *_curse_words(val_gain, difference)]),
    )


def _by_label(test: Paired, rows: NDArray[np.bool_]) -> dict[str, int]:
    counts = {label: int((rows & (test.people == code)).sum()) for code, label in enumerate(test.labels)}
    return {label: count for label, count in counts.items() if count}


def _decide(test: Paired, difference: Statistic, prompts: Prompts, settings: Settings) -> tuple[Outcome, list[str]]:
    if prompts.leaked:
        count = len(prompts.leaked)
        what = "1 item it was tuned on" if count == 1 else f"{count} items it was tuned on"
        return "refused", [f"the new prompt quotes {what}: a run of 8 words or more; what it knows by heart it has not"
                           " learnt"]  # fmt: skip
    reasons = _parse_reasons(test, settings)
    if difference.low is None:
        return "not_better", [*reasons, difference.why]
    if difference.low > 0 and not reasons:
        return "better", []
    if difference.low > 0:
        return "not_better", reasons
    cheaper = _is_cheaper(prompts)
    if difference.low > -settings.margin and cheaper and not reasons:
        return "cheaper", [
            f"not shown to be better, but no worse by more than {settings.margin:g} and it costs less a verdict"
        ]
    bounds = f"{difference.value:+.3f}, at least {difference.low:+.3f}"
    broken = int(((test.before == test.people) & (test.after != test.people)).sum())
    fixed = int(((test.after == test.people) & (test.before != test.people)).sum())
    words = f"not better: balanced accuracy on the sealed test changed by {bounds}; it fixed {fixed} and broke {broken}"
    return "not_better", [*reasons, words]


def _is_cheaper(prompts: Prompts) -> bool:
    if prompts.cost_before is None or prompts.cost_after is None:
        return False
    return prompts.cost_after < prompts.cost_before


def _parse_reasons(test: Paired, settings: Settings) -> list[str]:
    before, after = int((test.before >= 0).sum()), int((test.after >= 0).sum())
    if after >= before - settings.parse_margin * len(test.people):
        return []
    n = len(test.people)
    low = clopper_pearson(after, n, settings.level).low
    return [f"fewer of its verdicts can be read: {after} of {n} (at least {low:.0%}) against {before}"]


def _curse_words(val_gain: float | None, difference: Statistic) -> list[str]:
    if val_gain is None or difference.value is None:
        return []
    return [
        f"on val, where it was chosen, it gained {val_gain:+.3f}; on the sealed test {difference.value:+.3f}"
        " (the best of several looks better than it is)"
    ]


def _difference(test: Paired, settings: Settings) -> Statistic:
    """Balanced accuracy after less before, with the lower of the two intervals' lower bounds (and the higher upper)."""
    name, n = "difference of balanced accuracy on the sealed test", len(test.people)
    used = [code for code in range(len(test.labels)) if (test.people == code).any()]
    gain = (test.after == test.people).astype(np.float64) - (test.before == test.people)
    value = float(np.mean([gain[test.people == code].mean() for code in used]))
    plain = Statistic(value, n, name)
    short = [code for code in used if int((test.people == code).sum()) < LEAST_OF_A_LABEL]
    if len(used) < 2 or short:
        label = test.labels[short[0]] if short else test.labels[used[0]]
        have = int((test.people == test.labels.index(label)).sum())
        why = (
            f"the test has {have} items that people call {label}; {LEAST_OF_A_LABEL} of each label are needed"
            if short
            else f"people gave one label only, {label}, in the test"
        )
        return plain.without_interval(why)
    names = {group: number for number, group in enumerate(dict.fromkeys(test.groups))}
    groups = np.array([names[group] for group in test.groups], dtype=np.int64)
    if len(names) < LEAST_GROUPS:
        return plain.without_interval(f"the test has {len(names)} groups; {LEAST_GROUPS} are needed for any claim")
    low, high = _few_cluster_interval(test, gain, used, groups, value, settings.level)
    method = f"t interval over {len(names)} groups"
    if len(names) >= FEW_GROUPS:
        resampled = _bootstrap_interval(test, gain, used, groups, settings)
        low, high = min(low, resampled[0]), max(high, resampled[1])
        method = f"the wider of bootstrap and t interval over {len(names)} groups"
    return plain.with_interval(max(low, -1.0), min(high, 1.0), settings.level, method)


def _few_cluster_interval(
    test: Paired, gain: NDArray[np.float64], used: Sequence[int], groups: Codes, value: float, level: float
) -> tuple[float, float]:
    """t interval with G − 1 degrees of freedom of the groups' influence on the mean of the labels' means.

    Half a fix and half a breakage are added to every label, so that no change at all is not certainty of none.
    """
    count = int(groups.max()) + 1
    influence = np.zeros(count)
    padding = 0.0
    for code in used:
        rows = test.people == code
        m = int(rows.sum())
        centred = gain[rows] - gain[rows].mean()
        influence += np.bincount(groups[rows], centred, minlength=count) / m
        padding += 0.5 / m**2
    q = len(used)
    variance = (count / (count - 1) * float((influence**2).sum()) + padding) / q**2
    half = t_half_width(level, count - 1) * math.sqrt(variance)
    return value - half, value + half


def _bootstrap_interval(
    test: Paired, gain: NDArray[np.float64], used: Sequence[int], groups: Codes, settings: Settings
) -> tuple[float, float]:
    """Percentile interval of whole groups drawn anew; a resample without a label leaves that label out."""
    count = int(groups.max()) + 1
    sums = np.stack([np.bincount(groups, gain * (test.people == code), minlength=count) for code in used])
    sizes = np.stack([np.bincount(groups, test.people == code, minlength=count) for code in used])
    weights = np.random.default_rng(settings.seed).multinomial(
        count, np.full(count, 1 / count), size=settings.resamples
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (weights @ sums.T) / (weights @ sizes.T)
    values = np.nanmean(means, axis=1)
    tail = 50 * (1 - settings.level)
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)
