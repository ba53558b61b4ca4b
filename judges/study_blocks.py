"""From a system's items, verdicts and labels to the blocks a correction reads, in one pass.

Of an item stay its ids, its verdict and what it adds to the totals: a hundred thousand items with their answers and
reasons would not fit beside each other.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from judges.benchmarks.benchmark import CorrectableBenchmark, ScoredItem, TaskDefinition
from judges.calibration.audit_records import HumanLabel
from judges.calibration.statistical_label import Adjudication, statistical_label
from judges.collect import BlindLabels, scored_items, task_definitions
from judges.frozen_plan import excluded_items, frozen_plan
from judges.served_part import COUNTED, Served, ServedParts, as_draw
from judges.tuned import tuned_for
from store.records import LabelState
from store.study import Study

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judges.calibration.correction.records import Block

_PROBED = 40
"""Items of a task on which is tried which terms no label changes."""
_MOST_TRIED = 64
"""Labels tried on each of them."""


class BlockItem(NamedTuple):
    """An item as a draw and a comparison see it; `verdict` is the judge's label, None where there is none."""

    item_id: str
    group: str
    cluster: str
    verdict: str | None


@dataclass(frozen=True, slots=True)
class StudyBlocks:
    """A system's blocks, task by task, with its items in the blocks' order and what was served of each."""

    blocks: list[Block]
    items: Mapping[str, Sequence[BlockItem]]
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
    definitions = task_definitions(study)
    sizes = _sizes(study, system, left_out)
    tasks: dict[str, _Task] = {}
    for item in scored_items(study, system, judge):
        if item.item_id in left_out or item.task not in definitions:
            continue
        if item.task not in tasks:
            tasks[item.task] = _Task(benchmark, definitions[item.task], step=max(1, sizes[item.task] // _PROBED))
        tasks[item.task].add(item, labels.get(item.item_id))
    tuned = frozenset[str]().union(*(tuned_for(study, name) for name in judge))
    served = {name: _untuned(parts.part(name, task.items), task.items, tuned) for name, task in tasks.items()}
    blocks = [task.block(served[name]) for name, task in tasks.items()]
    return StudyBlocks(
        [block for block in blocks if block.terms], {name: task.items for name, task in tasks.items()}, served
    )


def _sizes(study: Study, system: str, left_out: Iterable[str]) -> dict[str, int]:
    return dict(study.rows(
        """SELECT task, count(*) FROM current_items WHERE system = ? AND item_id NOT IN (SELECT unnest(?::VARCHAR[]))
        GROUP BY task""",
        [system, list(left_out)],
    ))  # fmt: skip


def _untuned(part: Served, items: Sequence[BlockItem], tuned: frozenset[str]) -> Served:
    """The sample without what the judge's prompt was tuned on: the judge is better there than elsewhere, so that these
    items are no sample of its errors. Where every item is labelled nothing is estimated, and all of them stay."""
    if len(part.items) == len(items):
        return part
    return replace(part, items=part.items - tuned)


class _Terms:
    """What items add to the totals, as they come: row, name and value of everything that is there."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self._rows, self._columns, self._values = array("q"), array("q"), array("d")

    def add(self, row: int, terms: Mapping[str, float]) -> None:
        for name, value in terms.items():
            self._rows.append(row)
            self._columns.append(self.names.setdefault(name, len(self.names)))
            self._values.append(value)

    def matrix(self, rows: int, names: Sequence[str]) -> NDArray[np.float64]:
        """Shape (rows, names); 0 where nothing was added."""
        import numpy as np

        place = {name: column for column, name in enumerate(names)}
        columns = np.array([place[name] for name in self.names], dtype=np.int64)
        found = np.zeros((rows, len(names)))
        if self._rows:
            found[np.frombuffer(self._rows, dtype=np.int64), columns[np.frombuffer(self._columns, dtype=np.int64)]] = (
                np.frombuffer(self._values)
            )
        return found


@dataclass
class _Task:
    """A task's items while they are read.

    Attributes:
        step: every so manieth item is tried with all labels.
    """

    benchmark: CorrectableBenchmark
    definition: TaskDefinition
    step: int
    items: list[BlockItem] = field(default_factory=list)
    _judge: _Terms = field(default_factory=_Terms)
    _human: dict[str, Mapping[str, float] | None] = field(default_factory=dict)
    _probes: list[ScoredItem] = field(default_factory=list)

    def add(self, item: ScoredItem, labels: BlindLabels | None) -> None:
        """Take in the next item, and what people said of it."""
        row = len(self.items)
        self._judge.add(row, self.benchmark.terms(item, None))
        if labels is not None:
            self._human[item.item_id] = _human_terms(self.benchmark, item, labels)
        if row % self.step == 0:
            self._probes.append(item)
        verdict = item.verdict.label if item.verdict is not None else None
        self.items.append(BlockItem(item.item_id, item.group, item.cluster, verdict))

    def block(self, served: Served) -> Block:
        """The block, of the labels those of the served items."""
        import numpy as np

        from judges.calibration.correction.records import Block

        places = [place for place, item in enumerate(self.items) if item.item_id in served.items]
        human = [self._human.get(self.items[place].item_id) for place in places]
        possible, fixed = possible_terms(self.benchmark, self.definition, self._probes)
        terms = tuple(sorted(possible.union(self._judge.names, *(row for row in human if row))))
        return Block(
            name=self.definition.task,
            terms=terms,
            judge_terms=self._judge.matrix(len(self.items), terms),
            human_terms=np.array(
                [[row.get(name, 0.0) if row is not None else np.nan for name in terms] for row in human],
                dtype=np.float64,
            ).reshape(len(human), len(terms)),
            draw=as_draw(self.items, places, served),
            fixed=fixed,
            verdicts=_numbered(item.verdict for item in self.items),
            clusters=_numbered(item.cluster for item in self.items),
            missing={"unresolved or cannot judge": sum(1 for row in human if row is None)},
        )


def _numbered(names: Iterable[str | None]) -> NDArray[np.int64]:
    """A number for each name, in the order they come."""
    import numpy as np

    numbers: dict[str | None, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _human_terms(benchmark: CorrectableBenchmark, item: ScoredItem, labels: BlindLabels) -> Mapping[str, float] | None:
    """People's terms of an item; None when they are not of one mind, cannot judge, or skipped it."""
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
    benchmark: CorrectableBenchmark, definition: TaskDefinition, probes: Sequence[ScoredItem]
) -> tuple[frozenset[str], frozenset[str]]:
    """Terms that labels can make, also those nobody has made yet, and those that no label changes.

    Found by trying every label of the task on some of its items, the probes.
    """
    states = list(itertools.islice(_all_states(definition), _MOST_TRIED))
    names: set[str] = set()
    varying: set[str] = set()
    for item in probes if states else ():
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
