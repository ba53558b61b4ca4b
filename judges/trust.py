"""From the store to what an audit says beside agreement: anchoring, stand-in, danger, biases, confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judges.audit_columns import BLIND, KEY, LabelledTask
from judges.benchmarks.background import BackgroundBenchmark, DeclaredTie
from judges.benchmarks.benchmark import TaskDefinition
from judges.calibration.audit import People, people_of
from judges.calibration.audit_input import JudgeColumn
from judges.calibration.audit_result import Settings
from judges.calibration.dangerous import DANGEROUS
from judges.calibration.reader_habits import SelfConsistency, Subset, hurried, self_consistency, subset
from judges.calibration.trust import (
    Danger,
    JudgeTrust,
    TaskTrust,
    danger_of,
    seen_verdicts,
    slices_tested,
    tested_against,
)
from judges.draw_weights import drawn_unequally
from judges.favourable import favourable_label
from judges.label_acts import ActsOnItem, read_acts, under_judge
from judges.linked_labels import linked_keys
from store.events import DECIDED
from store.study import Study

if TYPE_CHECKING:
    from judges.judged_items import JudgedItems, Systems

MOST_SYSTEMS = 200
"""A slice of more values is no breakdown by system."""


def trust_of(
    study: Study,
    definition: TaskDefinition,
    labelled: LabelledTask,
    settings: Settings,
    benchmark: object,
    epsilon: float,
    complete: bool,
) -> TaskTrust:
    """Everything beside agreement on one task; without `complete` only what every audit says."""
    task = _Task(study, definition, labelled, settings, epsilon)
    if not complete:
        return TaskTrust({name: task.brief(name) for name in labelled.columns.judges})
    ties = benchmark.declared_ties() if isinstance(benchmark, BackgroundBenchmark) else ()
    judges = {name: task.whole(name, ties) for name in labelled.columns.judges}
    return TaskTrust(judges, task.self_consistency(), complete=True)


@dataclass
class _Task:
    """One task while its judges are gone through; what all of them need is read once."""

    study: Study
    definition: TaskDefinition
    labelled: LabelledTask
    settings: Settings
    epsilon: float
    people: People = field(init=False)
    acts: list[ActsOnItem] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = self.labelled.columns
        self.scale = self.columns.scale
        self.people = people_of(self.columns)
        self.acts = read_acts(self.study, self.definition.task)
        self.label = favourable_label(self.definition)
        self.adjudicated = self._adjudicated()
        self.harmed = self._flagged(f"harm IN ({', '.join(repr(one) for one in sorted(DANGEROUS))})")
        self.n = len(self.labelled.keys)

    # What every audit says

    def brief(self, judge: str) -> JudgeTrust:
        column = self.columns.judges[judge]
        mine, ids = self._verdicts(judge)
        acts = under_judge(self.acts, self.scale, mine, ids, self.adjudicated)
        level = self.settings.level
        seen = seen_verdicts(acts.acts, self.scale, self.label, acts.waiting, acts.randomised, level)
        late = ~acts.acts.assisted
        fast = hurried(acts.seconds[late], acts.acts.first[late] == acts.acts.verdict[late])
        return JudgeTrust(
            tested_against(self.columns, column, self.epsilon),
            seen,
            self._danger(column),
            hurried=fast if fast.n else None,
        )

    def _danger(self, column: JudgeColumn) -> Danger | None:
        if self.label is None:
            return None
        harmed = self.harmed & ~self._told_twice(column) if self.harmed.any() else self.harmed
        return danger_of(harmed, self.people, column, self.scale, self.label, self.settings.level)

    def _told_twice(self, column: JudgeColumn) -> NDArray[np.bool_]:
        """Items labelled at once with an identical one on which the judge says the same, shape (items,)."""
        found = linked_keys(self.study, self.definition.task)
        copies, leaders = self.labelled.places(found["copy"]), self.labelled.places(found["leader"])
        there = (copies >= 0) & (leaders >= 0)
        again = np.zeros(self.n, dtype=np.bool_)
        again[copies[there]] = column.codes[copies[there]] == column.codes[leaders[there]]
        return again

    def _adjudicated(self) -> dict[int, int]:
        rows = self.study.rows(
            f"SELECT {KEY}, value FROM all_current_labels WHERE adjudicated AND round = 0 AND value IS NOT NULL"
        ) if self.acts else []  # fmt: skip
        return {key: code for key, value in rows if (code := self.scale.codes.get(value, -1)) >= 0}

    def _verdicts(self, judge: str) -> tuple[dict[int, int], set[str]]:
        """Codes of a judge's first verdicts on items that somebody acted on, by key; its ids where it is not alone."""
        if not self.acts:
            return {}, set()
        rows = self.study.rows(
            f"""SELECT {KEY.replace("item_id", "v.item_id")}, label, verdict_id, name FROM verdicts v
            JOIN judges j USING (judge_id) WHERE repetition = 0 AND j.task = ? AND label IS NOT NULL AND v.item_id IN (
                SELECT item_id FROM label_events UNION SELECT item_id FROM file_labels)""",
            [self.definition.task],
        )
        mine = {key: self.scale.codes.get(label, -1) for key, label, _, name in rows if name == judge}
        alone = len({name for *_, name in rows}) < 2
        return mine, set() if alone else {verdict_id for _, _, verdict_id, name in rows if name == judge}

    def _flagged(self, condition: str) -> NDArray[np.bool_]:
        """Labelled items with a blind label that meets the condition, shape (items,)."""
        flags = np.zeros(len(self.labelled.keys), dtype=np.bool_)
        found = self.study.columns(f"SELECT DISTINCT {KEY} AS k FROM {BLIND} WHERE {DECIDED} AND {condition}")
        places = self.labelled.places(found["k"])
        flags[places[places >= 0]] = True
        return flags & self.columns.estimate

    # What the whole audit says

    def whole(self, judge: str, ties: Sequence[DeclaredTie]) -> JudgeTrust:
        from judges.calibration.confidence import confidence
        from judges.calibration.selective import selection
        from judges.judged_items import JudgedItems, leanings

        brief, column = self.brief(judge), self.columns.judges[judge]
        judged = JudgedItems(self.study, self.definition, self.labelled, self.people, judge, self.label)
        systems = self.systems()
        agrees = judged.agrees
        unsure, wrong = (self._beside(judged, flag) for flag in ("unsure", "reference_wrong"))
        sure, at = judged.confidences()
        weighed = judged.weighed[at]
        told = len(at) >= 2
        return JudgeTrust(
            brief.annotator_test,
            brief.seen,
            brief.danger,
            tuple(slices_tested(self.columns, self.people, column, self.settings)),
            tuple(leanings(judged, systems, ties, self.settings.level)),
            tuple(judged.gaps(systems, self.settings.level)),
            unsure if unsure.n else None,
            brief.hurried,
            wrong if wrong.n else None,
            confidence(
                sure[weighed], agrees[at[weighed]], seed=self.settings.seed, weights=judged.weights_of(at[weighed])
            )
            if told
            else None,
            selection(sure, agrees[at]) if told and not drawn_unequally(self.study, self.definition.task) else None,
        )

    def _beside(self, judged: JudgedItems, flag: str) -> Subset:
        """Agreement on the items with the flag and on the others, of all items."""
        rows, drawn = judged.weighed, self.columns.drawn
        groups = None if drawn is None or drawn.groups is None else drawn.groups[rows]
        return subset(self._flagged(flag)[rows], judged.agrees[rows], judged.weights_of(rows), groups)

    def self_consistency(self) -> dict[str, SelfConsistency]:
        """People who labelled items again in a later round, by name."""
        rows = self.study.rows(
            """SELECT a.annotator, a.value, b.value FROM blind_labels a JOIN blind_labels b
                ON a.item_id = b.item_id AND a.annotator = b.annotator AND b.round = a.round + 1 AND a.round = 0
            JOIN current_items i ON i.item_id = a.item_id AND i.content_hash = a.content_hash
                AND i.content_hash = b.content_hash
            WHERE i.task = ? AND a.value IS NOT NULL AND b.value IS NOT NULL ORDER BY 1""",
            [self.definition.task],
        )
        codes = self.scale.codes
        by: dict[str, list[tuple[int, int]]] = {}
        for who, first, again in rows:
            by.setdefault(who, []).append((codes.get(first, -1), codes.get(again, -1)))
        return {
            who: self_consistency(self.scale, [a for a, _ in pairs], [b for _, b in pairs], self.settings.seed)
            for who, pairs in by.items()
        }

    def systems(self) -> Systems:
        """Which labelled items are of each system: those a row lists, else the system it was imported as."""
        listed = self.study.columns(
            f"""SELECT {KEY} AS k, unnest(from_json(extra->'systems', '["VARCHAR"]')) AS system
            FROM current_items WHERE task = ? AND json_array_length(extra, '$.systems') > 0""",
            [self.definition.task],
        )
        if len(listed["k"]):
            names, codes = np.unique(listed["system"].astype(str), return_inverse=True)
            places = self.labelled.places(listed["k"])
            return {str(name): self._rows(places[(codes == code) & (places >= 0)]) for code, name in enumerate(names)}
        column = self.columns.slices.get("system")
        if column is None or len(column.values) > MOST_SYSTEMS:
            return {}
        return {value: column.codes == code for code, value in enumerate(column.values)}

    def _rows(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        rows = np.zeros(self.n, dtype=np.bool_)
        rows[places] = True
        return rows
