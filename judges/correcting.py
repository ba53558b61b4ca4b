"""Corrected scores of a study: the served part of a draw, people's statistical labels, the judge's verdicts on all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judges.benchmarks.benchmark import CorrectableBenchmark, Undefined, get_benchmark
from judges.collect import blind_labels
from judges.served_part import ServedParts
from judges.study_blocks import StudyBlocks, study_blocks
from store.study import Study

if TYPE_CHECKING:
    from judges.calibration.correction.choice import CorrectionSettings
    from judges.calibration.correction.records import Share
    from judges.calibration.correction.result import CorrectedMetric, CorrectedScores


class Corrections:
    """Corrected scores of a study; its labels and draws are read once, the blocks of a system and judge too."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.benchmark = get_benchmark(study.benchmark)
        self.labels = blind_labels(study)
        self._parts = ServedParts(study, self.labels)
        self._blocks: dict[tuple[str, tuple[str, ...]], StudyBlocks] = {}

    def blocks(self, system: str, judge: str | Sequence[str]) -> StudyBlocks:
        """What a correction of this system reads; the judge is one name, or those of a `JudgeSet`.

        Raises:
            TypeError: the benchmark has nothing to correct.
        """
        if not isinstance(self.benchmark, CorrectableBenchmark):
            raise TypeError(f"{self.study.benchmark} has nothing to correct")
        names = (judge,) if isinstance(judge, str) else tuple(judge)
        key = (system, names)
        if key not in self._blocks:
            self._blocks[key] = study_blocks(self.study, self.benchmark, system, names, self.labels, self._parts)
        return self._blocks[key]

    def corrected(self, system: str, judge: str | Sequence[str]) -> CorrectedScores | None:
        """What people would have scored on all items; None when there is nothing to correct: none of the system's tasks
        adds to a total (the rankings of HalBench).

        Only blind labels on the served part of an estimate draw enter; a label on an item beyond it does not.
        """
        from judges.calibration.correction.corrected import corrected_scores

        if not isinstance(self.benchmark, CorrectableBenchmark):
            return None
        found = self.blocks(system, judge)
        if not found.blocks:
            return None
        scores = corrected_scores(found.blocks, combined(self.benchmark), self.settings([found]))
        bounded: frozenset[str] = getattr(self.benchmark, "bounded", frozenset)()
        metrics = {name: _within_unit(one) if name in bounded else one for name, one in scores.metrics.items()}
        return replace(scores, metrics=metrics)

    def settings(self, blocks: Sequence[StudyBlocks]) -> CorrectionSettings:
        """How metrics of these blocks are corrected."""
        from judges.calibration.correction.choice import CorrectionSettings
        from judges.calibration.correction.records import Provenance

        assert isinstance(self.benchmark, CorrectableBenchmark)
        parts = [part for found in blocks for part in found.served.values()]
        random = all(part.sampling == "random" for part in parts)
        why = "; ".join(dict.fromkeys(part.why for part in parts if part.why))
        provenance = Provenance(sampling="random" if random else "unknown", why=why)
        return CorrectionSettings(provenance=provenance, shares=shares_of(self.benchmark))


def correct_study(study: Study, system: str, judge: str | Sequence[str]) -> CorrectedScores | None:
    """`Corrections.corrected` of one system."""
    return Corrections(study).corrected(system, judge)


def _within_unit(metric: CorrectedMetric) -> CorrectedMetric:
    """The interval cut to what the metric can be: it covers no less often for that."""
    value = metric.statistic
    if value.low is None or value.high is None:
        return metric
    return replace(metric, statistic=replace(value, low=max(0.0, value.low), high=min(1.0, value.high)))


def combined(benchmark: CorrectableBenchmark) -> Callable[[Mapping[str, float]], dict[str, float | None]]:
    def combine(totals: Mapping[str, float]) -> dict[str, float | None]:
        found = benchmark.combine(totals).items()
        return {name: None if isinstance(value, Undefined) else float(value) for name, value in found}

    return combine


def shares_of(benchmark: CorrectableBenchmark) -> dict[str, Share]:
    from judges.calibration.correction.records import Share

    shares: Mapping[str, tuple[str, str]] = getattr(benchmark, "shares", dict)()
    return {name: Share(*terms) for name, terms in shares.items()}
