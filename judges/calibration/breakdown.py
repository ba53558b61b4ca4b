"""A judge that has stopped judging: one label for everything, or broken on one system only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from judges.calibration.agreement.binomial import newcombe
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.biases import (
    LEAST_IN_SLICE,
    LEVEL,
    Finding,
    Tested,
    adjusted_findings,
    difference_of_means,
    nothing,
)
from judges.calibration.clustered import cluster_numbers
from judges.calibration.statistic import Statistic

COLLAPSED = 0.98
"""A judge that gives one label to so large a share of items has stopped judging, unless people do too."""
MARGIN = 0.1


def one_label_collapse(
    labels: Sequence[str], judge: ArrayLike, people: ArrayLike, weights: FloatArray | None = None
) -> Finding:
    """Does the judge give (almost) everything one label while people do not?

    Args:
        labels: the declared set. judge, people: codes, shape (n,), negative for none, left out.
        weights: 1/π of each item, nan for one in no sample, left out; None where all count the same.
    """
    said, own = np.asarray(judge), np.asarray(people)
    counted = np.ones(len(said)) if weights is None else np.nan_to_num(weights)
    given, labelled = (said >= 0) & (counted > 0), (own >= 0) & (counted > 0)
    title = "largest share of items given one label" + ("" if weights is None else ", items weighted by 1/π")
    if not given.any():
        return nothing("one label", Statistic.undefined("no_items", "no readable verdict", 0, method=title))
    masses = np.bincount(said[given], counted[given], len(labels))
    code = int(masses.argmax())
    share = float(masses[code] / masses.sum())
    mine = counted[labelled]
    theirs = float(mine @ (own[labelled] == code) / mine.sum()) if labelled.any() else None
    statistic = Statistic(share, int(given.sum()), title)
    flagged = share >= COLLAPSED and theirs is not None and theirs < COLLAPSED
    people_say = "" if theirs is None else f"; people gave it to {theirs:.0%}"
    words = f"The judge gave {share:.0%} of the items {labels[code]}{people_say}"
    return Finding("one label", statistic, None, flagged, words)


def broken_systems(
    systems: Sequence[str],
    agrees: ArrayLike,
    level: float = LEVEL,
    margin: float = MARGIN,
    clusters: ArrayLike | None = None,
    weights: FloatArray | None = None,
) -> list[Finding]:
    """Is the judge broken on one system only? Its agreement there against all others, Holm over systems.

    Args:
        systems: of each item. agrees: whether the verdict is people's label; an unreadable verdict does not agree.
        margin: a smaller loss is not flagged.
        clusters: of each item. weights: 1/π of each, None where all count the same.
    """
    groups = cluster_numbers(clusters)
    column, right = np.asarray(systems), np.asarray(agrees, dtype=np.float64)
    drafts = []
    for system in sorted(set(systems)):
        here, title = column == system, f"agreement on {system} less the rest"
        if min(int(here.sum()), int((~here).sum())) < LEAST_IN_SLICE:
            continue
        if groups is None and weights is None:
            drafts.append((system, *_difference_of_shares(right[here], right[~here], title, level)))
        else:
            drafts.append((system, *difference_of_means(right, here, ~here, title, level, groups, weights)))
    findings = adjusted_findings(drafts, level, _broken_words)
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


def _difference_of_shares(here: FloatArray, rest: FloatArray, name: str, level: float) -> Tested:
    from scipy.stats import fisher_exact

    table = [[int(part.sum()), len(part) - int(part.sum())] for part in (here, rest)]
    low, high = newcombe(table[1][0], len(rest), table[0][0], len(here), level)
    plain = Statistic(float(here.mean() - rest.mean()), len(here) + len(rest), name)
    return Tested(plain.with_interval(low, high, level, "Newcombe interval"), float(fisher_exact(table).pvalue))
