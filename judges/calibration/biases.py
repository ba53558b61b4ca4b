"""What a judge leans on beside the matter itself: length, slices, its own family, order, mood; and plain breakdown.

Every finding is a number with an interval, a p-value and whether it is to be looked at. A judge that errs often is no
bias; a judge that errs differently where it should not is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.binomial import wilson
from judges.calibration.agreement.holm import holm
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.logistic import SeparatedError, fit_logistic
from judges.calibration.statistic import Statistic

LEVEL = 0.95
LEAST_EVENTS = 10
"""Passes, and fails, that a regression on one covariate needs."""
LEAST_IN_SLICE = 10
COLLAPSED = 0.98
"""A judge that gives one label to so large a share of items has stopped judging, unless people do too."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a judge may lean on.

    Attributes:
        name: what was looked at ("length", "slice language=zh").
        statistic: how large it is. p_value: of there being nothing, adjusted where several were tested; None without a
            test. flagged: the test leaves chance out and the size matters.
        words: one sentence.
    """

    name: str
    statistic: Statistic
    p_value: float | None
    flagged: bool
    words: str

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "statistic": self.statistic.as_json(),
            "p_value": self.p_value,
            "flagged": self.flagged,
            "words": self.words,
        }


def covariate_effect(
    name: str, covariate: ArrayLike, passed: ArrayLike, people: ArrayLike, level: float = LEVEL
) -> Finding:
    """Does the judge pass longer (or more formatted) answers more readily than people's label explains?

    Logistic regression of the judge's pass on people's label and the covariate in standard deviations; the statistic is
    the odds ratio for one.

    Args:
        covariate: of each item, shape (n,) (length, its difference, number of list marks).
        passed: whether the judge passed it. people: people's label as a code.
    """
    x, y = np.asarray(covariate, dtype=np.float64), np.asarray(passed, dtype=np.float64)
    codes = np.asarray(people)
    title = f"odds ratio of the judge's pass for one standard deviation of {name}, people's label held fixed"
    events = int(min(y.sum(), len(y) - y.sum())) if len(y) else 0
    if events < LEAST_EVENTS:
        why = f"{events} items of the judge's rarer answer; {LEAST_EVENTS} are needed"
        return _none(name, Statistic.undefined("too_few", why, len(y), method=title))
    if float(x.std()) == 0:
        return _none(name, Statistic.undefined("constant", f"{name} is the same everywhere", len(y), method=title))
    standard = (x - x.mean()) / x.std()
    kinds = np.unique(codes)
    design = np.column_stack([np.ones(len(y)), standard, *[(codes == kind).astype(float) for kind in kinds[1:]]])
    try:
        found = fit_logistic(design, y)
    except SeparatedError:
        why = f"people's label and {name} tell the judge's answers apart without error"
        return _none(name, Statistic.undefined("separated", why, len(y), method=title))
    return _odds(name, title, float(found.coefficients[1]), float(found.errors[1]), len(y), level)


def _odds(name: str, title: str, slope: float, error: float, n: int, level: float) -> Finding:
    from scipy.special import ndtr, ndtri

    p = 2 * float(ndtr(-abs(slope) / error))
    half = float(ndtri((1 + level) / 2)) * error
    statistic = Statistic(math.exp(slope), n, title).with_interval(
        math.exp(slope - half), math.exp(slope + half), level, "Wald interval of the log odds"
    )
    flagged = p < 1 - level
    more = "more" if slope > 0 else "less"
    words = (
        f"With the same label from people the judge passes items of higher {name} {more} readily"
        if flagged
        else f"No effect of {name} on the judge can be told from chance"
    )
    return Finding(name, statistic, p, flagged, words)


def leniency(
    slices: Mapping[str, Sequence[str]], people: ArrayLike, judge: ArrayLike, level: float = LEVEL
) -> list[Finding]:
    """Is the judge more lenient in one slice than elsewhere? Mean of judge − people there less that of the rest.

    Holm over all slices of all kinds; slices of fewer than `LEAST_IN_SLICE` items are left out.

    Args:
        slices: value of each item by kind of slice ("" for none). people, judge: scores, higher is better, shape (n,).
    """
    gap = np.asarray(judge, dtype=np.float64) - np.asarray(people, dtype=np.float64)
    drafts: list[tuple[str, Statistic, float]] = []
    for kind, values in slices.items():
        column = np.asarray(values)
        for value in sorted(set(values) - {""}):
            here, rest = gap[column == value], gap[(column != value) & (column != "")]
            if min(len(here), len(rest)) >= LEAST_IN_SLICE:
                name = f"slice {kind}={value}"
                statistic, p = difference_of_means(here, rest, f"leniency in {kind}={value} against the rest", level)
                drafts.append((name, statistic, p))
    return _adjusted(drafts, level, _leniency_words)


def _leniency_words(name: str, statistic: Statistic, flagged: bool) -> str:
    if not flagged or statistic.value is None:
        return f"The judge is not shown to be more lenient or stricter in {name}"
    kind = "more lenient" if statistic.value > 0 else "stricter"
    return f"The judge is {kind} in {name} than elsewhere by {abs(statistic.value):.2f} of the scale"


def family_preference(
    own: ArrayLike, people: ArrayLike, judge: ArrayLike, ties: Mapping[str, str] | None = None, level: float = LEVEL
) -> Finding:
    """Does the judge favour systems of its own family? (judge − people) on its own less that on the others.

    Raw win rates would call a good family favoured; the difference of differences does not.

    Args:
        own: whether the item's system is of the judge's family, shape (n,). people, judge: scores, higher is better.
        ties: what is declared of systems and judge ("MemOS": "shares an author with the benchmark"): said, not tested.
    """
    mine = np.asarray(own, dtype=bool)
    gap = np.asarray(judge, dtype=np.float64) - np.asarray(people, dtype=np.float64)
    name, title = "own family", "judge − people on its own family less that on others"
    declared = "".join(f"; declared: {who}, {what}" for who, what in (ties or {}).items())
    if min(int(mine.sum()), int((~mine).sum())) < LEAST_IN_SLICE:
        why = f"{int(mine.sum())} items of the judge's family and {int((~mine).sum())} others; {LEAST_IN_SLICE} each"
        found = _none(name, Statistic.undefined("too_few", f"{why} are needed", len(gap), method=title))
        return Finding(name, found.statistic, None, False, found.words + declared)
    statistic, p = difference_of_means(gap[mine], gap[~mine], title, level)
    flagged = p < 1 - level and (statistic.value or 0) > 0
    words = "The judge favours its own family" if flagged else "No favour for the judge's own family is shown"
    return Finding(name, statistic, p, flagged, words + declared)


def repeat_instability(verdicts: NDArray[np.integer], level: float = LEVEL) -> Finding:
    """Does the judge say the same again? P(two repeats of an item differ), mean over items.

    Args:
        verdicts: codes, shape (items, repeats), negative for none; items with fewer than two are left out.
    """
    title, name = "chance that two repeats of one item differ", "repeats"
    given = (verdicts >= 0).sum(axis=1)
    rows = verdicts[given >= 2]
    dropped = {"judged_once": int((given == 1).sum())} if (given == 1).any() else {}
    if not len(rows):
        return _none(name, Statistic.undefined("no_repeats", "no item was judged twice", 0, dropped, title))
    values = np.array([_pair_difference(row[row >= 0]) for row in rows])
    unstable = int((values > 0).sum())
    low, high = _mean_bounds(values, level)
    statistic = Statistic(float(values.mean()), len(rows), title, dropped=dropped)
    statistic = statistic.with_interval(max(low, 0.0), min(high, 1.0), level, "t interval over items")
    words = f"{unstable} of {len(rows)} items got different verdicts when judged again"
    return Finding(name, statistic, None, unstable > 0, words)


def _pair_difference(row: NDArray[np.integer]) -> float:
    _, counts = np.unique(row, return_counts=True)
    m = len(row)
    return 1 - float((counts * (counts - 1)).sum()) / (m * (m - 1))


def position_preference(
    forward: ArrayLike, backward: ArrayLike, repeat_flips: float | None = None, level: float = LEVEL
) -> list[Finding]:
    """Does a pairwise judge follow the order? Consistency over both orders, and which place wins when it is not.

    Args:
        forward, backward: the place that won, 0 first, 1 second, −1 tie or unreadable, with the answers in one order
            and in the other, shape (n,).
        repeat_flips: how often the judge flips without any swap (`repeat_instability`): swaps that flip no more often
            say nothing of position.
    """
    a, b = np.asarray(forward), np.asarray(backward)
    decided = (a >= 0) & (b >= 0)
    n, same = int(decided.sum()), int((decided & (a != b)).sum())
    dropped = {"tie_or_unreadable": int((~decided).sum())} if not decided.all() else {}
    title = "share of pairs with the same winner in both orders"
    if not n:
        none = Statistic.undefined("no_pairable_items", "no pair was decided in both orders", 0, dropped, title)
        return [_none("position consistency", none)]
    consistent = Statistic(same / n, n, title, dropped=dropped).with_interval(
        *wilson(same, n, level), level, "Wilson interval"
    )
    limit = 1 - (repeat_flips or 0.0)
    flagged = consistent.high is not None and consistent.high < limit
    words = f"{n - same} of {n} pairs change their winner when the order is swapped"
    first = Finding("position consistency", consistent, None, flagged, words)
    return [first, _place(a[decided & (a == b)], dropped, level)]


def _place(places: NDArray[np.integer], dropped: dict[str, int], level: float) -> Finding:
    name, title, n = "position preference", "share of changed pairs won by the first place", len(places)
    if not n:
        return _none(name, Statistic.undefined("no_flips", "no pair changed its winner", 0, dropped, title))
    from judges.calibration.correction.comparison import mcnemar_exact

    first = int((places == 0).sum())
    p = mcnemar_exact(first, n - first)
    statistic = Statistic(first / n, n, title, dropped=dropped).with_interval(
        *wilson(first, n, level), level, "Wilson interval"
    )
    flagged = p < 1 - level
    side = "first" if 2 * first > n else "second"
    words = f"The judge prefers whatever stands {side}" if flagged else "Neither place is shown to be preferred"
    return Finding(name, statistic, p, flagged, words)


def one_label_collapse(labels: Sequence[str], judge: ArrayLike, people: ArrayLike) -> Finding:
    """Does the judge give (almost) everything one label while people do not?

    Args:
        labels: the declared set. judge, people: codes, shape (n,), negative for none, left out.
    """
    said = np.asarray(judge)
    said = said[said >= 0]
    own = np.asarray(people)
    own = own[own >= 0]
    title = "largest share of items given one label"
    if not len(said):
        return _none("one label", Statistic.undefined("no_items", "no readable verdict", 0, method=title))
    counts = np.bincount(said, minlength=len(labels))
    code = int(counts.argmax())
    share = float(counts[code]) / len(said)
    theirs = float((own == code).mean()) if len(own) else None
    statistic = Statistic(share, len(said), title)
    flagged = share >= COLLAPSED and theirs is not None and theirs < COLLAPSED
    people_say = "" if theirs is None else f"; people gave it to {theirs:.0%}"
    words = f"The judge gave {share:.0%} of the items {labels[code]}{people_say}"
    return Finding("one label", statistic, None, flagged, words)


def broken_systems(
    systems: Sequence[str], agrees: ArrayLike, level: float = LEVEL, margin: float = 0.1
) -> list[Finding]:
    """Is the judge broken on one system only? Its agreement there against all others, Holm over systems.

    Args:
        systems: of each item. agrees: whether the verdict is people's label; an unreadable verdict does not agree.
        margin: a smaller loss is not flagged.
    """
    column, right = np.asarray(systems), np.asarray(agrees, dtype=np.float64)
    drafts = []
    for system in sorted(set(systems)):
        here, rest = right[column == system], right[column != system]
        if min(len(here), len(rest)) >= LEAST_IN_SLICE:
            drafts.append((system, *_difference_of_shares(here, rest, f"agreement on {system} less the rest", level)))
    findings = _adjusted(drafts, level, _broken_words)
    return [_only_losses(found, margin) for found in findings]


def _only_losses(found: Finding, margin: float) -> Finding:
    worse = found.flagged and (found.statistic.value or 0.0) <= -margin
    return found if worse == found.flagged else Finding(
        found.name, found.statistic, found.p_value, worse, _broken_words(found.name, found.statistic, worse)
    )  # fmt: skip


def _broken_words(name: str, statistic: Statistic, flagged: bool) -> str:
    if flagged and statistic.value is not None:
        return f"The judge agrees with people {abs(statistic.value):.0%} less often on {name} than elsewhere"
    return f"The judge is not shown to be worse on {name} than elsewhere"


# Differences


def difference_of_means(here: FloatArray, rest: FloatArray, name: str, level: float) -> tuple[Statistic, float]:
    """Mean of `here` less that of `rest` with Welch's interval and p."""
    from scipy.special import stdtr, stdtrit

    a, b = float(here.var(ddof=1)) / len(here), float(rest.var(ddof=1)) / len(rest)
    value, n = float(here.mean() - rest.mean()), len(here) + len(rest)
    if a + b == 0:
        plain = Statistic(value, n, name).without_interval("neither side varies")
        return plain, 1.0 if value == 0 else 0.0
    df = (a + b) ** 2 / (a**2 / (len(here) - 1) + b**2 / (len(rest) - 1))
    error = math.sqrt(a + b)
    half = float(stdtrit(df, (1 + level) / 2)) * error
    p = 2 * float(stdtr(df, -abs(value) / error))
    return Statistic(value, n, name).with_interval(value - half, value + half, level, "Welch interval"), p


def _difference_of_shares(here: FloatArray, rest: FloatArray, name: str, level: float) -> tuple[Statistic, float]:
    from scipy.stats import fisher_exact

    from judges.calibration.agreement.binomial import newcombe

    table = [[int(part.sum()), len(part) - int(part.sum())] for part in (here, rest)]
    low, high = newcombe(table[1][0], len(rest), table[0][0], len(here), level)
    plain = Statistic(float(here.mean() - rest.mean()), len(here) + len(rest), name)
    return plain.with_interval(low, high, level, "Newcombe interval"), float(fisher_exact(table).pvalue)


def _adjusted(drafts: Sequence[tuple[str, Statistic, float]], level: float, words: Any) -> list[Finding]:
    adjusted = holm([p for _, _, p in drafts])
    return [
        Finding(name, statistic, p, p < 1 - level, words(name, statistic, p < 1 - level))
        for (name, statistic, _), p in zip(drafts, adjusted, strict=True)
    ]


def _mean_bounds(values: FloatArray, level: float) -> tuple[float, float]:
    """t interval with half a full difference added to the variance, so that none seen is not none."""
    from scipy.special import stdtrit

    n = len(values)
    spread = float(((values - values.mean()) ** 2).sum()) + 0.5
    half = float(stdtrit(max(n - 1, 1), (1 + level) / 2)) * math.sqrt(spread / max(n - 1, 1) / n)
    return float(values.mean()) - half, float(values.mean()) + half


def _none(name: str, statistic: Statistic) -> Finding:
    return Finding(name, statistic, None, False, f"Nothing can be said of {name}: {statistic.why}")
