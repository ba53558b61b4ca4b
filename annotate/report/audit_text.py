"""The audit as text: the answer in plain words first, then numbers with their n, then what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.report.part_text import part_lines
from annotate.report.statistic_rows import Row, reasons, statistic_row
from judges.calibration.audit_result import Audit, JudgeAgreement, TaskAudit
from judges.calibration.plain_words import basis, finding
from judges.calibration.statistic import Statistic


def audit_lines(audit: Audit) -> Iterator[str | list[Row]]:
    """Sentences and tables, in reading order."""
    for name, task in audit.tasks.items():
        yield from _task(name, task)
        for part, block in task.parts.items():
            yield from _task(f"{name} / {part}", block)
    for name, parts in audit.declared.items():
        for part, declared in parts.items():
            yield from part_lines(f"{name} / {part}" if part else name, declared)
        if name not in audit.tasks and not any(declared.labelled for declared in parts.values()):
            yield from (f"{name}: nothing labelled yet ({next(iter(parts.values())).items:,} items).", "")


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
    yield [statistic_row(name, value) for name, value in statistics.items() if value is not None]
    yield from reasons(statistics)
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
            statistic_row("people: raw agreement", humans.raw_agreement),
            statistic_row("people: alpha", humans.krippendorff_alpha),
        ]
    yield from (f"  {note}" for note in humans.notes)


def _short(value: Statistic) -> str:
    if value.value is None:
        return "–"
    if value.low is None or value.high is None:
        return f"{value.value:.2f}"
    return f"{value.value:.2f} ({value.low:.2f}–{value.high:.2f})"
