"""What scoring counts: a run's records in file order, as their scorer left them or with people's labels put in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judges.benchmarks.benchmark import ScoredItem
from judges.benchmarks.medmemorybench.answers import QUERY_FILE, SECOND_COPY
from judges.benchmarks.medmemorybench.chain import (
    CAUSAL,
    CC,
    COLUMNS,
    NODES,
    PATIENT,
    STATED,
    YES,
    composite,
    read_cells,
    read_grid,
)
from judges.benchmarks.medmemorybench.shapes import CORRECT, TYPE_OF_TASK, Answer, answer_of
from judges.benchmarks.medmemorybench.verdict_labels import read_label
from store.records import LabelState, VerdictRecord

Facts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Counted:
    """A record as the official aggregation reads it.

    Attributes:
        item: None for the other copy of a repeated query.
    """

    position: int
    persona: str
    query_type: str
    answer: Answer
    query_time: Any
    retrieved_count: Any
    item: ScoredItem | None


def judged(items: Iterable[ScoredItem], facts: Facts) -> list[Counted]:
    """The records with the judge's verdicts, in file order, the other copies of repeated queries among them.

    A string rule's verdict counts whoever judges, unless that judge judged the query too. Items without any verdict
    are in no official record.
    """
    return _in_order((_counted(item, own_answer(item, facts)) for item in items), facts)


def decided(items: Iterable[ScoredItem], facts: Facts) -> list[Counted]:
    """`judged` with people's final values in place of the verdicts, and with what only people decided."""
    return _in_order((_counted(item, _decided(item, facts)) for item in items), facts)


def _decided(item: ScoredItem, facts: Facts) -> Answer | None:
    own = own_answer(item, facts)
    if item.label is None or item.label.value is None:
        return own
    return label_answer(item, item.label, own)


def _in_order(rows: Iterable[Counted | None], facts: Facts) -> list[Counted]:
    found = [row for row in rows if row is not None]
    return sorted([*found, *_second_copies(facts)], key=lambda row: row.position)


def _counted(item: ScoredItem, answer: Answer | None) -> Counted | None:
    if answer is None:
        return None
    record = json.loads(item.extra["record"])
    return Counted(
        int(item.extra["position"]),
        item.cluster,
        TYPE_OF_TASK[item.task],
        answer,
        record.get("query_time", 0.0),
        record.get("retrieved_count", 0),
        item,
    )


def _second_copies(facts: Facts) -> Iterator[Counted]:
    for payload in facts.get(SECOND_COPY, {}).values():
        record = json.loads(payload["record"])
        yield Counted(
            int(payload["position"]),
            str(payload["persona"]),
            record["query_type"],
            answer_of(record),
            record.get("query_time", 0.0),
            record.get("retrieved_count", 0),
            None,
        )


# The judge's answer


def own_answer(item: ScoredItem, facts: Facts) -> Answer | None:
    """The scorer's answer: exactly as read, or made of another judge's label; None when nobody gave one."""
    verdict = item.verdict
    if verdict is None:
        return answer_of(json.loads(item.extra["rule"])) if "rule" in item.extra else None
    if verdict.judge_id in judges_of_files(facts):
        return answer_of(json.loads(verdict.raw))
    return _of_verdict(item, verdict)


def judges_of_files(facts: Facts) -> frozenset[str]:
    """Ids of the judges whose verdicts were read from the benchmark's own files."""
    return frozenset(judge_id for payload in facts.get(QUERY_FILE, {}).values() for judge_id in payload["judge_ids"])


def _of_verdict(item: ScoredItem, verdict: VerdictRecord) -> Answer:
    """Another judge's label as the benchmark's fields; a failure is incorrect, as the official code has it."""
    if verdict.label is None:
        return Answer(False, 0.0, {"judge_reason": "Judge failed"})
    answer = label_answer(item, LabelState(value=verdict.label, parts=verdict.parts), None)
    return answer._replace(details={"judge_reason": verdict.rationale, **answer.details})


# A person's answer


def label_answer(item: ScoredItem, label: LabelState, own: Answer | None) -> Answer:
    """A label as the benchmark's fields.

    A deduction gets its scores from the grid and the completeness where they are whole, else it keeps the judge's;
    what nobody but a judge says (memory retrieval quality) stays the judge's, or "none", the official default.
    """
    is_correct = label.value == CORRECT
    details = dict(own.details) if own else {}
    details.pop("judge_reason", None)
    key = own.key if own else Answer(False, 0.0, {}).key
    if item.task != "mcd":
        return Answer(is_correct, 1.0 if is_correct else 0.0, details, key)
    scores = deduction_details(item.payload, label)
    if scores is None:
        return Answer(is_correct, own.score if own else 0.0, details, key)
    details |= scores
    patient, quality = scores["uses_patient_specific_info"], details.get("memory_retrieval_quality", "none")
    return Answer(is_correct, composite(scores, patient=patient, quality=quality), details, key)


def node_ids(payload: Mapping[str, Any]) -> list[str]:
    """The rows of a deduction's grid."""
    return [str(node["id"]) for node in payload.get("nodes", ())]


def deduction_details(payload: Mapping[str, Any], label: LabelState) -> dict[str, Any] | None:
    """A person's grid and completeness as the judge's JSON has them; None unless both are whole.

    A node that is stated counts as mentioned and as specifically matched: people are asked for the specific fact.
    """
    ids = node_ids(payload)
    grid = read_grid(label.parts.get(NODES, ""), ids)
    if grid is None or CC not in label.parts:
        return None
    cells = read_cells(label.parts[NODES])
    flags = [{name: cells[node][name] == YES for name, _ in COLUMNS} for node in ids]
    return {
        "ncr_score": grid.ncr,
        "crc_score": grid.crc,
        "cc_score": float(label.parts[CC]),
        "node_validations": [
            {
                "node_id": node,
                "mentioned": flag[STATED],
                "specific_data_matched": flag[STATED],
                "causal_link_correct": flag[CAUSAL],
                "from_this_patient": flag[PATIENT],
            }
            for node, flag in zip(ids, flags, strict=True)
        ],
        "uses_patient_specific_info": grid.patient > 0,
    }


# People


def is_changed(item: ScoredItem, facts: Facts) -> bool:
    """Whether a person's final label says something else than the scorer's verdict, or where there was none."""
    if item.label is None or item.label.value is None:
        return False
    own = own_answer(item, facts)
    return own is None or read_label(item.task, own).label != item.label.value


def people(items: Iterable[ScoredItem], facts: Facts) -> dict[str, dict[str, int]]:
    """By task: items people labelled, what that changed, and what they could not judge."""
    found: dict[str, Counter[str]] = {}
    for item in items:
        if item.label is not None and item.label.decided:
            counts = found.setdefault(item.task, Counter(labelled=0, changed=0, cannot_judge=0))
            counts["cannot_judge" if item.label.value is None else "labelled"] += 1
            counts["changed"] += is_changed(item, facts)
    return {task: dict(counts) for task, counts in found.items()}
