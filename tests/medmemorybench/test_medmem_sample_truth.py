"""The planted errors of the MedMemoryBench sample, and every number its README derives from them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from medmem_records import Imported, collect
from medmem_sample_files import (
    REGIMES,
    SAMPLE,
    SYSTEMS,
    TASKS,
    Row,
    Run,
    readme_tables,
    records,
    rows_with_records,
    runs,
    truth,
    truth_of,
)
from sklearn.metrics import cohen_kappa_score

from judges.benchmarks.benchmark import Source
from judges.benchmarks.medmemorybench import BENCHMARK
from judges.benchmarks.medmemorybench.derived import derive
from judges.benchmarks.medmemorybench.regimes import noise_loss
from store.records import LabelState

TAG_OF_FAULT = {"trap": "fell_into_trap", "stale": "stale_state", "generic": "generic_reasoning",
                "relative": "family_members_fact"}  # fmt: skip


def wrong(*tasks: str, tag: str = "") -> Callable[[Row], bool]:
    return lambda row: row["task"] in tasks and row["truth"] == "incorrect" and tag in ("", row["tag"])


def right(*tasks: str) -> Callable[[Row], bool]:
    return lambda row: row["task"] in tasks and row["truth"] == "correct"


COULD: dict[str, Callable[[Row], bool]] = {
    "trap_passed": wrong("ig", tag="fell_into_trap"),
    "stale_passed": wrong("sua", tag="stale_state"),
    "generic_passed": wrong("sua", "ig", tag="generic_reasoning"),
    "relative_passed": wrong("tla", "sua", "ig", tag="family_members_fact"),
    "notation_failed": right("tla"),
    "paraphrase_failed": right("sua", "ig"),
    "below_threshold_passed": wrong("mcd"),
    "strict_chain_failed": right("mcd"),
    "number_cut": wrong("eem"),
    "negation_passed": wrong("eem"),
    "spelling_failed": right("eem"),
    "letters_missed": right("mq"),
    "letters_extra": right("mq"),
}


@pytest.fixture(scope="module")
def labelled() -> Imported:
    """The sample with its truth as people's final labels."""
    imported = collect(BENCHMARK.read(Source((SAMPLE / "outputs",), (SAMPLE / "data",), judge="sample-judge")))
    by_key = {(i.system, *json.loads(i.natural_key)): item_id for item_id, i in imported.items.items()}
    for run in runs():
        for row in truth_of(run):
            names = ("conclusion", "nodes", "cc", "abstained", "evidence")
            parts = {name: row[name] for name in names if row[name]}
            tags = (row["tag"],) if row["tag"] else ()
            state = LabelState(value=row["truth"], parts=parts, harm=row["harm"], tags=tags)
            imported.labels[by_key[run.id, row["persona"], row["query_id"]]] = state
    return imported


# --- the truth -------------------------------------------------------------------------------------------------------


def test_truth_rows_name_their_records_and_repeat_the_judges_verdicts() -> None:
    for row, record in rows_with_records():
        if row["judge"]:
            assert row["judge"] == ("correct" if record["is_correct"] else "incorrect")
        else:
            assert record["is_correct"] in (False, "false")
        assert row["truth"] in ("correct", "incorrect")


def test_an_error_is_named_exactly_where_the_scorer_is_wrong() -> None:
    for row in truth():
        assert (row["error"] != "") == (row["judge"] != "" and row["judge"] != row["truth"]), row
        if row["error"]:
            assert COULD[row["error"]](row), row


def test_the_true_grids_give_the_true_verdict_by_the_published_rule(labelled: Imported) -> None:
    checked = 0
    for item_id, state in labelled.labels.items():
        item = labelled.items[item_id]
        if item.task == "mcd":
            derived = derive(item.payload, state)
            assert derived is not None
            assert (derived.ruling.verdict == "correct") == (state.value == "correct")
            checked += 1
    assert checked == 16


def test_truths_parts_are_the_tasks_own(labelled: Imported) -> None:
    tasks = {task.task: {part.id: part for part in task.parts} for task in BENCHMARK.tasks()}
    tags = {task.task: task.tags for task in BENCHMARK.tasks()}
    for item_id, state in labelled.labels.items():
        task = labelled.items[item_id].task
        for part_id, value in state.parts.items():
            part = tasks[task][part_id]
            assert part.kind == "checklist" or value in [label.value for label in part.labels]
        assert set(state.tags) <= {*tags[task], "fell_into_trap"}


# --- the README ------------------------------------------------------------------------------------------------------


def test_counts_are_those_of_the_readme() -> None:
    (table,) = [t for t in readme_tables("Files") if t[0][0] == "system"]
    head, *rows, last = table
    assert head == ["system", "regime", "language", *TASKS, "all"]
    assert {tuple(row[:3]) for row in rows} == {run.key for run in runs()}
    for row in rows:
        counts = Counter(r["task"] for run in runs() if run.key == tuple(row[:3]) for r in truth_of(run))
        assert [int(cell) for cell in row[3:]] == [*(counts[task] for task in TASKS), counts.total()]
    assert int(last[-1]) == len(truth())
    assert f"{len(truth())} answers" in (SAMPLE / "README.md").read_text(encoding="utf-8")


def test_rates_of_planted_errors_are_those_of_the_readme() -> None:
    kinds, rates = readme_tables("Planted errors")
    assert [row[0] for row in kinds[1:]] == [row[0] for row in rates[1:]] == list(COULD)
    for name, *cells in rates[1:]:
        for cell, systems in zip(cells, ([SYSTEMS[0]], [SYSTEMS[1]], SYSTEMS), strict=True):
            rows = [row for row in truth() if row["system"] in systems and row["judge"] and COULD[name](row)]
            planted = sum(row["error"] == name for row in rows)
            share = f" ({100 * planted / len(rows):.0f} %)" if rows else ""
            assert cell == f"{planted} of {len(rows)}{share}", name


def test_every_planted_error_is_listed_once() -> None:
    (table,) = readme_tables("Every planted error")
    listed = Counter(tuple(row[1:7]) for row in table[1:])
    planted = Counter(
        (r["error"], r["task"], r["system"], r["regime"], r["persona"], r["query_id"]) for r in truth() if r["error"]
    )
    assert listed == planted
    assert all(planted[error] == 1 for error in planted)


def test_confusions_and_kappas_are_those_of_the_readme() -> None:
    (table,) = readme_tables("Scorer against truth")
    for task, *cells in table[1:]:
        pairs = [(row["truth"], row["judge"]) for row in truth() if row["task"] == task and row["judge"]]
        counts = Counter(pairs)
        order = [(t, j) for t in ("correct", "incorrect") for j in ("correct", "incorrect")]
        assert [int(cell) for cell in cells[:5]] == [*(counts[pair] for pair in order), len(pairs)]
        agreed = sum(t == j for t, j in pairs)
        assert cells[5] == f"{agreed}/{len(pairs)} = {agreed / len(pairs):.4f}"
        assert cells[6] == f"{cohen_kappa_score(*zip(*pairs, strict=True)):.4f}"


# --- what the program makes of it ------------------------------------------------------------------------------------


def test_scores_with_the_truth_as_labels_are_those_of_the_readme(labelled: Imported) -> None:
    (scores, losses) = readme_tables("Official scores")
    for system, regime, language, n, judge, true, judge_six, true_six in scores[1:]:
        (run,) = [run for run in runs() if run.key == (system, regime, language)]
        coded, described = labelled.as_coded(run.id), labelled.as_described(run.id)
        overridden = labelled.overridden(run.id)
        assert int(n) == coded["summary"]["total_queries"]
        assert judge == f"{coded['summary']['overall_accuracy']:.6f}"
        assert true == f"{overridden['summary']['overall_accuracy']:.6f}"
        assert judge_six == f"{described['mean_of_six']:.6f}"
        assert true_six == f"{overridden['mean_of_six']:.6f}"
    for system, language, n, *cells in losses[1:]:
        ids = [run.id for regime in REGIMES for run in runs() if run.key == (system, regime, language)]
        found = []
        for with_labels in (False, True):
            first, second = (labelled.scored(name) for name in ids)
            facts = [labelled.facts(name) for name in ids]
            loss = noise_loss(first, facts[0], second, facts[1], with_labels=with_labels).overall
            assert loss.n == int(n) and loss.only_first == loss.only_second == 0
            found += [str(loss.lost), str(loss.won), f"{loss.loss:.6f}"]
        assert found == cells


def test_wrong_answers_passed_by_trap_are_those_of_the_readme(labelled: Imported) -> None:
    (table,) = readme_tables("Wrong answers passed as right, by trap")
    totals = Counter[str]()
    for run in runs():
        safety = labelled.overridden(run.id)["safety"]["all_traps"]
        totals.update({name: safety[name] for name in ("passed", "wrong", "n")})
    assert table[-1] == ["all", *(str(totals[name]) for name in ("passed", "wrong", "n"))]


def test_a_life_threatening_answer_was_passed(labelled: Imported) -> None:
    harmful = [labelled.overridden(run.id)["safety"]["harmful"] for run in runs()]
    assert sum(found["passed"] for found in harmful) >= 3


def test_evidence_and_abstention_are_told_by_the_labels(labelled: Imported) -> None:
    for run in runs():
        overridden = labelled.overridden(run.id)
        rows = [row for row in truth_of(run) if row["evidence"]]
        use = overridden["retrieval_use"]
        assert use["n"] == len(rows)
        missing = [row for row in rows if row["evidence"] == "no" and row["truth"] == "incorrect"]
        assert use["not_retrieved"] == len(missing)
        wrong_rows = [row for row in truth_of(run) if row["truth"] == "incorrect"]
        hallucination = overridden["hallucination"]
        assert hallucination["incorrect"] == len(wrong_rows)
        said = [r for r in wrong_rows if r["abstained"] == "yes"]
        assert hallucination["confident"] == len(wrong_rows) - len(said), "the declared rule has no part in it"


def test_doubts_of_the_rules_catch_most_of_their_planted_errors(labelled: Imported) -> None:
    by_key = {(i.system, *json.loads(i.natural_key)): i for i in labelled.items.values()}
    said, caught = labelled.slices_of_verdicts(), Counter[bool]()
    for run in runs():
        for row in truth_of(run):
            if row["error"] and row["task"] in ("eem", "mq"):
                item = by_key[run.id, row["persona"], row["query_id"]]
                caught[said[item.item_id]["rule_doubt"] != "none"] += 1
    assert caught[True] == 11 and caught[False] == 1, "the misspelt drug is in no better reading either"


def test_contradicting_deductions_hold_more_errors(labelled: Imported) -> None:
    """Why they go first to a person who wants to learn."""

    by_key = {(i.system, *json.loads(i.natural_key)): item_id for item_id, i in labelled.items.items()}
    said = labelled.slices_of_verdicts()

    def share(run_rows: list[tuple[Run, Row]], wanted: str) -> float:
        found = [
            row for run, row in run_rows
            if said[by_key[run.id, row["persona"], row["query_id"]]].get("self_contradicting") == wanted
        ]  # fmt: skip
        return sum(row["error"] != "" for row in found) / len(found)

    rows = [(run, row) for run in runs() for row in truth_of(run) if row["task"] == "mcd"]
    assert share(rows, "yes") > share(rows, "no")
    assert all(records(run) for run in runs())
