"""Corrected scores of a study: the served part of a draw, people's statistical labels, the judge's verdicts on all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judges.benchmarks.benchmark import CorrectableBenchmark, ScoredItem, TaskDefinition, Undefined, get_benchmark
from judges.calibration.audit_records import HumanLabel
from judges.calibration.statistical_label import Adjudication, statistical_label
from judges.collect import BlindLabels, blind_labels, scored_items, task_definitions
from judges.frozen_plan import excluded_items, frozen_plan
from judges.served_part import COUNTED, Served, ServedParts, as_draw
from judges.tuned import tuned_for
from store.records import LabelState
from store.study import Study

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judges.calibration.correction.choice import CorrectionSettings
    from judges.calibration.correction.records import Block, Share
    from judges.calibration.correction.result import CorrectedMetric, CorrectedScores

_PROBED = 40
"""Items of a task on which is tried which terms no label changes."""
_MOST_TRIED = 64
"""Labels tried on each of them."""


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


@dataclass(frozen=True, slots=True)
class StudyBlocks:
    """A system's blocks, task by task, with its items in the blocks' order and what was served of each."""

    blocks: list[Block]
    items: Mapping[str, Sequence[ScoredItem]]
    served: Mapping[str, Served]


def study_blocks(
    study: Study,
    benchmark: CorrectableBenchmark,
    system: str,
    judge: Sequence[str],
    labels: Mapping[str, BlindLabels],
    parts: ServedParts,
) -> StudyBlocks:
    """What a correction reads of one system: all its items but those that a frozen plan leaves out."""
    left_out = excluded_items(study, frozen_plan(study))
    by_task: dict[str, list[ScoredItem]] = {}
    for item in scored_items(study, system, judge):
        if item.item_id not in left_out:
            by_task.setdefault(item.task, []).append(item)
    definitions = task_definitions(study)
    by_task = {task: items for task, items in by_task.items() if task in definitions}
    tuned = frozenset[str]().union(*(tuned_for(study, name) for name in judge))
    served = {task: _untuned(parts.part(task, items), items, tuned) for task, items in by_task.items()}
    blocks = [_block(benchmark, definitions[task], items, served[task], labels) for task, items in by_task.items()]
    return StudyBlocks([block for block in blocks if block.terms], by_task, served)


def _untuned(part: Served, items: Sequence[ScoredItem], tuned: frozenset[str]) -> Served:
    """The sample without what the judge's prompt was tuned on: the judge is better there than elsewhere, so that these
    items are no sample of its errors. Where every item is labelled nothing is estimated, and all of them stay."""
    if len(part.items) == len(items):
        return part
    return replace(part, items=part.items - tuned)


def _within_unit(metric: CorrectedMetric) -> CorrectedMetric:
    """The interval cut to what the metric can be: it covers no less often for that."""
    value = metric.statistic
    if value.low is None or value.high is None:
        return metric
    return replace(metric, statistic=replace(value, low=max(0.0, value.low), high=min(1.0, value.high)))


def _block(
    benchmark: CorrectableBenchmark,
    definition: TaskDefinition,
    items: Sequence[ScoredItem],
    served: Served,
    labels: Mapping[str, BlindLabels],
) -> Block:
    import numpy as np

    from judges.calibration.correction.records import Block

    judge = [benchmark.terms(item, None) for item in items]
    places = [place for place, item in enumerate(items) if item.item_id in served.items]
    human = [_human_terms(benchmark, items[place], labels.get(items[place].item_id)) for place in places]
    possible, fixed = possible_terms(benchmark, definition, items)
    terms = tuple(sorted(possible.union(*judge, *(row for row in human if row))))
    verdicts = [item.verdict.label if item.verdict is not None else None for item in items]
    kinds = {verdict: number for number, verdict in enumerate(dict.fromkeys(verdicts))}
    return Block(
        name=definition.task,
        terms=terms,
        judge_terms=np.array([[row.get(name, 0.0) for name in terms] for row in judge], dtype=np.float64),
        human_terms=np.array(
            [[row.get(name, 0.0) if row is not None else np.nan for name in terms] for row in human], dtype=np.float64
        ).reshape(len(human), len(terms)),
        draw=as_draw(items, places, served),
        fixed=fixed,
        verdicts=np.array([kinds[verdict] for verdict in verdicts], dtype=np.int64),
        clusters=_numbered([item.cluster for item in items]),
        missing={"unresolved or cannot judge": sum(1 for row in human if row is None)},
    )


def _numbered(names: Iterable[str]) -> NDArray[np.int64]:
    import numpy as np

    listed = list(names)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(listed))}
    return np.array([numbers[name] for name in listed], dtype=np.int64)


def _human_terms(
    benchmark: CorrectableBenchmark, item: ScoredItem, labels: BlindLabels | None
) -> Mapping[str, float] | None:
    """People's terms of an item; None when they are not of one mind, cannot judge, or skipped it."""
    if labels is None:
        return None
    labels = replace(labels, people={who: one for who, one in labels.people.items() if labels.streams[who] in COUNTED})
    value = _resolved(labels, lambda label: label.value)
    if value is None:
        return None
    names = {part for label in [*labels.people.values(), labels.adjudicated] if label for part in label.parts}
    parts = {name: _resolved(labels, lambda label, name=name: label.parts.get(name)) for name in names}  # type: ignore[misc]
    if any(given is None for given in parts.values()):
        return None
    return benchmark.terms(item, LabelState(value=value, parts={name: str(given) for name, given in parts.items()}))


def _resolved(labels: BlindLabels, read: Callable[[HumanLabel], str | None]) -> str | None:
    decision = Adjudication(read(labels.adjudicated)) if labels.adjudicated is not None else None
    return statistical_label({who: read(label) for who, label in labels.people.items()}, decision).label


def possible_terms(
    benchmark: CorrectableBenchmark, definition: TaskDefinition, items: Sequence[ScoredItem]
) -> tuple[frozenset[str], frozenset[str]]:
    """Terms that labels can make, also those nobody has made yet, and those that no label changes.

    Found by trying every label of the task on some of its items.
    """
    states = list(itertools.islice(_all_states(definition), _MOST_TRIED))
    names: set[str] = set()
    varying: set[str] = set()
    for item in items[:: max(1, len(items) // _PROBED)] if states else ():
        tried = [benchmark.terms(item, state) for state in [*states, None]]
        names.update(*tried)
        varying |= {name for name in names if len({row.get(name, 0.0) for row in tried}) > 1}
    return frozenset(names), frozenset(names - varying)


def _all_states(definition: TaskDefinition) -> Iterable[LabelState]:
    parts = [part for part in definition.parts if part.required]
    if definition.kind != "choice" or any(part.kind != "choice" for part in parts):
        return
    for value, *given in itertools.product(
        definition.values, *([label.value for label in part.labels] for part in parts)
    ):
        yield LabelState(value=value, parts={part.id: chosen for part, chosen in zip(parts, given, strict=True)})


def combined(benchmark: CorrectableBenchmark) -> Callable[[Mapping[str, float]], dict[str, float | None]]:
    def combine(totals: Mapping[str, float]) -> dict[str, float | None]:
        found = benchmark.combine(totals).items()
        return {name: None if isinstance(value, Undefined) else float(value) for name, value in found}

    return combine


def shares_of(benchmark: CorrectableBenchmark) -> dict[str, Share]:
    from judges.calibration.correction.records import Share

    shares: Mapping[str, tuple[str, str]] = getattr(benchmark, "shares", dict)()
    return {name: Share(*terms) for name, terms in shares.items()}
