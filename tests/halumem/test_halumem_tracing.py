"""Each wrong answer and failed update is traced to the stage at which it began, and the counts say so."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from halumem_records import MARTIN, Imported, read
from halumem_runs import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from judges.benchmarks.benchmark import ScoredItem, Source
from judges.benchmarks.halumem import BENCHMARK
from judges.benchmarks.halumem.trace_index import TraceIndex
from judges.benchmarks.halumem.tracing import STAGES, UNTRACED, traces
from judges.benchmarks.stages import Traced, Tracing
from store.records import SystemRecord, VerdictRecord


def outcomes(imported: Imported, kind: str) -> dict[str, str]:
    """What became of each question or update, by its text."""
    index = TraceIndex(imported.facts)
    for item in imported.scored():
        index.add(item)
    field = "question" if kind == "answers" else "memory_content"
    return {
        imported.items[trace.item_id].payload[field]: trace.outcome
        for trace in traces(index, imported.facts, "verdicts") if trace.kind == kind
    }  # fmt: skip


def tracing(imported: Imported) -> Tracing:
    return BENCHMARK.tracing(imported.scored(), imported.facts)


def stages(traced: Traced, kind: str = "answers") -> dict[str, int]:
    """Counts that are not 0."""
    counts = traced.failures[kind]
    return {name: count for name, count in {**counts.stages, **counts.untraced}.items() if count}


# Answers


def test_an_answer_fails_where_its_evidence_did(tmp_path: Path) -> None:
    run = Run()
    first = run.session().point("held", 2).point("in part", 1).point("missing", 0).point("no verdict", None)
    first.update("taken up", "Correct", "held").update("misstated", "Hallucination", "held")
    first.update("not taken up", "Omission", "held").update("neither", "Other", "held")
    asked = run.session()
    for wrong in ("Hallucination", "Omission"):
        for evidence in (
            "held",
            "in part",
            "missing",
            "no verdict",
            "taken up",
            "misstated",
            "not taken up",
            "neither",
        ):
            asked.question(f"{wrong} {evidence}", wrong, evidence)
    assert outcomes(run.read(tmp_path), "answers") == {
        "Hallucination held": "answer_wrong",
        "Hallucination in part": "extracted_wrong",
        "Hallucination missing": "never_extracted",
        "Hallucination no verdict": "unjudged",
        "Hallucination taken up": "answer_wrong",
        "Hallucination misstated": "extracted_wrong",
        "Hallucination not taken up": "not_updated",
        "Hallucination neither": "not_updated",
        "Omission held": "there_but_not_used",
        "Omission in part": "extracted_wrong",
        "Omission missing": "never_extracted",
        "Omission no verdict": "unjudged",
        "Omission taken up": "there_but_not_used",
        "Omission misstated": "extracted_wrong",
        "Omission not taken up": "not_updated",
        "Omission neither": "not_updated",
    }


def test_the_earliest_break_among_several_pieces_counts(tmp_path: Path) -> None:
    run = Run()
    first = run.session().point("held", 2).point("in part", 1).point("missing", 0).update("stale", "Omission", "held")
    first.question("three", "Omission", "held", "in part", "stale")
    first.question("four", "Omission", "stale", "in part", "missing", "held")
    first.question("stale", "Omission", "held", "stale")
    first.question("break beside what is not matched", "Omission", "elsewhere", "in part")
    first.question("held beside what is not matched", "Omission", "elsewhere", "held")
    assert outcomes(run.read(tmp_path), "answers") == {
        "three": "extracted_wrong",
        "four": "never_extracted",
        "stale": "not_updated",
        "break beside what is not matched": "extracted_wrong",
        "held beside what is not matched": "unmatched",
    }


def test_right_answers_failed_verdicts_and_questions_without_evidence(tmp_path: Path) -> None:
    run = Run()
    asked = run.session().point("missing", 0)
    asked.question("lucky", "Correct", "missing").question("unread", None, "missing").question("off", "Fine", "missing")
    asked.question("boundary", "Hallucination", kind="Memory Boundary")
    imported = run.read(tmp_path)
    assert outcomes(imported, "answers") == {
        "lucky": "",
        "unread": "unread",
        "off": "unread",
        "boundary": "answer_wrong",
    }
    counts = tracing(imported).by_verdicts.failures["answers"]
    assert (counts.failures, counts.unread, counts.remarks) == (1, 2, {"without_evidence": 1})


def test_evidence_is_looked_up_in_earlier_sessions_and_the_same_one_but_not_in_later_ones(tmp_path: Path) -> None:
    run = Run()
    run.session().point("first", 2)
    asked = run.session().point("second", 2)
    run.session().point("third", 2)
    for text in ("first", "second", "third"):
        asked.question(text, "Omission", f"{text.title()}.")
    assert outcomes(run.read(tmp_path), "answers") == {
        "first": "there_but_not_used",
        "second": "there_but_not_used",
        "third": "unmatched",
    }


def test_neither_distractors_nor_other_users_points_are_evidence(tmp_path: Path) -> None:
    run = Run()
    run.session("00000000-0000-4000-8000-00000000000b").point("theirs", 2)
    asked = run.session().point("distractor", 2, source="interference")
    asked.question("a", "Omission", "distractor").question("b", "Omission", "theirs")
    assert outcomes(run.read(tmp_path), "answers") == {"a": "unmatched", "b": "unmatched"}


def test_a_fact_told_twice_is_held_if_it_was_once(tmp_path: Path) -> None:
    run = Run()
    run.session().point("told twice", 0)
    run.session().point("told twice", 2).question("now", "Omission", "told twice")
    run.session().point("told twice", 1).question("later", "Omission", "told twice")
    assert outcomes(run.read(tmp_path), "answers") == {"now": "there_but_not_used", "later": "there_but_not_used"}


# Updates


def test_a_failed_update_is_traced_along_its_chain(tmp_path: Path) -> None:
    run = Run()
    run.session().point("held", 2).point("in part", 1).point("missing", 0).point("no verdict", None)
    second = run.session()
    for old in ("held", "in part", "missing", "no verdict", "unknown"):
        second.update(f"after {old}", "Omission", old)
    second.update("misstated", "Hallucination", "missing").update("fine", "Correct", "missing")
    second.update("failed", None, "held")
    third = run.session()
    for old in ("held", "in part", "missing", "unknown"):
        third.update(f"again after {old}", "Other", f"after {old}")
    third.update("after what was misstated", "Omission", "misstated").update("of two", "Omission", "held", "in part")
    third.update("half known", "Omission", "held", "unknown")
    assert outcomes(run.read(tmp_path), "updates") == {
        "after held": "not_updated",
        "after in part": "extracted_wrong",
        "after missing": "never_extracted",
        "after no verdict": "unjudged",
        "after unknown": "unmatched",
        "misstated": "extracted_wrong",
        "fine": "",
        "failed": "unread",
        "again after held": "not_updated",
        "again after in part": "extracted_wrong",
        "again after missing": "never_extracted",
        "again after unknown": "not_updated",
        "after what was misstated": "extracted_wrong",
        "of two": "extracted_wrong",
        "half known": "unmatched",
    }


def test_answers_follow_the_chain_of_an_update_they_rest_on(tmp_path: Path) -> None:
    run = Run()
    run.session().point("missing", 0)
    run.session().update("new", "Omission", "missing").question("new?", "Hallucination", "new")
    run.session().update("newest", "Omission", "new").question("newest?", "Omission", "newest")
    assert set(outcomes(run.read(tmp_path), "answers").values()) == {"never_extracted"}


def test_updates_for_which_nothing_was_retrieved(tmp_path: Path) -> None:
    run = Run()
    first = run.session()
    for score, text in ((0, "missing"), (1, "in part"), (2, "extracted"), (None, "failed")):
        first.update(text, score, "old", retrieved=())
    first.update("never asked", 2, retrieved=None).update("never asked, missing", 0, retrieved=None)
    first.question("rests on one", "Omission", "extracted")
    imported = run.read(tmp_path)
    assert outcomes(imported, "updates") == {
        "missing": "never_extracted",
        "in part": "extracted_wrong",
        "extracted": "there_but_not_used",
        "failed": "unjudged",
        "never asked": "",
        "never asked, missing": "never_extracted",
    }
    assert outcomes(imported, "answers") == {"rests on one": "there_but_not_used"}
    assert tracing(imported).by_verdicts.failures["updates"].remarks == {"without_retrieval": 4}


def test_an_update_of_a_session_without_extraction_was_never_extracted(tmp_path: Path) -> None:
    run = Run()
    run.session().point("old", 2)
    run.session(extracted=[" "]).update("new", "Omission", "old")
    assert outcomes(run.read(tmp_path), "updates") == {"new": "never_extracted"}


def test_updates_of_one_session_that_name_each_other_end_nowhere(tmp_path: Path) -> None:
    run = Run()
    run.session().update("a", "Omission", "b").update("b", "Omission", "a").update("c", "Omission", "c")
    assert outcomes(run.read(tmp_path), "updates") == {"a": "unmatched", "b": "unmatched", "c": "unmatched"}


def test_nothing_is_said_of_extraction_that_is_not_offered(tmp_path: Path) -> None:
    run = Run()
    run.session(extracted=[]).point("point", 0).update("taken up", "Correct", "point").update(
        "stale", "Omission", "point"
    )
    asked = run.session(extracted=[]).question("a", "Omission", "point").question("b", "Omission", "taken up")
    asked.update("nothing came", 0, "point", retrieved=())
    imported = run.read(tmp_path)
    assert outcomes(imported, "answers") == {"a": "interface_not_offered", "b": "there_but_not_used"}
    assert outcomes(imported, "updates") == {
        "taken up": "",
        "stale": "interface_not_offered",
        "nothing came": "interface_not_offered",
    }


# Counts, shares, propagation


def propagating(folder: Path) -> Imported:
    """Evidence held: 1 of 4 wrong. Not held: 2 of 3 wrong (missing 2 of 2, in part 0 of 1)."""
    run = Run()
    asked = run.session().point("held", 2).point("in part", 1).point("missing", 0).point("no verdict", None)
    for number in range(3):
        asked.question(f"right {number}", "Correct", "held")
    asked.question("wrong", "Hallucination", "held").question("lucky", "Correct", "held", "in part")
    asked.question("unlucky", "Omission", "missing", "in part").question("unlucky too", "Omission", "missing")
    asked.question("not matched", "Omission", "held", "elsewhere").question("not judged", "Omission", "no verdict")
    asked.question("boundary", "Correct", kind="Memory Boundary").question("no answer verdict", None, "held")
    return run.read(folder)


def test_the_share_of_wrong_answers_is_given_for_evidence_extracted_and_not(tmp_path: Path) -> None:
    found = tracing(propagating(tmp_path)).by_verdicts.propagation
    assert {name: (share.value, share.n) for name, share in found.items()} == {
        "evidence_held": (1 / 4, 4),
        "evidence_not_held": (2 / 3, 3),
        "never_extracted": (1.0, 2),
        "extracted_wrong": (0.0, 1),
        "not_updated": (None, 0),
    }
    for name, wrong in (("evidence_held", 1), ("evidence_not_held", 2), ("never_extracted", 2), ("extracted_wrong", 0)):
        exact = binomtest(wrong, found[name].n).proportion_ci(0.95, "exact")
        assert (found[name].low, found[name].high) == pytest.approx((exact.low, exact.high))
    assert found["evidence_held"].dropped == {
        "evidence not matched": 1,
        "evidence without verdict": 1,
        "no evidence": 1,
        "answer without verdict": 1,
    }
    assert (found["not_updated"].status, found["not_updated"].why) == (
        "undefined_nothing_to_count",
        "there is no such question",
    )


def test_shares_and_what_is_not_matched_are_said(tmp_path: Path) -> None:
    said = tracing(propagating(tmp_path)).by_verdicts.as_json()
    answers = said["failures"]["answers"]
    assert answers["failures"] == 5
    assert answers["stages"]["never_extracted"] == {"count": 2, "share": 0.4}
    assert answers["untraced"]["unmatched"] == {"count": 1, "share": 0.2}
    assert (answers["untraced_share"], answers["unread"]) == (0.4, 1)
    assert said["evidence"]["answers"] == {"pieces": 13, "unmatched": 1}
    assert said["failures"]["updates"]["stages"]["not_updated"]["share"]["value"] is None


def test_people_change_what_is_wrong_and_where_it_began(tmp_path: Path) -> None:
    imported = propagating(tmp_path)
    assert tracing(imported).by_final_labels is None
    imported.label("qa", "wrong", "Correct")
    imported.label("integrity", "missing", "2")
    imported.label("qa", "no answer verdict", "Omission")
    imported.label("qa", "boundary", None, cannot_judge="unclear")
    found = tracing(imported)
    assert stages(found.by_verdicts) == {
        "never_extracted": 2,
        "answer_wrong": 1,
        "unmatched": 1,
        "unjudged": 1,
    }
    assert found.by_final_labels is not None
    assert stages(found.by_final_labels) == {
        "extracted_wrong": 1,
        "there_but_not_used": 2,
        "unmatched": 1,
        "unjudged": 1,
    }
    held = found.by_final_labels.propagation["evidence_held"]
    assert (held.value, held.n) == (2 / 6, 6)


def test_a_run_that_names_no_evidence_and_no_old_version() -> None:
    found = tracing(read(MARTIN)).by_verdicts
    assert stages(found, "answers") == {"answer_wrong": 2}
    assert stages(found, "updates") == {"extracted_wrong": 1, "unmatched": 2}
    assert found.propagation["evidence_held"].dropped == {"no evidence": 5}


# Regimes


@pytest.mark.parametrize(("generated", "regime"), [((0, 0), "medium"), ((2, 1), "long"), ((0, 1), "")])
def test_the_regime_is_read_off_generated_sessions(tmp_path: Path, generated: tuple[int, int], regime: str) -> None:
    run = Run()
    for user, count in zip("ab", generated, strict=True):
        run.session(user).point("point", 2)
        for _ in range(count):
            run.generated(user)
    imported = run.read(tmp_path)
    assert tracing(imported).regime == regime


def test_a_regime_that_the_import_names_goes_with_the_system(tmp_path: Path) -> None:
    run = Run()
    run.session().point("point", 2)
    records = BENCHMARK.read(Source(run.files(tmp_path), options={"regime": "long"}))
    assert [record.regime for record in records if isinstance(record, SystemRecord)] == ["long"]


def test_without_an_answer_sheet_the_regime_is_not_known(tmp_path: Path) -> None:
    run = Run()
    run.session().point("point", 2)
    verdicts, _ = run.files(tmp_path)
    assert tracing(read(verdicts)).regime == ""


# Properties


VERDICTS = st.sampled_from([None, "Correct", "Hallucination", "Omission"])
SCORES = st.sampled_from([None, 0, 1, 2])
TEXTS = st.sampled_from([f"fact {n}" for n in range(6)])


@settings(max_examples=60)
@given(data=st.data())
def test_every_failure_is_counted_once_whatever_the_order(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    run, wrong, updates = Run(), 0, 0
    for _ in range(data.draw(st.integers(1, 4))):
        session = run.session()
        for text in data.draw(st.lists(TEXTS, max_size=3)):
            session.point(text, data.draw(SCORES))
        for text in data.draw(st.lists(TEXTS, max_size=3)):
            verdict = data.draw(VERDICTS)
            updates += verdict in ("Hallucination", "Omission")
            session.update(text, verdict, *data.draw(st.lists(TEXTS, min_size=1, max_size=2)))
        for number, evidence in enumerate(data.draw(st.lists(st.lists(TEXTS, max_size=3), max_size=3))):
            verdict = data.draw(VERDICTS)
            wrong += verdict in ("Hallucination", "Omission")
            session.question(f"question {number}", verdict, *evidence)
    imported = run.read(tmp_path_factory.mktemp("run"))
    found = tracing(imported)
    assert found.by_verdicts.failures["answers"].failures == wrong
    assert found.by_verdicts.failures["updates"].failures == updates
    assert set(found.by_verdicts.failures["answers"].stages) == set(STAGES)
    assert set(found.by_verdicts.failures["answers"].untraced) == set(UNTRACED)
    shuffled = list(imported.scored())
    data.draw(st.randoms(use_true_random=False)).shuffle(shuffled)
    assert BENCHMARK.tracing(shuffled, imported.facts) == found


# Size


def many(users: int, sessions: int) -> Iterator[ScoredItem]:
    """A run in verdict order: one task after the other, and within it user by user."""
    for task in ("integrity", "accuracy", "update", "qa"):
        for user in range(users):
            for session in range(sessions):
                yield from _items(task, f"user-{user}", session)


def _items(task: str, user: str, session: int) -> Iterator[ScoredItem]:
    for number in range({"integrity": 8, "accuracy": 70, "update": 2, "qa": 3}[task]):
        text = f"{user} has told in session {session} what is the case as to matter {number} of {task}"
        earlier = text.replace(task, "integrity").replace(f"session {session}", f"session {session // 2}")
        content = {"question": text, "evidence": [earlier]} if task == "qa" else {"memory_content": text}
        payload = content | ({"original_memories": [earlier]} if task == "update" else {})
        label = {"integrity": "012"[number % 3], "accuracy": "2"}.get(task, ("Correct", "Omission")[number % 2])
        kind = {"integrity": {"kind": "gold"}, "update": {"kind": "update"}}.get(task, {})
        verdict = VerdictRecord(f"{task}{text}", "", "judge", label, raw="{}")
        yield ScoredItem(
            f"{task}{text}", task, user, f"{user}/{session}", 1.0, payload, kind, verdict, extra={"fields": {}}
        )


@pytest.mark.parametrize(
    ("users", "megabytes"), [(2, 5), pytest.param(20, 40, marks=pytest.mark.slow)], ids=["two-users", "full-run"]
)
def test_little_of_a_run_is_kept_in_memory(users: int, megabytes: int) -> None:
    tracemalloc.start()
    try:
        found = BENCHMARK.tracing(many(users, 70), {})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(found.by_verdicts.failures["answers"].stages.values()) == users * 70
    assert peak < megabytes * 2**20
