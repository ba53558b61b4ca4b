"""The scores of a study: as coded, as described, overridden, for each system, with what the file itself said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judges.benchmarks.benchmark import Scores, Undefined, get_benchmark
from judges.collect import FinalLabel, final_labels, scored_items
from store.items import facts_of, systems
from store.study import Study

OFFICIAL = "official_score"
"""Kind of the fact that holds the scores a result file states of itself."""


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The scores of one system under one judge.

    Attributes:
        overridden_items: items whose verdict a person's final label replaces or confirms.
        file_says: the scores the imported file states; None when it states none.
    """

    as_coded: Scores
    as_described: Scores
    overridden: Scores
    overridden_items: int
    file_says: Scores | None = None

    @property
    def equals_file(self) -> bool | None:
        """Whether `as_coded` has every number the file states, and the same; None when it states none."""
        return None if self.file_says is None else _has(plain(self.as_coded), self.file_says)

    def as_json(self) -> dict[str, Any]:
        return {
            "as_coded": plain(self.as_coded), "as_described": plain(self.as_described),
            "overridden": plain(self.overridden), "overridden_items": self.overridden_items,
            "equals_file": self.equals_file,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class StudyScores:
    """The scores of every system of a study."""

    benchmark: str
    judge: str
    systems: Mapping[str, SystemScores] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark, "judge": self.judge,
            "systems": {name: scores.as_json() for name, scores in self.systems.items()},
        }  # fmt: skip


def score_study(study: Study, judge: str, system: str = "") -> StudyScores:
    """Score every system (or the one named) by one judge's verdicts and people's final labels."""
    labels = final_labels(study)
    names = [name for name in systems(study) if system in ("", name)]
    return StudyScores(study.benchmark, judge, {name: _score(study, name, judge, labels) for name in names})


def _score(study: Study, system: str, judge: str, labels: Mapping[str, FinalLabel]) -> SystemScores:
    benchmark = get_benchmark(study.benchmark)
    facts = facts_of(study, system)
    overridden = study.rows("SELECT item_id FROM current_items WHERE system = ?", [system])
    return SystemScores(
        as_coded=benchmark.as_coded(scored_items(study, system, judge), facts),
        as_described=benchmark.as_described(scored_items(study, system, judge), facts),
        overridden=benchmark.overridden(scored_items(study, system, judge, labels), facts),
        overridden_items=sum(1 for row in overridden if row[0] in labels),
        file_says=_stated(facts, judge),
    )


def _stated(facts: Mapping[str, Mapping[str, Any]], judge: str) -> Scores | None:
    """What the judge's files state, together; None when they state nothing, or one number twice."""
    stated: Scores = {}
    for scores in (fact["overall_score"] for fact in facts.get(OFFICIAL, {}).values() if fact["judge"] == judge):
        if stated.keys() & scores.keys():
            return None
        stated |= scores
    return stated or None


def _has(scores: Any, stated: Any) -> bool:
    """Whether all of `stated` is in `scores`, at every depth."""
    if isinstance(stated, Mapping) and isinstance(scores, Mapping):
        return all(name in scores and _has(scores[name], value) for name, value in stated.items())
    return bool(scores == stated)


def plain(scores: Any) -> Any:
    """Scores as JSON values: `Undefined` becomes {"value": null, "status", "why"}."""
    if isinstance(scores, Undefined):
        return {"value": None, "status": scores.status, "why": scores.why}
    if isinstance(scores, Mapping):
        return {name: plain(value) for name, value in scores.items()}
    return scores
