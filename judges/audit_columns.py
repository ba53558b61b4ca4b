"""From the store to the columns an audit counts: DuckDB joins labels and verdicts and hands out codes.

A row is known by a 64-bit hash of item and content, so that a million items take some tens of megabytes; the joins are
NumPy's, which need no more. Two items of one hash are looked for, and refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judges.benchmarks.benchmark import TaskDefinition, VerdictSlicingBenchmark, get_benchmark
from judges.calibration.audit_input import (
    FIRST_FAILURE,
    MISSING_VERDICT,
    NO_VERDICT,
    NOT_LABELLED,
    OFF_MENU,
    OUTSIDE_SET,
    VOTED_CANNOT_JUDGE,
    CodeArray,
    DrawnColumns,
    JudgeColumn,
    SliceColumn,
    TaskColumns,
    said_by,
    slice_columns,
)
from judges.calibration.audit_records import LabelSet
from judges.calibration.tied_clusters import join_codes
from judges.collect import label_set_of, label_sets_of, slices_of_verdicts
from judges.draw_weights import draw_weights
from judges.linked_labels import CLUSTER, linked_clusters
from judges.tuned import tuned_judges
from store.errors import OverreadError
from store.events import DECIDED, NOT_PRACTICE, decided_of
from store.study import Study

Keys = NDArray[np.uint64]

KEY = "hash(item_id, content_hash)"
"""What stands for an item with its content."""
_CLUSTER = f"hash({CLUSTER})"
_FIELDS = "item_id, content_hash, annotator, value, parts, cannot_judge, unsure, harm, reference_wrong"
_SAID = f"(SELECT DISTINCT item_id, annotator FROM label_events WHERE {NOT_PRACTICE})"
"""Whose own acts on what outweigh what a file says of them, as in the views."""
BLIND = f"""(
    SELECT {_FIELDS}, draw_id, kind = 'adjudicate' AS adjudicated FROM blind_labels WHERE round = 0
    UNION ALL
    SELECT {_FIELDS}, '', adjudicated FROM file_labels
    ANTI JOIN {_SAID} e USING (item_id, annotator)
    WHERE mode IN ('', 'blind'))"""
"""`all_blind_labels` of the first round, in a form that takes a tenth of its memory on a million labels from files."""


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
        return places_of(self.keys, keys)


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
            WHERE {decided_of("c")} AND c.{NOT_PRACTICE}
                AND (b.item_id IS NULL OR NOT {decided_of("b")})
            UNION ALL
            SELECT item_id FROM file_labels ANTI JOIN {_SAID} e
            USING (item_id, annotator) WHERE mode NOT IN ('', 'blind') AND {DECIDED})
        SELECT task, count(*) FROM late JOIN current_items USING (item_id) GROUP BY task"""
    )
    return dict(rows)


def _people(study: Study) -> list[str]:
    rows = study.rows(
        f"""SELECT annotator FROM label_events WHERE kind <> 'adjudicate' AND {NOT_PRACTICE}
        UNION SELECT annotator FROM file_labels WHERE NOT adjudicated ORDER BY 1"""
    )
    return [row[0] for row in rows]


@dataclass(frozen=True)
class _Judge:
    """A judge of a task: its name, its ids, and whether it gives scores."""

    name: str
    ids: list[str]
    scored: bool


_UNTUNED = """AND NOT (judge_id IN ({}) AND item_id IN (
    SELECT item_id FROM split_items WHERE split_id = ? AND part <> 'test'))"""
"""Leaves out verdicts on items that the judge's prompt was tuned on: they say nothing of how good it is."""


class _Reader:
    """Reads one task: three passes over the tables, joined here by key."""

    def __init__(self, study: Study, task: TaskDefinition, people: Sequence[str], judge: str) -> None:
        self.study, self.task, self.people = study, task, people
        self.sets = {"": label_set_of(task), **label_sets_of(task)}
        self.judges, self.failures = _judges(study, task.task, judge)
        self.strata = _Strata(study, task.task)

    def read(self, not_blind: int) -> LabelledTask:
        """The labelled items of the task.

        Raises:
            OverreadError: two items have one hash.
        """
        items = self.study.columns(
            f"SELECT {KEY} AS k, {_CLUSTER} AS cluster, {self.strata.sql} AS stratum FROM current_items WHERE task = ?",
            [self.task.task],
        )
        order = np.argsort(items["k"])
        keys: Keys = items.pop("k")[order]
        if (keys[1:] == keys[:-1]).any():
            raise OverreadError("Two items of this study share a hash.", "The audit would take them for one.")
        votes = self._votes()
        labelled = np.zeros(len(keys), dtype=np.bool_)
        places = places_of(keys, votes["k"])
        labelled[places[places >= 0]] = True
        chosen, keys = order[labelled], keys[labelled]
        del order, places
        slices = self.strata.slices(items.pop("stratum")[chosen])
        clusters = self._clusters(items.pop("cluster")[chosen])
        del items, chosen
        drawn = _drawn(self.study, self.task.task, keys)
        return LabelledTask(_arranged(self._task(keys, votes, not_blind), clusters, slices, drawn), keys)

    def _clusters(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Cluster codes; what one act labelled in several systems is of one cluster."""
        known, codes = np.unique(hashes, return_inverse=True)
        pairs = linked_clusters(self.study)
        if not pairs:
            return codes.astype(np.int32)
        names = [name for pair in pairs for name in pair]
        tied = self.study.columns("SELECT hash(name) AS h FROM (SELECT unnest(?::VARCHAR[]) AS name)", [names])["h"]
        return join_codes(codes.astype(np.int32), known, tied.reshape(-1, 2))

    def _votes(self) -> dict[str, NDArray[Any]]:
        """Blind labels of everybody: key, whose, and a code for the value and each part."""
        sets = [(part, len(labelled.labels)) for part, labelled in self.sets.items()]
        codes = ", ".join(f"({_vote(part, size)})::SMALLINT AS c{number}" for number, (part, size) in enumerate(sets))
        return self.study.columns(
            f"""SELECT {KEY} AS k, ({_place("annotator", len(self.people))})::SMALLINT AS who,
                adjudicated, coalesce(stream, 'estimate') = 'estimate' AS estimate, {codes}
            FROM {BLIND} LEFT JOIN (SELECT draw_id, stream FROM draws) d USING (draw_id) WHERE {DECIDED}""",
            [*self.people, *(label for labelled in self.sets.values() for label in labelled.labels)],
        )

    def _verdicts(self) -> dict[str, NDArray[Any]]:
        """First verdicts of all judges: key, which of their ids, and a code for the value and each part."""
        kinds = len(self.failures)
        columns = [
            f"({_verdict(part, labelled, kinds)})::SMALLINT AS c{number}"
            for number, (part, labelled) in enumerate(self.sets.items())
        ]
        if any(judge.scored for judge in self.judges):
            columns.append("coalesce(score, 'nan'::DOUBLE) AS score")
        ids = [judge_id for judge in self.judges for judge_id in judge.ids]
        labels = [label for labelled in self.sets.values() for label in (*labelled.labels, *self.failures)]
        tuned, split = tuned_judges(self.study, self.task.task)
        return self.study.columns(
            f"""SELECT {KEY} AS k, ({_place("judge_id", len(ids))})::SMALLINT AS id, {", ".join(columns)}
            FROM verdicts WHERE repetition = 0 AND judge_id IN ({", ".join("?" for _ in ids)})
            {_UNTUNED.format(", ".join("?" for _ in tuned)) if tuned else ""}""",
            [*ids, *labels, *ids, *tuned, *([split] if tuned else [])],
        )

    def _task(self, keys: Keys, votes: Mapping[str, NDArray[Any]], not_blind: int) -> TaskColumns:
        people, estimate = self._people_columns(keys, votes)
        judges = self._judge_columns(keys)

        def block(number: int, name: str, labelled: LabelSet, parts: Mapping[str, TaskColumns]) -> TaskColumns:
            return TaskColumns(
                name=name, scale=labelled.scale, annotators=people[number][0], adjudicated=people[number][1],
                judges=said_by(judges[number], labelled), estimate=estimate, titles=labelled.titles,
                not_blind=not_blind if number == 0 else 0, parts=parts,
            )  # fmt: skip

        task = self.task.task
        parts = {
            part: block(number, f"{task}/{part}", labelled, {})
            for number, (part, labelled) in enumerate(self.sets.items())
            if part
        }
        parts = {part: found for part, found in parts.items() if found.was_given or not self.sets[part].optional}
        return block(0, task, self.sets[""], parts)

    def _people_columns(
        self, keys: Keys, votes: Mapping[str, NDArray[Any]]
    ) -> tuple[list[tuple[dict[str, CodeArray], CodeArray]], NDArray[np.bool_]]:
        """For the value and each part: codes by annotator and of adjudications; and the items of the stream estimate,
        which is that of the first annotator's draw."""
        places = places_of(keys, votes["k"])
        here, estimate = places >= 0, np.ones(len(keys), dtype=np.bool_)
        found: list[tuple[dict[str, CodeArray], CodeArray]] = [
            ({}, np.full(len(keys), NOT_LABELLED, dtype=np.int16)) for _ in self.sets
        ]
        decided = here & votes["adjudicated"]
        estimate[places[decided]] = votes["estimate"][decided]
        for number, (_, adjudicated) in enumerate(found):
            adjudicated[places[decided]] = votes[f"c{number}"][decided]
        for who in range(len(self.people) - 1, -1, -1):
            own = here & (votes["who"] == who) & ~votes["adjudicated"]
            if own.any():
                estimate[places[own]] = votes["estimate"][own]
                for number, (columns, _) in enumerate(found):
                    columns[self.people[who]] = _spread(keys, places[own], votes[f"c{number}"][own], NOT_LABELLED)
        return [(dict(sorted(columns.items())), adjudicated) for columns, adjudicated in found], estimate

    def _judge_columns(self, keys: Keys) -> list[dict[str, JudgeColumn]]:
        """For the value and each part: the judges that gave a verdict on a labelled item."""
        found: list[dict[str, JudgeColumn]] = [{} for _ in self.sets]
        if not self.judges or not len(keys):
            return found
        verdicts, start, slices = self._verdicts(), 0, self._slices_of_verdicts(keys)
        places = places_of(keys, verdicts["k"])
        for judge in self.judges:
            own = (places >= 0) & (verdicts["id"] >= start) & (verdicts["id"] < start + len(judge.ids))
            start += len(judge.ids)
            if not own.any():
                continue
            scores = _spread(keys, places[own], verdicts["score"][own], np.nan) if judge.scored else None
            for number, columns in enumerate(found):
                codes = _spread(keys, places[own], verdicts[f"c{number}"][own], NO_VERDICT)
                given = None if number else _some(scores)
                columns[judge.name] = JudgeColumn(codes, self.failures, given, slices.get(judge.name, {}))
        return found

    def _slices_of_verdicts(self, keys: Keys) -> dict[str, dict[str, SliceColumn]]:
        """By judge the strata of its own verdicts on the labelled items, where the benchmark knows any."""
        if not isinstance(get_benchmark(self.study.benchmark), VerdictSlicingBenchmark):
            return {}
        rows = self.study.columns(f"SELECT {KEY} AS k, item_id FROM current_items WHERE task = ?", [self.task.task])
        places = places_of(keys, rows["k"])
        place_of = dict(zip(rows["item_id"][places >= 0].tolist(), places[places >= 0].tolist(), strict=True))
        by_judge: dict[str, list[Mapping[str, str]]] = {}
        for (item_id, judge), slices in slices_of_verdicts(self.study, list(place_of)).items():
            by_judge.setdefault(judge, [{}] * len(keys))[place_of[item_id]] = slices
        return {judge: slice_columns(slices) for judge, slices in by_judge.items()}


def places_of(keys: Keys, wanted: Keys) -> NDArray[np.int64]:
    """Where in the ascending `keys` each of `wanted` stands, −1 for nowhere.

    The wanted keys are looked for in order: at random places of a million keys each search would miss the cache.
    """
    places = np.full(len(wanted), -1, dtype=np.int64)
    if not len(keys):
        return places
    order = np.argsort(wanted)
    ascending = wanted[order]
    found = np.minimum(np.searchsorted(keys, ascending), len(keys) - 1)
    places[order] = np.where(keys[found] == ascending, found, -1)
    return places


def _spread(keys: Keys, places: NDArray[np.int64], values: NDArray[Any], empty: float) -> NDArray[Any]:
    column = np.full(len(keys), empty, dtype=values.dtype)
    column[places] = values
    return column


def _some(scores: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return scores if scores is not None and bool(np.isfinite(scores).any()) else None


def _arranged(
    task: TaskColumns, clusters: NDArray[np.int32], slices: Mapping[str, SliceColumn], drawn: DrawnColumns | None
) -> TaskColumns:
    """The columns of a task and its parts with the clusters, slices and weights they share."""
    parts = {name: _arranged(part, clusters, slices, drawn) for name, part in task.parts.items()}
    return replace(task, clusters=clusters, slices=slices, parts=parts, drawn=drawn)


def _drawn(study: Study, task: str, keys: Keys) -> DrawnColumns | None:
    """What each labelled item stands for; None where all count the same."""
    found = draw_weights(study, task)
    if found is None:
        return None
    rows = study.columns(f"SELECT {KEY} AS k, item_id FROM current_items WHERE task = ?", [task])
    weights, strata = np.full(len(keys), np.nan), np.full(len(keys), "", dtype=object)
    groups = np.array([f"\0{place}" for place in range(len(keys))], dtype=object)
    for place, item_id in zip(places_of(keys, rows["k"]).tolist(), rows["item_id"].tolist(), strict=True):
        if place >= 0 and item_id in found.weights:
            weights[place], strata[place] = found.weights[item_id], found.strata[item_id]
            groups[place] = found.groups.get(item_id, groups[place])
    codes = np.unique(groups.astype(str), return_inverse=True)[1] if found.groups else None
    return DrawnColumns(weights, np.unique(strata.astype(str), return_inverse=True)[1], codes, found.left_out)


def _place(value: str, of: int, first: int = 0, step: int = 1, otherwise: int | None = -1) -> str:
    """SQL of a value's place among that many `?`. A CASE is looked up once for each distinct value of a block."""
    cases = " ".join(f"WHEN ? THEN {first + step * place}" for place in range(of))
    rest = "NULL" if otherwise is None else str(otherwise)
    return f"CASE {value} {cases} ELSE {rest} END" if of else rest


def _vote(part: str, labels: int) -> str:
    """SQL of a label's code; the `?` are the label set."""
    value = _of_part(part) if part else "value"
    unsaid = f"WHEN {value} IS NULL THEN {NOT_LABELLED}" if part else ""
    code = _place(value, labels, otherwise=OUTSIDE_SET)
    return f"CASE WHEN cannot_judge <> '' THEN {VOTED_CANNOT_JUDGE} {unsaid} ELSE {code} END"


def _verdict(part: str, labels: LabelSet, kinds: int) -> str:
    """SQL of a verdict's code; the first `?` are the label set, then the kinds of failure."""
    label = _of_part(part) if part else "label"
    failure = (
        f"CASE WHEN {label} IS NOT NULL THEN '{OFF_MENU}' WHEN failure = '' THEN '{MISSING_VERDICT}' ELSE failure END"
    )
    failed = _place(f"({failure})", kinds, FIRST_FAILURE, -1, NO_VERDICT)
    code = f"coalesce({_place(label, len(labels.labels), otherwise=None)}, {failed})"
    return f"CASE WHEN {label} IS NULL THEN {NO_VERDICT} ELSE {code} END" if labels.optional else code


def _of_part(part: str) -> str:
    path = json.dumps(part).replace("'", "''")
    return f"json_extract_string(parts, '$.{path}')"


def _judges(study: Study, task: str, only: str) -> tuple[list[_Judge], tuple[str, ...]]:
    """The judges of a task, and the kinds of failure in the order of their codes."""
    rows = study.rows(
        """SELECT name, j.judge_id, failures, scored FROM judges j LEFT JOIN (
            SELECT judge_id, list(DISTINCT failure) AS failures, count(score) > 0 AS scored
            FROM verdicts WHERE repetition = 0 GROUP BY judge_id) USING (judge_id)
        WHERE task = ? AND ? IN ('', name) ORDER BY name, j.judge_id""",
        [task, only],
    )
    judges: dict[str, _Judge] = {}
    kinds = {MISSING_VERDICT, OFF_MENU}
    for name, judge_id, failures, scored in rows:
        known = judges.get(name, _Judge(name, [], scored=False))
        judges[name] = _Judge(name, [*known.ids, judge_id], known.scored or bool(scored))
        kinds.update(failures or ())
    return list(judges.values()), tuple(sorted(kinds - {""}))


_STRATUM = "hash(system, slices)"


class _Strata:
    """The slices of a task's items: as many combinations of values as there are, each known by its hash."""

    def __init__(self, study: Study, task: str) -> None:
        rows = study.rows(
            f"SELECT {_STRATUM}, any_value(system), any_value(slices) FROM current_items WHERE task = ? GROUP BY 1",
            [task],
        )
        rows.sort()
        self.sql = _STRATUM if len(rows) > 1 else f"{rows[0][0] if rows else 0}::UBIGINT"
        self._hashes = np.array([row[0] for row in rows], dtype=np.uint64)
        self._systems = [row[1] for row in rows]
        self._slices: list[dict[str, str]] = [json.loads(row[2]) for row in rows]

    def slices(self, strata: NDArray[np.uint64]) -> dict[str, SliceColumn]:
        """Codes of each item for every kind of slice; `system` is one where there are several."""
        place = np.searchsorted(self._hashes, strata)
        used = np.flatnonzero(np.bincount(place)).tolist()
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
