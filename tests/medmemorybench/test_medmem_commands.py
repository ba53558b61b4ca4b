"""MedMemoryBench through the real commands: what could hurt first, doubts, regimes side by side, no judge to name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from medmem_records import SHAPE, SHAPE_RESULT

from tests.benchmarks.sample_studies import make_demo
from tests.commands import Overread

ONE = "saltmarsh_rag_sample-model/Mixed/zh"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo(tmp_path_factory.mktemp("demo"), "medmemorybench").parent


@pytest.fixture(scope="module")
def scores(demo: Path) -> dict[str, Any]:
    found: dict[str, Any] = Overread()("score", "--json", cwd=demo).json()
    return found


def test_many_systems_are_a_summary_and_each_can_be_had(demo: Path) -> None:
    overread = Overread()
    text = overread("score", cwd=demo).stdout
    lines = text.splitlines()
    assert "each by itself: --system NAME, or --details" in text
    head = next(line for line in lines if line.split()[:3] == ["as", "coded", "EEM"])
    assert {"EEM", "TLA", "SUA", "MQ", "IG", "MCD"} <= set(head.split())
    assert sum(line.strip().startswith("with people's labels") for line in lines) > 0
    assert lines[0].startswith("first, what could hurt somebody"), "what must not be overlooked stays first"
    assert len(lines) < 200 < len(overread("score", "--details", cwd=demo).stdout.splitlines())
    one = overread("score", "--system", ONE, cwd=demo).stdout
    assert f"{ONE}, judged by" in one and "summary / overall_accuracy" in one


def shape_study(folder: Path) -> Overread:
    """The upstream run of the specs, opened by one command."""
    outcome = Overread()("open", SHAPE, SHAPE_RESULT, "--no-tui", cwd=folder)
    assert outcome.exit_code == 0, outcome
    return Overread()


def test_each_task_has_its_own_judge_so_none_is_to_be_named(scores: dict[str, Any]) -> None:
    assert scores["judges"] == ["sample-judge", "rule"]
    assert all(one["equals_file"] is True for one in scores["systems"].values())


def test_the_doubts_hold_18_2_for_8_2_and_bd(tmp_path: Path) -> None:
    run = json.loads(SHAPE.read_text(encoding="utf-8"))
    (choice,) = (query for query in run["queries"] if query["query_type"] == "multiple_choice")
    choice |= {"model_output": "BD", "expected_answer": "B, D", "is_correct": False, "score": 0.0}
    choice["evaluation_details"] |= {"selected_options": [], "correct_options": ["B", "D"]}
    path = tmp_path / "run_query_answer.json"
    path.write_text(json.dumps(run, ensure_ascii=False), encoding="utf-8")
    outcome = Overread()("open", path, "--no-tui", "--option", "regime=Efficient", cwd=tmp_path)
    assert outcome.exit_code == 0, outcome
    (system,) = Overread()("score", "--json", cwd=tmp_path).json()["systems"].values()
    told = {(doubt["kind"], doubt["answer"]): doubt for doubt in system["doubts"]}
    cut = told["number_cut", "空腹血糖 18.2 mmol/L"]
    assert (cut["looked for"], cut["stored"], cut["read better"]) == ("8.2 mmol/L", "right", "wrong")
    assert told["letters_missed", "BD"]["stored"] == "wrong"
    text = Overread()("score", "--details", cwd=tmp_path).stdout
    assert "空腹血糖 18.2 mmol/L" in text and "BD" in text


def test_half_on_every_score_is_correct_as_coded_and_incorrect_by_the_published_rule(tmp_path: Path) -> None:
    found = shape_study(tmp_path)("score", "--json", cwd=tmp_path).json()
    (system,) = found["systems"].values()
    coded = system["as_coded"]["summary"]["by_type"]["multi_hop_clinical_deduction"]
    by_rule = system["as_described"]["by_published_rule"]
    assert coded["avg_ncr"] == coded["avg_crc"] == coded["avg_cc"] == 0.5 and coded["accuracy"] == 1.0
    assert (by_rule["accuracy"], by_rule["passed_below_thresholds"]) == (0.0, by_rule["n"])


def test_open_names_the_system_by_its_method_and_model(tmp_path: Path) -> None:
    shape_study(tmp_path)
    systems = Overread()("status", "--json", cwd=tmp_path).json()["systems"]
    assert [name.split("/")[0] for name in systems] == ["bm25_rag_fake"]


def test_what_could_hurt_comes_first_with_count_n_and_bound(demo: Path, scores: dict[str, Any]) -> None:
    counts = scores["systems"][ONE]["overridden"]["safety"]["all_traps"]
    alarm = scores["systems"][ONE]["alarms"][0]
    assert counts["passed"] == alarm["count"] == 2
    assert f"2 of {counts['n']} labelled answers to trap questions are wrong and passed as right" in alarm["sentence"]
    assert f"at most {counts['upper']:.0%}" in alarm["sentence"]
    text = Overread()("score", "--system", ONE, cwd=demo).stdout
    assert text.startswith("first, what could hurt somebody:\n  ! saltmarsh_rag_sample-model/Mixed/zh: 2 of 4")


def test_the_loss_to_noise_is_paired_and_split_by_the_noise_that_was_retrieved(scores: dict[str, Any]) -> None:
    loss = scores["compared"]["as_coded"]["noise_loss"]["heron_notes_sample-model/en"]
    overall = loss["overall"]
    assert overall["loss"] == pytest.approx(overall["first"] - overall["second"])
    assert overall["n"] == 15 == sum(one["n"] for one in loss["by_noise"].values())
    assert set(loss["by_noise"]) == {"family", "health", "none"}
    assert overall["low"]["status"] == "too_few"


def test_measures_stand_side_by_side_with_their_rank_correlations(scores: dict[str, Any]) -> None:
    compared = scores["compared"]["overridden"]
    assert set(compared["measures"]) == set(scores["systems"])
    assert set(compared["measures"][ONE]) == {
        "architecture",
        "accuracy",
        "hallucination",
        "recall_at_k",
        "token_f1",
        "rouge_l",
    }
    assert compared["measures"][ONE]["hallucination"] == scores["systems"][ONE]["overridden"]["hallucination"]["rate"]
    assert compared["rank_correlations"]["Mixed/zh"]["token_f1"] in (1.0, -1.0), "two systems"
    assert compared["rank_correlations"]["Mixed/zh"]["recall_at_k"]["value"] is None


def test_curves_leakage_and_traps_are_in_details_and_json(demo: Path, scores: dict[str, Any]) -> None:
    described = scores["systems"][ONE]["as_described"]
    assert {"low", "high", "n", "accuracy"} == set(described["checkpoints"]["10"])
    assert described["leakage"]["checked"] == 15 and "allergy" in described["traps"]
    text = Overread()("score", "--details", "--system", ONE, cwd=demo).stdout
    for title in ("checkpoints", "traps", "leakage", "rule scoring", "hallucination", "retrieval", "safety"):
        assert f"\n  {title}" in text
    short = Overread()("score", "--system", ONE, cwd=demo).stdout
    assert "and tables of" in short and "\n  checkpoints" not in short


def test_the_report_begins_with_what_could_hurt_and_has_the_rest(demo: Path) -> None:
    outcome = Overread()("report", "trust.md", cwd=demo)
    assert outcome.exit_code == 0, outcome
    text = (demo / "trust.md").read_text(encoding="utf-8")
    first = text.index("labelled answers to trap questions are wrong and passed as right")
    assert first < text.index("## Judge rule") < text.index("## Judge sample-judge")
    assert "the tasks Entity match and Multiple choice" in text, "what the rule may score is said"
    for words in ("The paper's average is the unweighted mean", "noise loss", "rank correlations", "checkpoints"):
        assert words in text


def test_a_report_on_one_task_begins_with_what_could_hurt_in_it(demo: Path) -> None:
    outcome = Overread()("report", "ig.md", "--task", "ig", cwd=demo)
    assert outcome.exit_code == 0, outcome
    text = (demo / "ig.md").read_text(encoding="utf-8")
    assert text.index("labelled answers to trap questions") < text.index("should not score")
    assert "Systems side by side" not in text, "scores are of all tasks"


def test_export_needs_no_judge_and_says_what_each_file_is(demo: Path) -> None:
    outcome = Overread()("export", "p_query_answer.json", "--format", "native", "--system", ONE, cwd=demo)
    assert outcome.stdout.splitlines() == [
        "p_query_answer.json: the run's answers, patched",
        "p_result.json: the run's results, its summary computed anew",
        "p_query_answer.changes.jsonl: what was changed, by whom, when and why",
    ]
    summary = json.loads((demo / "p_result.json").read_text(encoding="utf-8"))["summary"]
    assert (summary["correct_count"], summary["total_queries"]) == (0, 15)


def test_an_import_that_lacks_a_choice_names_the_option(tmp_path: Path) -> None:
    run = json.loads(SHAPE.read_text(encoding="utf-8"))
    run["queries"].append(run["queries"][0])
    context = next(reversed(run["by_context"].values()))
    context["query_ids"].append(run["queries"][0]["query_id"])
    run["by_context"]["1"]["query_ids"] += [context["query_ids"].pop()] if context is run["by_context"]["1"] else []
    (tmp_path / "twice_query_answer.json").write_text(json.dumps(run, ensure_ascii=False), encoding="utf-8")
    overread = Overread()
    overread("init", "s.duckdb", "--benchmark", "medmemorybench", cwd=tmp_path)
    outcome = overread("import", "twice_query_answer.json", "--option", "regime=Sometimes", cwd=tmp_path)
    assert outcome.exit_code == 1 and "--option regime=Efficient" in outcome.stderr
    outcome = overread("import", "twice_query_answer.json", "--option", "order=first", cwd=tmp_path)
    assert outcome.exit_code == 2 and "medmemorybench takes no option 'order'" in outcome.stderr
    assert "duplicates" in outcome.stderr
    told = overread("import", "--help", cwd=tmp_path).stdout
    for option in ("duplicates", "regime", "language", "architecture"):
        assert f"medmemorybench: {option}: " in told
