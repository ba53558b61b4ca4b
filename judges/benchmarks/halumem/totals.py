"""HaluMem's metrics as functions of totals over items: what makes them correctable for the judge's errors.

Every metric of `overall_score` that is a ratio of sums, or F1 of two such, is here under its path. People have no
failures, so a metric's (all) and (valid) variants share one value.
"""

from __future__ import annotations

from collections.abc import Mapping

from judges.benchmarks.benchmark import ScoredItem, Undefined
from judges.benchmarks.halumem.shapes import is_distractor
from judges.benchmarks.halumem.tallies import MEMORY_TYPES
from store.records import LabelState

Totals = Mapping[str, float]
INTEGRITY, ACCURACY, UPDATE, QA = "integrity", "accuracy", "update", "qa"
INCLUDED = "accuracy/included"

_RATIOS: dict[str, tuple[str, str, frozenset[str]]] = {
    "memory_integrity / recall": ("gold full", "gold", frozenset({INTEGRITY})),
    "memory_integrity / weighted_recall": ("gold weighted", "gold weight", frozenset({INTEGRITY})),
    "memory_accuracy / interference_accuracy": ("distractors resisted", "distractors", frozenset({INTEGRITY})),
    "memory_accuracy / target_accuracy": ("target half points", "target", frozenset({ACCURACY, INCLUDED})),
    "memory_accuracy / weighted_accuracy": ("memory half points", "memories", frozenset({ACCURACY})),
    **{
        f"memory_update / {label.lower()}_update_memory_ratio": (f"update {label}", "updates", frozenset({UPDATE}))
        for label in ("Correct", "Hallucination", "Omission", "Other")
    },
    **{
        f"question_answering / {label.lower()}_qa_ratio": (f"qa {label}", "questions", frozenset({QA}))
        for label in ("Correct", "Hallucination", "Omission")
    },
}
"""Metric (without its variant) → numerator, denominator, and the labels it needs."""

_F1 = "memory_extraction_f1"
_VARIANTS = ("(all)", "(valid)")


def needs() -> dict[str, frozenset[str]]:
    """Metric path → tasks ("task/part" for a part) whose labels it rests on."""
    found = {f"{name}{variant}": tasks for name, (_, _, tasks) in _RATIOS.items() for variant in _VARIANTS}
    found[_F1] = frozenset({INTEGRITY, ACCURACY, INCLUDED})
    for kind in MEMORY_TYPES:
        base = f"memory_type_accuracy / {kind}"
        found[f"{base} / memory_integrity_acc"] = frozenset({INTEGRITY})
        found[f"{base} / memory_update_acc"] = frozenset({UPDATE})
        found[f"{base} / memory_acc"] = frozenset({INTEGRITY, UPDATE})
    return found


def shares() -> dict[str, tuple[str, str]]:
    """Metrics that lie between 0 and 1 item by item: (numerator, denominator) by path."""
    return {f"{name}{v}": (top, bottom) for name, (top, bottom, _) in _RATIOS.items() for v in _VARIANTS}


def terms(item: ScoredItem, state: LabelState | None) -> dict[str, float]:
    """What an item adds to the totals under a label; None: under the judge's verdict, a failed one adding nothing to
    any numerator, as coded."""
    value, parts = _decision(item, state)
    fields = item.extra.get("fields", {})
    if item.task == INTEGRITY:
        return _integrity(fields, value) | _type(fields, "memory_integrity_acc", value == "2")
    if item.task == ACCURACY:
        return _accuracy(value, parts.get("included") == "true")
    if item.task == UPDATE:
        return {"updates": 1.0, f"update {value}": 1.0} | _type(fields, "memory_update_acc", value == "Correct")
    return {"questions": 1.0, f"qa {value}": 1.0}


def combine(totals: Totals) -> dict[str, float | Undefined]:
    """The metrics of the totals."""
    values = {name: _ratio(totals, top, bottom) for name, (top, bottom, _) in _RATIOS.items()}
    found: dict[str, float | Undefined] = {f"{name}{v}": value for name, value in values.items() for v in _VARIANTS}
    found[_F1] = _f1(values["memory_accuracy / target_accuracy"], values["memory_integrity / recall"])
    for kind in MEMORY_TYPES:
        base = f"memory_type_accuracy / {kind}"
        integrity = found[f"{base} / memory_integrity_acc"] = _ratio(totals, f"{kind} memory_integrity_acc", kind)
        update = found[f"{base} / memory_update_acc"] = _ratio(totals, f"{kind} memory_update_acc", kind)
        undefined = next((part for part in (integrity, update) if isinstance(part, Undefined)), None)
        found[f"{base} / memory_acc"] = undefined if undefined else integrity + update  # type: ignore[operator]
    return found


def _decision(item: ScoredItem, state: LabelState | None) -> tuple[str | None, Mapping[str, str]]:
    if state is not None:
        return state.value, state.parts
    return (item.verdict.label, item.verdict.parts) if item.verdict is not None else (None, {})


def _integrity(fields: Mapping[str, object], value: str | None) -> dict[str, float]:
    score = _score(value)
    if is_distractor(fields):
        return {"distractors": 1.0, "distractors resisted": float(value == "0")}
    weight = fields.get("importance")
    weight = float(weight) if isinstance(weight, int | float) else 0.0
    return {"gold": 1.0, "gold full": float(value == "2"), "gold weight": weight, "gold weighted": score * weight}


def _accuracy(value: str | None, included: bool) -> dict[str, float]:
    score = _score(value)
    target = float(included and value is not None)
    return {"memories": 1.0, "memory half points": score, "target": target, "target half points": score * target}


def _type(fields: Mapping[str, object], name: str, hit: bool) -> dict[str, float]:
    kind = fields.get("memory_type")
    return {kind: 1.0, f"{kind} {name}": float(hit)} if isinstance(kind, str) and kind in MEMORY_TYPES else {}


def _score(value: str | None) -> float:
    return {"2": 1.0, "1": 0.5}.get(value or "", 0.0)


def _ratio(totals: Totals, top: str, bottom: str) -> float | Undefined:
    count = totals.get(bottom, 0.0)
    if not count:
        return Undefined("nothing_to_count", f"there are no {bottom}")
    return totals.get(top, 0.0) / count


def _f1(precision: float | Undefined, recall: float | Undefined) -> float | Undefined:
    if isinstance(precision, Undefined):
        return precision
    if isinstance(recall, Undefined):
        return recall
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
