"""The scores of a study: as coded, as described, overridden, for each system, with what the file itself said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judges.benchmarks.benchmark import (
    Alarm,
    Benchmark,
    ClinicalBenchmark,
    ComparingBenchmark,
    DescribingBenchmark,
    Doubt,
    DoubtingBenchmark,
    HeadliningBenchmark,
    RemarkingBenchmark,
    ScoredItem,
    Scores,
    Undefined,
    get_benchmark,
)
from judges.calibration.correction.leaderboard import Rank
from judges.calibration.correction.result import CorrectedScores
from judges.collect import FinalLabel, final_labels, scored_items
from judges.comparing import Transported, leaderboards, rank_json, transported
from judges.correcting import Corrections
from judges.deciding import Selective, SelectiveScores, selective_of, selective_scores
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
        alarms: what comes before every other number, with people's labels put in.
        selective: what people and the judge decided, each where they may; None when that was not asked.
        doubts: verdicts that are doubtful on the face of them.
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
    alarms: tuple[Alarm, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    selective: SelectiveScores | None = None

    @property
    def equals_file(self) -> bool | None:
        """Whether every number the file states is `as_coded` to the last digit; None when it states none."""
        return None if self.file_says is None else not differences(plain(self.as_coded), self.file_says)

    def as_json(self) -> dict[str, Any]:
        return {
            "as_coded": plain(self.as_coded), "as_described": plain(self.as_described),
            "overridden": plain(self.overridden), "overridden_items": self.overridden_items,
            "equals_file": self.equals_file, **self._selective(), **self._corrected(),
            "warnings": list(self.warnings), **self._described(), **self._told(),
            **({"transported": self.transported.as_json()} if self.transported else {}),
        }  # fmt: skip

    def _told(self) -> dict[str, Any]:
        """Only what this benchmark says."""
        alarms = [{"count": alarm.count, "sentence": alarm.sentence} for alarm in self.alarms]
        doubts = [{"item": doubt.item_id, "kind": doubt.kind, **doubt.cells} for doubt in self.doubts]
        return ({"alarms": alarms} if alarms else {}) | ({"doubts": doubts} if doubts else {})

    def _selective(self) -> dict[str, Any]:
        said = self.selective
        if said is None:
            return {}
        return {"selective": {"scores": plain(said.scores), "decided": plain(said.decided),
                              "promises": plain(said.promises)}}  # fmt: skip

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
        judges: whose verdicts they are over: one judge, or several that judged different tasks.
        remarks: without which the benchmark's numbers are misread.
        compared: what takes several systems at once, over the verdicts; {} where the benchmark has no such thing.
        compared_overridden: the same with people's final labels put in; {} where nobody labelled.
        headline: path → short name of the metrics that are shown in any case.
        gate: what the gate says of this judge, task by task (`judges.gate.full_run.passages_of`).
    """

    benchmark: str
    judges: tuple[str, ...]
    systems: Mapping[str, SystemScores] = field(default_factory=dict)
    leaderboard: Mapping[str, list[Rank]] = field(default_factory=dict)
    plan: PlanCheck | None = None
    gate: Sequence[Mapping[str, Any]] = ()
    remarks: tuple[str, ...] = ()
    compared: Scores = field(default_factory=dict)
    compared_overridden: Scores = field(default_factory=dict)
    headline: Mapping[str, str] = field(default_factory=dict)

    @property
    def judge(self) -> str:
        """The judges as a reader calls them."""
        return " and ".join(self.judges)

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark, "judge": self.judge, "judges": list(self.judges),
            "gate": [dict(passage) for passage in self.gate],
            **({"remarks": list(self.remarks)} if self.remarks else {}),
            "systems": {name: scores.as_json() for name, scores in self.systems.items()},
            "leaderboard": {metric: [rank_json(one) for one in ranks] for metric, ranks in self.leaderboard.items()},
            **({"plan": self.plan.as_json()} if self.plan else {}),
            **self._compared(),
        }  # fmt: skip

    def _compared(self) -> dict[str, Any]:
        if not self.compared:
            return {}
        return {"compared": {"as_coded": plain(self.compared), "overridden": plain(self.compared_overridden)}}


def score_study(
    study: Study,
    judge: str | Sequence[str],
    system: str = "",
    *,
    described: bool = True,
    calibrated_on: str = "",
    corrections: Corrections | None = None,
    selective: bool = False,
) -> StudyScores:
    """Score every system (or the one named) by a judge's verdicts and people's final labels.

    Args:
        judge: one name, or those of a `JudgeSet`.
        described: with what the benchmark says beside scores and warnings; it takes half as long again.
        calibrated_on: a system whose labels also serve the others: the judge's error rates there are carried over.
        corrections: what was read of the study before, not to read it again.
        selective: also from what people decided and what the judge may decide alone.

    Raises:
        NotEnoughError: selective, and no threshold is kept for these judges.
    """
    benchmark = get_benchmark(study.benchmark)
    names = (judge,) if isinstance(judge, str) else tuple(judge)
    labels = final_labels(study)
    corrections = corrections or Corrections(study)
    where = selective_of(study, names) if selective else None
    found = {
        name: _score(corrections, name, names, labels, described=described, where=where)
        for name in systems(study) if system in ("", name)
    }  # fmt: skip
    if calibrated_on:
        found = {
            name: one if name == calibrated_on else
            replace(one, transported=transported(corrections, calibrated_on, name, names))
            for name, one in found.items()
        }  # fmt: skip
    corrected = {name: one.corrected for name, one in found.items() if one.corrected is not None}
    compared: tuple[Scores, Scores] = ({}, {})
    if described and not system and isinstance(benchmark, ComparingBenchmark):
        compared = _compare(study, benchmark, names, labels)
    return StudyScores(
        study.benchmark, names, found,
        leaderboard=leaderboards(corrections, corrected, names) if len(corrected) > 1 else {},
        gate=[passage for name in names for passage in passages_of(study, name)],
        plan=_plan(study, names[0], corrected) if corrected else None,
        remarks=tuple(benchmark.remarks()) if isinstance(benchmark, RemarkingBenchmark) else (),
        compared=compared[0], compared_overridden=compared[1],
        headline=dict(benchmark.headline) if isinstance(benchmark, HeadliningBenchmark) else {},
    )  # fmt: skip


def _plan(study: Study, judge: str, corrected: Mapping[str, CorrectedScores]) -> PlanCheck:
    """Labels of a task are those of all systems together: a draw is of a task."""
    labels: Counter[str] = Counter()
    for one in corrected.values():
        labels.update(one.labels)
    return check_plan(study, labels, judge=judge, metrics=list(next(iter(corrected.values())).metrics))


def _compare(
    study: Study, benchmark: ComparingBenchmark, judge: Sequence[str], labels: Mapping[str, FinalLabel]
) -> tuple[Scores, Scores]:
    """Over the verdicts, and with people's final labels put in where there are some."""
    names = systems(study)
    facts = {name: facts_of(study, name) for name in names}
    coded = benchmark.compared({name: _Items(study, name, judge) for name in names}, facts)
    if not coded or not labels:
        return coded, {}
    labelled = {name: _Items(study, name, judge, labels) for name in names}
    return coded, benchmark.compared(labelled, facts, overridden=True)


@dataclass(frozen=True, slots=True)
class _Items:
    """A system's items, read anew each time they are gone through: not all systems are held at once."""

    study: Study
    system: str
    judge: Sequence[str]
    labels: Mapping[str, FinalLabel] | None = None

    def __iter__(self) -> Iterator[ScoredItem]:
        return scored_items(self.study, self.system, self.judge, self.labels)


def _score(
    corrections: Corrections,
    system: str,
    judge: Sequence[str],
    labels: Mapping[str, FinalLabel],
    *,
    described: bool,
    where: Selective | None = None,
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
    [(overridden_items,)] = study.rows(
        "SELECT count(*) FROM current_items WHERE system = ? AND item_id IN (SELECT unnest(?::VARCHAR[]))",
        [system, list(labels)],
    )
    overridden = benchmark.overridden(scored_items(study, system, judge, labels), facts)
    chosen = selective_scores(study, benchmark, system, judge, labels, where, overridden) if where else None
    return SystemScores(
        as_coded=benchmark.as_coded(scored_items(study, system, judge), facts),
        as_described=benchmark.as_described(scored_items(study, system, judge), facts),
        overridden=overridden,
        overridden_items=overridden_items,
        file_says=_stated(benchmark, facts, judge),
        corrected=corrections.corrected(system, judge) if labels else None,
        warnings=warnings,
        description=description,
        alarms=_alarms(study, benchmark, system, judge, labels, facts),
        doubts=_doubts(study, benchmark, system, judge, facts) if described else (),
        selective=chosen,
    )


def alarms_of(study: Study, judge: str | Sequence[str], task: str = "") -> dict[str, tuple[Alarm, ...]]:
    """What comes before every number, by system, over all tasks or one; {} where a benchmark has no such thing."""
    benchmark, labels = get_benchmark(study.benchmark), final_labels(study)
    names = (judge,) if isinstance(judge, str) else tuple(judge)
    found = {
        system: _alarms(study, benchmark, system, names, labels, facts_of(study, system), task)
        for system in systems(study)
    }
    return {system: alarms for system, alarms in found.items() if alarms}


Facts = Mapping[str, Mapping[str, Any]]


def _stated(benchmark: Benchmark, facts: Facts, judge: Sequence[str]) -> Mapping[str, Any] | None:
    """What the file says of itself, under the first of these judges that came with one."""
    stated = (benchmark.stated_scores(facts, name) for name in judge)
    return next((one for one in stated if one is not None), None)


def _alarms(
    study: Study,
    benchmark: Benchmark,
    system: str,
    judge: Sequence[str],
    labels: Mapping[str, FinalLabel],
    facts: Facts,
    task: str = "",
) -> tuple[Alarm, ...]:
    if not isinstance(benchmark, ClinicalBenchmark):
        return ()
    items = (item for item in scored_items(study, system, judge, labels) if task in ("", item.task))
    return tuple(benchmark.alarms(items, facts))


def _doubts(study: Study, benchmark: Benchmark, system: str, judge: Sequence[str], facts: Facts) -> tuple[Doubt, ...]:
    if not isinstance(benchmark, DoubtingBenchmark):
        return ()
    return tuple(benchmark.doubts(scored_items(study, system, judge), facts))


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
