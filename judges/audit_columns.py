"""From the store to the columns an audit counts: DuckDB joins labels and verdicts and hands out codes.

A row of a task is known by a 64-bit hash of item and content, which makes the joins small: a million items take some
tens of megabytes. Two items of one hash are looked for, and refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judges.benchmarks.benchmark import TaskDefinition
from judges.calibration.agreement.scale import Scale
from judges.calibration.audit_input import (
    FIRST_FAILURE,
    MISSING_VERDICT,
    NO_VERDICT,
    NOT_LABELLED,
    OFF_MENU,
    OUTSIDE_SET,
    VOTED_CANNOT_JUDGE,
    JudgeColumn,
    LabelSet,
    SliceColumn,
    TaskColumns,
)
from judges.collect import label_set_of, label_sets_of
from store.errors import OverreadError
from store.study import Study

Keys = NDArray[np.uint64]

DECIDED = "(value IS NOT NULL OR cannot_judge <> '')"
KEY = "hash(item_id, content_hash)"
"""What stands for an item with its content; of the same width on every version of DuckDB."""


@dataclass(frozen=True)
class LabelledTask:
    """A task's labelled items.

    Attributes:
        columns: what `calibration.audit` reads. keys: `KEY` of each item, ascending, shape (items,).
    """

    columns: TaskColumns
    keys: Keys

    def places(self, keys: Keys) -> NDArray[np.int64]:
        """Rows of these keys, −1 for those that are not among the labelled items."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[found] == keys, found, -1)


def audited(definitions: Mapping[str, TaskDefinition]) -> dict[str, TaskDefinition]:
    """The tasks whose value is a choice among labels: those agreement is computed on."""
    return {name: task for name, task in definitions.items() if task.kind == "choice" and len(task.values) > 1}


def labelled_tasks(study: Study, definitions: Mapping[str, TaskDefinition], judge: str = "") -> dict[str, LabelledTask]:
    """Labelled items of these tasks: blind labels, the first verdict of each judge (or of one)."""
    not_blind = _not_blind(study)
    people = _people(study)
    found = {}
    for name, task in audited(definitions).items():
        found[name] = _Reader(study, task, people, judge).read(not_blind.get(name, 0))
    return found


def _not_blind(study: Study) -> dict[str, int]:
    """Labels by task of people who had seen a verdict before they gave one."""
    rows = study.rows(
        f"""WITH late AS (
            SELECT c.item_id FROM current_labels c LEFT JOIN blind_labels b USING (item_id, annotator, round)
            WHERE (c.value IS NOT NULL OR c.cannot_judge <> '')
                AND (b.item_id IS NULL OR (b.value IS NULL AND b.cannot_judge = ''))
            UNION ALL
            SELECT f.item_id FROM file_labels f WHERE mode NOT IN ('', 'blind') AND {DECIDED} AND NOT EXISTS (
                SELECT 1 FROM label_events e WHERE e.item_id = f.item_id AND e.annotator = f.annotator))
        SELECT task, count(*) FROM late JOIN current_items USING (item_id) GROUP BY task"""
    )
    return dict(rows)


def _people(study: Study) -> list[str]:
    rows = study.rows(
        """SELECT annotator FROM label_events WHERE kind <> 'adjudicate'
        UNION SELECT annotator FROM file_labels WHERE NOT adjudicated ORDER BY 1"""
    )
    return [row[0] for row in rows]


@dataclass(frozen=True)
class _Judge:
    """A judge of a task: its ids, what it answered, and the kinds of failure in the order of their codes."""

    name: str
    ids: list[str]
    failures: tuple[str, ...]
    scored: bool


class _Columns:
    """The columns of a query as they are put together: SQL and its parameters."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.parameters: list[Any] = []

    def add(self, sql: str, *parameters: Any) -> None:
        self.parts.append(sql)
        self.parameters += parameters

    @property
    def sql(self) -> str:
        return ", ".join(self.parts)


class _Reader:
    """Reads one task."""

    def __init__(self, study: Study, task: TaskDefinition, people: Sequence[str], judge: str) -> None:
        self.study, self.task, self.people = study, task, people
        self.sets = {"": label_set_of(task), **label_sets_of(task)}
        self.judges = _judges(study, task.task, judge)
        self.strata = _Strata(study, task.task)

    def read(self, not_blind: int) -> LabelledTask:
        found = self.study.columns(*self._query())
        order = np.argsort(found["k"])
        keys: Keys = found["k"][order]
        if (keys[1:] == keys[:-1]).any():
            raise OverreadError("Two items of this study share a hash.", "The audit would take them for one.")
        columns = {name: values[order] for name, values in found.items() if name != "k"}
        return LabelledTask(self._task(columns, not_blind), keys)

    def _query(self) -> tuple[str, list[Any]]:
        labels, verdicts, shown = _Columns(), _Columns(), _Columns()
        for number, (part, labelled) in enumerate(self.sets.items()):
            vote = _vote(part)
            for place, who in enumerate([*self.people, ""]):
                whose = "annotator = ? AND NOT adjudicated" if who else "adjudicated"
                name, values = f"p{number}_{place}", [*([who] if who else []), list(labelled.labels)]
                labels.add(f"max(CASE WHEN {whose} THEN {vote} END) AS {name}", *values)
                shown.add(f"coalesce({name}, {NOT_LABELLED})::SMALLINT AS {name}")
            for place, judge in enumerate(self.judges):
                name = f"j{number}_{place}"
                verdicts.add(
                    f"max(CASE WHEN judge_id IN (SELECT unnest(?::VARCHAR[])) THEN {_verdict(part)} END) AS {name}",
                    judge.ids, list(labelled.labels), list(judge.failures),
                )  # fmt: skip
                shown.add(f"coalesce({name}, {NO_VERDICT})::SMALLINT AS {name}")
        for place, judge in enumerate(self.judges):
            if judge.scored:
                verdicts.add(
                    f"max(CASE WHEN judge_id IN (SELECT unnest(?::VARCHAR[])) THEN score END) AS s{place}", judge.ids
                )
                shown.add(f"coalesce(s{place}, 'nan')::DOUBLE AS s{place}")
        items = f"""SELECT {KEY} AS k, {_cluster()} AS cluster, {self.strata.sql} AS stratum
            FROM current_items WHERE task = ?"""
        said = f"""SELECT {KEY} AS k, {labels.sql}, coalesce(arg_min(stream, annotator), 'estimate') = 'estimate'
            AS estimate FROM all_blind_labels LEFT JOIN (SELECT draw_id, stream FROM draws) d USING (draw_id)
            WHERE round = 0 AND {DECIDED} GROUP BY k"""
        ids = [judge_id for judge in self.judges for judge_id in judge.ids]
        ruled = f"""SELECT {KEY} AS k, {verdicts.sql or "0 AS none"} FROM verdicts
            WHERE repetition = 0 AND judge_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY k"""
        query = f"""SELECT k, cluster, stratum, estimate, {shown.sql}
            FROM ({items}) JOIN ({said}) USING (k) LEFT JOIN ({ruled}) USING (k)"""
        return query, [self.task.task, *labels.parameters, *verdicts.parameters, ids]

    def _task(self, columns: Mapping[str, NDArray[Any]], not_blind: int) -> TaskColumns:
        estimate = np.asarray(columns["estimate"], dtype=np.bool_)
        _, clusters = np.unique(columns["cluster"], return_inverse=True)
        slices = self.strata.slices(columns["stratum"])
        people = [place for place in range(len(self.people)) if (columns[f"p0_{place}"] != NOT_LABELLED).any()]
        judges = [place for place in range(len(self.judges)) if (columns[f"j0_{place}"] != NO_VERDICT).any()]

        def block(number: int, name: str, labelled: LabelSet, parts: Mapping[str, TaskColumns]) -> TaskColumns:
            return TaskColumns(
                name=name,
                scale=Scale(labelled.labels, labelled.level),
                annotators={self.people[place]: columns[f"p{number}_{place}"] for place in people},
                adjudicated=columns[f"p{number}_{len(self.people)}"],
                judges={self.judges[place].name: self._judge(columns, number, place) for place in judges},
                estimate=estimate,
                clusters=clusters,
                slices=slices,
                titles=labelled.titles,
                not_blind=not_blind if number == 0 else 0,
                parts=parts,
            )

        task = self.task.task
        parts = {
            part: block(number, f"{task}/{part}", labelled, {})
            for number, (part, labelled) in enumerate(self.sets.items())
            if part
        }
        return block(0, task, self.sets[""], parts)

    def _judge(self, columns: Mapping[str, NDArray[Any]], number: int, place: int) -> JudgeColumn:
        judge, codes = self.judges[place], columns[f"j{number}_{place}"]
        scores = columns.get(f"s{place}") if number == 0 else None
        return JudgeColumn(codes, judge.failures, scores if scores is not None and np.isfinite(scores).any() else None)


def _vote(part: str) -> str:
    """SQL of a label's code; `?` is the label set."""
    value = _of_part(part) if part else "value"
    code = f"coalesce(nullif(list_position(?::VARCHAR[], {value}), 0) - 1, {OUTSIDE_SET})"
    unsaid = f"WHEN {value} IS NULL THEN NULL" if part else ""
    return f"CASE WHEN cannot_judge <> '' THEN {VOTED_CANNOT_JUDGE} {unsaid} ELSE {code} END"


def _verdict(part: str) -> str:
    """SQL of a verdict's code; the first `?` is the label set, the second the kinds of failure."""
    label = _of_part(part) if part else "label"
    failure = (
        f"CASE WHEN {label} IS NOT NULL THEN '{OFF_MENU}' WHEN failure = '' THEN '{MISSING_VERDICT}' ELSE failure END"
    )
    return (
        f"coalesce(nullif(list_position(?::VARCHAR[], {label}), 0) - 1, "
        f"{FIRST_FAILURE} + 1 - list_position(?::VARCHAR[], {failure}))"
    )


def _of_part(part: str) -> str:
    path = json.dumps(part).replace("'", "''")
    return f"json_extract_string(parts, '$.{path}')"


def _cluster() -> str:
    """Items of one declared cluster stand or fall together; without one those that share a long text; else alone."""
    return "hash(CASE WHEN cluster_key <> '' THEN cluster_key WHEN group_key <> '' THEN group_key ELSE item_id END)"


def _judges(study: Study, task: str, only: str) -> list[_Judge]:
    rows = study.rows(
        """SELECT name, j.judge_id, failures, scored FROM judges j LEFT JOIN (
            SELECT judge_id, list(DISTINCT failure) AS failures, count(score) > 0 AS scored
            FROM verdicts WHERE repetition = 0 GROUP BY judge_id) USING (judge_id)
        WHERE task = ? AND ? IN ('', name) ORDER BY name, j.judge_id""",
        [task, only],
    )
    judges: dict[str, _Judge] = {}
    for name, judge_id, failures, scored in rows:
        known = judges.get(name)
        kinds = {*(known.failures if known else ()), *(failures or ()), MISSING_VERDICT, OFF_MENU} - {""}
        ids = [*(known.ids if known else ()), judge_id]
        judges[name] = _Judge(name, ids, tuple(sorted(kinds)), bool(scored) or bool(known and known.scored))
    return list(judges.values())


class _Strata:
    """The slices of a task's items: as many combinations of values as there are, each known by its hash."""

    sql = "hash(system, slices)"

    def __init__(self, study: Study, task: str) -> None:
        rows = study.rows(
            f"SELECT {self.sql}, any_value(system), any_value(slices) FROM current_items WHERE task = ? GROUP BY 1",
            [task],
        )
        rows.sort()
        self._hashes = np.array([row[0] for row in rows], dtype=np.uint64)
        self._systems = [row[1] for row in rows]
        self._slices: list[dict[str, str]] = [json.loads(row[2]) for row in rows]

    def slices(self, strata: NDArray[np.uint64]) -> dict[str, SliceColumn]:
        """Codes of each item for every kind of slice; `system` is one where there are several."""
        place = np.searchsorted(self._hashes, strata)
        used = np.unique(place).tolist()
        names = sorted({name for number in used for name in self._slices[number]})
        found = {name: _slice_column([values.get(name, "") for values in self._slices], place) for name in names}
        if len({self._systems[number] for number in used} - {""}) > 1:
            found.setdefault("system", _slice_column(self._systems, place))
        return found


def _slice_column(per_stratum: Sequence[str], place: NDArray[np.int64]) -> SliceColumn:
    distinct = tuple(sorted(set(per_stratum) - {""}))
    codes = {value: code for code, value in enumerate(distinct)}
    by_stratum = np.array([codes.get(value, -1) for value in per_stratum], dtype=np.int64)
    return SliceColumn(by_stratum[place], distinct)
