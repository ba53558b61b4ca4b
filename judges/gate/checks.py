"""The checks of a gate: each a number with its interval against a bound, passed, failed or undecided, and what to do.

All checks must pass, so their number needs no correction (an intersection-union test, Berger 1982, Technometrics
24:295-300). The level of every interval is that of one look among several (`Thresholds.level`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.binomial import clopper_pearson
from judges.calibration.agreement.scale import Scale
from judges.calibration.agreement.slice_tests import slice_tests
from judges.calibration.annotator_test import LEAST_ANNOTATORS, annotator_test
from judges.calibration.audit import audit
from judges.calibration.audit_records import AuditItem
from judges.calibration.audit_result import JudgeAgreement
from judges.calibration.audit_result import Settings as AuditSettings
from judges.calibration.checks import NO_MORE_THAN, decisive_items
from judges.calibration.dangerous import dangerous_passed
from judges.calibration.judge_stability import repeat_instability
from judges.calibration.label_worth import label_worth
from judges.calibration.plain_words import FIRST_ANSWER
from judges.calibration.statistic import Statistic
from judges.calibration.statistical_label import Adjudication, statistical_label
from judges.favourable import favourable_label
from judges.gate.evidence import Evidence
from judges.gate.thresholds import Thresholds

Status = Literal["passed", "failed", "undecided", "skipped"]
"""skipped: there is nothing to measure, and nothing asks for it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        label: whose recall or precision it is; "" for the others.
        bound: what the number has to reach; `side` "least" or "most".
        why: what was found, a sentence. next: the next useful act, "" when none is needed.
    """

    name: str
    status: Status
    statistic: Statistic
    bound: float | None
    why: str
    label: str = ""
    side: Literal["least", "most"] = "least"
    next: str = ""

    @property
    def passed(self) -> bool | None:
        """True, False, or None for undecided and skipped."""
        return {"passed": True, "failed": False}.get(self.status)

    @property
    def title(self) -> str:
        return f"{self.name} of {self.label}" if self.label else self.name.replace("_", " ")

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "label": self.label, "status": self.status, "passed": self.passed,
            "value": self.statistic.value, "low": self.statistic.low, "high": self.statistic.high,
            "n": self.statistic.n, "bound": self.bound, "side": self.side, "why": self.why, "next": self.next,
        }  # fmt: skip


@dataclass(frozen=True)
class _Columns:
    """Labelled items of stream estimate as codes, shape (n,): people's statistical label and the judge's verdict; and
    what each stands for, nan for one in no sample; None where all count the same."""

    items: list[AuditItem]
    people: NDArray[np.int64]
    judge: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None


def checks_of(evidence: Evidence, limits: Thresholds, seed: int = 0) -> list[Check]:
    """All checks of one judge on one task, in a fixed order."""
    settings = AuditSettings(level=limits.level, seed=seed)
    found = audit([evidence.records], "", settings).tasks[evidence.task.task]
    judge = found.judges.get(evidence.judge.name)
    if judge is None or judge.n - len(evidence.told_twice) < FIRST_ANSWER:
        return [_too_few(evidence, judge)]
    columns = _columns(evidence)
    scale = Scale(evidence.records.label_set.labels, evidence.records.label_set.level)
    checks = [
        _enough_labels(evidence, judge),
        *_label_checks(judge, evidence, limits),
        _coefficient("kappa", judge.cohen_kappa, limits.kappa),
        _coefficient("ac1", judge.gwet_ac1, limits.ac1),
        _parse_rate(evidence, limits),
        _slices(columns, scale, limits),
        _effective_gain(columns, scale, limits),
        _dangerous(columns, evidence, limits),
        _annotators(evidence, scale, limits),
        _stability(evidence, scale, limits),
        _anchoring(evidence),
        _cost(evidence, limits),
    ]
    return [_required(check, limits) for check in checks]


def _required(check: Check, limits: Thresholds) -> Check:
    if check.status != "skipped" or check.name not in limits.required:
        return check
    return Check(check.name, "undecided", check.statistic, check.bound, f"required, but {check.why}", check.label,
                 check.side, check.next)  # fmt: skip


def _enough_labels(evidence: Evidence, judge: JudgeAgreement) -> Check:
    """Enough of them, and none that the judge could be asked about and was not: what it has not judged may be what it
    does worst."""
    if judge.no_verdict and evidence.live:
        why = f"{judge.no_verdict} labelled items were not judged yet"
        act = f"judge the labelled items: overread judge --task {evidence.task.task} --items labelled"
        return _labels(judge.n, "undecided", why, act)
    if evidence.unweighable:
        why = "items were drawn with unequal chances, and the draw is no sample of the task's items as they are now"
        act = f"make a new draw: overread sample --task {evidence.task.task} --n {max(judge.n, FIRST_ANSWER)}"
        return _labels(judge.n, "undecided", why, act)
    return _labels(judge.n, "passed", _labels_why(evidence, judge))


def _labels_why(evidence: Evidence, judge: JudgeAgreement) -> str:
    out = f"; {evidence.tuned_out} left out that its prompt was tuned on" if evidence.tuned_out else ""
    return f"{judge.n} items with people's blind label and a readable verdict{out}"


def _too_few(evidence: Evidence, judge: JudgeAgreement | None) -> Check:
    n = max(0, judge.n - len(evidence.told_twice)) if judge is not None else 0
    unjudged = judge is None or judge.no_verdict > judge.n
    act = (
        f"judge the labelled items: overread judge --task {evidence.task.task} --items labelled"
        if unjudged and evidence.records.items
        else f"label {FIRST_ANSWER - n} more items of {evidence.task.task}"
    )
    return _labels(n, "undecided", _count_words(n, evidence), act)


def _labels(n: int, status: Status, why: str, act: str = "") -> Check:
    return Check("labels", status, Statistic(float(n), n), float(FIRST_ANSWER), why, next=act)


def _count_words(n: int, evidence: Evidence) -> str:
    out = f" ({evidence.tuned_out} more were used for tuning)" if evidence.tuned_out else ""
    return f"{n} labelled items have a readable verdict{out}; {FIRST_ANSWER} are needed for a first answer"


def _columns(evidence: Evidence) -> _Columns:
    labels = evidence.records.label_set.labels
    codes = {label: code for code, label in enumerate(labels)}
    items = [item for item in evidence.records.items if item.stream == "estimate"]
    people = [codes.get(label, -1) if (label := resolved_label(item)) is not None else -1 for item in items]
    verdicts = [item.verdicts.get(evidence.judge.name) for item in items]
    judge = [codes.get(one.label, -1) if one is not None and one.label is not None else -1 for one in verdicts]
    weights = None
    if evidence.records.unequal and any(item.weight is not None for item in items):
        weights = np.array([np.nan if item.weight is None else item.weight for item in items])
    return _Columns(items, np.array(people, dtype=np.int64), np.array(judge, dtype=np.int64), weights)


def resolved_label(item: AuditItem) -> str | None:
    """People's statistical label of an item."""
    decision = Adjudication(item.adjudicated.value) if item.adjudicated is not None else None
    return statistical_label({who: label.value for who, label in item.labels.items()}, decision).label


# Recall, precision, coefficients


def _label_checks(judge: JudgeAgreement, evidence: Evidence, limits: Thresholds) -> Iterator[Check]:
    titles = evidence.records.label_set.titles
    for label, found in judge.per_label.items():
        for name, statistic in (("recall", found.recall), ("precision", found.precision)):
            yield _share(
                name, label, titles.get(label, label), statistic, limits.of_label(name, label), judge.n, limits
            )


def _share(
    name: str, label: str, title: str, statistic: Statistic, bound: float, judged: int, limits: Thresholds
) -> Check:
    if statistic.value is None:
        if name == "precision":
            return Check(name, "skipped", statistic, bound, f"the judge called no labelled item {title}", label)
        act = f"label more items until people call some {title}"
        return Check(name, "skipped", statistic, bound, f"people called no item {title}: nothing is known of it", label,
                     next=act)  # fmt: skip
    status = _status(statistic, bound)
    hits = statistic.value * statistic.n
    counted = f"{round(hits)} of {statistic.n}"
    if abs(hits - round(hits)) > 1e-6:
        counted = f"{statistic.value:.2f} of all items by {statistic.n} labelled ones"
    why = f"{counted}, {_bounds(statistic)}, has to be at least {bound:g}"
    if status == "passed":
        return Check(name, status, statistic, bound, why, label)
    if status == "failed":
        return Check(name, status, statistic, bound, why, label, next=_mend(name, title))
    return Check(name, status, statistic, bound, why, label, next=_more(name, title, statistic, bound, judged, limits))


def _more(name: str, title: str, statistic: Statistic, bound: float, judged: int, limits: Thresholds) -> str:
    """How many labels would pass the check if its rate stays what it is, and which items give them."""
    assert statistic.value is not None
    if statistic.value <= bound:
        return f"{_mend(name, title)}; at its present rate more labels will not pass it"
    needed = decisive_items(statistic.value, bound, limits.level)
    if needed is None:
        return f"{_mend(name, title)}; it is too close to the bound to be decided by labels"
    own = max(needed - statistic.n, 1)
    if name == "precision":
        which = f"label {own} more items the judge calls {title} (overread sample --by verdict)"
        total = own
    else:
        total = math.ceil(own * judged / statistic.n)
        which = f"label {total} more items (about {own} of them {title})"
    return (
        which if total <= NO_MORE_THAN else f"{_mend(name, title)}; it is too close to the bound for labels to decide"
    )


def _mend(name: str, title: str) -> str:
    what = f"it misses {title}" if name == "recall" else f"it says {title} too often"
    return f"retune: {what} (overread retune), or let people decide these items"


def _coefficient(name: str, statistic: Statistic, bound: float) -> Check:
    if statistic.low is None or statistic.high is None:
        if statistic.value == 1.0:
            why = "every item agrees; recall and precision bound what may still go wrong"
            return Check(name, "passed", statistic, bound, why)
        why = statistic.why or "it has no interval"
        return Check(name, "undecided", statistic, bound, why, next="label more items of the rarest label")
    status = _status(statistic, bound)
    why = f"{statistic.value:.2f}, {_bounds(statistic)}, has to be at least {bound:g}"
    act = ""
    if status == "failed" or (status == "undecided" and statistic.value is not None and statistic.value <= bound):
        act = "retune: it agrees with people little more than chance would (overread retune)"
    elif status == "undecided" and statistic.value is not None:
        more = statistic.n * (((statistic.value - statistic.low) / (statistic.value - bound)) ** 2 - 1)
        count = math.ceil(max(more, 1))
        act = f"label {count} more items" if count <= NO_MORE_THAN else "too close to the bound for labels to decide"
    return Check(name, status, statistic, bound, why, next=act)


def _status(statistic: Statistic, bound: float) -> Status:
    if statistic.low is not None and statistic.low >= bound:
        return "passed"
    return "failed" if statistic.high is not None and statistic.high < bound else "undecided"


def _status_most(statistic: Statistic, bound: float) -> Status:
    if statistic.high is not None and statistic.high <= bound:
        return "passed"
    return "failed" if statistic.low is not None and statistic.low > bound else "undecided"


def _bounds(statistic: Statistic) -> str:
    if statistic.low is None or statistic.high is None:
        return "without an interval"
    level = f"{statistic.level:.1%}".rstrip("0%").rstrip(".") + " %" if statistic.level else ""
    return f"{statistic.low:.2f} to {statistic.high:.2f} ({level})"


# The judge itself


def _parse_rate(evidence: Evidence, limits: Thresholds) -> Check:
    n, read = evidence.judged, evidence.read
    plain = Statistic(read / n, n, "share of verdicts that could be read")
    statistic = plain.with_interval(*clopper_pearson(read, n, limits.level), limits.level, "exact interval")
    status = _status(statistic, limits.parse_rate)
    why = f"{read} of {n} verdicts could be read, {_bounds(statistic)}, has to be at least {limits.parse_rate:g}"
    act = ""
    if status == "failed" or (status == "undecided" and read / n <= limits.parse_rate):
        act = "mend the prompt's output contract, or ask the failures again"
    elif status == "undecided":
        needed = decisive_items(read / n, limits.parse_rate, limits.level)
        more = "more" if needed is None else str(max(needed - n, 1)) + " more"
        act = f"judge {more} items: overread judge --task {evidence.task.task} --items drawn"
    return Check("parse_rate", status, statistic, limits.parse_rate, why, next=act)


def _stability(evidence: Evidence, scale: Scale, limits: Thresholds) -> Check:
    name, bound = "stability", limits.instability
    act = f"judge the labelled items again: overread judge --task {evidence.task.task} --items labelled --repeat 3"
    if not evidence.repeats:
        none = Statistic.undefined("no_repeats", "no item was judged twice", 0)
        return Check(name, "skipped", none, bound, "no item was judged twice", side="most", next=act)
    width = max(map(len, evidence.repeats.values()))
    table = np.full((len(evidence.repeats), width), -1, dtype=np.int64)
    for row, labels in enumerate(evidence.repeats.values()):
        table[row, : len(labels)] = [scale.codes.get(label, -1) if label is not None else -1 for label in labels]
    finding = repeat_instability(table, limits.level)
    if finding.statistic.value is None:
        return Check(name, "skipped", finding.statistic, bound, finding.statistic.why, side="most", next=act)
    status = _status_most(finding.statistic, bound)
    why = f"{finding.words}; {_bounds(finding.statistic)}, may be at most {bound:g}"
    mend = "lower the temperature, or let the majority of several repeats decide"
    return Check(name, status, finding.statistic, bound, why, side="most",
                 next={"passed": "", "failed": mend}.get(status, act))  # fmt: skip


def _cost(evidence: Evidence, limits: Thresholds) -> Check:
    rest = max(evidence.items - evidence.judged, 0)
    if not evidence.costs:
        status: Status = "skipped" if limits.max_cost is None or not rest else "undecided"
        why = f"{rest:,} items are still to be judged; what a verdict costs is not known"
        act = "enter the model's prices, then judge the labelled items" if status == "undecided" else ""
        none = Statistic.undefined("no_prices", "no verdict has a cost", 0)
        return Check("cost", status, none, limits.max_cost, why, side="most", next=act)
    total = rest * sum(evidence.costs) / len(evidence.costs)
    statistic = Statistic(total, len(evidence.costs), "mean cost of a verdict times the items still to be judged")
    why = f"judging the other {rest:,} items will cost about {total:,.2f}"
    if limits.max_cost is None or total <= limits.max_cost:
        return Check("cost", "passed", statistic, limits.max_cost, why, side="most")
    return Check("cost", "failed", statistic, limits.max_cost, f"{why}; the limit is {limits.max_cost:,.2f}",
                 side="most", next="choose a cheaper model, or let the judge decide fewer items")  # fmt: skip


# What it does to people's labels and to the score


def _slices(columns: _Columns, scale: Scale, limits: Thresholds) -> Check:
    kinds = sorted({kind for item in columns.items for kind in item.slices})
    slices = {kind: [item.slices.get(kind, "") for item in columns.items] for kind in kinds}
    systems = [item.system for item in columns.items]
    if len(set(systems)) > 1:
        slices.setdefault("system", systems)
    tests = slice_tests(scale, columns.people, columns.judge, slices, level=0.95, least=10, weights=columns.weights)
    if not tests:
        none = Statistic.undefined("no_slices", "no slice has 10 items inside and outside", 0)
        return Check("slices", "skipped", none, limits.slice_gap, "no slice is large enough to compare")
    worst = min(tests, key=lambda test: test.difference.value or 0.0)
    far = [t for t in tests if t.differs and t.difference.value is not None and t.difference.value < -limits.slice_gap]
    if not far:
        why = f"of {len(tests)} comparisons none is significantly worse than the rest by more than {limits.slice_gap:g}"
        return Check("slices", "passed", worst.difference, -limits.slice_gap, why)
    first = min(far, key=lambda test: test.difference.value or 0.0)
    why = (
        f"{first.what} is {-(first.difference.value or 0):.2f} lower where {first.kind} is {first.value} than elsewhere"
        f" (p = {first.p_value:.3g} after Holm)"
    )
    act = f"retune with items where {first.kind} is {first.value}, or let people decide those"
    return Check("slices", "failed", first.difference, -limits.slice_gap, why, next=act)


def _effective_gain(columns: _Columns, scale: Scale, limits: Thresholds) -> Check:
    """What a label is worth beside the judge (`label_worth`)."""
    kept, weights = (columns.people >= 0) & (columns.judge >= 0), columns.weights
    if weights is not None:
        kept &= np.isfinite(weights)
    n = int(kept.sum())
    counted = None if weights is None else weights[kept]
    worth = label_worth(columns.people[kept], columns.judge[kept], scale.size, counted)
    name = "what a label is worth with the judge's help, in labels alone"
    if worth is None:
        none = Statistic.undefined("undefined_single_category", "people gave one label only", n, method=name)
        return Check("effective_gain", "undecided", none, limits.effective_gain, "people gave one label only",
                     next="label more items")  # fmt: skip
    statistic = Statistic(worth, n, name)
    why = f"one label with the judge is worth {worth:.2f} without it; has to be more than {limits.effective_gain:g}"
    if worth > limits.effective_gain:
        return Check("effective_gain", "passed", statistic, limits.effective_gain, why)
    act = "use people's labels alone: this judge makes the score no more certain"
    return Check("effective_gain", "failed", statistic, limits.effective_gain, why, next=act)


def _dangerous(columns: _Columns, evidence: Evidence, limits: Thresholds) -> Check:
    """Of wrong answers on trap items, and of those whose error would harm, the share that the judge passes."""
    best = favourable_label(evidence.task)
    if best is None:
        none = Statistic.undefined("no_favourable_label", "no label of this task says that a response is right", 0)
        return Check("dangerous", "skipped", none, limits.dangerous_passed, none.why, side="most")
    right = evidence.records.label_set.labels.index(best)
    risky = evidence.harmful | evidence.trapped
    risky -= evidence.told_twice
    rows = np.array([item.item_id in risky for item in columns.items], dtype=bool)
    wrong = rows & (columns.people >= 0) & (columns.people != right) & (columns.judge >= 0)
    passed, checked = int((wrong & (columns.judge == right)).sum()), int(wrong.sum())
    statistic = dangerous_passed(passed, checked, (1 + limits.level) / 2)
    bound = limits.dangerous_passed
    act = "mark the harm of wrong answers while labelling (key !)"
    if statistic.value is None or best is None:
        why = "no wrong answer was marked as dangerous, and no item is a trap"
        return Check("dangerous", "skipped", statistic, bound, why, side="most", next=act)
    why = f"{passed} of {checked} dangerous wrong answers pass as right, at most {statistic.high:.2f}; may be {bound:g}"
    if statistic.high is not None and statistic.high <= bound:
        return Check("dangerous", "passed", statistic, bound, why, side="most")
    if clopper_pearson(passed, checked, limits.level).low > bound:
        mend = "retune on these items, or let people decide them"
        return Check("dangerous", "failed", statistic, bound, why, side="most", next=mend)
    if statistic.value >= bound:
        more = "retune on these items; at its present rate more labels will not pass it"
    else:
        needed = decisive_items(1 - statistic.value, 1 - bound, limits.level)
        more = f"label {max((needed or checked + 1) - checked, 1)} more wrong answers of this kind"
    return Check("dangerous", "undecided", statistic, bound, why, side="most", next=more)


def _annotators(evidence: Evidence, scale: Scale, limits: Thresholds) -> Check:
    items = [item for item in evidence.records.items if item.stream == "estimate"]
    names = sorted({who for item in items for who in item.labels})
    columns = {
        who: np.array([_code(scale, item.labels[who].value if who in item.labels else None) for item in items])
        for who in names
    }
    verdicts = [item.verdicts.get(evidence.judge.name) for item in items]
    judge = np.array([_code(scale, one.label if one is not None else None) for one in verdicts])
    test = annotator_test(columns, judge, limits.epsilon)
    bound = limits.winning_rate
    if test.winning_rate.value is None:
        act = f"let {LEAST_ANNOTATORS} people label the same 30 items"
        return Check("annotator_test", "skipped", test.winning_rate, bound, test.winning_rate.why, next=act)
    why = (
        f"the judge may stand in for {test.winning_rate.value:.0%} of {test.winning_rate.n} people"
        f" (ε = {limits.epsilon:g}); has to be at least {bound:g}"
    )
    if test.winning_rate.value >= bound:
        return Check("annotator_test", "passed", test.winning_rate, bound, why)
    return Check("annotator_test", "failed", test.winning_rate, bound, why,
                 next="retune: people agree better with each other than with the judge")  # fmt: skip


def _code(scale: Scale, label: str | None) -> float:
    return float(scale.codes[label]) if label is not None and label in scale.codes else math.nan


def _anchoring(evidence: Evidence) -> Check:
    """Only labels given blind enter, so nothing has to be taken out of them; what showing verdicts does to people is
    measured beside, from labels given with the verdict in view or changed after it."""
    seen, found = evidence.records.not_blind, evidence.anchoring
    total = sum(len(item.labels) for item in evidence.records.items)
    left = f"; {seen} given after a verdict was seen are left out" if seen else ""
    why = f"all {total} labels used were given blind{left}"
    measured = found.assisted if found.assisted.value is not None else found.revealed
    if measured.value is None:
        return Check("anchoring", "skipped" if "no verdict" in measured.why else "passed", measured, None,
                     f"{why}; {measured.why}", side="most")  # fmt: skip
    why += f"; people who saw a verdict followed {measured.value:.0%} of those they would have differed from"
    return Check("anchoring", "passed", measured, None, why, side="most")
