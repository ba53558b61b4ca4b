"""The audit of what is not one key: numbers, rankings and grids of a study, from what its tasks declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import (
    VALUE,
    Decision,
    decisions_of,
    places_of,
    read_cells,
    read_number,
    read_ranking,
)
from judges.calibration.audit import audit_task
from judges.calibration.audit_input import columns_of
from judges.calibration.audit_records import AuditItem, HumanLabel, JudgeVerdict, LabelSet, TaskRecords
from judges.calibration.audit_result import JudgeAgreement, Settings
from judges.calibration.measured import MeasuredItem, Places, audit_numbers, audit_rankings
from judges.calibration.measured_result import GridAudit, PartAudit
from judges.calibration.statistic import Statistic
from judges.calibration.statistical_label import CANNOT_JUDGE
from judges.collect import labelled_items
from store.study import Study

T = TypeVar("T")
COLUMN = "column"
"""The slice of a grid's cells by column."""


def audit_parts(
    study: Study, tasks: Mapping[str, TaskDefinition], judge: str, settings: Settings
) -> dict[str, dict[str, PartAudit]]:
    """Task → decision id ("" the value) → its audit, for every decision of more than one key."""
    wanted = {name: [d for d in decisions_of(task) if d.is_long] for name, task in tasks.items()}
    if not any(wanted.values()):
        return {}
    items = labelled_items(study, [name for name, found in wanted.items() if found], judge)
    return {
        name: {decision.id: audit_part(decision, items.get(name, []), settings) for decision in found}
        for name, found in wanted.items()
        if found
    }


def audit_part(decision: Decision, items: Sequence[AuditItem], settings: Settings) -> PartAudit:
    """The audit of one decision over labelled items."""
    if decision.kind == "number":
        return audit_numbers(decision.title, list(_measured(decision, items, _number_reader(decision))), settings)
    if decision.kind == "ranking":
        return audit_rankings(decision.title, list(_measured(decision, items, _places)), settings)
    return _audit_grid(decision, items, settings)


def _number_reader(decision: Decision) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        value = read_number(text)
        return value if value is not None and decision.low <= value <= decision.high else None

    return read


def _places(text: str) -> Places | None:
    return places_of(read_ranking(text)) or None


def _measured(
    decision: Decision, items: Iterable[AuditItem], read: Callable[[str], T | None]
) -> Iterator[MeasuredItem[T]]:
    """What was said of a decision, read; items on which nobody gave it are left out."""
    for item in items:
        texts = {who: text for who, label in item.labels.items() if (text := _given(decision, label)) is not None}
        people = {who: value for who, text in texts.items() if (value := read(text)) is not None}
        decided = _given(decision, item.adjudicated) if item.adjudicated is not None else None
        if not texts and decided is None:
            continue
        yield MeasuredItem(
            item.item_id, people, None if decided is None else read(decided), _judged(decision, item, read),
            item.cluster or item.group, item.slices, item.stream == "estimate", len(texts) - len(people),
        )  # fmt: skip


def _given(decision: Decision, label: HumanLabel) -> str | None:
    if label.value is CANNOT_JUDGE:
        return None
    return label.value if decision.id == VALUE else label.parts.get(decision.id)


def _judged(decision: Decision, item: AuditItem, read: Callable[[str], T | None]) -> dict[str, T | None]:
    """By judge: what it said, None where its verdict failed or cannot be read; silent judges are left out."""
    found: dict[str, T | None] = {}
    for judge, verdict in item.verdicts.items():
        text = verdict.label if decision.id == VALUE else verdict.parts.get(decision.id)
        if text is not None:
            found[judge] = read(text)
        elif verdict.failure:
            found[judge] = None
    return found


# Grids


def _audit_grid(decision: Decision, items: Sequence[AuditItem], settings: Settings) -> GridAudit:
    titles = {label.value: label.title for label in decision.labels}
    labels = LabelSet(tuple(titles), "nominal", titles)
    cells = [(item, cell) for item in items for cell in _cells(decision, item)]
    counted = {item.item_id for item, cell in cells if cell.stream == "estimate"}
    found = audit_task(columns_of(TaskRecords(decision.id, labels, [cell for _, cell in cells])), settings)
    judges = {name: _without_item_intervals(judge) for name, judge in found.judges.items()}
    return GridAudit(decision.title, len(items), len(counted), replace(found, judges=judges))


def _without_item_intervals(judge: JudgeAgreement) -> JudgeAgreement:
    """The cells of one item stand or fall together: intervals that take them as independent are withheld."""

    def plain(found: Statistic) -> Statistic:
        why = "cells of one item stand or fall together; this interval would take them as independent"
        return found.without_interval(why) if found.low is not None else found

    labels = {
        name: replace(label, recall=plain(label.recall), precision=plain(label.precision))
        for name, label in judge.per_label.items()
    }
    slices = {
        name: {value: replace(found, raw_agreement=plain(found.raw_agreement),
                              recall={label: plain(one) for label, one in found.recall.items()})
               for value, found in values.items()}
        for name, values in judge.slices.items()
    }  # fmt: skip
    return replace(judge, raw_agreement=plain(judge.raw_agreement), per_label=labels, slices=slices)


def _cells(decision: Decision, item: AuditItem) -> Iterator[AuditItem]:
    """The cells that people gave of an item's grid, each as an item of its own, in the item's cluster."""
    own = {who: read_cells(text) for who, label in item.labels.items() if (text := _given(decision, label)) is not None}
    decided = read_cells(_given(decision, item.adjudicated) or "") if item.adjudicated is not None else {}
    judged = {
        judge: (read_cells(verdict.parts.get(decision.id, "")), verdict.failure)
        for judge, verdict in item.verdicts.items()
    }
    rows = dict.fromkeys(row for cells in (*own.values(), decided) for row in cells)
    for row in rows:
        for column, title in decision.columns:
            people = {who: HumanLabel(cells[row][column]) for who, cells in own.items() if column in cells.get(row, {})}
            adjudicated = HumanLabel(decided[row][column]) if column in decided.get(row, {}) else None
            if not people and adjudicated is None:
                continue
            verdicts = {
                judge: JudgeVerdict(cells.get(row, {}).get(column), failure)
                for judge, (cells, failure) in judged.items()
                if failure or column in cells.get(row, {})
            }
            yield AuditItem(
                f"{item.item_id}/{row}/{column}", people, verdicts, adjudicated,
                cluster=item.cluster or item.group or item.item_id, system=item.system,
                slices={**item.slices, COLUMN: title}, stream=item.stream,
            )  # fmt: skip
