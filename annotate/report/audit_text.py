"""The audit as text: the answer in plain words first, then numbers with their n, then what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotate.report.coefficient_names import NAMES
from annotate.report.gates import GateOf
from annotate.report.statistic_rows import Row, reasons, statistic_row
from annotate.report.trust_words import Told, danger_sentence, gap_sentence, published_sentence, readers_told, told
from annotate.report.words import SHARES_OF_ALL, percent
from judges.calibration.audit_result import Audit, HumanAgreement, JudgeAgreement, TaskAudit
from judges.calibration.plain_words import basis, finding
from judges.calibration.statistic import Statistic


def audit_lines(
    audit: Audit, parts: Mapping[str, Mapping[str, str]] | None = None, gates: Sequence[GateOf] = ()
) -> Iterator[str | list[Row]]:
    """Sentences and tables, in reading order; everything the audit holds, so as much as was asked for.

    Args:
        parts: titles of parts by task. gates: those that somebody looked through.
    """
    titles = parts or {}
    for name, task in audit.tasks.items():
        yield from _task(name, task, {one.passage["judge"]: one for one in gates if one.passage["task"] == name})
        for part, block in task.parts.items():
            if not block.judges and len(block.humans.annotators) < 2:
                continue  # there is nobody to compare with
            yield from _task(f"{name} / {titles.get(name, {}).get(part, part)}", block, {})
    if audit.declared:
        from annotate.report.part_text import part_lines
    for name, declared_parts in audit.declared.items():
        for part, declared in declared_parts.items():
            title = titles.get(name, {}).get(part, part)
            yield from part_lines(f"{name} / {title}" if part else name, declared)
        if name not in audit.tasks and not any(declared.labelled for declared in declared_parts.values()):
            items = next(iter(declared_parts.values())).items
            yield from (f"{name}: nothing labelled yet ({items:,} items).", "")
    for one in audit.published:
        yield f"{published_sentence(audit, one, NAMES)}."


def _task(name: str, task: TaskAudit, gates: Mapping[str, GateOf]) -> Iterator[str | list[Row]]:
    if not task.labelled:
        yield f"{name}: nothing labelled yet ({task.items:,} items)."
        if seen := task.dropped.labels_not_blind:
            yield f"  {seen} labels were given after the verdict was seen; they count for no agreement."
        yield from (f"  {gate.callout.text}" for gate in gates.values())
        yield ""
        return
    if not task.judges:
        yield f"{name}: {task.labelled:,} of {task.items:,} items labelled, and no verdicts to compare the labels with."
        yield from (f"  {gate.callout.text}" for gate in gates.values())
    for judge, found in task.judges.items():
        trust = task.trust.judges.get(judge) if task.trust else None
        said = f"{danger_sentence(trust.danger)}. " if trust and trust.danger else ""
        yield f"{name}, judge {judge}: {said}{finding(task, found)}."
        if judge in gates:
            yield f"  {gates[judge].callout.text}"
        yield f"  {basis(task, found)}."
        yield from _judge(task, found)
        if trust and (words := gap_sentence(trust.gaps)):
            yield f"  {words}."
        if task.trust and task.trust.complete:
            for section in told(task, judge):
                yield from _section(section)
    yield from _people(task)
    yield ""


def _section(section: Told) -> Iterator[str]:
    yield f"  {section.heading}"
    yield from (f"    {line}." for line in section.lines)


def _judge(task: TaskAudit, found: JudgeAgreement) -> Iterator[str | list[Row]]:
    statistics = {
        NAMES.get(name, name): value for name, value in found.statistics.items() if name not in found.correlations
    }
    yield [statistic_row(name, value) for name, value in statistics.items()]
    if found.correlations:
        yield [statistic_row(NAMES.get(name, name), value) for name, value in found.correlations.items()]
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
    if (shares := found.confusion_shares) is not None:
        yield f"  {SHARES_OF_ALL}:"
        yield [["", *(task.titles.get(label, label) for label in labels)]] + [
            [task.titles.get(label, label), *(percent(shares[label][other], 1) for other in labels)] for label in labels
        ]
    yield from (f"  {note}" for note in found.notes)


def _people(task: TaskAudit) -> Iterator[str | list[Row]]:
    humans = task.humans
    people = ", ".join(f"{who} {count}" for who, count in humans.annotators.items())
    yield f"  labelled by: {people}"
    if len(humans.annotators) > 1:
        statistics = {
            "people: raw agreement": humans.raw_agreement,
            "people: alpha": humans.krippendorff_alpha,
            **({"people: Fleiss' kappa": humans.fleiss_kappa, "people: AC1": humans.gwet_ac1} if task.trust else {}),
        }
        yield [statistic_row(name, value) for name, value in statistics.items()]
        yield from reasons(statistics)
        if task.trust and task.trust.complete:
            yield from _pairs(humans)
    yield from (f"  {note}" for note in humans.notes)
    if (section := readers_told(task)) is not None:
        yield from _section(section)


def _pairs(humans: HumanAgreement) -> Iterator[str | list[Row]]:
    shared = {names: pair for names, pair in humans.pairs.items() if pair.n}
    if shared:
        yield [["pair", "items", "raw", "kappa", "alpha", "AC1"]] + [
            [names.replace("|", " and "), str(pair.n), _short(pair.raw_agreement), _short(pair.cohen_kappa),
             _short(pair.krippendorff_alpha), _short(pair.gwet_ac1)]
            for names, pair in shared.items()
        ]  # fmt: skip
    if left := len(humans.pairs) - len(shared):
        yield f"  {left} pairs of people share no item."


def _short(value: Statistic) -> str:
    if value.value is None:
        return "–"
    if value.low is None or value.high is None:
        return f"{value.value:.2f}"
    return f"{value.value:.2f} ({value.low:.2f}–{value.high:.2f})"
