"""Traces each wrong or missing answer and each failed update to the stage at which it began.

Answers name their evidence, updates their old versions, both by words alone. The words are looked up among the same
user's gold points up to that session, never among distractors. The points' own verdicts say what became of them:

- a gold point: Covered is held, Partly is `extracted_wrong`, Missing is `never_extracted`;
- an update with retrieval: Correct is held, Hallucination is `extracted_wrong` (a new memory is there and states it
  wrongly), Omission and Other are `not_updated`, unless its session has no extraction or its old version broke earlier;
- an update for which nothing was retrieved is judged as a gold point and counts as one here; as an update it failed
  whatever the verdict, and if its new version is in the session's extraction, it is `there_but_not_used`.

A chain breaks where its earliest piece breaks. An answer whose evidence is all held was not made of it (Omission,
`there_but_not_used`) or made wrongly (Hallucination, `answer_wrong`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from judges.benchmarks.benchmark import ScoredItem
from judges.benchmarks.halumem.sessions import Facts, extraction_not_offered, regime_of
from judges.benchmarks.halumem.trace_index import Basis, Point, Question, TraceIndex, UserIndex
from judges.benchmarks.stages import Evidence, StageCounts, Traced, Tracing
from judges.calibration.agreement.binomial import clopper_pearson
from judges.calibration.statistic import Statistic

Stage = Literal["never_extracted", "extracted_wrong", "not_updated", "there_but_not_used", "answer_wrong"]
Untraced = Literal["interface_not_offered", "unjudged", "unmatched"]
State = Stage | Untraced | Literal["held"]
"""What became of a piece of evidence."""

STAGES: tuple[Stage, ...] = (
    "never_extracted", "extracted_wrong", "not_updated", "there_but_not_used", "answer_wrong",
)  # fmt: skip
UNTRACED: tuple[Untraced, ...] = ("interface_not_offered", "unjudged", "unmatched")
BROKEN = STAGES[:3]
"""The states of evidence that is not held, earliest first."""
BEST_FIRST: tuple[State, ...] = ("held", "interface_not_offered", "unjudged", *reversed(BROKEN))
KINDS = ("answers", "updates")
GROUPS = ("evidence_held", "evidence_not_held", *BROKEN)

TITLES: Mapping[str, str] = {
    "never_extracted": "never extracted",
    "extracted_wrong": "extracted wrong or in part",
    "not_updated": "not updated",
    "there_but_not_used": "there but not used",
    "answer_wrong": "answer wrong",
    "interface_not_offered": "untraced: extraction not offered",
    "unjudged": "untraced: evidence without verdict",
    "unmatched": "untraced: evidence not matched",
    "answers": "answers",
    "updates": "updates",
    "without_evidence": "of the wrong answers are to questions that name no evidence",
    "without_retrieval": "of the failed updates had nothing retrieved",
    "evidence_held": "its evidence extracted",
    "evidence_not_held": "its evidence not extracted",
}

NOTES = (
    "Evidence is matched by its words, not by likeness: to a point with the same words, or one that ends in them.",
    "Questions of one user are not independent, as the exact intervals take them to be: true ones are wider.",
)

SCORE_STATES: Mapping[str, State] = {"2": "held", "1": "extracted_wrong", "0": "never_extracted"}
UPDATE_STATES: Mapping[str, State] = {
    "Correct": "held", "Hallucination": "extracted_wrong", "Omission": "not_updated", "Other": "not_updated",
}  # fmt: skip
OUTCOMES: Mapping[State, str] = {"held": "", "unjudged": "unread"}
"""What the state of an update means for the update itself, where it means something else than for what rests on it."""


class Trace(NamedTuple):
    """One result.

    Attributes:
        kind: `answers` or `updates`.
        outcome: the stage or the reason why none can be told; "" for a success, "unread" without readable verdict.
        remark: a title id that qualifies it, or "".
        evidence: what became of each piece of a question's evidence, or of each old version of an update, in order.
    """

    item_id: str
    kind: Literal["answers", "updates"]
    outcome: str
    remark: str = ""
    evidence: tuple[State, ...] = ()


def tracing(items: Iterable[ScoredItem], facts: Facts) -> Tracing:
    """Counts, shares and propagation for a system; items are read once, in any order, and little of them is kept."""
    index = TraceIndex(facts)
    for item in items:
        index.add(item)
    return Tracing(
        regime=regime_of(facts), titles=TITLES, by_verdicts=_traced(traces(index, facts, "verdicts")),
        by_final_labels=_traced(traces(index, facts, "final labels")) if index.labelled else None, notes=NOTES,
    )  # fmt: skip


def traces(index: TraceIndex, facts: Facts, basis: Basis) -> Iterator[Trace]:
    """Every question and update with what became of it, user by user."""
    offered = extraction_not_offered(facts) is None
    for user in index.users.values():
        yield from _UserTrace(user, basis, offered=offered).results()


class _UserTrace:
    """One user's points with their states under one basis."""

    def __init__(self, user: UserIndex, basis: Basis, *, offered: bool) -> None:
        self._user, self._basis, self._offered = user, basis, offered
        self._states: list[State] = [self._own_state(point) for point in user.points]
        updates = [n for n, point in enumerate(user.points) if point.kind == "update"]
        for number in sorted(updates, key=lambda n: user.points[n].session):
            self._states[number] = self._chain_state(number)

    def results(self) -> Iterator[Trace]:
        for number, point in enumerate(self._user.points):
            if point.kind != "gold":
                yield self._update(number, point)
        for question in self._user.questions:
            yield self._answer(question)

    # Points

    def _own_state(self, point: Point) -> State:
        value = point.value(self._basis)
        if point.kind == "update":
            return UPDATE_STATES.get(value or "", "unjudged")
        return SCORE_STATES.get(value or "", "unjudged") if self._offered else "interface_not_offered"

    def _chain_state(self, number: int) -> State:
        """An update's state, put back to where its chain broke earlier; old versions are settled before it."""
        point, state = self._user.points[number], self._states[number]
        if state != "not_updated":
            return state
        if self._offered and point.session in self._user.unextracted:
            return "never_extracted"
        broken = _first_break(self._old_versions(point))
        return broken or state

    def _old_versions(self, point: Point) -> tuple[State, ...]:
        """Points of earlier sessions, and gold points of the same one: what is settled before this one."""

        def earlier(other: Point) -> bool:
            return other.session < point.session or (other.session == point.session and other.kind == "gold")

        return tuple(self._look_up(text, earlier) for text in point.old)

    def _look_up(self, text: str, earlier: Callable[[Point], bool]) -> State:
        """The best that became of earlier points with these words; unmatched when there is none."""
        for numbers in (self._user.texts.same(text), self._user.texts.ending_in(text)):
            states = {self._states[number] for number in numbers if earlier(self._user.points[number])}
            if states:
                return next(state for state in BEST_FIRST if state in states)
        return "unmatched"

    # Results

    def _update(self, number: int, point: Point) -> Trace:
        state, old = self._states[number], self._old_versions(point)
        if point.kind == "update":
            return Trace(point.item_id, "updates", _update_outcome(state, old), "", old)
        if not point.asked:
            return Trace(point.item_id, "updates", OUTCOMES.get(state, state), "", old)
        outcome = "there_but_not_used" if state == "held" else state
        return Trace(point.item_id, "updates", outcome, "without_retrieval", old)

    def _answer(self, question: Question) -> Trace:
        evidence = tuple(
            self._look_up(text, lambda point: point.session <= question.session) for text in question.evidence
        )
        value = question.value(self._basis)
        if value not in ("Correct", "Hallucination", "Omission"):
            return Trace(question.item_id, "answers", "unread", "", evidence)
        if value == "Correct":
            return Trace(question.item_id, "answers", "", "", evidence)
        if not evidence:
            return Trace(question.item_id, "answers", "answer_wrong", "without_evidence")
        with_all_held = "there_but_not_used" if value == "Omission" else "answer_wrong"
        outcome = _first_break(evidence) or _untraced(evidence) or with_all_held
        return Trace(question.item_id, "answers", outcome, "", evidence)


def _update_outcome(state: State, old: Sequence[State]) -> str:
    """A failed update needs a known old version to tell `not_updated` from what may have come before it."""
    if state == "not_updated":
        return (_untraced(old) if old else "unmatched") or state
    return OUTCOMES.get(state, state)


def _first_break(states: Sequence[State]) -> State | None:
    return next((stage for stage in BROKEN if stage in states), None)


def _untraced(states: Sequence[State]) -> State | None:
    return next((reason for reason in UNTRACED if reason in states), None)


# Counts


def _traced(results: Iterable[Trace]) -> Traced:
    outcomes: Counter[tuple[str, str]] = Counter()
    remarks: Counter[tuple[str, str]] = Counter()
    pieces: Counter[tuple[str, State]] = Counter()
    propagation = Propagation()
    for trace in results:
        outcomes[trace.kind, trace.outcome] += 1
        if trace.remark and trace.outcome not in ("", "unread"):
            remarks[trace.kind, trace.remark] += 1
        pieces.update((trace.kind, state) for state in trace.evidence)
        if trace.kind == "answers":
            propagation.add(trace)
    return Traced(
        failures={kind: _stage_counts(kind, outcomes, remarks) for kind in KINDS},
        evidence={
            kind: Evidence(sum(n for (of, _), n in pieces.items() if of == kind), pieces[kind, "unmatched"])
            for kind in KINDS
        },
        propagation=propagation.shares(),
    )  # fmt: skip


def _stage_counts(
    kind: str, outcomes: Mapping[tuple[str, str], int], remarks: Mapping[tuple[str, str], int]
) -> StageCounts:
    stages: dict[str, int] = {stage: outcomes[kind, stage] for stage in STAGES}
    untraced: dict[str, int] = {reason: outcomes[kind, reason] for reason in UNTRACED}
    told = {remark: count for (of, remark), count in remarks.items() if of == kind}
    failures = sum(stages.values()) + sum(untraced.values())
    return StageCounts(failures, stages, untraced, outcomes[kind, "unread"], told)


class Propagation:
    """P(answer wrong | its evidence extracted, or not), over questions all of whose evidence could be traced.

    Not extracted: at least one piece is not held; `BROKEN` splits these by the earliest break.
    """

    def __init__(self) -> None:
        self._n: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()

    def add(self, trace: Trace) -> None:
        if trace.outcome == "unread" or not trace.evidence:
            self._dropped["answer without verdict" if trace.outcome == "unread" else "no evidence"] += 1
            return
        if reason := _untraced(trace.evidence):
            self._dropped[TITLES[reason].removeprefix("untraced: ")] += 1
            return
        broken = _first_break(trace.evidence)
        for group in ("evidence_not_held", broken) if broken else ("evidence_held",):
            self._n[group] += 1
            self._wrong[group] += trace.outcome != ""

    def shares(self) -> dict[str, Statistic]:
        """Condition → share wrong, with its exact interval at 95 %."""
        return {group: self._share(group) for group in GROUPS}

    def _share(self, group: str) -> Statistic:
        n, wrong = self._n[group], self._wrong[group]
        method = "answers wrong or missing by questions"
        if not n:
            why = "there is no such question"
            return Statistic.undefined("undefined_nothing_to_count", why, 0, dict(self._dropped), method)
        low, high = clopper_pearson(wrong, n)
        share = Statistic(wrong / n, n, method, dropped=dict(self._dropped))
        return share.with_interval(low, high, 0.95, "Clopper-Pearson")
