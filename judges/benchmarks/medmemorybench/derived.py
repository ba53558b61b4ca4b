"""What follows from a person's grid of a deduction: the scores, and what the published rule makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from judges.benchmarks.medmemorybench.doubts import doubt_about
from judges.benchmarks.medmemorybench.shapes import CORRECT
from judges.benchmarks.medmemorybench.verdict_labels import stated_answer
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
    answer = stated_answer(verdict) if task == "mcd" else None
    if answer is None:
        return []
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


SELF_CONTRADICTING, RULE_DOUBT = "self_contradicting", "rule_doubt"
SLICES: Sequence[str] = (SELF_CONTRADICTING, RULE_DOUBT)
YES, NO = "yes", "no"


def slices_of_verdict(item: ScoredItem) -> dict[str, str]:
    """What a verdict shows of itself: whether a ruling on a deduction agrees with its own scores and flags, and what is
    doubtful about what a string rule gave.

    A ruling that cannot be read, or that gives no flags, is in neither slice.
    """
    answer = stated_answer(item.verdict)
    if item.verdict is None or answer is None:
        return {}
    if item.verdict.route == "rule" and "rule" in item.extra:
        return {RULE_DOUBT: doubt_about(item, answer)}
    readable = isinstance(answer.is_correct, bool) and answer.details.get("node_validations")
    if item.task != "mcd" or not readable:
        return {}
    against = contradictions(answer.is_correct, answer.details, node_ids(item.payload))
    return {SELF_CONTRADICTING: YES if against else NO}


def contradicts_itself(item: ScoredItem) -> bool:
    """Whether a judge's ruling on a deduction does not agree with its own scores and flags."""
    return slices_of_verdict(item).get(SELF_CONTRADICTING) == YES
