"""What a judge leans on beside the matter itself: length and form, slices, its own family.

Every finding is a number with an interval, a p-value and whether it is to be looked at. A judge that errs often is no
bias; a judge that errs differently where it should not is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judges.calibration.agreement.holm import holm
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.clustered import Codes, Mean, cluster_numbers, clustered_difference, weighted_difference
from judges.calibration.distributions import t_half_width, two_sided_p
from judges.calibration.logistic import SeparatedError, fit_logistic
from judges.calibration.statistic import Statistic

LEVEL = 0.95
LEAST_EVENTS = 10
"""Passes, and fails, that a regression on one covariate needs."""
LEAST_IN_SLICE = 10


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
    name: str,
    covariate: ArrayLike,
    passed: ArrayLike,
    people: ArrayLike,
    level: float = LEVEL,
    act: str = "passes",
    clusters: ArrayLike | None = None,
    weights: FloatArray | None = None,
) -> Finding:
    """Does the judge pass longer (or more formatted) answers more readily than people's label explains?

    Logistic regression of the judge's pass on people's label and the covariate in standard deviations; the statistic is
    the odds ratio for one.

    Args:
        covariate: of each item, shape (n,) (length, its difference, number of list marks).
        passed: whether the judge passed it. people: people's label as a code. act: what "passed" is in words.
        clusters: of each item; where items share one, errors are those of clusters.
        weights: 1/π of each, where items were not all as likely to be drawn.
    """
    x, y = np.asarray(covariate, dtype=np.float64), np.asarray(passed, dtype=np.float64)
    codes = np.asarray(people)
    title = f"odds ratio of the judge's pass for one standard deviation of {name}, people's label held fixed"
    events = int(min(y.sum(), len(y) - y.sum())) if len(y) else 0
    if events < LEAST_EVENTS:
        why = f"{events} items of the judge's rarer answer; {LEAST_EVENTS} are needed"
        return nothing(name, Statistic.undefined("too_few", why, len(y), method=title))
    if float(x.std()) == 0:
        return nothing(name, Statistic.undefined("constant", f"{name} is the same everywhere", len(y), method=title))
    mean = float(np.average(x, weights=weights))
    standard = (x - mean) / math.sqrt(float(np.average((x - mean) ** 2, weights=weights)))
    kinds = np.unique(codes)
    design = np.column_stack([np.ones(len(y)), standard, *[(codes == kind).astype(float) for kind in kinds[1:]]])
    try:
        found = fit_logistic(design, y, weights)
    except SeparatedError:
        why = f"people's label and {name} tell the judge's answers apart without error, everywhere or for some items"
        return nothing(name, Statistic.undefined("separated", why, len(y), method=title))
    except ValueError:
        why = f"{name} is the same for every item to which people gave the same label"
        return nothing(name, Statistic.undefined("collinear", why, len(y), method=title))
    error, df, how = float(found.errors[1]), math.inf, "Wald interval of the log odds"
    codes_of = cluster_numbers(clusters)
    if weights is not None:
        units = np.arange(len(y)) if codes_of is None else codes_of
        error, df = float(found.clustered_errors(design, y, units, weights)[1]), float(units.max())
        how = "t interval of the log odds of items weighted by 1/π"
    if codes_of is not None:
        groups = int(codes_of.max()) + 1
        if groups < LEAST_IN_SLICE:
            why = f"the items lie in {groups} clusters; {LEAST_IN_SLICE} are needed"
            return nothing(name, Statistic.undefined("few_clusters", why, len(y), method=title))
        error, df = float(found.clustered_errors(design, y, codes_of, weights)[1]), groups - 1.0
        how = f"t interval of the log odds over {groups} clusters"
        how += "" if weights is None else ", items weighted by 1/π"
    return _odds(name, title, act, float(found.coefficients[1]), error, df, len(y), level, how)


def _odds(
    name: str, title: str, act: str, slope: float, error: float, df: float, n: int, level: float, how: str
) -> Finding:
    p, half = two_sided_p(slope, error, df), t_half_width(level, df) * error
    statistic = Statistic(math.exp(slope), n, title).with_interval(
        math.exp(slope - half), math.exp(slope + half), level, how
    )
    flagged = p < 1 - level
    more = "more" if slope > 0 else "less"
    words = (
        f"With the same label from people the judge {act} items of higher {name} {more} readily"
        if flagged
        else f"No effect of {name} on the judge can be told from chance"
    )
    return Finding(name, statistic, p, flagged, words)


def leniency(
    slices: Mapping[str, Sequence[str]],
    people: ArrayLike,
    judge: ArrayLike,
    level: float = LEVEL,
    clusters: ArrayLike | None = None,
    weights: FloatArray | None = None,
) -> list[Finding]:
    """Is the judge more lenient in one slice than elsewhere? Mean of judge − people there less that of the rest.

    Holm over all slices of all kinds; slices of fewer than `LEAST_IN_SLICE` items are left out.

    Args:
        slices: value of each item by kind of slice ("" for none). people, judge: scores, higher is better, shape (n,).
        clusters: of each item. weights: 1/π of each, where items were not all as likely to be drawn.
    """
    groups = cluster_numbers(clusters)
    gap = np.asarray(judge, dtype=np.float64) - np.asarray(people, dtype=np.float64)
    drafts: list[tuple[str, Statistic, float]] = []
    for kind, values in slices.items():
        column = np.asarray(values)
        for value in sorted(set(values) - {""}):
            here, rest = column == value, (column != value) & (column != "")
            if min(int(here.sum()), int(rest.sum())) >= LEAST_IN_SLICE:
                name, title = f"slice {kind}={value}", f"leniency in {kind}={value} against the rest"
                statistic, p = difference_of_means(gap, here, rest, title, level, groups, weights)
                drafts.append((name, statistic, p))
    return adjusted_findings(drafts, level, _leniency_words)


def _leniency_words(name: str, statistic: Statistic, flagged: bool) -> str:
    if not flagged or statistic.value is None:
        return f"How readily the judge passes items of {name} is not shown to differ from elsewhere"
    kind = "more lenient" if statistic.value > 0 else "stricter"
    return f"The judge is {kind} in {name} than elsewhere by {abs(statistic.value):.2f} of the scale"


def family_preference(
    own: ArrayLike,
    people: ArrayLike,
    judge: ArrayLike,
    ties: Mapping[str, str] | None = None,
    level: float = LEVEL,
    clusters: ArrayLike | None = None,
    weights: FloatArray | None = None,
) -> Finding:
    """Does the judge favour systems of its own family? (judge − people) on its own less that on the others.

    Raw win rates would call a good family favoured; the difference of differences does not.

    Args:
        own: whether the item's system is of the judge's family, shape (n,). people, judge: scores, higher is better.
        ties: what is declared of systems and judge ("MemOS": "shares an author with the benchmark"): said, not tested.
        clusters, weights: as in `leniency`.
    """
    mine = np.asarray(own, dtype=bool)
    gap = np.asarray(judge, dtype=np.float64) - np.asarray(people, dtype=np.float64)
    name, title = "own family", "judge − people on its own family less that on others"
    declared = "".join(f"; declared: {who}, {what}" for who, what in (ties or {}).items())
    if min(int(mine.sum()), int((~mine).sum())) < LEAST_IN_SLICE:
        why = f"{int(mine.sum())} items of the judge's family and {int((~mine).sum())} others; {LEAST_IN_SLICE} each"
        found = nothing(name, Statistic.undefined("too_few", f"{why} are needed", len(gap), method=title))
        return Finding(name, found.statistic, None, False, found.words + declared)
    statistic, p = difference_of_means(gap, mine, ~mine, title, level, cluster_numbers(clusters), weights)
    flagged = p < 1 - level and (statistic.value or 0) > 0
    words = "The judge favours its own family" if flagged else "No favour for the judge's own family is shown"
    return Finding(name, statistic, p, flagged, words + declared)


# Differences


class Tested(NamedTuple):
    """A difference and the p-value of there being none."""

    statistic: Statistic
    p_value: float


def difference_of_means(
    values: FloatArray,
    here: NDArray[np.bool_],
    rest: NDArray[np.bool_],
    name: str,
    level: float,
    clusters: Codes | None = None,
    weights: FloatArray | None = None,
) -> Tested:
    """Mean of the values `here` less that of the `rest`, with Welch's interval and p; that of clusters where there are
    some (`cluster_numbers`), and of what items stand for where they have weights."""
    n = int(here.sum()) + int(rest.sum())
    if weights is not None:
        found = weighted_difference(values, weights, here, rest, clusters)
        how = "t interval of items weighted by 1/π, with half a difference that was not drawn"
    elif clusters is None:
        found, how = _welch(values[here], values[rest]), "Welch interval"
    else:
        found = clustered_difference(values[here], values[rest], clusters[here], clusters[rest])
        how = f"t interval over {len(np.unique(clusters[here | rest]))} clusters"
    return tested(found, n, name, level, how)


def tested(found: Mean, n: int, name: str, level: float, how: str) -> Tested:
    """A mean or a difference of two with its t interval, and the p-value of its being 0."""
    plain = Statistic(found.value, n, name)
    if math.isnan(found.error):
        return Tested(plain.without_interval("all items lie in one cluster: nothing shows how clusters differ"), 1.0)
    if found.error == 0:
        return Tested(plain.without_interval("neither side varies"), two_sided_p(found.value, 0.0, found.df))
    half = t_half_width(level, found.df) * found.error
    p = two_sided_p(found.value, found.error, found.df)
    return Tested(plain.with_interval(found.value - half, found.value + half, level, how), p)


def _welch(here: FloatArray, rest: FloatArray) -> Mean:
    a, b = float(here.var(ddof=1)) / len(here), float(rest.var(ddof=1)) / len(rest)
    df = (a + b) ** 2 / (a**2 / (len(here) - 1) + b**2 / (len(rest) - 1)) if a + b > 0 else 1.0
    return Mean(float(here.mean() - rest.mean()), math.sqrt(a + b), df)


def adjusted_findings(
    drafts: Sequence[tuple[str, Statistic, float]], level: float, words: Callable[[str, Statistic, bool], str]
) -> list[Finding]:
    adjusted = holm([p for _, _, p in drafts])
    return [
        Finding(name, statistic, p, p < 1 - level, words(name, statistic, p < 1 - level))
        for (name, statistic, _), p in zip(drafts, adjusted, strict=True)
    ]


def nothing(name: str, statistic: Statistic) -> Finding:
    return Finding(name, statistic, None, False, f"Nothing can be said of {name}: {statistic.why}")
