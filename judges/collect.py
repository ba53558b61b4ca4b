"""From the store to what calibration and scoring read: labels resolved, verdicts joined, nothing computed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judges.benchmarks.benchmark import (
    Label,
    Level,
    ScoredItem,
    TaskDefinition,
    VerdictSlicingBenchmark,
    get_benchmark,
)
from judges.calibration.audit_records import AuditItem, HumanLabel, JudgeVerdict, LabelSet, TaskRecords
from judges.calibration.statistical_label import Adjudication, Vote, final_label, statistical_label
from judges.linked_labels import joined_names, linked_clusters
from judges.tuned import tuned_for
from store.draws import list_draws
from store.events import DECIDED, NOT_PRACTICE, STATE_COLUMNS, decided_of, state_of_row
from store.items import LazyTexts, StoredItem, get_items, stream_scored, verdicts_by_item
from store.records import LabelState, VerdictRecord
from store.study import Study
from store.tasks import current_tasks

_STATE = ", ".join(f"l.{name.strip()}" for name in STATE_COLUMNS.split(","))


@dataclass(frozen=True, slots=True)
class FinalLabel:
    """The final label of an item: the state that overrides the verdict, and who gave it when."""

    state: LabelState
    annotators: tuple[str, ...]
    at: str
    mode: str


def task_definitions(study: Study) -> dict[str, TaskDefinition]:
    """The study's tasks in the benchmark's order."""
    return {task.task: TaskDefinition.from_json(task.definition) for task in current_tasks(study)}


def final_labels(study: Study) -> dict[str, FinalLabel]:
    """Final labels by item: people's current labels in any mode on the item's current content, resolved.

    Items whose people do not agree, or who cannot judge, have none.
    """
    rows = study.rows(
        f"""SELECT l.item_id, l.annotator, l.happened_at, l.mode, l.adjudicated, {_STATE} FROM all_current_labels l
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE l.round = 0 AND {DECIDED} ORDER BY l.item_id, l.annotator"""
    )
    by_item: dict[str, dict[str, tuple[str, str, LabelState]]] = {}
    adjudicated: dict[str, dict[str, tuple[str, str, LabelState]]] = {}
    for item_id, annotator, at, mode, decision, *state in rows:
        said = adjudicated if decision else by_item
        said.setdefault(item_id, {})[annotator] = (at, mode, state_of_row(state))
    found = ((item_id, _final(people)) for item_id, people in (by_item | adjudicated).items())
    return {item_id: label for item_id, label in found if label is not None}


def _final(people: Mapping[str, tuple[str, str, LabelState]]) -> FinalLabel | None:
    """The value and each part resolved on its own; tags and notes are those of the first who gave the value."""
    value = final_label({name: state.value for name, (_, _, state) in people.items()})
    if value.label is None:
        return None
    by = value.by
    at, mode, first = people[by[0]]
    parts: dict[str, str] = {}
    for part in sorted({part for _, _, state in people.values() for part in state.parts}):
        votes: dict[str, Vote] = {name: s.parts[part] for name, (_, _, s) in people.items() if part in s.parts}
        if (label := final_label(votes).label) is not None:
            parts[part] = label
    return FinalLabel(replace(first, parts=parts), by, at, mode)


def provenance(labels: Mapping[str, FinalLabel]) -> dict[str, dict[str, Any]]:
    """What the native writers put beside a person's label."""
    return {
        item_id: {
            "annotator": ", ".join(label.annotators), "at": label.at, "mode": label.mode, "note": label.state.note,
            "tags": list(label.state.tags), "unsure": label.state.unsure, "harm": label.state.harm,
            "reference_wrong": label.state.reference_wrong, "right_answer": label.state.right_answer,
        }
        for item_id, label in labels.items()
    }  # fmt: skip


def scored_items(
    study: Study, system: str, judge: str | Sequence[str], labels: Mapping[str, FinalLabel] | None = None
) -> Iterator[ScoredItem]:
    """A system's items with the verdicts of one judge (or a `JudgeSet`'s names) and people's final labels, in verdict
    order."""
    known = labels or {}
    for item, verdict in stream_scored(study, system, judge):
        yield scored_item(study, item, verdict, known.get(item.item_id))


def scored_item(
    study: Study, item: StoredItem, verdict: VerdictRecord | None, label: FinalLabel | None = None
) -> ScoredItem:
    """An item with a verdict and a label as scoring sees it."""
    return ScoredItem(
        item_id=item.item_id, task=item.task, cluster=item.cluster, group=item.group, weight=item.weight,
        payload=item.payload, slices=item.slices, verdict=verdict, label=label.state if label else None,
        texts=LazyTexts(study, item.texts), extra=item.extra,
    )  # fmt: skip


def audit_records(study: Study, tasks: Mapping[str, TaskDefinition], judge: str = "") -> list[TaskRecords]:
    """What an audit of these tasks reads: labelled items only, blind labels, the first verdict of each judge."""
    labels = blind_labels(study)
    verdicts = _verdicts(study, judge)
    seen = dict(study.rows(
        f"""SELECT i.task, count(*) FROM all_current_labels l JOIN current_items i USING (item_id)
        LEFT JOIN all_blind_labels b USING (item_id, annotator, round, adjudicated)
        WHERE {decided_of("l")} AND l.{NOT_PRACTICE}
            AND (b.item_id IS NULL OR NOT {decided_of("b")}) GROUP BY i.task"""
    ))  # fmt: skip
    return [
        TaskRecords(
            task=task, label_set=label_set_of(definition),
            items=list(_audit_items(study, task, labels, verdicts)), parts=label_sets_of(definition),
            not_blind=seen.get(task, 0),
        )
        for task, definition in tasks.items() if definition.kind == "choice" and len(definition.values) > 1
    ]  # fmt: skip


def label_set_of(task: TaskDefinition) -> LabelSet:
    """The labels that a task's value takes."""
    return _label_set(task.values, task.level, task.labels)


def label_sets_of(task: TaskDefinition) -> dict[str, LabelSet]:
    """Those of the parts that are choices: they are audited on their own."""
    return {
        part.id: _label_set(
            tuple(label.value for label in part.labels), "nominal", part.labels, optional=not part.required
        )
        for part in task.parts if part.kind == "choice" and len(part.labels) > 1
    }  # fmt: skip


def _label_set(values: tuple[str, ...], level: Level, labels: tuple[Label, ...], *, optional: bool = False) -> LabelSet:
    return LabelSet(values, level, {label.value: label.title for label in labels}, optional)


@dataclass(slots=True)
class BlindLabels:
    """Blind labels of one item by annotator, and an adjudicator's blind decision.

    Attributes:
        stream: `estimate` if one of the labels is of it. streams: of each annotator's label.
        draw_ids: the draws under which they were given.
    """

    stream: str
    people: dict[str, HumanLabel] = field(default_factory=dict)
    adjudicated: HumanLabel | None = None
    streams: dict[str, str] = field(default_factory=dict)
    draw_ids: set[str] = field(default_factory=set)


def blind_labels(study: Study) -> dict[str, BlindLabels]:
    """Blind labels by item, on the item's current content."""
    streams = {draw.draw_id: draw.stream for draw in list_draws(study)}
    rows = study.rows(
        f"""SELECT l.item_id, l.annotator, l.draw_id, l.adjudicated, {_STATE} FROM all_blind_labels l
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE l.round = 0 AND {DECIDED} ORDER BY l.item_id, l.annotator"""
    )
    labels: dict[str, BlindLabels] = {}
    for item_id, annotator, draw_id, adjudicated, *columns in rows:
        state = state_of_row(columns)
        stream = streams.get(draw_id, "estimate")
        said = labels.setdefault(item_id, BlindLabels(stream))
        said.stream = "estimate" if stream == "estimate" else said.stream
        said.streams[annotator] = stream
        said.draw_ids.add(draw_id)
        label = HumanLabel(state.value, state.parts)
        if adjudicated:
            said.adjudicated = label
        else:
            said.people[annotator] = label
    return labels


def resolved_label(said: BlindLabels | None) -> str | None:
    """The statistical label of an item; None when nobody labelled it, people do not agree, or cannot judge."""
    if said is None:
        return None
    decision = Adjudication(said.adjudicated.value) if said.adjudicated is not None else None
    return statistical_label({who: one.value for who, one in said.people.items()}, decision).label


def _verdicts(study: Study, judge: str) -> dict[str, dict[str, JudgeVerdict]]:
    """Item → verdict by judge, for items somebody has labelled; without those that the judge's prompt was tuned on,
    which say nothing of how good it is."""
    rows = study.rows(
        """SELECT v.item_id, j.name, v.label, v.failure, v.score, v.parts FROM verdicts v JOIN judges j USING (judge_id)
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE v.repetition = 0 AND (? = '' OR j.name = ?) AND v.item_id IN (SELECT item_id FROM all_current_labels)""",
        [judge, judge],
    )
    tuned = {name: tuned_for(study, name) for name in {row[1] for row in rows}}
    slices = slices_of_verdicts(study, list({row[0] for row in rows}), judge)
    verdicts: dict[str, dict[str, JudgeVerdict]] = {}
    for item_id, name, label, failure, score, parts in rows:
        if item_id in tuned[name]:
            continue
        own = slices.get((item_id, name), {})
        verdicts.setdefault(item_id, {})[name] = JudgeVerdict(label, failure, score, json.loads(parts), own)
    return verdicts


def verdict_slices(study: Study) -> Sequence[str]:
    """The slices that verdicts of this study's benchmark fall into; () for most benchmarks."""
    benchmark = get_benchmark(study.benchmark)
    return benchmark.verdict_slices if isinstance(benchmark, VerdictSlicingBenchmark) else ()


def slices_of_verdicts(
    study: Study, item_ids: Sequence[str], judge: str = ""
) -> dict[tuple[str, str], Mapping[str, str]]:
    """(item, judge) → the slices that its first verdict falls into, by every judge or by one; without those in none."""
    benchmark = get_benchmark(study.benchmark)
    if not isinstance(benchmark, VerdictSlicingBenchmark):
        return {}
    items = get_items(study, item_ids)
    found = {}
    for item_id, verdicts in verdicts_by_item(study, items.values()).items():
        for one in verdicts:
            if one.record.repetition == 0 and judge in ("", one.judge):
                slices = benchmark.slices_of_verdict(scored_item(study, items[item_id], one.record))
                if slices:
                    found[item_id, one.judge] = slices
    return found


def labelled_items(study: Study, tasks: Sequence[str], judge: str = "") -> dict[str, list[AuditItem]]:
    """Task → its labelled items with blind labels and the first verdict of each judge (or of one), values and parts."""
    labels, verdicts = blind_labels(study), _verdicts(study, judge)
    return {task: list(_audit_items(study, task, labels, verdicts)) for task in tasks}


def _audit_items(
    study: Study,
    task: str,
    labels: Mapping[str, BlindLabels],
    verdicts: Mapping[str, Mapping[str, JudgeVerdict]],
) -> Iterator[AuditItem]:
    rows = study.stream(
        """SELECT item_id, cluster_key, group_key, system, slices FROM current_items WHERE task = ?
        ORDER BY system, position, item_id""",
        [task],
    )
    joined = joined_names(linked_clusters(study))
    for item_id, own, group, system, slices in rows:
        said = labels.get(item_id)
        cluster = joined.get(own or group or item_id, own)
        if said is not None:
            yield AuditItem(
                item_id, said.people, verdicts.get(item_id, {}), said.adjudicated, cluster=cluster,
                group=group, system=system, slices=json.loads(slices), stream=said.stream,
            )  # fmt: skip
