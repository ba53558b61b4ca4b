"""The metrics that are functions of totals, so that a survey of people's labels can correct them.

Names are paths in the scores: "summary / by_type / state_update / accuracy". Every query counts once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Undefined
from judges.benchmarks.medmemorybench.abstention import abstains
from judges.benchmarks.medmemorybench.chain import CC, NODES
from judges.benchmarks.medmemorybench.counted import deduction_details, label_answer
from judges.benchmarks.medmemorybench.people import ABSTAINED, YES
from judges.benchmarks.medmemorybench.shapes import CORRECT, TASK_OF_TYPE, TYPE_OF_TASK, Answer, answer_of
from judges.benchmarks.medmemorybench.summary import MCD_TYPE, NOTHING
from judges.benchmarks.medmemorybench.verdict_labels import stated_answer
from store.records import LabelState, VerdictRecord

ALL_SIX = frozenset(TASK_OF_TYPE.values())
CHECKPOINTS = tuple(str(session) for session in range(10, 110, 10))
"""The benchmark asks after every tenth of some hundred sessions."""

SCORES = ("ncr", "crc", "cc")
NODE_PARTS = {"ncr": NODES, "crc": NODES, "cc": CC}


def needs() -> dict[str, frozenset[str]]:
    """What must be labelled for each metric: tasks, or parts of them as "task/part"."""
    found = {
        "summary / overall_accuracy": ALL_SIX,
        "summary / overall_avg_score": ALL_SIX | {f"mcd/{NODES}", f"mcd/{CC}"},
        "mean_of_six": ALL_SIX,
        "hallucination / rate": ALL_SIX | {f"{task}/{ABSTAINED}" for task in ALL_SIX - {"mcd"}},
    }
    for name, task in TASK_OF_TYPE.items():
        found[f"summary / by_type / {name} / accuracy"] = frozenset({task})
        parts = {f"mcd/{NODES}", f"mcd/{CC}"} if task == "mcd" else set()
        found[f"summary / by_type / {name} / avg_score"] = frozenset({task} | parts)
    for score in SCORES:
        found[f"summary / by_type / {MCD_TYPE} / avg_{score}"] = frozenset({"mcd", f"mcd/{NODE_PARTS[score]}"})
    return found | {f"checkpoints / {session} / accuracy": ALL_SIX for session in CHECKPOINTS}


def terms(item: ScoredItem, state: LabelState | None) -> dict[str, float]:
    """What an item adds to the totals when its label is `state`.

    Without a label it counts as the code counts what the file says there (the text "false" is correct, a failed judge
    incorrect, a string rule as it came out), or as incorrect. A label that says what the item's own verdict says keeps
    the verdict's scores.
    """
    answer = _answer(item, state)
    name = TYPE_OF_TASK[item.task]
    correct = float(bool(answer.is_correct))
    score = float(answer.score) if isinstance(answer.score, int | float) else 0.0
    found = {f"n/{name}": 1.0, f"correct/{name}": correct, f"score/{name}": score}
    if item.task == "mcd":
        found |= {f"{key}/{name}": _number(answer.details.get(f"{key}_score", 0.0)) for key in SCORES}
    if (session := item.slices.get("checkpoint", "")) in CHECKPOINTS:
        found |= {f"n/checkpoint {session}": 1.0, f"correct/checkpoint {session}": correct}
    confident = 0.0 if correct or _abstains(item, state) else 1.0
    return found | {"confident": confident, "incorrect": 1.0 - correct}


def _answer(item: ScoredItem, state: LabelState | None) -> Answer:
    own = _own(item)
    if state is None or state.value is None:
        return own or Answer(False, 0.0, {})
    if own is not None and item.verdict is not None and _is_verdicts(state, item.verdict):
        return own
    if item.task == "mcd" and deduction_details(item.payload, state) is None:
        return Answer(state.value == CORRECT, 0.0, {})
    return label_answer(item, state, own)


def _own(item: ScoredItem) -> Answer | None:
    """The answer of the file, where the item's verdict is one of its kind."""
    if item.verdict is None:
        return answer_of(json.loads(item.extra["rule"])) if "rule" in item.extra else None
    return stated_answer(item.verdict)


def _is_verdicts(state: LabelState, verdict: VerdictRecord) -> bool:
    return state.value == verdict.label and dict(state.parts) == dict(verdict.parts)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _abstains(item: ScoredItem, state: LabelState | None) -> bool:
    said = state.parts.get(ABSTAINED) if state else None
    return said == YES if said else abstains(str(item.payload.get("response", "")))


def combine(totals: Mapping[str, float]) -> dict[str, float | Undefined]:
    """The metrics of totals over all items."""
    pooled = {key: sum(totals.get(f"{key}/{name}", 0.0) for name in TASK_OF_TYPE) for key in ("n", "correct", "score")}
    by_type = dict(_by_type(totals))
    accuracies = [by_type[f"summary / by_type / {name} / accuracy"] for name in TASK_OF_TYPE]
    numbers = [value for value in accuracies if isinstance(value, float)]
    whole = len(numbers) == len(accuracies)
    found = {
        "summary / overall_accuracy": _ratio(pooled["correct"], pooled["n"]),
        "summary / overall_avg_score": _ratio(pooled["score"], pooled["n"]),
        **by_type,
        "mean_of_six": sum(numbers) / len(numbers) if whole else Undefined(NOTHING, "a type has no query"),
        "hallucination / rate": _ratio(totals.get("confident", 0.0), totals.get("incorrect", 0.0)),
    }
    for session in CHECKPOINTS:
        key = f"checkpoint {session}"
        found[f"checkpoints / {session} / accuracy"] = _ratio(
            totals.get(f"correct/{key}", 0.0), totals.get(f"n/{key}", 0.0)
        )
    return found


def _by_type(totals: Mapping[str, float]) -> Iterator[tuple[str, float | Undefined]]:
    for name in TASK_OF_TYPE:
        n, path = totals.get(f"n/{name}", 0.0), f"summary / by_type / {name}"
        yield f"{path} / accuracy", _ratio(totals.get(f"correct/{name}", 0.0), n)
        yield f"{path} / avg_score", _ratio(totals.get(f"score/{name}", 0.0), n)
    n, path = totals.get(f"n/{MCD_TYPE}", 0.0), f"summary / by_type / {MCD_TYPE}"
    for score in SCORES:
        yield f"{path} / avg_{score}", _ratio(totals.get(f"{score}/{MCD_TYPE}", 0.0), n)


def _ratio(part: float, whole: float) -> float | Undefined:
    return part / whole if whole else Undefined(NOTHING, "there is nothing to count")
