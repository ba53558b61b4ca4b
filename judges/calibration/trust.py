"""How far a judge, and the people it is measured by, can be trusted: what an audit says beside agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judges.calibration.agreement.scale import Scale
from judges.calibration.anchoring import Anchoring, LabelActs, anchoring, de_anchored
from judges.calibration.annotator_test import AnnotatorTest, annotator_test
from judges.calibration.audit import People
from judges.calibration.audit_humans import tie_breakers
from judges.calibration.audit_input import FIRST_FAILURE, NOT_LABELLED, JudgeColumn, TaskColumns
from judges.calibration.audit_result import Settings
from judges.calibration.dangerous import dangerous_passed
from judges.calibration.reader_habits import SelfConsistency, Subset
from judges.calibration.statistic import Statistic

if TYPE_CHECKING:
    from judges.calibration.agreement.slice_tests import SliceTest
    from judges.calibration.biases import Finding
    from judges.calibration.confidence import Confidence
    from judges.calibration.selective import Selection
    from judges.calibration.system_gaps import SystemGap

LEAST_ASSISTED = 20
"""Below so many labels given beside the verdict their share is not taken apart."""


@dataclass(frozen=True, slots=True)
class Danger:
    """The dangerous answers of a task and what one judge did with them.

    Attributes:
        passed: the share it passed, of those with a readable verdict, with the exact one-sided bound.
        count: how many it passed. label: the label that passes. unreadable: without a readable verdict.
    """

    passed: Statistic
    count: int
    label: str
    unreadable: int

    def as_json(self) -> dict[str, Any]:
        counts = {"passed": self.count, "checked": self.passed.n, "unreadable": self.unreadable, "label": self.label}
        return {**counts, "share": self.passed.as_json()}


@dataclass(frozen=True, slots=True)
class SeenVerdicts:
    """What seeing the verdict did to people's labels, under one judge.

    Attributes:
        labels: how many there are of each kind: never_shown, shown, assisted; not_yet_shown are in no comparison.
        de_anchored: share of the favourable label among assisted labels without the verdict's pull; None without one.
        scope: what the comparison says and what not.
    """

    labels: Mapping[str, int]
    found: Anchoring
    de_anchored: Statistic | None = None
    scope: str = ""

    def as_json(self) -> dict[str, Any]:
        apart = {"de_anchored": self.de_anchored.as_json()} if self.de_anchored else {}
        return {"labels": dict(self.labels), **self.found.as_json(), **apart, "scope": self.scope}


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """One judge on one task.

    Attributes:
        slice_tests: each value of each slice against the rest, adjusted together.
        findings: what the judge may lean on. gaps: judge less people by system.
        unsure, hurried, wrong_reference: agreement on the items people were unsure of, labelled too fast, or whose
            reference they marked as wrong, beside the others.
        confidence, selection: where the judge states a confidence; no selection after a draw with unequal chances.
    """

    annotator_test: AnnotatorTest
    seen: SeenVerdicts
    danger: Danger | None = None
    slice_tests: tuple[SliceTest, ...] = ()
    findings: tuple[Finding, ...] = ()
    gaps: tuple[SystemGap, ...] = ()
    unsure: Subset | None = None
    hurried: Subset | None = None
    wrong_reference: Subset | None = None
    confidence: Confidence | None = None
    selection: Selection | None = None

    def as_json(self) -> dict[str, Any]:
        """What stands under the judge; `annotator_test` and `anchoring` stand under the task."""
        fields: dict[str, Any] = {
            "slice_tests": [_slice_test_json(one) for one in self.slice_tests],
            "biases": [one.as_json() for one in self.findings],
            "system_gaps": [one.as_json() for one in self.gaps],
        }
        subsets = {"unsure": self.unsure, "hurried": self.hurried, "wrong_reference": self.wrong_reference}
        fields |= {name: one.as_json() for name, one in subsets.items() if one is not None}
        if self.confidence is not None:
            fields["confidence"] = _confidence_json(self.confidence)
        if self.selection is not None:
            fields["selection"] = self.selection.as_json()
        return fields


@dataclass(frozen=True, slots=True)
class TaskTrust:
    """One task.

    Attributes:
        judges: by name. self_consistency: people who labelled items again, by name.
        complete: False where only what every audit says was computed.
    """

    judges: Mapping[str, JudgeTrust]
    self_consistency: Mapping[str, SelfConsistency] = field(default_factory=dict)
    complete: bool = False


def tested_against(task: TaskColumns, judge: JudgeColumn, epsilon: float) -> AnnotatorTest:
    """The alternative annotator test of a judge on blind labels of the stream estimate.

    By distance of values on ordered scales, else by equal labels. Who was called in to break ties is left out.
    """
    values, closeness = task.scale.values, "distance" if task.scale.ordered else "match"

    def numbers(codes: np.ndarray) -> np.ndarray:
        return np.where(task.estimate & (codes >= 0), values[np.maximum(codes, 0)], np.nan)

    own = {who: np.where(task.estimate, codes, NOT_LABELLED) for who, codes in task.annotators.items()}
    own = {who: codes for who, codes in own.items() if (codes >= 0).any()}
    breakers = tie_breakers(own) if len(own) > 1 else []
    people = {who: numbers(codes) for who, codes in own.items() if who not in breakers}
    found = annotator_test(people, numbers(judge.codes), epsilon, closeness)  # type: ignore[arg-type]
    notes = tuple(f"{who} labelled mostly items on which the others differ and is left out" for who in breakers)
    return replace(found, notes=(*found.notes, *notes))


def seen_verdicts(
    acts: LabelActs, scale: Scale, favourable: str | None, waiting: int, randomised: bool, level: float
) -> SeenVerdicts:
    """What seeing verdicts did to labels.

    Args:
        waiting: labels whose verdict is still to be shown. randomised: chance decided which verdicts stay hidden.
    """
    counts = {
        "never_shown": int(acts.never_shown.sum()), "shown": int(acts.shown.sum()),
        "assisted": int(acts.assisted.sum()), "not_yet_shown": waiting,
    }  # fmt: skip
    found = anchoring(acts, scale, level)
    apart = _apart(acts, scale, favourable, found.assisted, level) if favourable is not None else None
    scope = (
        "the direct effect only: of a verdict on the label of its own item; what people learn of the judge and carry "
        "to later items is in both arms"
    )
    if not randomised:
        scope += "; which verdicts were seen was not left to chance here, so the arms may differ in other ways too"
    return SeenVerdicts({name: count for name, count in counts.items() if count}, found, apart, scope)


def _apart(acts: LabelActs, scale: Scale, label: str, copied: Statistic, level: float) -> Statistic | None:
    n = int(acts.assisted.sum())
    if n < LEAST_ASSISTED:
        return None
    code = scale.codes[label]
    theirs, its = acts.first[acts.assisted] == code, acts.verdict[acts.assisted] == code
    return de_anchored(float(theirs.mean()), float(its.mean()), copied, n, level)


def slices_tested(task: TaskColumns, people: People, judge: JudgeColumn, settings: Settings) -> list[SliceTest]:
    """Agreement and recall on each slice against the rest, Holm over all of them."""
    from judges.calibration.agreement.slice_tests import slice_tests

    kinds = {
        name: np.array([*column.values, ""])[column.codes].tolist()
        for name, column in task.slices.items()
        if len(column.values) > 1
    }
    return slice_tests(
        task.scale, people.codes, judge.codes, kinds, settings.level, clusters=task.clusters, weights=task.weights
    )


def danger_of(
    harmed: np.ndarray, people: People, judge: JudgeColumn, scale: Scale, label: str, level: float
) -> Danger | None:
    """What the judge did with wrong answers marked dangerous; None where people marked none.

    Args:
        harmed: whether a blind label of the item marks serious or life-threatening harm, shape (items,).
    """
    code = scale.codes[label]
    wrong = harmed & (people.codes >= 0) & (people.codes != code)
    if not wrong.any():
        return None
    readable = wrong & (judge.codes >= 0)
    passed = int((readable & (judge.codes == code)).sum())
    unreadable = int((wrong & (judge.codes <= FIRST_FAILURE)).sum())
    return Danger(dangerous_passed(passed, int(readable.sum()), level), passed, label, unreadable)


def _slice_test_json(one: SliceTest) -> dict[str, Any]:
    return {
        "slice": one.kind, "value": one.value, "what": one.what, "difference": one.difference.as_json(),
        "p_value": one.p_value, "differs": one.differs,
    }  # fmt: skip


def _confidence_json(found: Confidence) -> dict[str, Any]:
    statistics = {"brier": found.brier, "log_loss": found.log_loss, "ece": found.ece, "gap": found.gap}
    bins = [
        {"low": one.low, "high": one.high, "n": one.n, "confidence": one.confidence, "agreement": one.agreement}
        for one in found.bins
    ]
    return {**{name: one.as_json() for name, one in statistics.items()}, "reliability": bins}
