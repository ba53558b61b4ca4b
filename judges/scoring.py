"""The scores of a study: as coded, as described, overridden, for each system, with what the file itself said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judges.benchmarks.benchmark import DescribingBenchmark, Scores, Undefined, get_benchmark
from judges.calibration.correction.leaderboard import Rank
from judges.calibration.correction.result import CorrectedScores
from judges.collect import FinalLabel, final_labels, scored_items
from judges.comparing import Transported, leaderboards, rank_json, transported
from judges.correcting import Corrections
from judges.describing import SystemDescription, describe_system, warnings_of
from judges.frozen_plan import PlanCheck, check_plan
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
        transported: by the error rates of another system, when that was asked.
    """

    as_coded: Scores
    as_described: Scores
    overridden: Scores
    overridden_items: int
    file_says: Mapping[str, Any] | None = None
    corrected: CorrectedScores | None = None
    warnings: tuple[str, ...] = ()
    description: SystemDescription | None = None
    transported: Transported | None = None

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
            **({"transported": self.transported.as_json()} if self.transported else {}),
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
        leaderboard: systems in order by metric, where labels speak of two or more. plan: whether it follows the plan;
            None without labels.
        gate: what the gate says of this judge, task by task (`judges.gate.full_run.passages_of`).
    """

    benchmark: str
    judge: str
    systems: Mapping[str, SystemScores] = field(default_factory=dict)
    leaderboard: Mapping[str, list[Rank]] = field(default_factory=dict)
    plan: PlanCheck | None = None
    gate: Sequence[Mapping[str, Any]] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark, "judge": self.judge, "gate": [dict(passage) for passage in self.gate],
            "systems": {name: scores.as_json() for name, scores in self.systems.items()},
            "leaderboard": {metric: [rank_json(one) for one in ranks] for metric, ranks in self.leaderboard.items()},
            **({"plan": self.plan.as_json()} if self.plan else {}),
        }  # fmt: skip


def score_study(
    study: Study,
    judge: str,
    system: str = "",
    *,
    described: bool = True,
    calibrated_on: str = "",
    corrections: Corrections | None = None,
) -> StudyScores:
    """Score every system (or the one named) by one judge's verdicts and people's final labels.

    Args:
        described: with what the benchmark says beside scores and warnings; it takes half as long again.
        calibrated_on: a system whose labels also serve the others: the judge's error rates there are carried over.
        corrections: what was read of the study before, not to read it again.
    """
    labels = final_labels(study)
    corrections = corrections or Corrections(study)
    names = [name for name in systems(study) if system in ("", name)]
    found = {name: _score(corrections, name, judge, labels, described=described) for name in names}
    if calibrated_on:
        found = {
            name: one if name == calibrated_on else
            replace(one, transported=transported(corrections, calibrated_on, name, judge))
            for name, one in found.items()
        }  # fmt: skip
    corrected = {name: one.corrected for name, one in found.items() if one.corrected is not None}
    boards = leaderboards(corrections, corrected, judge) if len(corrected) > 1 else {}
    plan = _plan(study, judge, corrected) if corrected else None
    return StudyScores(study.benchmark, judge, found, boards, plan, passages_of(study, judge))


def _plan(study: Study, judge: str, corrected: Mapping[str, CorrectedScores]) -> PlanCheck:
    """Labels of a task are those of all systems together: a draw is of a task."""
    labels: Counter[str] = Counter()
    for one in corrected.values():
        labels.update(one.labels)
    return check_plan(study, labels, judge=judge, metrics=list(next(iter(corrected.values())).metrics))


def _score(
    corrections: Corrections, system: str, judge: str, labels: Mapping[str, FinalLabel], *, described: bool
) -> SystemScores:
    study = corrections.study
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
        corrected=corrections.corrected(system, judge) if labels else None,
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
