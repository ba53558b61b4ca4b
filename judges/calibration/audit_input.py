"""What an audit reads: plain records item by item, or the same as columns of codes.

Columns are what the computation uses. A caller with a million items fills `TaskColumns` straight from its store;
`columns_of` makes them from records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judges.calibration.agreement.ratings import cluster_codes
from judges.calibration.agreement.scale import FloatArray, Scale
from judges.calibration.audit_records import AuditItem, HumanLabel, JudgeVerdict, LabelSet, TaskRecords
from judges.calibration.statistical_label import CANNOT_JUDGE

CodeArray = NDArray[np.int16]

NOT_LABELLED = -1
VOTED_CANNOT_JUDGE = -2
OUTSIDE_SET = -3
"""Codes of people's labels below the declared ones: none, "cannot judge", a label the task does not declare."""

NO_VERDICT = -1
FIRST_FAILURE = -2
"""Codes of verdicts below the declared ones: none, then one for each kind of failure, downwards."""

OFF_MENU = "off_menu"
MISSING_VERDICT = "missing"


@dataclass(frozen=True)
class DrawnColumns:
    """How the items of a task were drawn, where that was not with equal chances one by one.

    Attributes:
        weights: items each stands for, shape (items,); nan for one that is in no sample. strata: codes of what was
            drawn apart, shape (items,). groups: codes of the text or cluster that each was drawn with, shape (items,);
            None where items were drawn one by one. left_out: draws whose labels do not count, and why, in words.
    """

    weights: FloatArray
    strata: NDArray[np.integer]
    groups: NDArray[np.integer] | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class SliceColumn:
    """One stratum to report by: `codes` of shape (items,) into `values`, −1 for none."""

    codes: NDArray[np.int64]
    values: tuple[str, ...]


@dataclass(frozen=True)
class JudgeColumn:
    """A judge's verdicts, one an item.

    Attributes:
        codes: shape (items,): a label's code, NO_VERDICT, or FIRST_FAILURE − k for the kind `failures[k]`.
        scores: shape (items,), nan for none; None when the judge gives no scores.
        slices: strata of its verdicts; agreement is told by them, but no test compares what its own answers chose.
    """

    codes: CodeArray
    failures: tuple[str, ...] = ()
    scores: FloatArray | None = None
    slices: Mapping[str, SliceColumn] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskColumns:
    """One task, or one part of it, as columns of shape (items,).

    Attributes:
        annotators: codes of each person's blind labels.
        adjudicated: codes of blind adjudications.
        estimate: True for items of the stream estimate.
        clusters: cluster of each item as a number, or None when items are independent.
        not_blind: labels left out by the caller because a verdict had been seen.
        drawn: None when every item counts the same.
    """

    name: str
    scale: Scale
    annotators: Mapping[str, CodeArray]
    adjudicated: CodeArray
    judges: Mapping[str, JudgeColumn]
    estimate: NDArray[np.bool_]
    clusters: NDArray[np.integer] | None = None
    slices: Mapping[str, SliceColumn] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    not_blind: int = 0
    parts: Mapping[str, TaskColumns] = field(default_factory=dict)
    drawn: DrawnColumns | None = None

    @property
    def items(self) -> int:
        return len(self.estimate)

    @property
    def was_given(self) -> bool:
        """Whether a person said anything of it."""
        votes = (*self.annotators.values(), self.adjudicated)
        return any(bool(((codes >= 0) | (codes == OUTSIDE_SET)).any()) for codes in votes)

    @property
    def weights(self) -> FloatArray | None:
        """Items that each stands for, shape (items,), nan for one in no sample; None where all count the same or where
        that is known of none."""
        drawn = self.drawn
        return drawn.weights if drawn is not None and bool(np.isfinite(drawn.weights).any()) else None


def columns_of(records: TaskRecords) -> TaskColumns:
    """The columns of a task's records and of each of its parts."""
    items = records.items
    shared = _Shared(
        estimate=np.array([item.stream == "estimate" for item in items], dtype=np.bool_),
        clusters=cluster_codes([_cluster(item) for item in items]),
        slices=_slices(items),
        annotators=_names([item.labels for item in items]),
        judges=_names([item.verdicts for item in items]),
        drawn=_drawn(items, records.left_out) if records.unequal else None,
    )
    parts = {
        part: _block(
            f"{records.task}/{part}", label_set, items, shared, _part_vote(part), _part_verdict(part), 0, scores=False
        )
        for part, label_set in records.parts.items()
    }
    parts = {part: block for part, block in parts.items() if block.was_given or not records.parts[part].optional}
    whole = _block(
        records.task, records.label_set, items, shared, _value_vote, _value_verdict, records.not_blind, parts=parts
    )
    return whole


@dataclass(frozen=True)
class _Shared:
    """What a task and its parts have in common."""

    estimate: NDArray[np.bool_]
    clusters: NDArray[np.int64]
    slices: Mapping[str, SliceColumn]
    annotators: list[str]
    judges: list[str]
    drawn: DrawnColumns | None


ReadVote = Callable[[HumanLabel, Scale], int]
ReadVerdict = Callable[[JudgeVerdict], tuple[str | None, str]]


def _value_vote(label: HumanLabel, scale: Scale) -> int:
    return VOTED_CANNOT_JUDGE if label.value is CANNOT_JUDGE else scale.codes.get(label.value, OUTSIDE_SET)


def _part_vote(part: str) -> ReadVote:
    def read(label: HumanLabel, scale: Scale) -> int:
        if label.value is CANNOT_JUDGE:
            return VOTED_CANNOT_JUDGE
        return scale.codes.get(label.parts[part], OUTSIDE_SET) if part in label.parts else NOT_LABELLED

    return read


def _value_verdict(verdict: JudgeVerdict) -> tuple[str | None, str]:
    return verdict.label, verdict.failure or MISSING_VERDICT


def _part_verdict(part: str) -> ReadVerdict:
    def read(verdict: JudgeVerdict) -> tuple[str | None, str]:
        return verdict.parts.get(part), verdict.failure or MISSING_VERDICT

    return read


def _block(
    name: str,
    label_set: LabelSet,
    items: Sequence[AuditItem],
    shared: _Shared,
    vote: ReadVote,
    verdict: ReadVerdict,
    not_blind: int,
    scores: bool = True,
    parts: Mapping[str, TaskColumns] | None = None,
) -> TaskColumns:
    scale = label_set.scale
    return TaskColumns(
        name=name,
        scale=scale,
        annotators={who: _votes([item.labels.get(who) for item in items], scale, vote) for who in shared.annotators},
        adjudicated=_votes([item.adjudicated for item in items], scale, vote),
        judges=said_by(
            {
                judge: _verdicts([item.verdicts.get(judge) for item in items], scale, verdict, scores, label_set)
                for judge in shared.judges
            },
            label_set,
        ),
        estimate=shared.estimate,
        clusters=shared.clusters,
        slices=shared.slices,
        titles=label_set.titles,
        not_blind=not_blind,
        parts=parts or {},
        drawn=shared.drawn,
    )


def _drawn(items: Sequence[AuditItem], left_out: tuple[str, ...]) -> DrawnColumns:
    weights = np.array([np.nan if item.weight is None else item.weight for item in items], dtype=np.float64)
    strata = np.unique([item.stratum for item in items], return_inverse=True)[1]
    groups = None
    if any(item.drawn_with for item in items):
        groups = np.unique([item.drawn_with or f"\0{item.item_id}" for item in items], return_inverse=True)[1]
    return DrawnColumns(weights, strata, groups, left_out)


def _votes(labels: Sequence[HumanLabel | None], scale: Scale, read: ReadVote) -> CodeArray:
    return np.array([NOT_LABELLED if label is None else read(label, scale) for label in labels], np.int16)


def said_by(judges: Mapping[str, JudgeColumn], labels: LabelSet) -> dict[str, JudgeColumn]:
    """The judges; of a part that may be left out, those that ever said it."""
    return {
        name: column
        for name, column in judges.items()
        if not labels.optional or bool((column.codes != NO_VERDICT).any())
    }


def _verdicts(
    verdicts: Sequence[JudgeVerdict | None], scale: Scale, read: ReadVerdict, with_scores: bool, labels: LabelSet
) -> JudgeColumn:
    kinds: dict[str, int] = {}

    def code(verdict: JudgeVerdict | None) -> int:
        if verdict is None:
            return NO_VERDICT
        label, failure = read(verdict)
        if label is None and labels.optional:
            return NO_VERDICT
        found = None if label is None else scale.codes.get(label)
        if found is not None:
            return found
        kind = failure if label is None else OFF_MENU
        return FIRST_FAILURE - kinds.setdefault(kind, len(kinds))

    codes = np.array([code(verdict) for verdict in verdicts], dtype=np.int16)
    given = [np.nan if verdict is None or verdict.score is None else verdict.score for verdict in verdicts]
    scores = np.array(given, dtype=np.float64)
    has_scores = with_scores and bool(np.isfinite(scores).any())
    slices = [{} if verdict is None else verdict.slices for verdict in verdicts]
    return JudgeColumn(codes, tuple(kinds), scores if has_scores else None, slice_columns(slices))


def _cluster(item: AuditItem) -> Hashable:
    if item.cluster:
        return item.cluster
    return ("group", item.group) if item.group else ("item", item.item_id)


def _names(per_item: Sequence[Mapping[str, object]]) -> list[str]:
    return sorted({name for names in per_item for name in names})


def _slices(items: Sequence[AuditItem]) -> dict[str, SliceColumn]:
    columns = slice_columns([item.slices for item in items])
    systems = [item.system for item in items]
    if len(set(systems) - {""}) > 1:
        columns.setdefault("system", _slice(systems))
    return columns


def slice_columns(slices: Sequence[Mapping[str, str]]) -> dict[str, SliceColumn]:
    """Columns of what each item says of itself."""
    return {name: _slice([one.get(name, "") for one in slices]) for name in _names(slices)}


def _slice(values: Sequence[str]) -> SliceColumn:
    distinct = tuple(sorted(set(values) - {""}))
    codes = {value: code for code, value in enumerate(distinct)}
    return SliceColumn(np.array([codes.get(value, -1) for value in values], dtype=np.int64), distinct)
