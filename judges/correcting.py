"""Corrected scores of a study: the served part of a draw, people's statistical labels, the judge's verdicts on all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judges.benchmarks.benchmark import CorrectableBenchmark, ScoredItem, TaskDefinition, Undefined, get_benchmark
from judges.calibration.audit_input import HumanLabel
from judges.calibration.statistical_label import Adjudication, statistical_label
from judges.collect import BlindLabels, blind_labels, scored_items, task_definitions
from judges.tuned import tuned_for
from store.draws import DrawnItem, drawn_items, list_draws
from store.records import LabelState
from store.study import Study

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judges.calibration.correction.records import Block, Draw, Share
    from judges.calibration.correction.result import CorrectedMetric, CorrectedScores

_PROBED = 40
"""Items of a task on which is tried which terms no label changes."""
_MOST_TRIED = 64
"""Labels tried on each of them."""


@dataclass(frozen=True, slots=True)
class Served:
    """The part of a draw that was read: what counts as the sample.

    Attributes:
        items: their ids. design: `simple` or `two_stage`. groups: group number by item id, for all drawn items.
        sampling: as a correction's provenance wants it.
    """

    items: frozenset[str]
    design: str
    groups: Mapping[str, int]
    sampling: str = "random"


def correct_study(study: Study, system: str, judge: str) -> CorrectedScores | None:
    """What people would have scored on all items of a system; None when the benchmark has nothing to correct.

    Only blind labels on the served part of an estimate draw enter; a label on an item beyond it does not.
    """
    from judges.calibration.correction.choice import CorrectionSettings
    from judges.calibration.correction.corrected import corrected_scores
    from judges.calibration.correction.records import Provenance

    benchmark = get_benchmark(study.benchmark)
    if not isinstance(benchmark, CorrectableBenchmark):
        return None
    labels = blind_labels(study)
    by_task: dict[str, list[ScoredItem]] = {}
    for item in scored_items(study, system, judge):
        by_task.setdefault(item.task, []).append(item)
    definitions = task_definitions(study)
    tuned = tuned_for(study, judge)  # the judge is better on them than elsewhere: they are no sample of its errors
    whole = {task: served_part(study, task, items, labels) for task, items in by_task.items()}
    served = {task: replace(part, items=part.items - tuned) for task, part in whole.items()}
    blocks = [
        _block(benchmark, definitions[task], items, served[task], labels)
        for task, items in by_task.items()
        if task in definitions
    ]
    random = all(part.sampling == "random" for part in served.values())
    settings = CorrectionSettings(
        provenance=Provenance(sampling="random" if random else "unknown"), shares=_shares(benchmark)
    )
    found = corrected_scores(blocks, _combine(benchmark), settings)
    bounded: frozenset[str] = getattr(benchmark, "bounded", frozenset)()
    metrics = {name: _within_unit(one) if name in bounded else one for name, one in found.metrics.items()}
    return replace(found, metrics=metrics)


def _within_unit(metric: CorrectedMetric) -> CorrectedMetric:
    """The interval cut to what the metric can be: it covers no less often for that."""
    value = metric.statistic
    if value.low is None or value.high is None:
        return metric
    return replace(metric, statistic=replace(value, low=max(0.0, value.low), high=min(1.0, value.high)))


def served_part(study: Study, task: str, items: Sequence[ScoredItem], labels: Mapping[str, BlindLabels]) -> Served:
    """The served prefix of the estimate draw under which most of these items were labelled.

    It ends where a group ends: a group that was begun and not finished is left out, as long as one is finished.
    """
    ids = {item.item_id for item in items}
    labelled = {item_id for item_id in ids if item_id in labels and labels[item_id].stream == "estimate"}
    best = Served(frozenset(), "simple", {})
    for draw in list_draws(study):
        if draw.stream != "estimate" or draw.task not in ("", task):
            continue
        drawn = [item for item in drawn_items(study, draw.draw_id) if item.item_id in ids]
        prefix = _prefix(drawn, labelled)
        if len(prefix) > len(best.items):
            groups = {item.item_id: item.group_number for item in drawn}
            best = Served(frozenset(prefix), draw.design, groups)
    return best if best.items else _labels_of_files(study, labelled)


def _prefix(drawn: Sequence[DrawnItem], labelled: set[str]) -> list[str]:
    """Whole groups from the front, as long as each has a label, and all of its items unless a later one has too."""
    groups = [list(members) for _, members in itertools.groupby(drawn, key=lambda item: item.group_number)]
    touched = [any(item.item_id in labelled for item in group) for group in groups]
    last = max((place for place, hit in enumerate(touched) if hit), default=-1)
    if last < 0:
        return []
    unfinished = any(item.item_id not in labelled for item in groups[last])
    end = last if unfinished and last > 0 else last + 1
    return [item.item_id for group in groups[:end] for item in group]


def _labels_of_files(study: Study, labelled: set[str]) -> Served:
    """Labels that came with files count as the import says they were sampled."""
    rows = study.rows("SELECT DISTINCT sampled FROM file_labels")
    said = {row[0] for row in rows}
    sampling = "random" if said and said <= {"srs", "census"} else "unknown"
    return Served(frozenset(labelled), "simple", {}, sampling if labelled else "random")


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
        draw=_draw(items, places, served),
        fixed=fixed,
        verdicts=np.array([kinds[verdict] for verdict in verdicts], dtype=np.int64),
        clusters=_numbered([item.cluster for item in items]),
        missing={"unresolved or cannot judge": sum(1 for row in human if row is None)},
    )


def _draw(items: Sequence[ScoredItem], places: Sequence[int], served: Served) -> Draw:
    import numpy as np

    from judges.calibration.correction.records import Draw

    drawn = np.array(places, dtype=np.int64)
    if served.design != "two_stage":
        return Draw(drawn, len(items))
    beyond = itertools.count(max(served.groups.values(), default=0) + 1)
    groups = np.array([served.groups.get(item.item_id, next(beyond)) for item in items], dtype=np.int64)
    return Draw(drawn, len(items), design="two_stage", groups=groups)


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


def _combine(benchmark: CorrectableBenchmark) -> Callable[[Mapping[str, float]], dict[str, float | None]]:
    def combine(totals: Mapping[str, float]) -> dict[str, float | None]:
        found = benchmark.combine(totals).items()
        return {name: None if isinstance(value, Undefined) else float(value) for name, value in found}

    return combine


def _shares(benchmark: CorrectableBenchmark) -> dict[str, Share]:
    from judges.calibration.correction.records import Share

    shares: Mapping[str, tuple[str, str]] = getattr(benchmark, "shares", dict)()
    return {name: Share(*terms) for name, terms in shares.items()}
