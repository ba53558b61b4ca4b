"""Deductions: the grid, what follows from it, the published rule, and verdicts that contradict themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from medmem_records import SHAPE, chain_query, grid, read, record_of, run_of, write, write_queries

from judges.benchmarks.medmemorybench import BENCHMARK, derived
from judges.benchmarks.medmemorybench.chain import (
    Verdict,
    composite,
    contradictions,
    judge_parts,
    judge_ruling,
    read_grid,
    ruling,
)
from store.records import LabelState

FOUR = ["1", "2", "3", "4"]
PAYLOAD = {"nodes": [{"id": node, "title": node, "text": "x"} for node in FOUR]}
SHAPE_DETAILS = record_of("mcd")["evaluation_details"]


def details(**changes: Any) -> dict[str, Any]:
    """A judge's answer over four nodes that agrees with itself and with the rule."""
    nodes = [
        {"node_id": n, "mentioned": True, "specific_data_matched": n < 4, "causal_link_correct": True}
        for n in range(1, 5)
    ]
    scores = {"ncr_score": 0.75, "crc_score": 1.0, "cc_score": 0.7, "uses_patient_specific_info": True}
    return {**scores, "memory_retrieval_quality": "good", "node_validations": nodes, **changes}


# --- the rule --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ncr", "crc", "cc", "patient", "conclusion", "verdict"),
    [
        (0.75, 0.75, 0.7, True, True, "correct"),
        (1.0, 1.0, 1.0, True, None, "correct"),
        (0.74, 1.0, 1.0, True, True, "partial"),
        (1.0, 0.5, 1.0, True, True, "partial"),
        (1.0, 1.0, 0.5, True, True, "partial"),
        (0.5, 0.5, 0.5, True, True, "partial"),
        (0.49, 1.0, 1.0, True, True, "incorrect"),
        (1.0, 1.0, 0.3, True, True, "incorrect"),
        (1.0, 1.0, 1.0, False, True, "incorrect"),
        (1.0, 1.0, 1.0, True, False, "incorrect"),
    ],
)
def test_the_published_rule(
    ncr: float, crc: float, cc: float, patient: bool, conclusion: bool | None, verdict: Verdict
) -> None:
    found = ruling(ncr, crc, cc, patient=patient, conclusion=conclusion)
    assert found.verdict == verdict
    assert bool(found.why) == (verdict != "correct")


def test_half_scores_are_correct_as_coded_and_not_by_the_rule() -> None:
    imported = read(SHAPE)
    by_type = imported.as_coded()["summary"]["by_type"]["multi_hop_clinical_deduction"]
    assert (by_type["accuracy"], by_type["avg_ncr"], by_type["avg_crc"], by_type["avg_cc"]) == (1.0, 0.5, 0.5, 0.5)
    by_rule = imported.as_described()["by_published_rule"]
    assert by_rule == {
        "accuracy": 0.0, "correct": 0, "partial": 1, "incorrect": 0, "passed_below_thresholds": 1, "n": 1,
    }  # fmt: skip
    assert derived.slices_of_verdict(imported.judged("mcd")) == {"self_contradicting": "yes"}


def test_the_composite_is_the_official_product() -> None:
    scores = {"ncr_score": 0.5, "crc_score": 0.5, "cc_score": 0.5}
    assert composite(scores, patient=True, quality="partial") == 0.35 == record_of("mcd")["score"]
    assert composite(scores, patient=False, quality="partial") == 0.175
    assert composite(scores, patient=True, quality="superb") == composite(scores, patient=True, quality=None) == 0.25
    assert composite(scores, patient=True, quality="none") == 0.5 * 0.1


# --- a person's grid -------------------------------------------------------------------------------------------------


def test_a_grid_counts_only_when_every_cell_is_given() -> None:
    whole = read_grid(grid("yyy", "yny", "nyn", "yyn"), FOUR)
    assert whole is not None
    assert (whole.stated, whole.causal, whole.patient, whole.ncr, whole.crc) == (3, 3, 2, 0.75, 0.75)
    assert read_grid(grid("yyy", "yny", "nyn"), FOUR) is None
    assert read_grid('{"1":{"stated":"y"}}', ["1"]) is None
    assert read_grid("", FOUR) is read_grid("not json", FOUR) is read_grid(grid("yyy"), []) is None


def lines(conclusion: str = "agrees", value: str = "correct", **parts: str) -> dict[str, str]:
    given_parts = {"conclusion": conclusion, "nodes": grid("yyy", "yyy", "yyn", "nyy"), "cc": "0.7", **parts}
    return dict(BENCHMARK.derived("mcd", PAYLOAD, LabelState(value=value, parts=given_parts)))


def test_what_follows_is_said_in_words() -> None:
    assert lines() == {
        "Nodes (NCR)": "3 of 4 stated: 0.75",
        "Links (CRC)": "4 of 4 right: 1.00",
        "From this patient": "3 of 4",
        "By the published rule": "correct",
    }
    assert lines(cc="0.5")["By the published rule"] == "partial; CC 0.50 is below 0.7"
    assert lines(cc="0.5")["Differs from your label"] == "you said correct, the rule says partial"
    assert lines("differs", "incorrect")["By the published rule"] == "incorrect; the conclusion differs"
    assert "Differs from your label" not in lines("differs", "incorrect")
    generic = lines(nodes=grid("yyn", "yyn", "yyn", "yyn"))
    assert generic["By the published rule"] == "incorrect; nothing is from this patient"


@pytest.mark.parametrize("missing", ["conclusion", "nodes", "cc"])
def test_nothing_follows_from_an_unfinished_label(missing: str) -> None:
    parts = {"conclusion": "agrees", "nodes": grid("yyy", "yyy", "yyy", "yyy"), "cc": "1.0"}
    del parts[missing]
    assert BENCHMARK.derived("mcd", PAYLOAD, LabelState(value="correct", parts=parts)) == []
    assert BENCHMARK.derived("ig", {}, LabelState(value="correct")) == []


@given(st.lists(st.text(alphabet="yn", min_size=3, max_size=3), min_size=1, max_size=8), st.sampled_from(
    ["1.0", "0.7", "0.5", "0.3", "0.0"]))  # fmt: skip
def test_a_correct_ruling_needs_every_threshold(rows: list[str], cc: str) -> None:
    ids = [str(n) for n in range(1, len(rows) + 1)]
    found = read_grid(grid(*rows), ids)
    assert found is not None
    ruled = ruling(found.ncr, found.crc, float(cc), patient=found.patient > 0, conclusion=True)
    stated, causal = (sum(row[column] == "y" for row in rows) for column in (0, 1))
    patient = any(row[2] == "y" for row in rows)
    holds = 4 * stated >= 3 * len(rows) and 4 * causal >= 3 * len(rows) and float(cc) >= 0.7 and patient
    assert (ruled.verdict == "correct") == holds


# --- the judge's own answer ------------------------------------------------------------------------------------------


def test_an_answer_that_agrees_with_itself() -> None:
    assert contradictions(True, details(), FOUR) == []
    assert contradictions(True, details(), []) == [], "without the chain"
    assert judge_ruling(details()) == ("correct", ())


@pytest.mark.parametrize(
    ("is_correct", "changes", "names"),
    [
        (True, {"cc_score": 0.5}, ["passed_below_thresholds"]),
        (False, {}, ["failed_above_thresholds"]),
        (True, {"uses_patient_specific_info": False}, ["passed_below_thresholds", "passed_without_patient"]),
        (True, {"ncr_score": 1.0}, ["ncr_differs_from_flags"]),
        (True, {"crc_score": 0.8}, ["crc_differs_from_flags"]),
        (False, {"ncr_score": 0.5, "node_validations": details()["node_validations"][:2]},
         ["ncr_differs_from_flags", "node_count_differs_from_chain"]),
        (False, {"cc_score": 0.3, "node_validations": [{**details()["node_validations"][0], "node_id": n}
                                                       for n in (1, 1, 2, 3)], "ncr_score": 1.0},
         ["node_repeated", "node_missing"]),
    ],
)  # fmt: skip
def test_in_what_an_answer_contradicts_itself(is_correct: bool, changes: dict[str, Any], names: list[str]) -> None:
    assert contradictions(is_correct, details(**changes), FOUR) == names


def test_links_may_be_counted_one_a_node_or_one_between_two() -> None:
    nodes = details()["node_validations"]
    three_of_four = [{**node, "causal_link_correct": node["node_id"] > 1} for node in nodes]
    assert contradictions(True, details(crc_score=0.75, node_validations=three_of_four), FOUR) == []
    assert contradictions(True, details(crc_score=1.0, node_validations=three_of_four), FOUR) == []
    rounded = {**details(crc_score=0.67, node_validations=nodes[:3]), "ncr_score": 1.0}
    rounded["node_validations"] = [{**node, "causal_link_correct": node["node_id"] < 3} for node in nodes[:3]]
    assert "crc_differs_from_flags" not in contradictions(False, rounded, FOUR[:3])


def test_scores_and_flags_that_cannot_be_read_are_not_guessed() -> None:
    odd = details(ncr_score="0.75", node_validations=[{"node_id": 1, "specific_data_matched": "true"}, "x"])
    assert judge_ruling(odd) is None
    assert contradictions(True, odd, FOUR) == ["node_count_differs_from_chain"]
    assert judge_parts(odd) == {"cc": "0.7"}
    assert judge_parts(details(cc_score=0.72, node_validations=[])) == {}


def test_a_slice_of_the_verdict_says_whether_it_contradicts_itself(tmp_path: Path) -> None:
    queries = write_queries(tmp_path, [chain_query()])
    fine = {**record_of("mcd"), "evaluation_details": details(), "is_correct": True}
    judged = read(write(tmp_path, run_of([("1", fine)])), answers=[queries]).judged("mcd")
    assert derived.slices_of_verdict(judged) == {"self_contradicting": "no"}
    assert "self_contradicting" not in judged.slices, "an item says nothing of its verdict"
    failed = {**record_of("mcd"), "is_correct": False, "evaluation_details": {"judge_reason": "Judge failed"}}
    judged = read(write(tmp_path, run_of([("1", failed)])), answers=[queries]).judged("mcd")
    assert derived.slices_of_verdict(judged) == {}
    assert derived.slices_of_verdict(replace(judged, verdict=None)) == {}


@pytest.mark.parametrize("raw", ['{"is_correct": tr', "{", '["is_correct"]', "{'is_correct': True}", "no JSON", "{}"])
def test_the_words_of_another_judge_are_no_fields(tmp_path: Path, raw: str) -> None:
    judged = read(write(tmp_path, run_of([("1", record_of("mcd"))]))).judged("mcd")
    assert judged.verdict is not None
    other = replace(judged.verdict, raw=raw)
    assert derived.lines_of_verdict("mcd", judged.payload, other) == []
    assert derived.slices_of_verdict(replace(judged, verdict=other)) == {}
