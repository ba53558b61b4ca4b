"""The audit as text: the answer in plain words first, then numbers with their n, then what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judges.calibration.audit_result import Audit, JudgeAgreement, TaskAudit
from judges.calibration.plain_words import basis, finding
from judges.calibration.statistic import Statistic

Row = list[str]


def audit_lines(audit: Audit) -> Iterator[str | list[Row]]:
    """Sentences and tables, in reading order."""
    for name, task in audit.tasks.items():
        yield from _task(name, task)
        for part, block in task.parts.items():
            yield from _task(f"{name} / {part}", block)


def _task(name: str, task: TaskAudit) -> Iterator[str | list[Row]]:
    if not task.labelled:
        yield f"{name}: nothing labelled yet ({task.items:,} items)."
        if seen := task.dropped.labels_not_blind:
            yield f"  {seen} labels were given after the verdict was seen; they count for no agreement."
        yield ""
        return
    for judge, found in task.judges.items():
        yield f"{name}, judge {judge}: {finding(task, found)}."
        yield f"  {basis(task, found)}."
        yield from _judge(task, found)
    yield from _people(task)
    yield ""


def _judge(task: TaskAudit, found: JudgeAgreement) -> Iterator[str | list[Row]]:
    statistics = {
        "raw agreement": found.raw_agreement, "Cohen's kappa": found.cohen_kappa,
        "weighted kappa": found.weighted_kappa, "Krippendorff's alpha": found.krippendorff_alpha,
        "Gwet's AC1": found.gwet_ac1,
    }  # fmt: skip
    yield [_statistic(name, value) for name, value in statistics.items() if value is not None]
    yield from _reasons(statistics)
    yield [["label", "recall", "precision", "people", "judge"]] + [
        [task.titles.get(label, label), _short(row.recall), _short(row.precision), str(row.n), str(row.called)]
        for label, row in found.per_label.items()
    ]
    yield "  people down, judge across:"
    labels = list(found.confusion)
    yield [["", *(task.titles.get(label, label) for label in labels)]] + [
        [task.titles.get(label, label), *(str(found.confusion[label].get(other, 0)) for other in labels)]
        for label in labels
    ]
    yield from (f"  {note}" for note in found.notes)


def _people(task: TaskAudit) -> Iterator[str | list[Row]]:
    humans = task.humans
    people = ", ".join(f"{who} {count}" for who, count in humans.annotators.items())
    yield f"  labelled by: {people}"
    if len(humans.annotators) > 1:
        yield [
            _statistic("people: raw agreement", humans.raw_agreement),
            _statistic("people: alpha", humans.krippendorff_alpha),
        ]
    yield from (f"  {note}" for note in humans.notes)


def _statistic(name: str, value: Statistic) -> Row:
    if value.value is None:
        return [name, value.status.replace("_", " "), "", f"n {value.n}"]
    interval = (
        f"{value.low:.3f} to {value.high:.3f}" if value.low is not None and value.high is not None else "withheld"
    )
    return [name, f"{value.value:.3f}", interval, f"n {value.n}"]


def _short(value: Statistic) -> str:
    if value.value is None:
        return "–"
    if value.low is None or value.high is None:
        return f"{value.value:.2f}"
    return f"{value.value:.2f} ({value.low:.2f}–{value.high:.2f})"


def _reasons(statistics: Mapping[str, Statistic | None]) -> Iterator[str]:
    """Why a number or an interval is not there, each reason once."""
    reasons: dict[str, list[str]] = {}
    for name, value in statistics.items():
        if value is not None and value.why:
            reasons.setdefault(value.why, []).append(name)
    yield from (f"  {', '.join(names)}: {why}" for why, names in reasons.items())
