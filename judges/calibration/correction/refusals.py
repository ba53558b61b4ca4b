"""When labels may not be used, when a judge is no help, and what is said then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from judges.calibration.agreement.scale import FloatArray
from judges.calibration.correction.estimate import WEAK_JUDGE, Drawn, informedness
from judges.calibration.correction.records import Provenance, Target
from judges.calibration.correction.result import Refusal

CLASS_LABELS = 5
"""Labels that must lie on either side of a metric before the judge is used."""
MOST_UNRESOLVED = 0.05
"""Above this share of unresolved items adjudication comes first."""
LEAST_CLUSTERS = 5
"""Below so many clusters nothing is said of new ones."""


class Reason(NamedTuple):
    """A refusal and its words."""

    refusal: Refusal
    why: str


class Touched(NamedTuple):
    """A block and the metric's gradient by its terms at people's totals, shape (K_b,)."""

    block: Drawn
    gradient: FloatArray


def no_answer(touched: Sequence[Touched], provenance: Provenance, target: Target) -> Reason | None:
    """Why a metric has no number at all, or None."""
    if not provenance.blind:
        why = "labels were given after a verdict was seen: they follow the judge and correct nothing"
        return Reason("labels_not_blind", why)
    if provenance.sampling == "unknown":
        unknown = "how the labelled items were chosen is not known; only a probability sample speaks for the others"
        return Reason("sampling_unknown", provenance.why or unknown)
    for block, gradient in touched:
        found = _no_labels(block, gradient) or _unresolved(block) or _too_few(block) or _clusters(block, target)
        if found:
            return found
    return None


def no_correction(touched: Sequence[Touched], provenance: Provenance) -> Reason | None:
    """Why people's labels must stand alone, or None."""
    if provenance.judge_calibrated != provenance.judge_scored:
        why = (
            f"the labels were drawn for judge {provenance.judge_calibrated or 'unnamed'} and the verdicts are of "
            f"{provenance.judge_scored or 'unnamed'}: re-judge the labelled items first"
        )
        return Reason("judge_changed", why)
    for block, gradient in touched:
        found = _few_of_a_class(block, gradient)
        if found:
            return found
    if not any(covariate(block, gradient) for block, gradient in touched):
        slopes = [informedness(block, gradient[np.newaxis, :]) for block, gradient in touched]
        why = (
            f"the judge's verdicts follow people's labels too little here (J {max(slopes):.2f}; at least "
            f"{WEAK_JUDGE} is needed)"
        )
        return Reason("weak_judge", why)
    return None


def covariate(block: Drawn, gradient: FloatArray) -> bool:
    """Whether a block's judge is one: J of the metric at least `WEAK_JUDGE`."""
    return informedness(block, gradient[np.newaxis, :]) >= WEAK_JUDGE


def _no_labels(block: Drawn, gradient: FloatArray) -> Reason | None:
    name = block.block.name
    if block.sample.n == 0:
        return Reason("no_labels", f"task {name} has no labels")
    blank = np.isnan(block.block.human_terms).all(axis=0) & (gradient != 0)
    if blank.any():
        terms = ", ".join(term for term, none in zip(block.block.terms, blank, strict=True) if none)
        return Reason("no_labels", f"task {name} has no labels for {terms}")
    return None


def _unresolved(block: Drawn) -> Reason | None:
    drawn = len(block.sample.draw.drawn)
    missing = drawn - block.sample.n
    if missing <= MOST_UNRESOLVED * drawn:
        return None
    why = (
        f"{missing} of {drawn} labelled items of {block.block.name} are unresolved or cannot be judged, more than "
        f"{MOST_UNRESOLVED:.0%}: adjudicate them first"
    )
    return Reason("adjudicate_first", why)


def _too_few(block: Drawn) -> Reason | None:
    sample, name = block.sample, block.block.name
    if sample.empty_strata:
        why = f"{sample.empty_strata} strata of {name} have no labelled item: label in all of them"
        return Reason("stratum_without_labels", why)
    if sample.lone_strata:
        unit = "group" if sample.draw.design == "two_stage" else "item"
        what = "of the draw has" if len(sample.sizes) == 1 else f"of {sample.lone_strata} strata has"
        return Reason("too_few", f"only one labelled {unit} {what} been read in {name}: one shows no spread, label two")
    return None


def _clusters(block: Drawn, target: Target) -> Reason | None:
    if target == "finite" or block.block.clusters is None:
        return None
    number = len(np.unique(block.block.clusters))
    if number >= LEAST_CLUSTERS:
        return None
    why = f"{number} clusters cannot speak of new ones ({LEAST_CLUSTERS} are needed); ask for these items alone"
    return Reason("too_few_clusters", why)


def _few_of_a_class(block: Drawn, gradient: FloatArray) -> Reason | None:
    """Fewer than `CLASS_LABELS` labels on either side of the metric's value: for a share, of either label.

    Items that a ratio does not count lie on neither side; for a sum the sides are those of its mean.
    """
    if not (gradient * block.unfixed).any() or block.sample.complete:
        return None
    people, weights = block.human @ gradient, block.sample.weights
    ratio = bool((gradient > 0).any() and (gradient < 0).any())
    away = people if ratio else people - weights @ people / weights.sum()
    tiny = 1e-7 * float(np.abs(block.human * gradient).max(initial=0.0))
    above, below = int((away > tiny).sum()), int((away < -tiny).sum())
    if min(above, below) >= CLASS_LABELS:
        return None
    why = (
        f"only {min(above, below)} of {block.sample.n} labels of {block.block.name} pull this metric "
        f"{'up' if above < below else 'down'}; the judge's help needs {CLASS_LABELS} each way"
    )
    return Reason("few_of_a_class", why)
