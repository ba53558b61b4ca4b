"""What the desk says of a verdict, once it may say anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from judges.benchmarks.benchmark import TaskDefinition
from store.items import StoredVerdict
from store.records import LabelState

_FAILURES = {
    "missing": "gave no verdict",
    "malformed": "gave an answer that cannot be read",
    "off_menu": "gave a label that is not in the set",
}


@dataclass(frozen=True, slots=True)
class VerdictView:
    """One judge's verdict in words.

    Attributes:
        judge: the judge's name. headline: label and parts by title, or what went wrong.
        detail: model, prompt, repeats; "" when nothing is known.
        rationale: as the judge gave it; "" for none kept.
        differs: None when it cannot be compared (failure, or no label of one's own).
        value, parts: the label itself, for confirming it; value None on failure.
    """

    judge: str
    headline: str
    detail: str
    rationale: str
    differs: bool | None
    value: str | None
    parts: dict[str, str]


def titles(task: TaskDefinition, value: str | None, parts: dict[str, str]) -> str:
    """A label with its parts in the words of the task."""
    words = [_title(task, "", value)] if value is not None else []
    words += [_title(task, part.id, parts[part.id]) for part in task.parts if part.id in parts]
    return " · ".join(words)


def _title(task: TaskDefinition, part: str, value: str) -> str:
    labels = task.labels if not part else next(p.labels for p in task.parts if p.id == part)
    return next((label.title for label in labels if label.value == value), value)


def view_verdicts(task: TaskDefinition, verdicts: Sequence[StoredVerdict], own: LabelState) -> list[VerdictView]:
    """One view a judge; repetitions are summed up as the most frequent label, a tie says so."""
    by_judge: dict[str, list[StoredVerdict]] = {}
    for verdict in verdicts:
        by_judge.setdefault(verdict.judge, []).append(verdict)
    return [_view(task, judge, group, own) for judge, group in by_judge.items()]


def _view(task: TaskDefinition, judge: str, group: list[StoredVerdict], own: LabelState) -> VerdictView:
    records = [verdict.record for verdict in group]
    counted = Counter(record.label for record in records if record.label is not None)
    best = counted.most_common(2)
    tied = len(best) == 2 and best[0][1] == best[1][1]
    chosen = next((r for r in records if best and r.label == best[0][0] and not tied), records[0])
    repeats = f"{best[0][1]} of {len(records)} repeats" if best and len(records) > 1 and not tied else ""
    if chosen.label is None:
        headline = _FAILURES.get(chosen.failure, f"failed: {chosen.failure}")
    else:
        headline = "repeats disagree" if tied else titles(task, chosen.label, dict(chosen.parts))
    value = None if tied else chosen.label
    return VerdictView(
        judge, headline, repeats, chosen.rationale, _differs(own, value, dict(chosen.parts)), value, dict(chosen.parts)
    )


def _differs(own: LabelState, value: str | None, parts: dict[str, str]) -> bool | None:
    if value is None or own.value is None:
        return None
    return value != own.value or any(own.parts.get(part, given) != given for part, given in parts.items())
