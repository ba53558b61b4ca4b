"""What the desk says of labels and, once it may say anything of them, of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotate.desk.actions import REASONS
from annotate.desk.decision_words import compared, differs, label_parts_words
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import VALUE, decisions_of
from store.items import StoredVerdict
from store.records import LabelState, VerdictRecord

_FAILURES = {
    "": "gave no verdict",
    "missing": "gave no verdict",
    "malformed": "gave an answer that cannot be read",
    "off_menu": "gave a label that is not in the set",
    "refusal": "refused",
    "truncated": "was cut off",
    "timeout": "did not answer in time",
    "filtered": "was stopped by a filter",
    "server_error": "could not be reached",
    "too_long": "cannot take so long an item",
    "rejected": "took no part",
    "divided": "is divided",
}
_REASON_WORDS = dict(REASONS.values())


@dataclass(frozen=True, slots=True)
class VerdictView:
    """One judge's verdict in words.

    Attributes:
        judge: the judge's name. headline: label and parts by title, or what went wrong.
        detail: model, prompt, repeats; "" when nothing is known.
        rationale: as the judge gave it; "" for none kept.
        differs: None when it cannot be compared (failure, or no label of one's own).
        value, parts: the label itself, for confirming it; value None on failure. A part on which the repeats are
            divided is left out.
        compared: (part's title, how far own and judge's are apart), for parts of more than one key that both gave.
        derived: (title, words) that the benchmark derives from the verdict.
    """

    judge: str
    headline: str
    detail: str
    rationale: str
    differs: bool | None
    value: str | None
    parts: dict[str, str]
    compared: tuple[tuple[str, str], ...] = ()
    derived: tuple[tuple[str, str], ...] = ()


def titles(
    task: TaskDefinition, value: str | None, parts: Mapping[str, str], order: Mapping[str, str] | None = None
) -> str:
    """A label with its parts in the words of the task; `order` holds the orders a person saw, else `parts` does."""
    return label_parts_words(task, value, parts, parts if order is None else order)


def label_words(task: TaskDefinition, state: LabelState) -> str:
    """A person's label in words; "" for none."""
    if state.cannot_judge:
        return f"cannot judge, {_REASON_WORDS.get(state.cannot_judge, state.cannot_judge)}"
    words = titles(task, state.value, state.parts)
    return f"{words}, unsure" if words and state.unsure else words


def view_verdicts(
    task: TaskDefinition,
    verdicts: Sequence[StoredVerdict],
    own: LabelState,
    payload: Mapping[str, Any] | None = None,
    derive: Callable[[StoredVerdict], tuple[tuple[str, str], ...]] = lambda _: (),
) -> list[VerdictView]:
    """One view a judge (two prompts of one model are two judges); repetitions are summed up as the most frequent label.

    Each part is summed up over the repetitions that gave that label. A tie is said, never broken.
    """
    by_judge: dict[str, list[StoredVerdict]] = {}
    for verdict in verdicts:
        by_judge.setdefault(verdict.record.judge_id, []).append(verdict)
    views = [_view(task, group, own, payload or {}) for group in by_judge.values()]
    return [replace(view, derived=derive(group[0])) for view, group in zip(views, by_judge.values(), strict=True)]


def _view(
    task: TaskDefinition, group: Sequence[StoredVerdict], own: LabelState, payload: Mapping[str, Any]
) -> VerdictView:
    records = [verdict.record for verdict in group]
    labelled = [record for record in records if record.label is not None]
    value = _most_frequent(record.label for record in labelled if record.label is not None)
    given = [record for record in labelled if record.label == value]
    parts = _parts(task, given)
    if value is not None:
        headline = titles(task, value, parts, own.parts)
        if divided := [part.title for part in task.parts if part.id not in parts and _speaks_of(given, part.id)]:
            headline += f" · repeats disagree on: {', '.join(divided)}"
    else:
        failure = records[0].failure
        headline = "repeats disagree" if labelled else _FAILURES.get(failure, f"failed: {failure}")
    chosen = given[0] if given else records[0]
    return VerdictView(
        judge=group[0].judge, headline=headline, detail=_detail(group[0], len(given), len(records)),
        rationale=chosen.rationale, differs=_differs(task, own, value, parts), value=value, parts=parts,
        compared=_compared(task, own, value, parts, payload),
    )  # fmt: skip


def _most_frequent(labels: Iterable[str]) -> str | None:
    """The label given most often; None for none, or when two are given equally often."""
    best = Counter(labels).most_common(2)
    if not best or (len(best) == 2 and best[0][1] == best[1][1]):
        return None
    return best[0][0]


def _parts(task: TaskDefinition, given: Sequence[VerdictRecord]) -> dict[str, str]:
    found = {part.id: _most_frequent(r.parts[part.id] for r in given if part.id in r.parts) for part in task.parts}
    return {part: value for part, value in found.items() if value is not None}


def _speaks_of(given: Sequence[VerdictRecord], part: str) -> bool:
    return any(part in record.parts for record in given)


def _detail(verdict: StoredVerdict, agreeing: int, repeats: int) -> str:
    facts = [
        verdict.model if verdict.model != verdict.judge else "",
        f"prompt {verdict.prompt_version}" if verdict.prompt_version else "",
        f"{agreeing} of {repeats} repeats" if agreeing and repeats > 1 else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def _differs(task: TaskDefinition, own: LabelState, value: str | None, parts: Mapping[str, str]) -> bool | None:
    if value is None or own.value is None:
        return None
    mine, theirs = {VALUE: own.value, **own.parts}, {VALUE: value, **parts}
    both = [decision for decision in decisions_of(task) if decision.id in mine and decision.id in theirs]
    return any(differs(decision, mine[decision.id], theirs[decision.id]) for decision in both)


def _compared(
    task: TaskDefinition, own: LabelState, value: str | None, parts: Mapping[str, str], payload: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    if value is None or own.value is None:
        return ()
    mine, theirs = {VALUE: own.value, **own.parts}, {VALUE: value, **parts}
    both = [d for d in decisions_of(task) if d.is_long and d.id in mine and d.id in theirs]
    words = [(decision.title, compared(decision, payload, mine[decision.id], theirs[decision.id])) for decision in both]
    return tuple((title, said) for title, said in words if said)
