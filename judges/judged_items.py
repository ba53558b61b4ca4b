"""One judge's verdicts item by item beside people's labels, and what they lean on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judges.audit_columns import KEY, LabelledTask
from judges.benchmarks.background import DeclaredTie
from judges.benchmarks.benchmark import TaskDefinition
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.audit import People
from judges.calibration.biases import Finding, covariate_effect, family_preference, leniency
from judges.calibration.breakdown import broken_systems, one_label_collapse
from judges.calibration.judge_stability import position_preference, repeat_instability
from judges.calibration.statistic import Statistic
from judges.calibration.system_gaps import SystemGap, system_gaps
from judges.families import family_of
from judges.favourable import PAIR, is_pairwise, response_fields
from store.study import Study

Systems = Mapping[str, NDArray[np.bool_]]
"""Which labelled items are of each system, shape (items,) each; an item may be of several."""

MOST_VALUES = 200
"""A slice of more values names no systems."""
LIST_MARKS = r"(?m)^\s*(?:[-*•]|\d+[.)]|#{1,6})\s|\*\*"
"""Bullets, numbers, headings and bold: what a judge may take for care."""
_PLACES = (("1", "2"), ("a", "b"), ("first", "second"), ("response_1", "response_2"))
"""What the labels of a comparison may be called."""


@dataclass(frozen=True)
class JudgedItems:
    """The labelled items of a task under one judge.

    Attributes:
        label: the favourable label; None where no one label is.
    """

    study: Study
    definition: TaskDefinition
    labelled: LabelledTask
    people: People
    judge: str
    label: str | None

    @cached_property
    def codes(self) -> NDArray[np.int16]:
        return self.labelled.columns.judges[self.judge].codes

    @property
    def clusters(self) -> NDArray[np.integer] | None:
        return self.labelled.columns.clusters

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Items with a statistical label and a readable verdict."""
        return (self.people.codes >= 0) & (self.codes >= 0)

    @cached_property
    def weighed(self) -> NDArray[np.bool_]:
        """Those of `known` that stand for a number of items, where a draw made some likelier than others."""
        weights = self.labelled.columns.weights
        return self.known if weights is None else self.known & np.isfinite(weights)

    def weights_of(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> FloatArray | None:
        """What these items stand for, shape (rows,); None where each counts for one."""
        weights = self.labelled.columns.weights
        return None if weights is None else weights[rows]

    @cached_property
    def agrees(self) -> NDArray[np.bool_]:
        return np.asarray(self.known & (self.people.codes == self.codes))

    @cached_property
    def values(self) -> tuple[FloatArray, FloatArray] | None:
        """People's and the judge's values, nan for none: shares of the scale's range on an ordered one, else 1 for the
        favourable label; None where there is no such label."""
        scale = self.labelled.columns.scale
        if scale.ordered:
            numbers = (scale.values - scale.values.min()) / np.ptp(scale.values)
        elif self.label is not None:
            numbers = np.array([float(label == self.label) for label in scale.labels])
        else:
            return None
        return _numbers(self.people.codes, numbers), _numbers(self.codes, numbers)

    def gaps(self, systems: Systems, level: float) -> list[SystemGap]:
        """Judge less people by system, and by each other slice."""
        if self.values is None:
            return []
        kinds: dict[str, Systems] = {"system": systems}
        for name, column in self.labelled.columns.slices.items():
            if name != "system" and 1 < len(column.values) <= MOST_VALUES:
                kinds[name] = {value: column.codes == code for code, value in enumerate(column.values)}
        return [
            gap
            for kind, values in kinds.items()
            for gap in system_gaps(values, *self.values, level, kind, self.clusters, self.labelled.columns.weights)
        ]

    def confidences(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """Confidences between 0 and 1 that the judge states, and the places of their items."""
        found = self.study.columns(
            f"""SELECT {KEY} AS k, confidence FROM verdicts JOIN judges j USING (judge_id) WHERE repetition = 0
                AND j.task = ? AND j.name = ? AND confidence BETWEEN 0 AND 1""",
            [self.definition.task, self.judge],
        )
        places = self.labelled.places(found["k"])
        kept = (places >= 0) & self.known[places]
        return np.asarray(found["confidence"][kept], dtype=np.float64), places[kept]

    def covariates(self) -> dict[str, FloatArray]:
        """Length in characters and marks of lists of the response, shape (items,), nan for none; of two responses the
        first's less the second's."""
        found = [self._of_field(field) for field in response_fields(self.definition)]
        if not found:
            return {}
        names = {"length": "length of the response", "marks": "number of list marks in the response"}
        if len(found) == 2:
            return {f"{name}, first less second": found[0][key] - found[1][key] for key, name in names.items()}
        return {name: found[0][key] for key, name in names.items()}

    def _of_field(self, field: str) -> dict[str, FloatArray]:
        rows = self.study.columns(
            f"""WITH said AS (SELECT {KEY} AS k, coalesce(body, payload->>?, '') AS said FROM current_items
                LEFT JOIN texts ON text_hash = texts->>? WHERE task = ?)
            SELECT k, length(said)::DOUBLE AS length, len(regexp_extract_all(said, ?))::DOUBLE AS marks FROM said""",
            [field, field, self.definition.task, LIST_MARKS],
        )
        places = self.labelled.places(rows["k"])
        kept = places >= 0
        found = {}
        for name in ("length", "marks"):
            found[name] = np.full(len(self.labelled.keys), np.nan)
            found[name][places[kept]] = rows[name][kept]
        return found


def leanings(judged: JudgedItems, systems: Systems, ties: Sequence[DeclaredTie], level: float) -> list[Finding]:
    """Everything the judge may lean on that can be looked at in this study."""
    columns = judged.labelled.columns
    found = [one_label_collapse(columns.scale.labels, judged.codes, judged.people.codes, columns.weights)]
    found += _form(judged, level)
    found += _slices(judged, level)
    found += _family(judged, systems, ties, level)
    repeats = _repeats(judged, level)
    found += repeats
    return found + _position(judged, repeats, level)


def _form(judged: JudgedItems, level: float) -> Iterator[Finding]:
    """Length and format, people's label held fixed."""
    scale = judged.labelled.columns.scale
    label = judged.label if judged.label is not None else scale.labels[0]
    title = judged.labelled.columns.titles.get(label, label)
    for name, values in judged.covariates().items():
        kept = judged.weighed & np.isfinite(values)
        said = judged.codes[kept] == scale.codes[label]
        people, act = judged.people.codes[kept], f"gives “{title}” to"
        yield covariate_effect(
            name, values[kept], said, people, level, act, _part(judged.clusters, kept), judged.weights_of(kept)
        )  # fmt: skip


def _slices(judged: JudgedItems, level: float) -> Iterator[Finding]:
    """Leniency by slice, and a judge that is broken on one system only."""
    columns, known = judged.labelled.columns, judged.weighed
    kinds = {
        name: np.array([*column.values, ""])[column.codes]
        for name, column in columns.slices.items()
        if 1 < len(column.values) <= MOST_VALUES
    }
    if judged.values is not None:
        theirs, its = judged.values
        chosen = {name: column[known].tolist() for name, column in kinds.items()}
        yield from leniency(
            chosen, theirs[known], its[known], level, _part(judged.clusters, known),
            judged.weights_of(known),
        )  # fmt: skip
    if "system" in kinds:
        resolved = judged.people.codes >= 0
        if columns.weights is not None:
            resolved &= np.isfinite(columns.weights)
        yield from broken_systems(
            kinds["system"][resolved].tolist(), judged.agrees[resolved], level,
            clusters=_part(judged.clusters, resolved), weights=judged.weights_of(resolved),
        )  # fmt: skip


def _part(clusters: NDArray[np.integer] | None, rows: NDArray[np.bool_]) -> NDArray[np.integer] | None:
    return None if clusters is None else clusters[rows]


def _family(judged: JudgedItems, systems: Systems, ties: Sequence[DeclaredTie], level: float) -> Iterator[Finding]:
    """The judge's own maker's systems against the others, by the systems' names or by a slice that names models."""
    declared = {system: tie.what for system in systems for tie in ties if tie.binds(system)}
    family = family_of(judged.judge)
    for values in _named_models(judged, systems):
        own = np.zeros(len(judged.codes), dtype=np.bool_)
        for name, rows in values.items():
            own |= rows & (family_of(name) == family)
        if family and judged.values is not None and own.any():
            theirs, its = judged.values
            known = judged.weighed
            mine = _part(judged.clusters, known)
            counted = judged.weights_of(known)
            yield family_preference(own[known], theirs[known], its[known], declared, level, mine, counted)
            return
    if declared:
        said = "; ".join(f"{system} {what}" for system, what in declared.items())
        yield Finding("declared ties", _no_test(len(declared)), None, True, f"Declared: {said}")


def _no_test(n: int) -> Statistic:
    return Statistic.undefined("declared", "a tie is declared, not measured", n, method="declared ties")


def _named_models(judged: JudgedItems, systems: Systems) -> Iterator[Systems]:
    yield systems
    for column in judged.labelled.columns.slices.values():
        if 1 < len(column.values) <= MOST_VALUES:
            yield {value: column.codes == code for code, value in enumerate(column.values)}


def _repeats(judged: JudgedItems, level: float) -> list[Finding]:
    """How often the judge changes its mind, where it was asked again."""
    rows = judged.study.rows(
        """SELECT item_id, label FROM verdicts JOIN judges j USING (judge_id) WHERE j.task = ? AND j.name = ?
            AND (item_id, content_hash) IN (SELECT (item_id, content_hash) FROM verdicts WHERE repetition > 0)
        ORDER BY item_id, repetition""",
        [judged.definition.task, judged.judge],
    )
    if not rows:
        return []
    codes = judged.labelled.columns.scale.codes
    by_item: dict[str, list[int]] = {}
    for item_id, label in rows:
        by_item.setdefault(item_id, []).append(codes.get(label, -1))
    table = np.full((len(by_item), max(map(len, by_item.values()))), -1, dtype=np.int64)
    for place, answers in enumerate(by_item.values()):
        table[place, : len(answers)] = answers
    return [repeat_instability(table, level)]


def _position(judged: JudgedItems, repeats: Sequence[Finding], level: float) -> list[Finding]:
    """Whether a judge of pairs follows their order, where pairs were judged both ways round."""
    scale = judged.labelled.columns.scale
    places = next((names for names in _PLACES if {label.lower() for label in scale.labels} >= set(names)), None)
    if places is None or not is_pairwise(judged.definition):
        return []
    said = {field: f"coalesce(payload->>'{field}', texts->>'{field}')" for field in PAIR}
    first, second = said[PAIR[0]], said[PAIR[1]]
    asked = "payload->>'context', payload->>'question'"
    rows = judged.study.rows(
        f"""SELECT hash({asked}, least({first}, {second}), greatest({first}, {second})) AS pair,
            arg_min(lower(label), slices->>'order'), arg_max(lower(label), slices->>'order')
        FROM current_items JOIN verdicts USING (item_id, content_hash) JOIN judges j USING (judge_id)
        WHERE j.task = ? AND j.name = ? AND repetition = 0 AND slices->>'order' <> ''
        GROUP BY pair HAVING count(DISTINCT slices->>'order') = 2""",
        [judged.definition.task, judged.judge],
    )
    if not rows:
        return []
    place_of = {name: place for place, name in enumerate(places)}
    forward = [place_of.get(given, -1) for _, given, _ in rows]
    backward = [place_of.get(swapped, -1) for _, _, swapped in rows]
    flips = repeats[0].statistic.value if repeats else None
    return position_preference(forward, backward, flips, level)


def _numbers(codes: NDArray[np.integer], numbers: FloatArray) -> FloatArray:
    return np.where(codes >= 0, numbers[np.maximum(codes, 0)], np.nan)
