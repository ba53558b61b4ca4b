"""Scores by user and question type, both variants of two metrics, padded sessions, and time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from halumem_records import SHEET, VERDICTS, Imported, read, stat, users, write_stat, write_users
from halumem_runs import UUID, Run
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.benchmarks.benchmark import DescribingBenchmark, Undefined, benchmark_names, get_benchmark
from judges.benchmarks.halumem import BENCHMARK
from judges.benchmarks.halumem.sessions import SessionCounts, padded_groups, regime_of, session_fact, users_of
from judges.scoring import plain

MEMBERS = [name for name in stat() if name != "overall_score"]


def breakdowns(imported: Imported) -> dict[str, Any]:
    return dict(BENCHMARK.breakdowns(imported.scored(), imported.facts))


@pytest.fixture(scope="module")
def synthetic() -> Imported:
    return read(VERDICTS, answers=[SHEET])


def test_halumem_is_one_that_describes_its_scores() -> None:
    assert "halumem" in benchmark_names()
    benchmark = get_benchmark("halumem")
    assert isinstance(benchmark, DescribingBenchmark)


def test_scores_by_user_are_those_of_a_run_of_that_user_alone(synthetic: Imported, tmp_path: Path) -> None:
    found = breakdowns(synthetic)["by_user"]
    for number, uuid in enumerate(found):
        value = {name: [r for r in stat()[name] if r["uuid"] == uuid] for name in MEMBERS}
        alone = read(write_stat(tmp_path, value), answers=[write_users(tmp_path, [users()[number]])])
        assert found[uuid] == {"as_coded": alone.as_coded()}
    assert len(found) == 2


def test_question_answering_by_question_type_as_coded_and_under_labels() -> None:
    imported = read(VERDICTS, answers=[SHEET])
    imported.label("qa", "Which race", "Correct")
    kinds = breakdowns(imported)["qa_by_question_type"]
    shown = {
        kind: [scores["question_answering"]["correct_qa_ratio(all)"] for scores in variants.values()]
        for kind, variants in kinds.items()
    }
    assert shown == {
        "Basic Fact Recall": [0.0, 0.5],
        "Dynamic Update": [1.0, 1.0],
        "Memory Boundary": [0.0, 0.0],
        "Memory Conflict": [0.0, 0.0],
    }
    assert list(shown) == sorted(shown), "the paper's order, whatever the file's"
    assert list(kinds["Memory Boundary"]) == ["as_coded", "overridden"]
    block = kinds["Basic Fact Recall"]["as_coded"]["question_answering"]
    assert (block["qa_num"], list(block)[:2]) == (2, ["correct_qa_ratio(all)", "correct_qa_ratio(valid)"])


def test_question_types_come_in_the_papers_order_and_unknown_ones_last(tmp_path: Path) -> None:
    run = Run()
    asked = run.session()
    kinds = ["Memory Conflict", "A new type", "Generalization & Application", "Memory Boundary", "Dynamic Update"]
    for kind in [*kinds, "Multi-hop Inference", "Basic Fact Recall"]:
        asked.question(kind, "Correct", kind=kind)
    assert list(breakdowns(run.read(tmp_path))["qa_by_question_type"]) == [
        "Basic Fact Recall",
        "Multi-hop Inference",
        "Dynamic Update",
        "Memory Boundary",
        "Generalization & Application",
        "Memory Conflict",
        "A new type",
    ]


def test_types_with_and_without_distractors_stand_beside_each_other(synthetic: Imported) -> None:
    found = breakdowns(synthetic)["type_accuracy"]
    for kind, variants in found.items():
        assert variants == {
            "as_coded": synthetic.as_coded()["memory_type_accuracy"][kind],
            "as_described": synthetic.as_described()["memory_type_accuracy"][kind],
        }
    assert found["Event Memory"]["as_coded"]["total_num"] > found["Event Memory"]["as_described"]["total_num"]


def test_updates_as_coded_beside_all_annotated_ones(synthetic: Imported) -> None:
    variants = breakdowns(synthetic)["update"]["all"]
    numbers = {name: scores["memory_update"]["update_memory_num"] for name, scores in variants.items()}
    assert numbers == {"as_coded": 3, "as_described": 4}
    omitted = {name: scores["memory_update"]["omission_update_memory_ratio(all)"] for name, scores in variants.items()}
    assert omitted == {"as_coded": 1 / 3, "as_described": 2 / 4}


@settings(max_examples=25)
@given(data=st.data())
def test_tables_under_labels_are_those_of_a_run_whose_judge_said_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("run")

    def run(scores: list[int], classes: list[str]) -> Run:
        run = Run()
        for number, (score, said) in enumerate(zip(scores, classes, strict=True)):
            session = run.session(f"user-{number % 2}").say("a", "b", *("a", "b")[: number % 3])
            session.point(f"point {number}", score).question(f"question {number}", said, kind="Dynamic Update")
        return run

    before = data.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=2, max_size=5))
    after = data.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=len(before), max_size=len(before)))
    said = ["Correct", "Omission", "Hallucination"]
    imported = run(before, [said[score] for score in before]).read(folder, "before")
    for number, score in enumerate(after):
        imported.label("integrity", f"point {number}", str(score))
        imported.label("qa", f"question {number}", said[score])
    changed = plain(breakdowns(run(after, [said[score] for score in after]).read(folder, "after")))
    found = plain(breakdowns(imported))
    for name in ("by_user", "qa_by_question_type", "type_accuracy", "update", "without_padded_sessions"):
        for row, variants in changed.get(name, {}).items():
            assert found[name][row]["overridden"] == variants["as_coded"]
            if "as_described" in variants:
                assert found[name][row]["overridden_as_described"] == variants["as_described"]


# Padded sessions


def padded_run() -> Run:
    run = Run()
    plain_session = run.session().say("one", "two", "three", "one")
    plain_session.point("kept", 2).memory("m1", 2).question("q1", "Correct").update("u1", "Correct", "kept")
    worst = run.session().say("one", "two", "one", "two", "one", "two", "more", "words")
    worst.point("lost", 0).memory("m2", 0).question("q2", "Omission").update("u2", "Omission", "kept")
    run.session().say("one", "two", "one", "other").point("in part", 1).memory("m3", 1).question("q3", "Correct")
    return run


def test_a_session_is_padded_when_a_speaker_says_the_same_again(tmp_path: Path) -> None:
    imported = padded_run().read(tmp_path)
    (user,) = users_of(imported.facts)
    assert user.sessions == (SessionCounts(0, 4, 4, 2), SessionCounts(1, 8, 4, 2), SessionCounts(2, 4, 3, 2))
    assert padded_groups(imported.facts) == {f"{UUID}/1", f"{UUID}/2"}
    found = breakdowns(imported)
    assert found["padding"] == {
        UUID: {"sessions": 3, "padded_sessions": 2, "messages": 16, "distinct": 11, "distinct_share": 11 / 16}
    }
    assert found["padded_sessions"] == {
        f"{UUID}/1": {"messages": 8, "distinct": 4, "distinct_share": 0.5},
        f"{UUID}/2": {"messages": 4, "distinct": 3, "distinct_share": 0.75},
    }


def test_scores_without_padded_sessions_stand_beside(tmp_path: Path) -> None:
    imported = padded_run().read(tmp_path)
    found = breakdowns(imported)["without_padded_sessions"]
    everything, alone = (found[row]["as_coded"] for row in ("all", "without padded sessions"))
    assert everything["memory_integrity"]["recall(all)"] == 1 / 3
    assert everything["question_answering"]["correct_qa_ratio(all)"] == 2 / 3
    assert alone["memory_integrity"]["recall(all)"] == 1.0
    assert alone["memory_integrity"]["memory_num"] == 1
    assert alone["question_answering"]["qa_num"] == 1
    assert alone["memory_update"]["correct_update_memory_ratio(all)"] == 1.0
    assert isinstance(alone["memory_accuracy"]["interference_accuracy(all)"], Undefined)
    assert "time_consuming" not in alone


def test_where_no_session_is_padded_there_is_nothing_to_compare(tmp_path: Path) -> None:
    run = Run()
    run.session().say("one", "two").point("kept", 2)
    found = breakdowns(run.read(tmp_path))
    assert "without_padded_sessions" not in found
    assert found["padded_sessions"] == {}
    verdicts, _ = run.files(tmp_path)
    assert found["padding"][UUID]["distinct_share"] == 1.0
    without_sheet = breakdowns(read(verdicts))
    assert plain(without_sheet["padding"])["all"]["status"] == "no_answer_sheet"
    assert plain(without_sheet["time"])["all"]["status"] == "no_answer_sheet"


def test_sessions_of_any_content_are_counted_as_far_as_they_go() -> None:
    odd: list[Any] = [None, 7, {}, {"dialogue": [3, {"role": None}], "extracted_memories": [" ", ""]}, {"dialogue": []}]
    fact = session_fact("system", "user", odd, 0)
    assert fact.payload == {"uuid": "user", "generated": 0, "zep": False, "sessions": [[3, 1, 1, 0]]}
    assert regime_of({"sessions": {"user": fact.payload}}) == "medium"


# Time


def test_write_and_read_time_are_told_apart(tmp_path: Path) -> None:
    run = padded_run()
    run.generated()
    found = breakdowns(run.read(tmp_path))["time"]["all"]
    assert found == {
        "write_minutes": 4.0,
        "write_calls": 4,
        "seconds_a_write": 60.0,
        "read_minutes": 300 / 1000 / 60,
        "read_calls": 3,
        "seconds_a_read": pytest.approx(0.1),
    }


def test_a_run_without_questions_has_no_seconds_a_read(tmp_path: Path) -> None:
    run = Run()
    run.session().point("kept", 2)
    found = breakdowns(run.read(tmp_path))["time"]["all"]
    assert (found["read_minutes"], found["seconds_a_read"].why) == (0.0, "no call was timed")
