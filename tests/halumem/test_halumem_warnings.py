"""Warnings are told where they apply and nowhere else; extraction that is not offered is empty, not zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from halumem_records import Imported, read, users, write_users
from halumem_runs import Run

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.halumem import BENCHMARK


def warned(imported: Imported, words: str) -> list[str]:
    """The warnings with these words."""
    return [said for said in BENCHMARK.warnings(imported.scored(), imported.facts) if words in said]


def updates(folder: Path, correct: int, hallucinated: int, omitted: int) -> Imported:
    run = Run()
    session = run.session()
    said = ["Correct"] * correct + ["Hallucination"] * hallucinated + ["Omission"] * omitted
    for number, verdict in enumerate(said):
        session.update(f"update {number}", verdict, "old")
    return run.read(folder)


@pytest.mark.parametrize(
    ("counts", "told"),
    [((15, 1, 4), True), ((16, 1, 3), False), ((14, 2, 4), False), ((20, 0, 0), False), ((0, 0, 20), True)],
)
def test_few_hallucinated_updates_beside_many_omitted_ones_are_silence(
    tmp_path: Path, counts: tuple[int, int, int], told: bool
) -> None:
    said = warned(updates(tmp_path, *counts), "silence")
    assert bool(said) == told
    if told:
        assert f"{counts[1] / 20:.1%} of 20" in said[0]
        assert f"{counts[2] / 20:.1%} are omitted" in said[0]


def stored(folder: Path, *, resisted: int, fooled: int, kept: int, lost: int) -> Imported:
    run = Run()
    session = run.session()
    for kind, score, count in (("d", 0, resisted), ("d", 1, fooled), ("g", 2, kept), ("g", 0, lost)):
        for number in range(count):
            session.point(f"{kind}{score}{number}", score, source="interference" if kind == "d" else "system")
    return run.read(folder)


def test_resistance_above_recall_is_that_of_a_system_that_stores_little(tmp_path: Path) -> None:
    (said,) = warned(stored(tmp_path, resisted=8, fooled=2, kept=3, lost=7), "store little")
    assert "80.0% beside a recall of 30.0%:" in said
    assert warned(stored(tmp_path, resisted=3, fooled=7, kept=3, lost=7), "store little") == []


def test_distractors_of_sessions_without_extraction_are_counted_in_the_warning(tmp_path: Path) -> None:
    run = Run()
    run.session().point("kept", 2).point("fooled", 2, source="interference")
    run.session(extracted=[]).point("free", 0, source="interference")
    (said,) = warned(run.read(tmp_path), "store little")
    assert "50.0% beside a recall of 100.0%; 1 of 2 count as resisted because nothing was extracted there" in said


def test_error_rates_of_different_tasks_do_not_compare(tmp_path: Path) -> None:
    run = Run()
    session = run.session().point("kept", 2)
    assert warned(run.read(tmp_path), "do not compare") == []
    session.question("q", "Correct", "kept")
    assert len(warned(run.read(tmp_path), "do not compare")) == 1


def test_weighted_recall_below_recall_is_told(tmp_path: Path) -> None:
    run = Run()
    session = run.session().point("kept", 2, importance=0.25).point("kept too", 2, importance=0.25)
    session.point("lost", 0, importance=1.0)
    (said,) = warned(run.read(tmp_path), "Weighted recall")
    assert "(33.3%) is below recall (66.7%)" in said
    session.point("kept as well", 2, importance=1.0)
    session.point("in part", 1, importance=1.0).point("in part too", 1, importance=1.0)
    assert warned(run.read(tmp_path), "Weighted recall") == []


def test_sessions_that_repeat_themselves_are_told_with_their_share(tmp_path: Path) -> None:
    run = Run()
    run.session().say("a", "b", "a", "b").point("kept", 2)
    session = run.session().say("a", "b")
    (said,) = warned(run.read(tmp_path), "repeat")
    assert said.startswith("1 of 2 sessions repeat messages word for word (66.7% of all messages are distinct, 50.0%")
    session.say("c", "d")
    (said,) = warned(run.read(tmp_path), "repeat")
    assert "(75.0% of all messages are distinct, 50.0% in the worst session)" in said
    verdicts, _ = run.files(tmp_path)
    assert len(warned(read(verdicts), "not known")) == 1


def test_write_time_is_told_beside_read_time(tmp_path: Path) -> None:
    run = Run()
    run.session().question("q", "Correct")
    (said,) = warned(run.read(tmp_path), "Writing took")
    assert said.startswith("Writing took 1.0 minutes and reading 0.0:")
    verdicts, _ = run.files(tmp_path)
    assert warned(read(verdicts), "Writing took") == []


# Extraction that is not offered


def zep(**more: Any) -> Run:
    run = Run()
    first = run.session(**more).point("kept", 2).point("distractor", 0, source="interference").memory("context", 2)
    first.update("new", "Correct", "kept").update("newer", "Omission", "kept").question("q", "Correct", "kept")
    return run


EMPTY = ("memory_integrity", "memory_accuracy")


def test_zeps_extraction_is_empty_and_not_zero(tmp_path: Path) -> None:
    imported = zep(zep_thread_id="thread").read(tmp_path)
    described = imported.as_described()
    for block in EMPTY:
        assert described[block].keys() == imported.as_coded()[block].keys()
        assert {value.status for value in described[block].values()} == {"interface_not_offered"}
    assert described["memory_extraction_f1"].status == "interface_not_offered"
    assert described["memory_update"]["correct_update_memory_ratio(all)"] == 0.5
    assert len(warned(imported, "Extraction is not offered")) == 1
    assert warned(imported, "store little") == []


def test_its_accuracy_by_type_is_over_updates_alone(tmp_path: Path) -> None:
    imported = zep(zep_thread_id="thread").read(tmp_path)
    types = imported.as_described()["memory_type_accuracy"]["Persona Memory"]
    assert (types["memory_update_acc"], types["total_num"]) == (0.5, 2)
    assert {types[name].status for name in ("memory_integrity_acc", "memory_acc")} == {"interface_not_offered"}
    table = BENCHMARK.breakdowns(imported.scored(), imported.facts)["type_accuracy"]["Persona Memory"]
    assert table["as_described"] == types
    assert table["as_coded"]["total_num"] == 4


def test_as_coded_stays_as_coded(tmp_path: Path) -> None:
    assert zep(zep_thread_id="t").read(tmp_path).as_coded() == zep().read(tmp_path).as_coded()


@pytest.mark.parametrize(
    ("name", "offered"), [("zep", False), ("Zep-long", False), ("zeppelin", True), ("memos", True)]
)
def test_the_adapter_is_known_by_its_file_too(tmp_path: Path, name: str, offered: bool) -> None:
    verdicts, _ = zep().files(tmp_path, name)
    described = read(verdicts).as_described()
    assert ("memory_integrity" not in described) == offered


def test_a_run_whose_extracted_lists_are_all_empty_offers_none(tmp_path: Path) -> None:
    run = Run()
    run.session(extracted=[]).point("a", 0).point("d", 0, source="interference")
    session = run.session(extracted=[""]).point("b", 0)
    described = run.read(tmp_path).as_described()
    recall = described["memory_integrity"]["recall(all)"]
    assert isinstance(recall, Undefined)
    assert "all 2 extracted lists are empty" in recall.why
    session.sheet["extracted_memories"].append("one")
    assert "memory_integrity" not in run.read(tmp_path).as_described()


def test_what_the_sheet_says_of_its_adapter_survives_verdict_files_of_any_name(tmp_path: Path) -> None:
    people = users()
    people[0]["sessions"][0]["zep_thread_id"] = "thread"
    imported = read(answers=[write_users(tmp_path, people)])
    assert imported.as_described()["memory_extraction_f1"].status == "interface_not_offered"
