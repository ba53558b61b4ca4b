"""What a reader of the scores must know before comparing or ranking them; each is told only where it applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judges.benchmarks.benchmark import ScoredItem, Undefined
from judges.benchmarks.halumem.breakdowns import NO_SHEET
from judges.benchmarks.halumem.scoring import Aggregation, Counted, Facts, judged
from judges.benchmarks.halumem.sessions import extraction_not_offered, users_of
from judges.benchmarks.halumem.tallies import timings

FEW_HALLUCINATIONS, MANY_OMISSIONS = 0.05, 0.2
"""Shares of updates between which a low hallucination rate is called silence. The published systems have at most 1.2 %
hallucination beside 34 % to 99 % omission."""


def warnings(items: Iterable[ScoredItem], facts: Facts) -> list[str]:
    """The warnings that apply to the judge's verdicts, in sentences; items are read once."""
    counts = _Counts()
    for counted in judged(items, facts):
        counts.add(counted)
    not_offered = extraction_not_offered(facts)
    if not_offered is not None:
        extraction = [_not_offered(not_offered)]
    else:
        extraction = [*_false_resistance(counts), *_weighted_below(counts)]
    return [*extraction, *_silence(counts), *_incomparable(counts), *_padding(facts), *_time(facts)]


class _Counts:
    """One run of the official aggregation, and what else the warnings rest on."""

    def __init__(self) -> None:
        self.scores = Aggregation()
        self.free_distractors = 0
        self.tasks: dict[str, int] = {}

    def add(self, counted: Counted) -> None:
        self.scores.add(counted)
        item = counted.item
        self.tasks[item.task] = self.tasks.get(item.task, 0) + 1
        empty = item.slices.get("extraction") == "empty"
        self.free_distractors += empty and item.slices.get("kind") == "distractor"


def _silence(counts: _Counts) -> Iterator[str]:
    update = counts.scores.update
    if not update.number:
        return
    hallucinated, omitted = update.counts["Hallucination"] / update.number, update.counts["Omission"] / update.number
    if hallucinated <= FEW_HALLUCINATIONS and omitted >= MANY_OMISSIONS:
        yield (
            f"Few updates are hallucinated ({hallucinated:.1%} of {update.number}), but {omitted:.1%} are omitted: "
            "who says nothing says nothing wrong. Read it as silence, not as reliability."
        )


def _false_resistance(counts: _Counts) -> Iterator[str]:
    integrity = counts.scores.integrity
    if not integrity.distractors or not integrity.number or integrity.crash:
        return
    resisted, recall = integrity.resisted / integrity.distractors, integrity.full / integrity.number
    free = counts.free_distractors
    if resisted > recall or free:
        unasked = f"; {free} of {integrity.distractors} count as resisted because nothing was extracted there"
        yield (
            f"Resistance to distractors (interference_accuracy, FMR) is {resisted:.1%} beside a recall of "
            f"{recall:.1%}{unasked if free else ''}: it is high for systems that store little."
        )


def _weighted_below(counts: _Counts) -> Iterator[str]:
    scores = counts.scores.integrity.scores()
    recall, weighted = scores["recall(all)"], scores["weighted_recall(all)"]
    if isinstance(recall, Undefined) or isinstance(weighted, Undefined) or weighted >= recall:
        return
    yield (
        f"Weighted recall ({weighted:.1%}) is below recall ({recall:.1%}), although it gives half points too: what is "
        "missed is of more weight than what is kept."
    )


def _incomparable(counts: _Counts) -> Iterator[str]:
    if len(counts.tasks) > 1:
        yield (
            "Error rates of different tasks do not compare: each has its own items, labels and rubric, and a "
            "hallucination is a memory that misstates a change in one and an answer against the reference in another."
        )


def _not_offered(why: Undefined) -> str:
    return (
        f"Extraction is not offered: {why.why}. Recall, accuracy, resistance to distractors and F1 are empty, not "
        "zero, and take part in no ranking."
    )


def _padding(facts: Facts) -> Iterator[str]:
    users = list(users_of(facts))
    if not users:
        yield f"Whether sessions repeat themselves is not known: {NO_SHEET.why}."
        return
    sessions = [session for user in users for session in user.sessions]
    padded = [session for session in sessions if session.padded]
    if padded:
        worst = min(session.distinct / session.messages for session in padded)
        distinct, messages = (sum(getattr(s, name) for s in sessions) for name in ("distinct", "messages"))
        yield (
            f"{len(padded)} of {len(sessions)} sessions repeat messages word for word ({distinct / messages:.1%} of "
            f"all messages are distinct, {worst:.1%} in the worst session); scores without these sessions stand beside."
        )


def _time(facts: Facts) -> Iterator[str]:
    clocks = facts.get("timings", {}).values()
    if not clocks:
        return
    spent = timings(clocks)
    write, read = spent["add_dialogue_duration_time"], spent["search_memory_duration_time"]
    if isinstance(write, Undefined) or isinstance(read, Undefined):
        return
    yield (
        f"Writing took {write:.1f} minutes and reading {read:.1f}: the total adds both, though reading is what a user "
        "waits for. Writing includes generated sessions; searches for updates are not in it."
    )
