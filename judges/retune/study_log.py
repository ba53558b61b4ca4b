"""What a study keeps of its searches: settings, every candidate with lineage and scores, and how each ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from judges.retune.adapter import Candidate
from judges.tuned import CANDIDATE

if TYPE_CHECKING:
    from store.study import Study

BEGUN: Final = "retune"
ENDED: Final = "retune_end"


@dataclass(frozen=True, slots=True)
class SearchLog:
    """One search as the study has it.

    Attributes:
        settings: as it was begun. candidates: by number. end: its outcome, {} while it has none. at: when it began.
    """

    retune_id: str
    task: str
    settings: Mapping[str, Any]
    candidates: Sequence[Mapping[str, Any]]
    end: Mapping[str, Any]
    at: str = ""


def begin(study: Study, retune_id: str, task: str, settings: Mapping[str, Any], at: str) -> None:
    """Journal that a search begins; one that goes on is not begun again."""
    if not any(one["retune_id"] == retune_id for one in study.journal_records(BEGUN)):
        study.record([{"type": BEGUN, "retune_id": retune_id, "task": task, "settings": dict(settings), "at": at}])


def note_candidate(
    study: Study, retune_id: str, task: str, candidate: Candidate, version: str, cost: float, at: str
) -> None:
    """Journal a candidate once; `version` is that of its whole prompt, `cost` what the search had cost by then."""
    there = (one for one in study.journal_records(CANDIDATE) if one["retune_id"] == retune_id)
    if any((one["number"], one["prompt_version"]) == (candidate.number, version) for one in there):
        return
    study.record([{
        "type": CANDIDATE, "retune_id": retune_id, "task": task, "number": candidate.number,
        "parents": list(candidate.parents), "origin": candidate.origin, "texts": candidate.texts,
        "prompt_version": version, "val_score": candidate.val_score, "said": candidate.said,
        "tokens": candidate.tokens, "cost": cost, "at": at,
    }])  # fmt: skip


def end(study: Study, retune_id: str, task: str, outcome: Mapping[str, Any], at: str) -> None:
    """Journal how a search ended."""
    study.record([{"type": ENDED, "retune_id": retune_id, "task": task, "outcome": dict(outcome), "at": at}])


def searches(study: Study, task: str = "") -> list[SearchLog]:
    """All searches (of a task), oldest first."""
    candidates, ends = study.journal_records(CANDIDATE), study.journal_records(ENDED)
    return [
        SearchLog(
            one["retune_id"], one["task"], one["settings"],
            sorted((c for c in candidates if c["retune_id"] == one["retune_id"]), key=lambda c: c["number"]),
            next((e["outcome"] for e in reversed(ends) if e["retune_id"] == one["retune_id"]), {}), one["at"],
        )
        for one in study.journal_records(BEGUN)
        if task in ("", one["task"])
    ]  # fmt: skip
