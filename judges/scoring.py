"""The scores of a study: as coded, as described, overridden, for each system, with what the file itself said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judges.benchmarks.benchmark import DescribingBenchmark, Scores, Undefined, get_benchmark
from judges.calibration.correction.result import CorrectedScores
from judges.collect import FinalLabel, final_labels, scored_items
from judges.correcting import correct_study
from judges.describing import SystemDescription, describe_system, warnings_of
from judges.gate.full_run import passages_of
from store.items import facts_of, systems
from store.study import Study


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The scores of one system under one judge.

    Attributes:
        overridden_items: items whose verdict a person's final label replaces or confirms.
        file_says: the scores the imported file states; None when it states none.
        corrected: what people would have scored on all items; None when nothing can be or was to be corrected.
        warnings: what one must know to read the scores as coded.
        description: what the benchmark says beside; None when it says nothing, or was not asked.
    """

    as_coded: Scores
    as_described: Scores
    overridden: Scores
    overridden_items: int
    file_says: Mapping[str, Any] | None = None
    corrected: CorrectedScores | None = None
    warnings: tuple[str, ...] = ()
    description: SystemDescription | None = None

    @property
    def equals_file(self) -> bool | None:
        """Whether every number the file states is `as_coded` to the last digit; None when it states none."""
        return None if self.file_says is None else not differences(plain(self.as_coded), self.file_says)

    def as_json(self) -> dict[str, Any]:
        return {
            "as_coded": plain(self.as_coded), "as_described": plain(self.as_described),
            "overridden": plain(self.overridden), "overridden_items": self.overridden_items,
            "equals_file": self.equals_file, **self._corrected(),
            "warnings": list(self.warnings), **self._described(),
        }  # fmt: skip

    def _corrected(self) -> dict[str, Any]:
        if self.corrected is None:
            return {}
        found = self.corrected.as_json()
        return {"corrected": found.pop("metrics"), "correction": found}

    def _described(self) -> dict[str, Any]:
        said = self.description
        if said is None:
            return {}
        return {
            "regime": said.regime, "breakdowns": plain(said.breakdowns),
            "where_it_went_wrong": {**said.tracing.as_json(), "regime": said.regime},
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class StudyScores:
    """The scores of every system of a study.

    Attributes:
        gate: what the gate says of this judge, task by task (`judges.gate.full_run.passages_of`).
    """

    benchmark: str
    judge: str
    systems: Mapping[str, SystemScores] = field(default_factory=dict)
    gate: Sequence[Mapping[str, Any]] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark, "judge": self.judge, "gate": [dict(passage) for passage in self.gate],
            "systems": {name: scores.as_json() for name, scores in self.systems.items()},
        }  # fmt: skip


def score_study(study: Study, judge: str, system: str = "", *, described: bool = True) -> StudyScores:
    """Score every system (or the one named) by one judge's verdicts and people's final labels.

    Args:
        described: with what the benchmark says beside scores and warnings; it takes half as long again.
    """
    labels = final_labels(study)
    names = [name for name in systems(study) if system in ("", name)]
    found = {name: _score(study, name, judge, labels, described=described) for name in names}
    return StudyScores(study.benchmark, judge, found, passages_of(study, judge))


def _score(study: Study, system: str, judge: str, labels: Mapping[str, FinalLabel], *, described: bool) -> SystemScores:
    benchmark = get_benchmark(study.benchmark)
    facts = facts_of(study, system)
    warnings: tuple[str, ...] = ()
    description = None
    if isinstance(benchmark, DescribingBenchmark):
        warnings = warnings_of(study, benchmark, system, judge, facts)
        if described:
            description = describe_system(study, benchmark, system, judge, labels, facts)
    overridden = study.rows("SELECT item_id FROM current_items WHERE system = ?", [system])
    return SystemScores(
        as_coded=benchmark.as_coded(scored_items(study, system, judge), facts),
        as_described=benchmark.as_described(scored_items(study, system, judge), facts),
        overridden=benchmark.overridden(scored_items(study, system, judge, labels), facts),
        overridden_items=sum(1 for row in overridden if row[0] in labels),
        file_says=benchmark.stated_scores(facts, judge),
        corrected=correct_study(study, system, judge) if labels else None,
        warnings=warnings,
        description=description,
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
