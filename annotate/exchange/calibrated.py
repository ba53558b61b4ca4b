"""Calibrated verdicts: for each item who decided, how sure that is, and under which certificate; and corrected scores.

Where people labelled, their final label decides; elsewhere the judge does. What a judge's label is worth is said by its
precision: of the labelled items on which it said so, the share people agreed with, with an exact interval. Items that
the judge's prompt was tuned on are not among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from judges.calibration.agreement.binomial import Bounds, clopper_pearson
from judges.collect import FinalLabel, final_labels
from judges.deciding import Decider, Selective, decider, selective_of
from judges.gate.bindings import judges_of
from judges.gate.checks import resolved_label
from judges.gate.evidence import evidence_of
from judges.gate.full_run import passages_of
from store.items import StoredItem, stream_scored, systems
from store.records import VerdictRecord
from store.study import Study, now

if TYPE_CHECKING:
    from judges.benchmarks.benchmark import TaskDefinition

FORMAT = "overread calibrated verdicts 1"
SCORES_FORMAT = "overread corrected scores 1"
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Trust:
    """What a label of a judge is worth: `agreed` of `n` labelled items on which it said so."""

    agreed: int
    n: int

    def as_json(self) -> dict[str, Any]:
        if not self.n:
            return {
                "value": None,
                "status": "no_labels",
                "why": "no labelled item got this label from the judge",
                "n": 0,
            }
        low, high = _bounds(self.agreed, self.n)
        return {"value": self.agreed / self.n, "low": low, "high": high, "level": LEVEL, "n": self.n}


@lru_cache(maxsize=256)
def _bounds(agreed: int, n: int) -> Bounds:
    """Many items share the few kinds of trust there are."""
    return clopper_pearson(agreed, n, LEVEL)


@dataclass(frozen=True, slots=True)
class Decided:
    """One item: the label that counts, and where it is from.

    Attributes:
        by: people, judge, queue (selective: left to people) or nobody (no verdict, or none that could be read).
    """

    item: StoredItem
    label: str | None
    by: Decider
    judge: str
    verdict: VerdictRecord | None
    people: FinalLabel | None
    trust: Trust | None
    gate: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        verdict, people = self.verdict, self.people
        row: dict[str, Any] = {
            "item_id": self.item.item_id, "content_hash": self.item.content_hash, "task": self.item.task,
            "system": self.item.system, "key": json.loads(self.item.natural_key), "label": self.label,
            "decided_by": self.by,
        }  # fmt: skip
        if people is not None:
            row["people"] = {"annotators": list(people.annotators), "mode": people.mode, "at": people.at,
                             "unsure": people.state.unsure, "note": people.state.note}  # fmt: skip
        row["judge"] = {"name": self.judge, "label": verdict.label if verdict else None,
                        "failure": verdict.failure if verdict else "not_judged",
                        "confidence": verdict.confidence if verdict else None,
                        "confidence_source": verdict.confidence_source if verdict else "",
                        "model_returned": verdict.model_returned if verdict else ""}  # fmt: skip
        if self.by == "judge" and self.trust is not None:
            row["precision"] = self.trust.as_json()
        row["gate"] = {name: self.gate.get(name, "") for name in ("state", "certificate", "forced")}
        return row


def decided(
    study: Study, judge: str, system: str = "", task: str = "", where: Selective | None = None
) -> Iterator[Decided]:
    """Every item in stable order, with the label that counts.

    Args:
        where: the judge decides only there (`thresholds_kept`); the rest is left to people's queue.
    """
    people = final_labels(study)
    trusts = label_trust(study, judge)
    gates = {passage["task"]: passage for passage in passages_of(study, judge)}
    for name in systems(study):
        if system not in ("", name):
            continue
        for item, verdict in stream_scored(study, name, judge):
            if task in ("", item.task):
                by = decider(item.item_id, verdict, people.get(item.item_id), where)
                yield _decided(by, item, verdict, judge, people.get(item.item_id), trusts, gates.get(item.task, {}))


def thresholds_kept(study: Study, judge: str, selective: bool) -> Selective | None:
    """Where the judge decides alone: where its confidence reaches the threshold that `audit --confidence --keep` found
    for its task; None if the choice is not selective.

    Raises:
        NotEnoughError: selective, and no threshold is kept for this judge.
    """
    return selective_of(study, [judge]) if selective else None


def _decided(
    by: Decider,
    item: StoredItem,
    verdict: VerdictRecord | None,
    judge: str,
    people: FinalLabel | None,
    trusts: dict[tuple[str, str], Trust],
    gate: dict[str, Any],
) -> Decided:
    if by == "people":
        assert people is not None
        return Decided(item, people.state.value, by, judge, verdict, people, None, gate)
    if verdict is None or verdict.label is None:
        return Decided(item, None, by, judge, verdict, None, None, gate)
    trust = trusts.get((item.task, verdict.label), Trust(0, 0))
    return Decided(item, verdict.label if by == "judge" else None, by, judge, verdict, None, trust, gate)


def label_trust(study: Study, judge: str) -> dict[tuple[str, str], Trust]:
    """(task, label) → how often people agreed when the judge said so."""
    found: dict[tuple[str, str], Trust] = {}
    for (task,) in study.rows("SELECT DISTINCT task FROM judges WHERE name = ?", [judge]):
        named = [one for one in judges_of(study, task) if one.name == judge]
        if not named or not _chooses(study, task):
            continue
        for item in evidence_of(study, task, named[-1]).records.items:
            verdict, people = item.verdicts.get(judge), resolved_label(item)
            if item.stream == "estimate" and verdict is not None and verdict.label and people is not None:
                old = found.get((task, verdict.label), Trust(0, 0))
                found[task, verdict.label] = Trust(old.agreed + (verdict.label == people), old.n + 1)
    return found


def _chooses(study: Study, task: str) -> bool:
    from judges.collect import task_definitions

    definition: TaskDefinition | None = task_definitions(study).get(task)
    return definition is not None and definition.kind == "choice" and len(definition.values) > 1


def verdict_lines(
    study: Study, judge: str, system: str = "", task: str = "", *, selective: bool = False
) -> Iterator[str]:
    """The calibrated verdicts as JSON lines, what they are of first."""
    where = thresholds_kept(study, judge, selective)
    head = {"format": FORMAT, "benchmark": study.benchmark, "study_id": study.study_id, "judge": judge,
            "at": now().isoformat(timespec="seconds"), "gate": passages_of(study, judge),
            **({"promises": where.promises} if where is not None else {})}  # fmt: skip
    yield json.dumps(head, ensure_ascii=False) + "\n"
    for one in decided(study, judge, system, task, where):
        yield json.dumps(one.as_json(), ensure_ascii=False) + "\n"


def corrected_scores_text(study: Study, judge: str, system: str = "", *, selective: bool = False) -> str:
    """The scores as coded, overridden and corrected, with the gate they came through, as one JSON document."""
    from judges.scoring import score_study

    found = score_study(study, judge, system, described=False, selective=selective)
    document = {"format": SCORES_FORMAT, "study_id": study.study_id, "at": now().isoformat(timespec="seconds"),
                **found.as_json()}  # fmt: skip
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
