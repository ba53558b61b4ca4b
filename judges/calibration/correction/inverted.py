"""A share from a calibration set chosen for equal numbers of each label: only the judge's error rates can be used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judges.calibration.agreement.scale import FloatArray
from judges.calibration.correction.estimate import WEAK_JUDGE, Drawn
from judges.calibration.correction.records import Share
from judges.calibration.correction.refusals import CLASS_LABELS, Reason
from judges.calibration.correction.rogan_gladen import Errors, Inversion, lee_interval, rates


def inverted_share(blocks: Sequence[Drawn], share: Share | None, level: float) -> Inversion | Reason:
    """The share of items people would count, from the share the judge counts and its error rates on labelled items.

    Only for a yes/no share of one task whose denominator no label changes.
    """
    if share is None or len(blocks) != 1:
        why = "labels were chosen for equal numbers of each label: that serves single yes/no shares only"
        return Reason("class_balanced", why)
    return transported_share(blocks[0], blocks[0].block.judge_terms, share, level)


def transported_share(block: Drawn, everyone: FloatArray, share: Share, level: float) -> Inversion | Reason:
    """A share of other items than the labelled ones: what the judge counts there, by its error rates here.

    Needs the rates to be the same in both (see `transport`), not how often people pass an item.

    Args:
        everyone: the judge's terms of the other items, in the block's columns, shape (M, K_b).
    """
    found = _errors(block, everyone, share)
    if isinstance(found, Reason):
        return found
    passed, n, errors = found
    if min(errors.positives, errors.negatives) < CLASS_LABELS:
        why = f"people gave one of the two labels to fewer than {CLASS_LABELS} items"
        return Reason("few_of_a_class", why)
    try:
        _, _, j = rates(errors)
    except ValueError as error:
        return Reason("weak_judge", str(error))
    if j < WEAK_JUDGE:
        return Reason("weak_judge", f"TPR + TNR − 1 is {j:.2f}; at least {WEAK_JUDGE} is needed")
    return lee_interval(passed, n, errors, level)


def _errors(block: Drawn, terms_of_all: FloatArray, share: Share) -> tuple[float, int, Errors] | Reason:
    terms = block.block.terms
    counted, among = terms.index(share.numerator), terms.index(share.denominator)
    judge, people = block.judge[:, [counted, among]], block.human[:, [counted, among]]
    everyone = terms_of_all[:, [counted, among]]
    if not all(bool(np.isin(table, (0.0, 1.0)).all()) for table in (judge, people, everyone)):
        return Reason("class_balanced", "labels were chosen for equal numbers of each label; this is no yes/no share")
    if not np.array_equal(judge[:, 1], people[:, 1]):
        why = "labels were chosen for equal numbers of each label; here they also decide which items count"
        return Reason("class_balanced", why)
    inside = people[:, 1] == 1
    yes, said = people[inside, 0] == 1, judge[inside, 0] == 1
    errors = Errors(int((yes & said).sum()), int(yes.sum()), int((~yes & ~said).sum()), int((~yes).sum()))
    n = int(everyone[:, 1].sum())
    if n == 0:
        return Reason("undefined", "no item counts for this share")
    return float(everyone[everyone[:, 1] == 1, 0].mean()), n, errors
