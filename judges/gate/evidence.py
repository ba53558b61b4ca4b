"""What a gate rests on: one judge's verdicts, people's blind labels, and the hashes that bind them. No item text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from judges.audit_columns import KEY
from judges.benchmarks.benchmark import TaskDefinition
from judges.calibration.agreement.scale import Scale
from judges.calibration.anchoring import Anchoring, anchoring
from judges.calibration.audit_records import AuditItem, JudgeVerdict, TaskRecords
from judges.calibration.dangerous import DANGEROUS
from judges.collect import audit_records, task_definitions
from judges.draw_weights import draw_weights, weighed
from judges.gate.bindings import JudgeOf, bindings_of, judges_of
from judges.label_acts import read_acts, under_judge
from judges.linked_labels import linked_items, told_twice
from judges.run import SAME_INPUT
from judges.tuned import tuned_items
from store.errors import UsageError
from store.events import NOT_PRACTICE

if TYPE_CHECKING:
    from store.study import Study


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything the checks of one judge on one task read.

    Attributes:
        records: labelled items with this judge's verdict alone; those it was tuned on are not among them.
        tuned_out: labelled items left out because the judge's prompt was tuned or chosen on them.
        read, judged: verdicts that could be read, and all, of repetition 0; identical inputs, asked about once, count
            once. items: of the task.
        live: the judge was run here, and can be asked again.
        repeats: labels by item of items judged more than once; None for one that could not be read.
        harmful: items on which a blind label says that a wrong answer would be dangerous.
        trapped: items the benchmark set as traps.
        anchoring: what verdicts that people saw did to their labels.
        costs: of the verdicts whose cost is known.
        unweighable: chances were unequal, and what an item stands for is not known any more.
        linked: copy → the identical item of another system that was labelled in its place.
        bindings: what the outcome is bound to, by name: hashes.
    """

    task: TaskDefinition
    judge: JudgeOf
    records: TaskRecords
    tuned_out: int
    read: int
    judged: int
    items: int
    live: bool
    repeats: Mapping[str, Sequence[str | None]]
    harmful: frozenset[str]
    trapped: frozenset[str]
    anchoring: Anchoring
    costs: Sequence[float]
    bindings: Mapping[str, str]
    unweighable: bool = False
    linked: Mapping[str, str] = field(default_factory=dict)

    @property
    def told_twice(self) -> set[str]:
        """Items labelled at once with an identical one on which the judge says the same: no evidence of their own."""
        said = {item.item_id: item.verdicts[self.judge.name].label for item in self.records.items if item.verdicts}
        return told_twice(self.linked, said)


def pick_judge(study: Study, task: str, wanted: str = "") -> JudgeOf:
    """The judge of that name (its newest prompt) or id, or the newest there is.

    Raises:
        UsageError: there is none, or none of that name.
    """
    there = judges_of(study, task)
    if not there:
        raise UsageError(
            f"No judge has given a verdict on task {task!r}.", "", "Import verdicts, or run: overread judge"
        )
    fitting = [judge for judge in there if wanted in ("", judge.name) or judge.judge_id.startswith(wanted)]
    if not fitting:
        names = ", ".join(dict.fromkeys(judge.name for judge in there))
        raise UsageError(f"There is no judge {wanted!r} of task {task!r}.", f"There are: {names}.")
    if not wanted and len({judge.name for judge in fitting}) > 1:
        names = ", ".join(dict.fromkeys(judge.name for judge in there))
        raise UsageError(f"Task {task!r} has several judges: {names}.", "", "Say --judge NAME.")
    return fitting[-1]


def gate_tasks(study: Study, task: str = "") -> list[str]:
    """The tasks a gate can be held on: those that choose among labels and have a judge.

    Raises:
        UsageError: there is no such task, or none at all.
    """
    definitions = task_definitions(study)
    if task and task not in definitions:
        raise UsageError(f"There is no task {task!r}.", f"Tasks of this study: {', '.join(definitions)}.")
    found = [
        name
        for name, definition in definitions.items()
        if task in ("", name) and definition.kind == "choice" and len(definition.values) > 1 and judges_of(study, name)
    ]
    if not found:
        raise UsageError(
            "No task has a judge whose verdicts are labels.", "", "Import verdicts, or run: overread judge"
        )
    return found


def evidence_of(study: Study, task: str, judge: JudgeOf) -> Evidence:
    """Collect what there is on a judge; reads no text of any item."""
    definition = task_definitions(study)[task]
    verdicts, repeated = _verdicts(study, judge)
    answered = [verdict for item_id, verdict in verdicts.items() if item_id not in repeated] or [*verdicts.values()]
    tuned = tuned_items(study, task, judge.prompt_version)
    records = audit_records(study, {task: definition})[0]
    drawn = draw_weights(study, task)
    own = [_only(item, judge, verdicts) for item in records.items if item.item_id not in tuned]
    items = {row[0] for row in study.rows("SELECT item_id FROM current_items WHERE task = ?", [task])}
    repeats = _repeats(study, judge)
    costs = study.rows("SELECT cost FROM verdicts WHERE judge_id = ? AND cost IS NOT NULL", [judge.judge_id])
    return Evidence(
        task=definition,
        judge=judge,
        records=weighed(replace(records, items=own), drawn),
        tuned_out=len(records.items) - len(own),
        read=sum(1 for verdict in answered if verdict.label is not None),
        judged=len(answered),
        items=len(items),
        live=bool(study.rows("SELECT 1 FROM calls WHERE judge_id = ? LIMIT 1", [judge.judge_id])),
        repeats=repeats,
        harmful=_harmful(study, items),
        trapped=_trapped(study, task),
        anchoring=_anchoring(study, definition, judge),
        costs=[float(row[0]) for row in costs],
        bindings=bindings_of(study, judge),
        unweighable=drawn is not None and not drawn.weights,
        linked=linked_items(study, task),
    )


def _only(item: AuditItem, judge: JudgeOf, verdicts: Mapping[str, JudgeVerdict]) -> AuditItem:
    own = verdicts.get(item.item_id)
    return replace(item, verdicts={judge.name: own} if own is not None else {})


def _verdicts(study: Study, judge: JudgeOf) -> tuple[dict[str, JudgeVerdict], set[str]]:
    """The verdict on each item, and the items whose verdict is that on an identical input: it was answered once."""
    rows = study.rows(
        """SELECT v.item_id, v.label, v.failure, v.score, v.parts, v.route FROM verdicts v
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE v.judge_id = ? AND v.repetition = 0""",
        [judge.judge_id],
    )
    found = {
        item: JudgeVerdict(label, failure, score, json.loads(parts)) for item, label, failure, score, parts, _ in rows
    }
    return found, {row[0] for row in rows if row[5] == SAME_INPUT}


def _repeats(study: Study, judge: JudgeOf) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for item, label in study.rows(
        """SELECT v.item_id, v.label FROM verdicts v
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE v.judge_id = ? ORDER BY v.item_id, v.repetition""",
        [judge.judge_id],
    ):
        found.setdefault(item, []).append(label)
    return {item: labels for item, labels in found.items() if len(labels) > 1}


def _anchoring(study: Study, task: TaskDefinition, judge: JudgeOf) -> Anchoring:
    scale = Scale(task.values, task.level)
    rows = study.rows(
        f"SELECT {KEY}, label FROM verdicts WHERE judge_id = ? AND repetition = 0 AND label IS NOT NULL",
        [judge.judge_id],
    )
    verdicts = {key: scale.codes[label] for key, label in rows if label in scale.codes}
    return anchoring(under_judge(read_acts(study, task.task), scale, verdicts, set(), {}).acts, scale)


def _harmful(study: Study, items: set[str]) -> frozenset[str]:
    rows = study.rows(f"SELECT DISTINCT item_id, harm FROM all_blind_labels WHERE harm <> '' AND {NOT_PRACTICE}")
    return frozenset(item for item, harm in rows if harm in DANGEROUS and item in items)


def _trapped(study: Study, task: str) -> frozenset[str]:
    """Items whose slices name a trap (`trap`, `trap_kind` …), other than with a word for "none"."""
    rows = study.rows("SELECT item_id, slices FROM current_items WHERE task = ? AND slices LIKE '%trap%'", [task])
    none = ("", "no", "none", "false", "0")
    return frozenset(
        item
        for item, slices in rows
        if any("trap" in name.lower() and value.lower() not in none for name, value in json.loads(slices).items())
    )
