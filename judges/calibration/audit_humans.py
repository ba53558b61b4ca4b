"""Agreement of people with each other on their blind labels: the ceiling for any judge."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.cohen_kappa import cohen_kappa
from judges.calibration.agreement.confusion import confusion_counts
from judges.calibration.agreement.fleiss_kappa import fleiss_kappa
from judges.calibration.agreement.gwet import gwet_ac1
from judges.calibration.agreement.krippendorff_alpha import krippendorff_alpha
from judges.calibration.agreement.ratings import DistinctRows, LabelCounts, PairTable, distinct_rows
from judges.calibration.agreement.raw import mean_agreement, raw_agreement
from judges.calibration.agreement.weighted_kappa import weighted_kappa
from judges.calibration.audit_input import NOT_LABELLED, TaskColumns
from judges.calibration.audit_result import HumanAgreement, PairAgreement, Settings
from judges.calibration.statistic import Statistic

TIE_BREAKER_ITEMS = 5
"""Below so many labels nobody is taken for a tie-breaker."""

Labels = Mapping[str, NDArray[np.integer]]
"""Codes by annotator, each of shape (items,)."""


def human_agreement(task: TaskColumns, settings: Settings) -> HumanAgreement:
    """All people together, and each pair on the items both labelled.

    People called in to break ties are left out of the numbers over all people: they label where the others differ, and
    an item on which two of three agree would count for more than one on which two of two do not.
    """
    own = {who: np.where(task.estimate, codes, NOT_LABELLED) for who, codes in task.annotators.items()}
    own = {who: codes for who, codes in own.items() if (codes != NOT_LABELLED).any()}
    annotators = {who: int((codes >= 0).sum()) for who, codes in own.items()}
    if len(own) < 2:
        return _alone(annotators)
    pairs = {f"{first}|{second}": _pair(task, own, first, second, settings) for first, second in combinations(own, 2)}
    breakers = tie_breakers(own)
    regular = np.stack([codes for who, codes in own.items() if who not in breakers], axis=1)
    dropped = {f"labels_of_tie_breaker_{who}": annotators[who] for who in breakers}
    ratings = LabelCounts.of_codes(task.scale, regular, task.clusters, dropped, report_unrated=False)
    bootstrap = Bootstrap.of_counts(ratings, settings.seed, settings.resamples, settings.level)
    return HumanAgreement(
        annotators,
        pairs,
        raw_agreement=mean_agreement(ratings, bootstrap),
        krippendorff_alpha=krippendorff_alpha(ratings, bootstrap),
        fleiss_kappa=fleiss_kappa(ratings, bootstrap),
        gwet_ac1=gwet_ac1(ratings, bootstrap),
        notes=tuple(_note(who) for who in breakers),
    )


def tie_breakers(own: Labels) -> list[str]:
    """Annotators who labelled less than half of the items, and mostly such on which the others differ.

    On at least half of their items that two others labelled the others differ, and elsewhere less than half as often.
    """
    names = list(own)
    distinct = distinct_rows(np.stack(list(own.values()), axis=1))
    rated = distinct.rows >= 0
    items = int(distinct.counts[rated.any(axis=1)].sum())
    return [who for place, who in enumerate(names) if _breaks_ties(distinct, place, items)]


def _breaks_ties(distinct: DistinctRows, place: int, items: int) -> bool:
    others = np.delete(distinct.rows, place, axis=1)
    rated = others >= 0
    comparable = rated.sum(axis=1) >= 2
    highest = np.where(rated, others, -1).max(axis=1, initial=-1)
    lowest = np.where(rated, others, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    differ = comparable & (highest != lowest)
    here = distinct.rows[:, place] >= 0
    labelled = int(distinct.counts[here].sum())
    inside, outside = int(distinct.counts[here & comparable].sum()), int(distinct.counts[~here & comparable].sum())
    if inside < TIE_BREAKER_ITEMS or outside == 0 or 2 * labelled >= items:
        return False
    differ_inside = int(distinct.counts[here & differ].sum()) / inside
    differ_outside = int(distinct.counts[~here & differ].sum()) / outside
    return differ_inside >= 0.5 and differ_outside < differ_inside / 2


def _note(who: str) -> str:
    return (
        f"{who} labelled mostly items on which the others differ and is left out of the numbers over all people; "
        f"pairs with {who} speak of those items only"
    )


def _alone(annotators: Mapping[str, int]) -> HumanAgreement:
    n = sum(annotators.values())
    why = "one person labelled: agreement between people needs two" if annotators else "no person's own labels"
    none = Statistic.undefined("one_annotator" if annotators else "no_pairable_items", why, n)
    return HumanAgreement(annotators, {}, none, none, none, none)


def _pair(task: TaskColumns, own: Labels, first: str, second: str, settings: Settings) -> PairAgreement:
    rated_by_one = int(((own[first] >= 0) ^ (own[second] >= 0)).sum())
    dropped = {"rated_by_one": rated_by_one} if rated_by_one else {}
    pairs = PairTable.of_codes(task.scale, own[first], own[second], task.clusters, dropped, (first, second))
    bootstrap = Bootstrap.of_counts(pairs.label_counts(), settings.seed, settings.resamples, settings.level)
    return PairAgreement(
        n=pairs.n,
        raw_agreement=raw_agreement(pairs, settings.level),
        cohen_kappa=cohen_kappa(pairs, bootstrap),
        krippendorff_alpha=krippendorff_alpha(pairs.label_counts(), bootstrap),
        gwet_ac1=gwet_ac1(pairs.label_counts(), bootstrap),
        confusion=confusion_counts(pairs),
        weighted_kappa=weighted_kappa(pairs, bootstrap=bootstrap) if task.scale.ordered else None,
    )
