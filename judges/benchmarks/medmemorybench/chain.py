"""Multi-hop deduction: the grid of chain nodes, the scores that follow from it, the published rule, contradictions.

The benchmark's prompt defines the scores and the rule; its code takes the judge's `is_correct` as it stands and checks
none of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from store.records import canonical_json

STATED, CAUSAL, PATIENT = "stated", "causal", "patient"
COLUMNS = ((STATED, "stated"), (CAUSAL, "causal link"), (PATIENT, "from this patient"))
"""A: the specific fact of the node is stated. B: its causal mechanism is the reference's. C: it is this patient's."""

YES, NO = "y", "n"
NODES, CC, CONCLUSION = "nodes", "cc", "conclusion"
AGREES, DIFFERS = "agrees", "differs"
ANCHORS = ("1.0", "0.7", "0.5", "0.3", "0.0")
"""The five anchored values of chain completeness."""

NCR_LEAST, CRC_LEAST, CC_LEAST = 0.75, 0.75, 0.7
VETO_BELOW = 0.5
WEIGHTS = {"ncr_score": 0.35, "crc_score": 0.35, "cc_score": 0.30}
QUALITY = {"excellent": 1.0, "good": 0.9, "partial": 0.7, "poor": 0.4, "none": 0.1}
UNKNOWN_QUALITY = 0.5
GENERIC_FACTOR = 0.5
ROUNDING = 0.011
"""Judges write shares with two digits."""

Verdict = Literal["correct", "partial", "incorrect"]


class Grid(NamedTuple):
    """A complete grid of a person: how many of `nodes` have each column."""

    nodes: int
    stated: int
    causal: int
    patient: int

    @property
    def ncr(self) -> float:
        """Node coverage: nodes whose specific fact is stated / all nodes."""
        return self.stated / self.nodes

    @property
    def crc(self) -> float:
        """Causal correctness: nodes whose causal link is right / all nodes, one link a node."""
        return self.causal / self.nodes


def read_cells(text: str) -> dict[str, dict[str, str]]:
    """The cells of a checklist part ({row: {column: y or n}}); {} when there are none."""
    try:
        cells = json.loads(text) if text else {}
    except json.JSONDecodeError:
        return {}
    return {row: dict(columns) for row, columns in cells.items() if isinstance(columns, dict)}


def read_grid(text: str, node_ids: Sequence[str]) -> Grid | None:
    """The grid, or None unless every cell of every node is given."""
    cells = read_cells(text)
    names = [name for name, _ in COLUMNS]
    if not node_ids or any(cells.get(node, {}).get(name) not in (YES, NO) for node in node_ids for name in names):
        return None
    counts = {name: sum(cells[node][name] == YES for node in node_ids) for name in names}
    return Grid(len(node_ids), counts[STATED], counts[CAUSAL], counts[PATIENT])


class Ruling(NamedTuple):
    """What the published rule says, and why it does not say "correct"."""

    verdict: Verdict
    why: tuple[str, ...]


def ruling(ncr: float, crc: float, cc: float, *, patient: bool, conclusion: bool | None) -> Ruling:
    """The published rule over the three scores.

    Correct needs NCR ≥ 0.75, CRC ≥ 0.75, CC ≥ 0.7, the patient's own facts and an agreeing conclusion. Any score below
    0.5, no fact of the patient or another conclusion is incorrect. What is neither is "partial", which has no label in
    the benchmark and is not correct.

    Args:
        conclusion: None where nobody said (a judge gives no such field): it is then not held against the answer.
    """
    named = (("NCR", ncr, NCR_LEAST), ("CRC", crc, CRC_LEAST), ("CC", cc, CC_LEAST))
    vetoes = [f"{name} {value:.2f} is below {VETO_BELOW}" for name, value, _ in named if value < VETO_BELOW]
    vetoes += [] if patient else ["nothing is from this patient"]
    vetoes += ["the conclusion differs"] if conclusion is False else []
    short = [f"{name} {value:.2f} is below {least}" for name, value, least in named if VETO_BELOW <= value < least]
    if vetoes:
        return Ruling("incorrect", tuple(vetoes + short))
    return Ruling("partial" if short else "correct", tuple(short))


def composite(scores: Mapping[str, float], *, patient: bool, quality: Any) -> float:
    """The official `score` of a deduction: (0.35 NCR + 0.35 CRC + 0.30 CC) × patient × quality.

    Args:
        quality: the judge's word for memory retrieval; one that is not in its list counts 0.5.
    """
    total = scores["ncr_score"] * 0.35 + scores["crc_score"] * 0.35 + scores["cc_score"] * 0.30
    if not patient:
        total *= GENERIC_FACTOR
    return total * (QUALITY.get(quality, UNKNOWN_QUALITY) if isinstance(quality, str) else UNKNOWN_QUALITY)


# The judge's own grid


def validations_of(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = details.get("node_validations")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def judge_parts(details: Mapping[str, Any]) -> dict[str, str]:
    """The judge's node flags and chain completeness as parts of a label.

    The judge has no flag "from this patient" a node and says nothing of the conclusion: those cells and that part are
    not there. A flag that is no JSON boolean, and a completeness that is no anchor, are left out.
    """
    names = {STATED: "specific_data_matched", CAUSAL: "causal_link_correct"}
    cells = {
        str(entry.get("node_id")): {
            column: YES if entry[name] else NO for column, name in names.items() if isinstance(entry.get(name), bool)
        }
        for entry in validations_of(details)
    }
    parts = {NODES: canonical_json(cells)} if any(cells.values()) else {}
    return parts | ({CC: anchor} if (anchor := anchor_of(details.get("cc_score"))) else {})


def anchor_of(value: Any) -> str:
    """The anchor that a completeness is; "" when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return next((anchor for anchor in ANCHORS if float(anchor) == value), "")


class JudgeScores(NamedTuple):
    """The judge's three scores and whether it saw the patient's own facts, where all of them can be read."""

    ncr: float
    crc: float
    cc: float
    patient: bool


def judge_scores(details: Mapping[str, Any]) -> JudgeScores | None:
    """None when a score is no number or the flag no boolean."""
    values = [details.get(name) for name in WEIGHTS]
    patient = details.get("uses_patient_specific_info")
    if not isinstance(patient, bool) or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
        return None
    ncr, crc, cc = (float(value) for value in values if isinstance(value, int | float))
    return JudgeScores(ncr, crc, cc, patient)


def judge_ruling(details: Mapping[str, Any]) -> Ruling | None:
    """The published rule over the judge's own scores; None when they cannot be read."""
    scores = judge_scores(details)
    return ruling(scores.ncr, scores.crc, scores.cc, patient=scores.patient, conclusion=None) if scores else None


def contradictions(is_correct: Any, details: Mapping[str, Any], node_ids: Sequence[str]) -> list[str]:
    """In what a judge's answer contradicts itself, as names; [] when it does not.

    Args:
        node_ids: of the reference's chain; [] when it is not known.
    """
    found = _against_the_rule(is_correct, details) + _against_its_flags(details)
    ids = [str(entry.get("node_id")) for entry in validations_of(details)]
    if node_ids and len(ids) != len(node_ids):
        found.append("node_count_differs_from_chain")
    if any(count > 1 for count in Counter(ids).values()):
        found.append("node_repeated")
    if node_ids and set(ids) != set(node_ids) and len(ids) == len(node_ids):
        found.append("node_missing")
    return found


def _against_the_rule(is_correct: Any, details: Mapping[str, Any]) -> list[str]:
    found, ruled = [], judge_ruling(details)
    if ruled is not None and is_correct is True and ruled.verdict != "correct":
        found.append("passed_below_thresholds")
    if ruled is not None and is_correct is False and ruled.verdict == "correct":
        found.append("failed_above_thresholds")
    if is_correct is True and details.get("uses_patient_specific_info") is False:
        found.append("passed_without_patient")
    return found


def _against_its_flags(details: Mapping[str, Any]) -> list[str]:
    """Shares that its own flags do not give; causal links may be counted one a node or one between two."""
    entries, scores = validations_of(details), judge_scores(details)
    if not entries or scores is None:
        return []
    n = len(entries)
    stated = sum(entry.get("specific_data_matched") is True for entry in entries)
    causal = sum(entry.get("causal_link_correct") is True for entry in entries)
    found = [] if abs(scores.ncr - stated / n) <= ROUNDING else ["ncr_differs_from_flags"]
    links = [causal / n, *([min(causal, n - 1) / (n - 1), max(causal - 1, 0) / (n - 1)] if n > 1 else [])]
    return found + ([] if any(abs(scores.crc - link) <= ROUNDING for link in links) else ["crc_differs_from_flags"])
