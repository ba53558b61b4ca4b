"""What follows from a person's grid of a deduction: the scores, and what the published rule makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from judges.benchmarks.benchmark import ScoredItem
from judges.benchmarks.medmemorybench.chain import (
    AGREES,
    CC,
    CONCLUSION,
    NODES,
    Grid,
    Ruling,
    contradictions,
    judge_ruling,
    judge_scores,
    read_grid,
    ruling,
)
from judges.benchmarks.medmemorybench.counted import node_ids
from judges.benchmarks.medmemorybench.shapes import CORRECT, answer_of
from store.records import LabelState, VerdictRecord


class Derived(NamedTuple):
    """A person's grid, completeness, and the rule's word on both."""

    grid: Grid
    cc: float
    ruling: Ruling


def derive(payload: Mapping[str, Any], state: LabelState) -> Derived | None:
    """None until conclusion, grid and completeness are all given."""
    grid = read_grid(state.parts.get(NODES, ""), node_ids(payload))
    if grid is None or CC not in state.parts or CONCLUSION not in state.parts:
        return None
    cc = float(state.parts[CC])
    agrees = state.parts[CONCLUSION] == AGREES
    return Derived(grid, cc, ruling(grid.ncr, grid.crc, cc, patient=grid.patient > 0, conclusion=agrees))


def lines(task: str, payload: Mapping[str, Any], state: LabelState) -> list[tuple[str, str]]:
    """(title, words) to show once the label is given; [] for other tasks and unfinished grids."""
    found = derive(payload, state) if task == "mcd" else None
    if found is None:
        return []
    grid, rule = found.grid, found.ruling
    told = [
        ("Nodes (NCR)", f"{grid.stated} of {grid.nodes} stated: {grid.ncr:.2f}"),
        ("Links (CRC)", f"{grid.causal} of {grid.nodes} right: {grid.crc:.2f}"),
        ("From this patient", f"{grid.patient} of {grid.nodes}"),
        ("By the published rule", "; ".join((rule.verdict, *rule.why))),
    ]
    if state.value is not None and (state.value == CORRECT) != (rule.verdict == "correct"):
        told.append(("Differs from your label", f"you said {state.value}, the rule says {rule.verdict}"))
    return told


def lines_of_verdict(task: str, payload: Mapping[str, Any], verdict: VerdictRecord) -> list[tuple[str, str]]:
    """The published rule over the judge's own scores, beside its `is_correct`, and where the two contradict."""
    fields = json.loads(verdict.raw) if task == "mcd" and verdict.raw.startswith("{") else {}
    answer = answer_of(fields)
    scores, rule = judge_scores(answer.details), judge_ruling(answer.details)
    if scores is None or rule is None:
        return []
    told = [
        ("Its scores", f"NCR {scores.ncr:.2f}, CRC {scores.crc:.2f}, CC {scores.cc:.2f}"),
        ("By the published rule", "; ".join((rule.verdict, *rule.why))),
    ]
    if against := contradictions(answer.is_correct, answer.details, node_ids(payload)):
        told.append(("It contradicts itself", ", ".join(name.replace("_", " ") for name in against)))
    return told


def contradicts_itself(item: ScoredItem) -> bool:
    """Whether a judge's ruling on a deduction does not agree with its own scores and flags."""
    if item.task != "mcd" or item.verdict is None or not item.verdict.raw.startswith("{"):
        return False
    answer = answer_of(json.loads(item.verdict.raw))
    if not isinstance(answer.is_correct, bool) or not answer.details.get("node_validations"):
        return False  # a ruling that cannot be read, or that gives no flags, is no contradiction
    return bool(contradictions(answer.is_correct, answer.details, node_ids(item.payload)))
