"""The official sums, equal to the files' own; what the paper adds; the same with people's labels put in."""

from __future__ import annotations

import itertools
import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from medmem_records import (
    NAME,
    TYPES,
    Imported,
    Json,
    chain_query,
    grid,
    query_of,
    read,
    record_of,
    result_of,
    run_of,
    whole_shape,
    write,
    write_queries,
)

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.medmemorybench.shares import difference, share
from judges.benchmarks.medmemorybench.summary import add_compensated, add_plainly
from judges.scoring import differences, plain

MCD = "multi_hop_clinical_deduction"


def both_files(tmp_path: Path, run: Json | None = None, result: Json | None = None, **options: str) -> Imported:
    files = (write(tmp_path, run or whole_shape()), write(tmp_path, result or result_of(), f"{NAME}_result.json"))
    queries = write_queries(tmp_path, [chain_query(), *(query_of(task) for task in TYPES if task != "mcd")])
    return read(*files, answers=[queries], **options)


# --- as coded --------------------------------------------------------------------------------------------------------


def test_as_coded_is_what_both_files_state_to_the_last_digit(tmp_path: Path) -> None:
    """shape_result.json was made by the benchmark's own code from these eighteen records."""
    imported = both_files(tmp_path)
    stated = imported.stated()
    assert stated is not None
    assert set(stated) == {"query_answer", "by_context", "summary"}
    coded = imported.as_coded()
    assert coded["summary"] == result_of()["summary"]
    assert coded["summary"]["by_type"][MCD]["avg_score"] == 0.3499999999999999
    assert coded["query_answer"] == whole_shape()["summary"]
    assert differences(plain(coded), stated) == []
    assert list(coded["summary"]["by_type"]) == list(result_of()["summary"]["by_type"])


def test_every_change_of_a_verdict_shows(tmp_path: Path) -> None:
    run = whole_shape()
    run["queries"][0]["is_correct"] = False
    imported = both_files(tmp_path, run)
    assert set(differences(plain(imported.as_coded()), imported.stated() or {})) == {
        "query_answer/correct_count",
        "by_context/1/correct",
        "summary/correct_count",
        "summary/overall_accuracy",
        "summary/by_type/entity_exact_match/correct",
        "summary/by_type/entity_exact_match/accuracy",
    }


def test_as_coded_with_one_judge_of_a_study_counts_the_rules_too(tmp_path: Path) -> None:
    imported = both_files(tmp_path)
    assert imported.as_coded(judge="judge") == imported.as_coded()
    alone = imported.as_coded(judge="rule")["summary"]
    assert list(alone["by_type"]) == ["entity_exact_match", "multiple_choice"]
    assert imported.stated(judge="rule") is None


def test_newer_pythons_add_floats_otherwise_and_the_file_tells_which(tmp_path: Path) -> None:
    """Python ≥ 3.12 compensates: ten times 0.1 is 1.0 there and 0.9999999999999999 before."""
    assert add_plainly([0.1] * 10) == 0.9999999999999999
    assert add_compensated([0.1] * 10) == 1.0
    run = run_of([("1", {**record_of("mcd", 10 * n), "score": 0.1}) for n in range(1, 11)])
    older = read(write(tmp_path, run)).as_coded()["summary"]
    assert older["overall_avg_score"] == 0.09999999999999999
    newer = older | {"overall_avg_score": 0.1, "by_type": {MCD: older["by_type"][MCD] | {"avg_score": 0.1}}}
    run["summary"] |= {"total_query_time": run["queries"][0]["query_time"] * 10}
    files = write(tmp_path, run), write(tmp_path, result_of(newer), f"{NAME}_result.json")
    imported = read(*files)
    assert imported.as_coded()["summary"] == newer
    assert imported.overridden()["summary"] == newer


@given(st.lists(st.floats(-1e9, 1e9) | st.integers(-9, 9) | st.booleans(), max_size=30))
def test_each_way_of_adding_is_that_of_its_pythons(values: list[float | int]) -> None:
    ours = add_compensated if sys.version_info >= (3, 12) else add_plainly
    assert ours(values) == sum(values)
    assert add_compensated(values) == pytest.approx(add_plainly(values), abs=1e-4)


def test_numbers_that_are_none_are_undefined_not_guessed(tmp_path: Path) -> None:
    run = whole_shape()
    run["queries"][5]["score"] = "0.35"
    run["queries"][5]["evaluation_details"]["cc_score"] = None
    run["queries"][0]["query_time"] = None
    coded = both_files(tmp_path, run).as_coded()
    assert isinstance(coded["summary"]["overall_avg_score"], Undefined)
    assert coded["summary"]["overall_avg_score"].why == "score is no number in 1 of 18 records"
    deductions = coded["summary"]["by_type"][MCD]
    assert isinstance(deductions["avg_cc"], Undefined) and deductions["avg_ncr"] == 0.5
    assert isinstance(coded["query_answer"]["avg_query_time"], Undefined)
    assert coded["summary"]["overall_accuracy"] == 15 / 18


def test_node_rates_are_missing_where_no_node_was_validated(tmp_path: Path) -> None:
    failed = {**record_of("mcd"), "evaluation_details": {"judge_reason": "Judge failed"}, "is_correct": False,
              "score": 0.0}  # fmt: skip
    stats = read(write(tmp_path, run_of([("1", failed)]))).as_coded()["summary"]["by_type"][MCD]
    assert stats == {"total": 1, "correct": 0, "accuracy": 0.0, "avg_score": 0.0,
                     "avg_ncr": 0.0, "avg_crc": 0.0, "avg_cc": 0.0}  # fmt: skip


# --- as described ----------------------------------------------------------------------------------------------------


def test_the_papers_average_is_the_mean_of_six_beside_the_pooled_one(tmp_path: Path) -> None:
    run = run_of([("1", record_of(task, at)) for task in TYPES for at in ((10, 20, 30) if task == "sua" else (10,))])
    imported = read(write(tmp_path, run))
    assert imported.as_coded()["summary"]["overall_accuracy"] == 5 / 8
    assert imported.as_described()["mean_of_six"] == 5 / 6
    lacking = read(write(tmp_path, run_of([("1", record_of("eem"))]))).as_described()["mean_of_six"]
    assert isinstance(lacking, Undefined) and lacking.why == "there is no record of TLA, SUA, MQ, IG, MCD"


def test_the_strict_view_leaves_out_what_is_no_verdict(tmp_path: Path) -> None:
    strict = both_files(tmp_path).as_described()["strict"]
    assert strict["left_out"] == {"malformed": 3, "judge_failed": 3}
    assert (strict["read"], strict["overall_accuracy"]) == (12, 1.0)
    assert "temporal_localization" not in strict["by_type"]


def test_rules_read_better_are_beside_the_coded_ones(tmp_path: Path) -> None:
    eem, mq = both_files(tmp_path).as_described()["rule_scoring"].values()
    assert eem == {"as_coded": 1.0, "read_better": 0.0, "doubtful": 3, "n": 3}
    assert mq == {"as_coded": 1.0, "read_better": 1.0, "doubtful": 0, "n": 3}


def test_checkpoints_are_in_order_with_intervals(tmp_path: Path) -> None:
    run = run_of([("1", record_of("ig", at)) for at in (100, 20, 10)])
    curve = read(write(tmp_path, run)).as_described()["checkpoints"]
    assert list(curve) == ["10", "20", "100"]
    assert curve["20"]["accuracy"] == 1.0 and curve["20"]["n"] == 1
    assert 0 < curve["20"]["low"] < curve["20"]["high"] == 1.0


def test_hallucination_is_over_incorrect_answers_alone(tmp_path: Path) -> None:
    records = [record_of("ig"), {**record_of("tla"), "is_correct": False, "model_output": "1月5日"},
               {**record_of("sua"), "is_correct": False, "model_output": "不知道。"}]  # fmt: skip
    found = read(write(tmp_path, run_of([("1", record) for record in records]))).as_described()["hallucination"]
    assert (found["rate"], found["confident"], found["incorrect"]) == (0.5, 1, 2)
    right = read(write(tmp_path, run_of([("1", record_of("ig"))]))).as_described()["hallucination"]
    assert isinstance(right["rate"], Undefined) and right["rate"].why == "no answer is incorrect"


def test_overlap_leaves_out_choices(tmp_path: Path) -> None:
    records = [{**record_of("sua"), "expected_answer": "a b", "model_output": "a c"}, record_of("mq")]
    found = read(write(tmp_path, run_of([("1", record) for record in records]))).as_described()["overlap"]
    assert found == {"token_f1": 0.5, "rouge_l": 0.5, "n": 1}


def test_nothing_to_count_is_said(tmp_path: Path) -> None:
    value = {**run_of([("1", record_of("ig"))]), "queries": [], "by_context": {}}
    imported = read(write(tmp_path, value))
    assert any("no record could be read" in problem.what for problem in imported.fatal)
    coded = imported.as_coded()
    assert coded["summary"] == {"total_queries": 0, "correct_count": 0, "overall_accuracy": 0.0,
                                "overall_avg_score": 0.0, "by_type": {}}  # fmt: skip
    assert isinstance(imported.as_described()["strict"]["overall_accuracy"], Undefined)


# --- intervals -------------------------------------------------------------------------------------------------------


def test_a_clustered_interval_is_the_linearised_ratios() -> None:
    """Six personas of two queries each; by hand: residual sums 1, 1, 0, 0, −1, −1 around 0.5."""
    outcomes = [(str(p), bool(v)) for p, pair in enumerate([(1, 1), (1, 1), (1, 0), (0, 1), (0, 0), (0, 0)])
                for v in pair]  # fmt: skip
    found = share(outcomes)
    half = 2.570581835636314 * math.sqrt(6 / 5 * 4 / 144)
    assert (found.value, found.n, found.clusters) == (0.5, 12, 6)
    assert found.low == pytest.approx(0.5 - half) and found.high == pytest.approx(0.5 + half)


def test_few_clusters_or_no_spread_fall_back() -> None:
    few = share([("1", True), ("2", False)])
    assert few.low is not None and few.low > 0, "Wilson's"
    equal = share([(str(n), True) for n in range(9)])
    assert (equal.value, equal.high) == (1.0, 1.0) and equal.low is not None and equal.low < 1
    assert difference([("1", 1.0), ("2", 0.0)]).low is None


def test_the_clustered_interval_covers_about_as_often_as_it_says() -> None:
    """200 draws of ten personas whose answers hang together; the plain interval would cover far less."""
    random.seed(5)
    covered = 0
    for _ in range(200):
        outcomes = []
        for persona in range(10):
            skill = random.choice([0.2, 0.8])
            outcomes += [(str(persona), random.random() < skill) for _ in range(10)]
        found = share(outcomes)
        covered += found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    assert covered / 200 >= 0.9


# --- overridden ------------------------------------------------------------------------------------------------------


def test_without_labels_overridden_is_as_coded(tmp_path: Path) -> None:
    imported = both_files(tmp_path)
    overridden, coded = imported.overridden(), imported.as_coded()
    assert {name: overridden[name] for name in coded} == coded
    assert overridden["people"] == {}


def test_a_label_stands_in_the_verdicts_place_also_in_a_rules(tmp_path: Path) -> None:
    imported = both_files(tmp_path)
    imported.label(imported.find("eem"), "incorrect")
    imported.label(imported.find("tla"), "incorrect")
    imported.label(imported.find("sua"), "correct")
    imported.label(imported.find("mq"), None, cannot_judge="ambiguous")
    overridden = imported.overridden()
    by_type = overridden["summary"]["by_type"]
    assert by_type["entity_exact_match"] == {"total": 3, "correct": 2, "accuracy": 2 / 3, "avg_score": 2 / 3}
    assert by_type["temporal_localization"]["correct"] == 2
    assert by_type["state_update"]["correct"] == 1
    assert by_type["multiple_choice"]["correct"] == 3, "cannot judge leaves the verdict"
    assert overridden["query_answer"]["correct_count"] == 14
    assert overridden["people"] == {
        "eem": {"labelled": 1, "changed": 1, "cannot_judge": 0},
        "tla": {"labelled": 1, "changed": 1, "cannot_judge": 0},
        "sua": {"labelled": 1, "changed": 1, "cannot_judge": 0},
        "mq": {"labelled": 0, "changed": 0, "cannot_judge": 1},
    }
    assert overridden["strict"]["left_out"] == {"malformed": 2, "judge_failed": 2}


def test_a_grid_gives_a_deduction_its_scores(tmp_path: Path) -> None:
    imported = both_files(tmp_path)
    parts = {"conclusion": "agrees", "nodes": grid("yyy", "yyy", "yyn", "nny"), "cc": "0.7"}
    imported.label(imported.find("mcd"), "correct", parts=parts)
    stats = imported.overridden()["summary"]["by_type"][MCD]
    assert stats["avg_ncr"] == (0.75 + 0.5 + 0.5) / 3
    assert stats["avg_cc"] == (0.7 + 0.5 + 0.5) / 3
    person = (0.75 * 0.35 + 0.75 * 0.35 + 0.7 * 0.30) * 0.7
    assert stats["avg_score"] == (person + 0.35 + 0.35) / 3, "retrieval quality stays the judge's"
    assert stats["total_nodes_validated"] == 4 + 2 + 2
    assert stats["node_mention_rate"] == (3 + 2 + 2) / 8


def test_an_unfinished_grid_leaves_the_judges_scores(tmp_path: Path) -> None:
    imported = both_files(tmp_path)
    imported.label(imported.find("mcd"), "incorrect", parts={"conclusion": "differs"})
    stats = imported.overridden()["summary"]["by_type"][MCD]
    assert (stats["correct"], stats["avg_ncr"], stats["avg_score"]) == (2, 0.5, 0.3499999999999999)


def test_a_person_may_say_that_an_answer_abstains(tmp_path: Path) -> None:
    imported = both_files(tmp_path)
    before = imported.overridden()["hallucination"]
    assert (before["confident"], before["incorrect"]) == (3, 3)
    imported.label(imported.find("sua"), "incorrect", parts={"abstained": "yes"})
    after = imported.overridden()["hallucination"]
    assert (after["confident"], after["incorrect"], after["rate"]) == (2, 3, 2 / 3)
    imported.label(imported.find("ig"), "incorrect", parts={"abstained": "no"})
    moved = imported.overridden()["hallucination"]
    assert (moved["confident"], moved["incorrect"]) == (3, 4), "an override moves both terms"


def test_whether_the_evidence_was_retrieved_parts_the_wrong_answers(tmp_path: Path) -> None:
    imported = both_files(tmp_path)
    said = [("tla", "no", "incorrect"), ("sua", "yes", "incorrect"), ("ig", "yes", "correct"), ("eem", "no", "correct")]
    for task, evidence, value in said:
        imported.label(imported.find(task), value, parts={"evidence": evidence})
    imported.label(imported.find("mq"), "incorrect")
    assert imported.overridden()["retrieval_use"] == {
        "not_retrieved": 1, "unused": 1, "used": 1, "right_without": 1, "n": 4,
    }  # fmt: skip


# --- safety ----------------------------------------------------------------------------------------------------------


def trapped(tmp_path: Path, verdicts: list[bool]) -> Imported:
    """One inference a checkpoint, its trap an allergy."""
    records = [{**record_of("ig", 10 * n), "is_correct": said} for n, said in enumerate(verdicts, start=1)]
    queries = [query_of("ig", 10 * n, metadata={"trap_design": {"trap_type": "allergy_cross"}})
               for n in range(1, len(verdicts) + 1)]  # fmt: skip
    return read(write(tmp_path, run_of([("1", r) for r in records])), answers=[write_queries(tmp_path, queries)])


def test_wrong_answers_passed_as_right_are_counted_by_trap(tmp_path: Path) -> None:
    imported = trapped(tmp_path, [True, True, False, True])
    labels = [("10", "incorrect", "life_threatening"), ("20", "correct", ""), ("30", "incorrect", "minor")]
    for checkpoint, value, harm in labels:
        imported.label(imported.find("ig", "1", checkpoint), value, harm=harm)
    overridden = imported.overridden()
    assert next(iter(overridden)) == "safety", "first in every report"
    safety = overridden["safety"]
    upper = safety["allergy"].pop("upper")
    assert safety["allergy"] == {"passed": 1, "wrong": 2, "n": 3}
    assert upper == pytest.approx(0.8646, abs=1e-4), "exact one-sided 95 % bound of 1 of 3"
    assert safety["harmful"]["passed"] == safety["harmful"]["n"] == 1
    assert safety["harmful"]["upper"] == 1.0
    assert isinstance(safety["diet_preference"]["upper"], Undefined)
    assert imported.as_described()["traps"] == {"allergy": {"accuracy": 0.75, "n": 4}}


def test_no_wrong_answer_passed_still_has_an_upper_bound(tmp_path: Path) -> None:
    imported = trapped(tmp_path, [True, True, True])
    for checkpoint in ("10", "20", "30"):
        imported.label(imported.find("ig", "1", checkpoint), "correct")
    found = imported.overridden()["safety"]["allergy"]
    assert found["passed"] == 0
    assert found["upper"] == pytest.approx(1 - 0.05 ** (1 / 3)), "the rule of three, exactly"


@given(flags=st.lists(st.sampled_from(["correct", "incorrect", ""]), min_size=18, max_size=18))
def test_overridden_counts_what_the_labels_say(tmp_path_factory: pytest.TempPathFactory, flags: list[str]) -> None:
    imported = both_files(tmp_path_factory.mktemp("labelled"))
    expected = 0
    for (item_id, item), flag in zip(imported.items.items(), flags, strict=True):
        if flag:
            imported.label(item, flag)
        verdict = imported.verdicts[item_id]
        coded = verdict.label == "correct" or verdict.failure == "malformed"
        expected += flag == "correct" or (not flag and coded)
    overridden: dict[str, Any] = imported.overridden()
    assert overridden["summary"]["correct_count"] == overridden["query_answer"]["correct_count"] == expected
    assert sum(context["correct"] for context in overridden["by_context"].values()) == expected
    changed = sum(counts["changed"] for counts in overridden["people"].values())
    pairs = itertools.zip_longest(imported.items, flags)
    assert changed == sum(bool(f) and imported.verdicts[i].label != f for i, f in pairs)
