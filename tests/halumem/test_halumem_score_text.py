"""`score` on the sample, as text and JSON: tables, warnings, and where it went wrong, by judge and by truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from halumem_runs import Run

from judges.benchmarks.benchmark import Source
from judges.benchmarks.halumem import BENCHMARK
from judges.scoring import score_study
from store.importing import ImportedFile, import_records
from store.study import Study
from tests.commands import Overread

pytestmark = pytest.mark.slow

VERDICTS, LABELS = "by_verdicts", "by_final_labels"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo study: the sample, with its truth as a person's labels."""
    folder: Path = tmp_path_factory.mktemp("demo")
    outcome = Overread()("demo", "--no-tui", cwd=folder)
    assert outcome.exit_code == 0, outcome
    return folder


@pytest.fixture(scope="module")
def scores(demo: Path) -> dict[str, Any]:
    found: dict[str, Any] = Overread()("score", "--json", cwd=demo).json()["systems"]
    return found


def counts(scores: dict[str, Any], system: str, basis: str, kind: str) -> dict[str, int]:
    found = scores[system]["where_it_went_wrong"][basis]["failures"][kind]
    return {name: n["count"] for name, n in {**found["stages"], **found["untraced"]}.items() if n["count"]}


def shares(scores: dict[str, Any], system: str, basis: str) -> dict[str, tuple[float | None, int]]:
    found = scores[system]["where_it_went_wrong"][basis]["propagation"]
    return {name: (share["value"], share["n"]) for name, share in found.items()}


def test_the_samples_wrong_answers_by_the_judge(scores: dict[str, Any]) -> None:
    assert counts(scores, "northwind-mem", VERDICTS, "answers") == {
        "never_extracted": 5, "extracted_wrong": 4, "there_but_not_used": 5, "answer_wrong": 2,
    }  # fmt: skip
    assert counts(scores, "tidepool", VERDICTS, "answers") == {
        "never_extracted": 5, "extracted_wrong": 2, "there_but_not_used": 2, "answer_wrong": 6,
    }  # fmt: skip


def test_the_samples_failed_updates_by_the_judge(scores: dict[str, Any]) -> None:
    """Tidepool's: old version missing 3 (one of them retrieved nothing), session without extraction 1, and so on."""
    assert counts(scores, "northwind-mem", VERDICTS, "updates") == {"never_extracted": 1, "not_updated": 2}
    assert counts(scores, "tidepool", VERDICTS, "updates") == {
        "never_extracted": 5, "extracted_wrong": 4, "not_updated": 2,
    }  # fmt: skip


def test_in_truth_no_answer_fails_whose_evidence_was_extracted(scores: dict[str, Any]) -> None:
    """The sample's people answer wrongly only what the system never had right: the judge's errors hide it."""
    assert counts(scores, "tidepool", LABELS, "answers") == {
        "never_extracted": 7, "extracted_wrong": 15, "not_updated": 1, "answer_wrong": 2,
    }  # fmt: skip
    assert shares(scores, "northwind-mem", LABELS) == {
        "evidence_held": (0.0, 27), "evidence_not_held": (7 / 9, 9), "never_extracted": (1.0, 5),
        "extracted_wrong": (0.5, 4), "not_updated": (None, 0),
    }  # fmt: skip
    assert shares(scores, "tidepool", LABELS) == {
        "evidence_held": (0.0, 7), "evidence_not_held": (23 / 29, 29), "never_extracted": (1.0, 7),
        "extracted_wrong": (15 / 21, 21), "not_updated": (1.0, 1),
    }  # fmt: skip
    assert shares(scores, "tidepool", VERDICTS)["evidence_held"] == (6 / 17, 17)


def test_json_has_tables_and_warnings_under_each_system(scores: dict[str, Any]) -> None:
    for system in scores.values():
        assert {"breakdowns", "warnings", "where_it_went_wrong", "regime"} <= system.keys()
        kinds = system["breakdowns"]["qa_by_question_type"]
        assert list(kinds) == [
            "Basic Fact Recall", "Multi-hop Inference", "Dynamic Update", "Memory Boundary",
            "Generalization & Application", "Memory Conflict",
        ]  # fmt: skip
        numbers = [kind[basis]["question_answering"]["qa_num"] for kind in kinds.values() for basis in kind]
        assert numbers == [13, 13, 6, 6, 7, 7, 6, 6, 6, 6, 4, 4]
        assert len(system["breakdowns"]["by_user"]) == 6
        assert sum("sessions repeat messages" in warning for warning in system["warnings"]) == 1
        assert system["regime"] == "", "one user alone has a generated session: neither Medium nor Long"


def test_the_text_has_them_too_and_names_the_users_shortly(demo: Path) -> None:
    text = Overread()("score", "--system", "tidepool", cwd=demo).stdout
    for words in (
        "read with care:",
        "1 of 16 sessions repeat messages word for word (97.3% of all messages are distinct, 75.0%",
        "where it went wrong, by verdicts:",
        "where it went wrong, with people's final labels put in:",
        "updates: 0 of 20 pieces of evidence not matched; 1 of the failed updates had nothing retrieved",
        "left out: 6 no evidence, 1 answer without verdict",
        "qa by question type:",
        "Memory Conflict, overridden",
        "  81b6d94e/0",
    ):
        assert words in text, words
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "never extracted 5 (33%) 5 (45%)" in rows
    assert "its evidence extracted 0.35 0.14–0.62 n 17" in rows
    assert "its evidence extracted 0.00 0.00–0.41 n 7" in rows
    assert "all, as described 0.450 0.150 0.400 20" in rows
    assert "side by side" not in text


def test_opening_a_run_prints_the_warnings_and_no_tables(study_folder: Path, overread_cli: Overread) -> None:
    run = Run()
    run.session().say("a", "b", "a").point("kept", 2).question("q", "Correct", "kept")
    verdicts, sheet = run.files(study_folder)
    text = overread_cli("open", verdicts, sheet, "--no-tui").stdout
    assert "1 of 1 sessions repeat messages" in text
    assert "where it went wrong" not in text


def test_a_regime_that_the_import_named_is_kept_before_an_inferred_one(study_folder: Path) -> None:
    run = Run()
    run.session().point("kept", 2)
    files = run.files(study_folder)
    with Study.create(study_folder / "named.duckdb", "halumem") as study:
        records = BENCHMARK.read(Source(files, system="s", judge="j", options={"regime": "long"}))
        import_records(
            study, records, [ImportedFile(path, "results") for path in files], at="2026-01-01T00:00:00+00:00"
        )
        described = score_study(study, "j").systems["s"].description
    assert described is not None
    assert (described.regime, described.tracing.regime) == ("long", "medium")


def test_medium_and_long_stand_side_by_side(study_folder: Path, overread_cli: Overread) -> None:
    study = study_folder / "both.duckdb"
    outcomes = [overread_cli("init", study, "--benchmark", "halumem")]
    for name, generated in (("medium-run", 0), ("long-run", 3)):
        run = Run()
        session = run.session().point("kept", 2).point("lost", 0)
        session.question("q1", "Correct", "kept").question("q2", "Omission", "lost").question("q4", "Correct", "kept")
        if generated:
            run.session().question("q3", "Omission", "kept")
        for _ in range(generated):
            run.generated()
        verdicts, sheet = run.files(study_folder, name)
        outcomes.append(overread_cli("import", verdicts, "--answers", sheet, "--system", name))
    assert [outcome.exit_code for outcome in outcomes] == [0, 0, 0], outcomes
    text = overread_cli("score").stdout
    assert "medium and long side by side, by verdicts:" in text
    rows = [" ".join(line.split()) for line in text.partition("side by side")[2].splitlines()]
    assert "long-run (long) medium-run (medium)" in rows
    assert "there but not used 1 (50%) 0 (0%)" in rows
    assert "its evidence extracted 0.33 0.01–0.91 n 3 0.00 0.00–0.84 n 2" in rows
    found = overread_cli("score", "--json").json()
    assert {name: system["regime"] for name, system in found["systems"].items()} == {
        "medium-run": "medium",
        "long-run": "long",
    }
