"""What people marked beside their labels: harm, doubt, items they could not judge, wrong references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from annotate.desk.actions import HARMS, REASONS
from annotate.exchange.entries import LabelEntry
from annotate.report.cases import is_changed
from annotate.report.words import count, counted


@dataclass(frozen=True, slots=True)
class Marks:
    """Counts over a task's labels as they stand now, in any mode.

    Attributes:
        labels: those that decide something. harm, cannot_judge, tags: labels by kind.
        shown, changed: labels given before the verdict was seen and shown it afterwards; those that then changed.
    """

    labels: int
    unsure: int
    reference_wrong: int
    flagged: int
    shown: int
    changed: int
    harm: Counter[str] = field(default_factory=Counter)
    cannot_judge: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)


def count_marks(entries: Sequence[LabelEntry]) -> Marks:
    """Count what is marked on the labels that decide something."""
    given = [entry for entry in entries if entry.state.decided]
    reviewed = [entry for entry in given if entry.blind is not None and entry.shown is not None]
    return Marks(
        labels=len(given),
        unsure=sum(entry.state.unsure for entry in given),
        reference_wrong=sum(entry.state.reference_wrong for entry in given),
        flagged=sum(entry.state.flagged for entry in given),
        shown=len(reviewed),
        changed=sum(is_changed(entry) for entry in reviewed),
        harm=Counter(entry.state.harm for entry in given if entry.state.harm),
        cannot_judge=Counter(entry.state.cannot_judge for entry in given if entry.state.cannot_judge),
        tags=Counter(tag for entry in given for tag in entry.state.tags),
    )


def mark_lines(marks: Marks) -> Iterator[str]:
    """The counts in words; harm, doubt, "cannot judge" and wrong references also where there are none."""
    harms, reasons = dict(HARMS.values()), dict(REASONS.values())
    of = f"of {count(marks.labels, 'label')}"
    yield f"Harm if believed, {of}: {counted({harms.get(k, k): n for k, n in marks.harm.items()})} marked."
    yield f"Unsure: {marks.unsure:,} {of}."
    why = counted({reasons.get(key, key): number for key, number in marks.cannot_judge.items()})
    total = sum(marks.cannot_judge.values())
    yield f"Cannot judge: {total:,} {of}{f' ({why})' if total else ''}."
    yield f"Reference wrong: {marks.reference_wrong:,} {of}."
    if marks.shown:
        shown = f"{count(marks.shown, 'label')} that were shown it"
        yield f"Changed after the verdict was seen: {marks.changed:,} of {shown}."
    if marks.tags:
        yield f"Tags: {counted(marks.tags)}."
    if marks.flagged:
        yield f"Flagged for the lead: {marks.flagged:,}."
