"""HaluMem's `overall_score` over verdict records, as its evaluation code computes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Records = Sequence[Mapping[str, Any]]
Scores = dict[str, Any]

MEMORY_TYPES = ("Event Memory", "Persona Memory", "Relationship Memory")
QA_LABELS = ("Correct", "Hallucination", "Omission")
UPDATE_LABELS = (*QA_LABELS, "Other")


def overall_score(records: Mapping[str, Records], users: Iterable[Mapping[str, Any]]) -> Scores:
    """The official metrics of one system: unrounded fractions, times in minutes.

    Args:
        records: the four record arrays of a result file, by name.
        users: the answer sheet, one mapping a user; only its durations count.

    Raises:
        ZeroDivisionError: a class of records is empty, as in the official code.
    """
    integrity = records["memory_integrity_records"]
    recall = _recall(_gold(integrity))
    accuracy = _accuracy(_distractors(integrity), records["memory_accuracy_records"])
    updates = records["memory_update_records"]
    return {
        "memory_integrity": recall,
        "memory_accuracy": accuracy,
        "memory_extraction_f1": _f1(accuracy["target_accuracy(all)"], recall["recall(all)"]),
        "memory_update": _ratios("update_memory", updates, "memory_update_type", UPDATE_LABELS),
        "question_answering": _ratios("qa", records["question_answering_records"], "result_type", QA_LABELS),
        "memory_type_accuracy": {kind: _type_accuracy(kind, integrity, updates) for kind in MEMORY_TYPES},
        "time_consuming": _times(users),
    }


def _gold(integrity: Records) -> Records:
    return [record for record in integrity if record["memory_source"] != "interference"]


def _distractors(integrity: Records) -> Records:
    return [record for record in integrity if record["memory_source"] == "interference"]


def _valid(records: Records, field: str) -> Records:
    return [record for record in records if record[field] is not None]


def _recall(gold: Records) -> Scores:
    valid = _valid(gold, "memory_integrity_score")
    found = sum(record["memory_integrity_score"] == 2 for record in valid)
    credit = sum(0.5 * record["memory_integrity_score"] * record["importance"] for record in valid)
    weight, valid_weight = (sum(record["importance"] for record in rows) for rows in (gold, valid))
    return {
        "recall(all)": found / len(gold),
        "recall(valid)": found / len(valid),
        "weighted_recall(all)": credit / weight,
        "weighted_recall(valid)": credit / valid_weight,
        "memory_valid_importance_sum": valid_weight,
        "memory_importance_sum": weight,
        "memory_valid_num": len(valid),
        "memory_num": len(gold),
    }


def _accuracy(distractors: Records, cards: Records) -> Scores:
    """Distractors resisted stand under accuracy in the official output although they are integrity records."""
    judged = _valid(distractors, "memory_integrity_score")
    resisted = sum(record["memory_integrity_score"] == 0 for record in judged)
    valid = _valid(cards, "memory_accuracy_score")
    target = [card for card in cards if card["is_included_in_golden_memories"] in ("true", "True")]
    valid_target = _valid(target, "memory_accuracy_score")
    credit, target_credit = (
        sum(0.5 * card["memory_accuracy_score"] for card in rows) for rows in (valid, valid_target)
    )
    return {
        "interference_accuracy(all)": resisted / len(distractors),
        "interference_accuracy(valid)": resisted / len(judged),
        "interference_memory_valid_num": len(judged),
        "interference_memory_num": len(distractors),
        "target_accuracy(all)": target_credit / len(target),
        "target_accuracy(valid)": target_credit / len(valid_target),
        "target_memory_valid_num": len(valid_target),
        "target_memory_num": len(target),
        "weighted_accuracy(all)": credit / len(cards),
        "weighted_accuracy(valid)": credit / len(valid),
        "memory_valid_num": len(valid),
        "memory_num": len(cards),
    }


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _ratios(name: str, records: Records, field: str, labels: Sequence[str]) -> Scores:
    valid = [record for record in records if record[field] in labels]
    scores: Scores = {}
    for label in labels:
        count = sum(record[field] == label for record in valid)
        scores[f"{label.lower()}_{name}_ratio(all)"] = count / len(records)
        scores[f"{label.lower()}_{name}_ratio(valid)"] = count / len(valid)
    return {**scores, f"{name}_valid_num": len(valid), f"{name}_num": len(records)}


def _type_accuracy(kind: str, integrity: Records, updates: Records) -> Scores:
    """Distractors are counted, and one that was stored counts as a success: so the official code has it."""
    points = [record for record in integrity if record["memory_type"] == kind]
    changes = [record for record in updates if record["memory_type"] == kind]
    total = len(points) + len(changes)
    stored = sum(record["memory_integrity_score"] == 2 for record in points) / total
    updated = sum(record["memory_update_type"] == "Correct" for record in changes) / total
    return {
        "memory_integrity_acc": stored,
        "memory_update_acc": updated,
        "total_num": total,
        "memory_acc": stored + updated,
    }


def _times(users: Iterable[Mapping[str, Any]]) -> Scores:
    """Divided by 1000 and then by 60: one division by 60,000 differs in the last digit."""
    sessions = [session for user in users for session in user["sessions"]]
    questions = [question for session in sessions for question in session.get("questions", ())]
    adding = sum(session["add_dialogue_duration_ms"] for session in sessions) / 1000 / 60
    searching = sum(question["search_duration_ms"] for question in questions) / 1000 / 60
    return {
        "add_dialogue_duration_time": adding,
        "search_memory_duration_time": searching,
        "total_duration_time": adding + searching,
    }
