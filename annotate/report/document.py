"""A study's report as a document, ready for a renderer."""

from __future__ import annotations

from annotate.report.beside import compared_section
from annotate.report.blocks import Document
from annotate.report.facts import Facts, gather
from annotate.report.gate_section import gate_section
from annotate.report.methods import methods_section, software
from annotate.report.opening import opening_section, scored
from annotate.report.options import ReportOptions
from annotate.report.parts_section import parts_section
from annotate.report.scores import scores_of, scores_section
from annotate.report.task_section import task_section
from annotate.report.words import count, listed
from store.errors import NotEnoughError
from store.study import Study

MARK = "overread report"
"""Stands in the first line of every report: a file that has it may be replaced by a newer report."""


def build_document(study: Study, options: ReportOptions) -> Document:
    """Audit the study and say everything the report says.

    Raises:
        NotEnoughError: no label can be counted.
    """
    facts = gather(study, options)
    if not facts.labelled:
        raise NotEnoughError("There is nothing to report yet.", _missing(facts), "overread label")
    scores = [] if options.task else scores_of(facts)
    sections = [opening_section(facts, scores), *(task_section(facts, task) for task in facts.tasks)]
    if (gate := gate_section(facts)) is not None:
        sections.append(gate)
    if (parts := parts_section(facts)) is not None:
        sections.append(parts)
    if scores:
        sections.append(scores_section(facts, scores))
        if (compared := compared_section(scores)) is not None:
            sections.append(compared)
    sections.append(methods_section(facts))
    return Document(
        f"May this judge score {scored(facts)}?", _subtitle(facts), tuple(sections), f"{MARK}. {software()}."
    )


def _missing(facts: Facts) -> str:
    late = sum(task.dropped.labels_not_blind for task in facts.audit.tasks.values())
    other = sum(task.dropped.labels_not_estimate for task in facts.audit.tasks.values())
    if late or other:
        return (
            f"{count(late, 'label')} given after the verdict was seen, {count(other, 'label')} of another stream: "
            "neither says how far the judge can be trusted. Nothing was written."
        )
    return "No item is labelled. Nothing was written."


def _subtitle(facts: Facts) -> str:
    people = {who for task in facts.audit.tasks.values() for who in task.humans.annotators}
    items = sum(task.items for task in facts.audit.tasks.values())
    judges = f"{'judge' if len(facts.judges) == 1 else 'judges'} {listed(facts.judges)}" if facts.judges else "no judge"
    return (
        f"{judges} on {facts.study.benchmark}; {facts.labelled:,} of {count(items, 'item')} labelled blind by "
        f"{listed(sorted(people)) if len(people) < 4 else f'{len(people)} people'}; study {facts.study.path.name}, "
        f"{facts.options.made_at:%d %B %Y}"
    )
