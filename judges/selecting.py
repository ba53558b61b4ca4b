"""Whether a judge's confidence means what it says, and from which on it may decide alone; kept in the study."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judges.collect import BlindLabels, blind_labels, resolved_label, scored_items, task_definitions
from judges.draw_weights import draw_weights
from judges.linked_labels import linked_items, told_twice
from judges.served_part import Served, ServedParts
from judges.tuned import tuned_for
from store.applying import SETTING
from store.items import systems
from store.study import Study

if TYPE_CHECKING:
    from judges.calibration.agreement.scale import FloatArray
    from judges.calibration.confidence import Confidence
    from judges.calibration.selective import Selection

KEPT = "selective"
"""The setting that holds thresholds: judge → task → threshold and what it was found by."""
LEAST_REPEATS = 3
"""Repetitions from which the share of the majority is taken as a confidence."""
ISOTONIC_FROM = 500
"""Labels from which steps are fitted; below, two numbers (Platt) are all that can be told."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A labelled item with the judge's verdict: its confidence, whether people agree, and what it stands for (1/π)."""

    confidence: float
    agrees: bool
    cluster: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TaskConfidence:
    """A judge's confidence on one task.

    Attributes:
        source: where confidence is from (`file`, `logprob`, `agreement of 5 repeats` …).
        labelled: labelled items with a readable verdict, but for those that its prompt was tuned on; copies of one item
            on which people and judge said the same at once are one. linked: such copies, left out. without: of
            `labelled` without a confidence.
        weighted: items were drawn with unequal chances, and each counts for those it stands for (1/π); then `outside`
            labelled items are left out, of which that is not known.
        found: None without two confidences.
        calibrated: the same after calibration by people's labels, out of fold; None when that cannot be fitted, and
            `calibrated_why` says why. method: by which model.
        selection: None without any confidence. above: share of all the judge's verdicts that reach the threshold.
        judge_ids: of the judge that was measured; another prompt or model is another judge.
    """

    task: str
    judge: str
    source: str
    labelled: int
    without: int
    found: Confidence | None
    calibrated: Confidence | None
    calibrated_why: str
    method: str
    selection: Selection | None
    selection_why: str
    above: float | None
    judge_ids: tuple[str, ...] = ()
    linked: int = 0
    weighted: bool = False
    outside: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source, "labelled": self.labelled, "linked": self.linked,
            "weighted": self.weighted, "outside": self.outside, "without_confidence": self.without,
            "confidence": _as_json(self.found), "calibrated": _as_json(self.calibrated), "calibration": self.method,
            "calibration_why": self.calibrated_why or None,
            "selection": self.selection.as_json() if self.selection else None,
            "selection_why": self.selection_why or None, "verdicts_above": self.above,
        }  # fmt: skip


def _as_json(found: Confidence | None) -> dict[str, Any] | None:
    if found is None:
        return None
    bins = [{name: getattr(one, name) for name in one.__dataclass_fields__} for one in found.bins]
    statistics = {name: getattr(found, name).as_json() for name in ("brier", "log_loss", "ece", "gap")}
    return {**statistics, "reliability": bins}


def study_confidence(
    study: Study, judge: str, *, task: str = "", alpha: float = 0.05, delta: float = 0.1, seed: int = 0
) -> list[TaskConfidence]:
    """A judge's confidence on each task, against blind labels on the served part of the estimate draw.

    Args:
        alpha: disagreement allowed where the judge decides alone. delta: chance that the promise is wrong.
    """
    labels = blind_labels(study)
    parts = ServedParts(study, labels)
    wanted = [name for name, one in task_definitions(study).items() if one.kind == "choice" and task in ("", name)]
    return [
        _on_task(study, judge, name, labels, parts, (alpha, delta), seed)
        for name in wanted
        if study.rows("SELECT 1 FROM current_items WHERE task = ? LIMIT 1", [name])
    ]


def _on_task(
    study: Study,
    judge: str,
    task: str,
    labels: Mapping[str, BlindLabels],
    parts: ServedParts,
    promise: tuple[float, float],
    seed: int,
) -> TaskConfidence:
    levels, source = confidences(study, judge, task)
    tuned = tuned_for(study, judge)
    judged: dict[str, JudgedItem] = {}
    verdicts: dict[str, str | None] = {}
    served = list[Served]()
    drawn = draw_weights(study, task)
    weights = {} if drawn is None else drawn.weights
    outside = 0
    for system in systems(study):
        items = [item for item in scored_items(study, system, judge) if item.task == task]
        part = parts.part(task, items)
        if part.items:
            served.append(part)
        for item in items:
            label = resolved_label(labels.get(item.item_id)) if item.item_id in part.items else None
            if label is None or item.verdict is None or item.verdict.label is None or item.item_id in tuned:
                continue
            if weights and item.item_id not in weights:
                outside += 1
                continue
            verdicts[item.item_id] = item.verdict.label
            level = levels.get(item.item_id, math.nan)
            judged[item.item_id] = JudgedItem(
                level, item.verdict.label == label, item.cluster, weights.get(item.item_id, 1.0)
            )
    linked = told_twice(linked_items(study, task), verdicts)
    alone = [one for item_id, one in judged.items() if item_id not in linked]
    pairs = [one for one in alone if not math.isnan(one.confidence)]
    rows = study.rows("SELECT judge_id FROM judges WHERE name = ? AND task = ? ORDER BY 1", [judge, task])
    empty = TaskConfidence(
        task,
        judge,
        source,
        len(alone),
        len(alone) - len(pairs),
        None,
        None,
        "",
        "",
        None,
        "",
        None,
        tuple(row[0] for row in rows),
        len(linked),
        outside=outside,
    )
    return _measured(empty, pairs, served, list(levels.values()), promise, seed)


def _measured(
    empty: TaskConfidence,
    pairs: Sequence[JudgedItem],
    served: Sequence[Served],
    everywhere: Sequence[float],
    promise: tuple[float, float],
    seed: int,
) -> TaskConfidence:
    from judges.calibration.confidence import confidence
    from judges.calibration.selective import selection

    if len(pairs) < 2:
        why = "the judge states no confidence and has no three repetitions" if not everywhere else "no labels yet"
        return replace(empty, selection_why=why, calibrated_why=why)
    levels, agrees, weights = [one.confidence for one in pairs], [one.agrees for one in pairs], _weights(pairs)
    found = replace(empty, found=confidence(levels, agrees, seed=seed, weights=weights), weighted=weights is not None)
    calibrated, method, why = _calibrated(pairs, seed)
    found = replace(found, calibrated=calibrated, method=method, calibrated_why=why)
    if not all(part.equal_chances for part in served):
        return replace(
            found,
            selection_why="the exact bound needs items drawn one by one with equal chances; these were drawn by strata"
            " or by text: draw some with overread sample --single",
        )
    chosen = selection(levels, agrees, *promise)
    above = None
    if chosen.threshold is not None:
        above = sum(level >= chosen.threshold for level in everywhere) / len(everywhere)
    return replace(found, selection=chosen, selection_why=chosen.why, above=above)


def _calibrated(pairs: Sequence[JudgedItem], seed: int) -> tuple[Confidence | None, str, str]:
    """Calibrated out of fold, by clusters where there are enough, and measured anew."""
    from judges.calibration.confidence import confidence, recalibrated

    levels, agrees, weights = [one.confidence for one in pairs], [one.agrees for one in pairs], _weights(pairs)
    method = "isotonic" if len(pairs) >= ISOTONIC_FROM else "platt"
    clusters = [one.cluster for one in pairs]
    whole = clusters if all(clusters) and len(set(clusters)) >= 10 else None
    try:
        new = recalibrated(levels, agrees, method, seed=seed, clusters=whole, weights=weights)  # type: ignore[arg-type]
    except ValueError as error:
        return None, method, str(error)
    return confidence(new, agrees, seed=seed, weights=weights), method, ""


def _weights(pairs: Sequence[JudgedItem]) -> FloatArray | None:
    """What each item stands for, shape (n,); None where all count the same."""
    import numpy as np

    weights = np.array([one.weight for one in pairs])
    return None if np.ptp(weights) <= 1e-9 * weights.max() else weights


def confidences(study: Study, judge: str, task: str) -> tuple[dict[str, float], str]:
    """The judge's confidence in its first verdict on each item of a task, and its source.

    What the judge states; where it states none, the share of its repetitions that say the same.
    """
    rows = study.rows(
        """SELECT v.item_id, v.repetition, v.label, v.confidence, v.confidence_source FROM verdicts v
        JOIN judges j USING (judge_id) JOIN current_items i USING (item_id, content_hash)
        WHERE j.name = ? AND j.task = ? ORDER BY v.item_id, v.repetition""",
        [judge, task],
    )
    stated = {row[0]: float(row[3]) for row in rows if row[1] == 0 and row[2] is not None and row[3] is not None}
    if stated:
        sources = Counter(str(row[4]) or "stated" for row in rows if row[1] == 0 and row[3] is not None)
        return {item: level for item, level in stated.items() if 0 <= level <= 1}, ", ".join(sorted(sources))
    said: dict[str, list[str | None]] = {}
    for item_id, _, label, *_ in rows:
        said.setdefault(item_id, []).append(label)
    repeats = {item: found for item, found in said.items() if len(found) >= LEAST_REPEATS and found[0] is not None}
    if not repeats:
        return {}, "none"
    most = max(map(len, repeats.values()))
    return {item: found.count(found[0]) / len(found) for item, found in repeats.items()}, f"agreement of {most} repeats"


# Kept in the study


def keep_thresholds(study: Study, found: Sequence[TaskConfidence]) -> dict[str, float]:
    """Write the thresholds down, in the journal; returns them by task. A task without one loses what it had."""
    kept = dict(study.setting(KEPT, {}))
    for one in found:
        tasks = dict(kept.get(one.judge, {}))
        tasks.pop(one.task, None)
        chosen = one.selection
        if chosen is not None and chosen.threshold is not None:
            tasks[one.task] = {
                "threshold": chosen.threshold, "alpha": chosen.alpha, "delta": chosen.delta, "errors": chosen.errors,
                "selected": chosen.selected, "n": chosen.n, "source": one.source, "judge_ids": list(one.judge_ids),
            }  # fmt: skip
        kept[one.judge] = tasks
    study.record([{"type": SETTING, "key": KEPT, "value": kept}])
    return {one.task: kept[one.judge][one.task]["threshold"] for one in found if one.task in kept[one.judge]}


def kept_selections(study: Study, judge: str) -> dict[str, Mapping[str, Any]]:
    """What was kept of a judge by task: threshold, alpha, delta, errors, selected, n, source; nothing where the judge
    has become another since."""
    ids: dict[str, list[str]] = {}
    for task, judge_id in study.rows("SELECT task, judge_id FROM judges WHERE name = ? ORDER BY 2", [judge]):
        ids.setdefault(task, []).append(judge_id)
    kept: Mapping[str, Any] = study.setting(KEPT, {}).get(judge, {})
    return {task: one for task, one in kept.items() if one["judge_ids"] == ids.get(task)}
