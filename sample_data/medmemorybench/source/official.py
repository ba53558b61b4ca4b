"""The benchmark's own scoring, written a second time: string rules, sums of a result file. Standard library only."""

from __future__ import annotations

import re
import string
from typing import Any

Json = dict[str, Any]
PUNCTUATION = string.punctuation + "，。！？、；：（）【】《》·…—～－–"
PATTERNS = (r"\b([A-F])\b", r"选([A-F])", r"答案[是为：:]*\s*([A-F])", r"([A-F])选项")
QUALITY = {"excellent": 1.0, "good": 0.9, "partial": 0.7, "poor": 0.4, "none": 0.1}
MCD = "multi_hop_clinical_deduction"


def normalised(text: str) -> str:
    return "".join("".join(char for char in text if char not in PUNCTUATION).split()).lower()


def matched(answers: list[str], output: str) -> list[str]:
    return [answer for answer in answers if normalised(answer) in normalised(output)]


def letters(output: str) -> list[str]:
    return sorted({letter for pattern in PATTERNS for letter in re.findall(pattern, output.upper())})


def composite(details: Json) -> float:
    """The `score` of a deduction, in the order of the official operations."""
    score = details["ncr_score"] * 0.35 + details["crc_score"] * 0.35 + details["cc_score"] * 0.30
    if not details["uses_patient_specific_info"]:
        score *= 0.5
    return float(score * QUALITY[details["memory_retrieval_quality"]])


def total(values: list[float]) -> float:
    """One rounding an addition, on every Python."""
    found: float = 0
    for value in values:
        found = found + value
    return found


def result_summary(records: list[Json]) -> Json:
    correct = sum(1 for record in records if record["is_correct"])
    by_type: dict[str, list[Json]] = {}
    for record in records:
        by_type.setdefault(record["query_type"], []).append(record)
    return {
        "total_queries": len(records),
        "correct_count": correct,
        "overall_accuracy": correct / len(records),
        "overall_avg_score": total([record["score"] for record in records]) / len(records),
        "by_type": {name: _type_summary(name, group) for name, group in by_type.items()},
    }


def _type_summary(name: str, records: list[Json]) -> Json:
    correct = sum(1 for record in records if record["is_correct"])
    summary = {
        "total": len(records),
        "correct": correct,
        "accuracy": correct / len(records),
        "avg_score": total([record["score"] for record in records]) / len(records),
    }
    if name != MCD:
        return summary
    details = [record["evaluation_details"] for record in records]
    for score in ("ncr", "crc", "cc"):
        summary[f"avg_{score}"] = total([entry.get(f"{score}_score", 0.0) for entry in details]) / len(details)
    nodes = [node for entry in details for node in entry.get("node_validations", [])]
    summary["node_mention_rate"] = sum(node["mentioned"] for node in nodes) / len(nodes)
    summary["node_causal_rate"] = sum(node["causal_link_correct"] for node in nodes) / len(nodes)
    summary["total_nodes_validated"] = len(nodes)
    return summary


def answer_summary(records: list[Json]) -> Json:
    time = total([record["query_time"] for record in records])
    return {
        "total_queries": len(records),
        "correct_count": sum(1 for record in records if record["is_correct"]),
        "total_query_time": time,
        "avg_query_time": time / len(records),
        "avg_retrieved_count": sum(record["retrieved_count"] for record in records) / len(records),
    }
