"""A search as the screen shows it, whether it goes on in a thread or lies in the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from judges.retune.adapter import Candidate
from judges.retune.items import TuneItem
from judges.retune.retune import Plan, Retune
from judges.retune.study_log import SearchLog

PHASES: Final = {
    "search": "searching",
    "examples": "trying worked examples from train",
    "test": "deciding on the sealed test",
    "over": "over",
}


@dataclass(frozen=True, slots=True)
class Counts:
    """Calls and money of a search, each against the most it may take.

    Attributes:
        phase: what it is at, in words.
        asked: calls of the judge; most of them, None where nobody knows. kept: answers that were there before.
        proposals, most_proposals; thrown_away: proposals that could not be used. reflections: calls of the other model.
        spent, cap: dollars of both models; None for not known, and for no cap.
    """

    phase: str = ""
    asked: int = 0
    most: int | None = None
    kept: int = 0
    failures: int = 0
    proposals: int = 0
    most_proposals: int = 0
    thrown_away: int = 0
    reflections: int = 0
    spent: float | None = None
    cap: float | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """One search at one moment.

    Attributes:
        at: when it began. end: its outcome as `Result.as_json` says it, {} while it has none.
        counts: None where the study does not hold them.
    """

    retune_id: str
    at: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    candidates: Sequence[Candidate] = ()
    end: Mapping[str, Any] = field(default_factory=dict)
    counts: Counts | None = None


def running_search(found: Retune, plan: Plan | None, models: Mapping[str, str], end: Mapping[str, Any]) -> Search:
    """How a search in another thread stands now.

    Args:
        plan: what it can take at most; None for a rubric by hand. models: `model` and `reflect_model`.
        end: its outcome once it has one.
    """
    if not found.has_begun:
        return Search("", found.at, models, counts=Counts("preparing"))
    proposer, own = found.proposer, found.settings
    counts = Counts(
        PHASES[found.phase], found.tally.asked, plan.judge_calls if plan else None, found.tally.kept,
        found.tally.failures, proposer.asked if proposer else 0, own.proposals if plan else 0,
        len(proposer.refused) if proposer else 0, found.tally.reflections, found.spent, found.cap,
    )  # fmt: skip
    return Search("", found.at, models, list(found.candidates), end, counts)


def past_search(log: SearchLog) -> Search:
    """A search that the study holds."""
    candidates = [
        Candidate(
            one["number"], dict(one["texts"]), tuple(one["parents"]), one["origin"], one["val_score"],
            dict(one["said"]), one.get("tokens"),
        )
        for one in log.candidates
    ]  # fmt: skip
    return Search(log.retune_id, log.at, log.settings, candidates, log.end, _counts_of(log.end))


def _counts_of(end: Mapping[str, Any]) -> Counts | None:
    calls = end.get("calls")
    if not calls:
        return None
    return Counts(
        asked=calls["asked"], kept=calls["kept"], failures=calls["failed_on_the_way"],
        reflections=calls["reflections"], thrown_away=len(end.get("refused", ())), spent=end.get("cost"),
    )  # fmt: skip


# What a candidate changed


@dataclass(frozen=True, slots=True)
class Change:
    """A val item under a prompt and under the one it came from.

    Attributes:
        kind: broke (was right), fixed (was wrong), wrong (is, and was). before: None where there is no earlier prompt.
    """

    item: TuneItem
    kind: str
    before: str | None
    after: str | None


ORDER: Final = ("broke", "fixed", "wrong")


def changes(candidate: Candidate, parent: Candidate | None, val: Mapping[str, TuneItem]) -> list[Change]:
    """What a candidate broke, fixed and left wrong on val, in this order; of the first prompt what it gets wrong."""
    found = []
    for item_id, item in val.items():
        if item_id not in candidate.said:
            continue
        after = candidate.said[item_id]
        before = parent.said.get(item_id) if parent is not None else after
        was, now = before == item.label, after == item.label
        if not (was and now):
            kind = "fixed" if now else "broke" if was else "wrong"
            found.append(Change(item, kind, before if parent is not None else None, after))
    return sorted(found, key=lambda one: ORDER.index(one.kind))


def tree(candidates: Sequence[Candidate]) -> list[tuple[Candidate, int]]:
    """Candidates with their depth, each below the one it came from, in the order they were found."""
    below: dict[int, list[Candidate]] = {}
    for one in candidates:
        below.setdefault(one.parents[0] if one.parents else -1, []).append(one)
    rows: list[tuple[Candidate, int]] = []

    def put(parent: int, depth: int) -> None:
        for one in below.pop(parent, []):
            rows.append((one, depth))
            put(one.number, depth + 1)

    put(-1, 0)
    for parent in list(below):  # one whose parent is not there
        put(parent, 0)
    return rows
