"""The scores of a study: as coded, as described, overridden, for each system, with what the file itself said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judges.benchmarks.benchmark import Scores, Undefined, get_benchmark
from judges.collect import FinalLabel, final_labels, scored_items
from store.items import facts_of, systems
from store.study import Study


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
    file_says: Mapping[str, Any] | None = None

    @property
    def equals_file(self) -> bool | None:
        """Whether every number the file states is `as_coded` to the last digit; None when it states none."""
        return None if self.file_says is None else not differences(plain(self.as_coded), self.file_says)

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
        file_says=benchmark.stated_scores(facts, judge),
    )


def differences(scores: Mapping[str, Any], stated: Mapping[str, Any], path: str = "") -> list[str]:
    """Names ("memory_integrity/recall(all)") of the numbers in `stated` that `scores` does not equal exactly."""
    found: list[str] = []
    for name, value in stated.items():
        here = f"{path}/{name}" if path else name
        mine = scores.get(name)
        if isinstance(value, dict) and isinstance(mine, Mapping):
            found += differences(mine, value, here)
        elif mine != value:
            found.append(here)
    return found


def plain(scores: Any) -> Any:
    """Scores as JSON values: `Undefined` becomes {"value": null, "status", "why"}."""
    if isinstance(scores, Undefined):
        return {"value": None, "status": scores.status, "why": scores.why}
    if isinstance(scores, Mapping):
        return {name: plain(value) for name, value in scores.items()}
    return scores
