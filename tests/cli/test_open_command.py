"""`open`: one command from files to scores, and nothing left behind when it fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from store.errors import SaveError
from store.study import Study
from tests.commands import Overread
from tests.desk.desk_studies import make_study, press, qa, sit
from tests.sample_study import SAMPLE


@pytest.fixture
def run_files(study_folder: Path) -> tuple[Path, Path]:
    """Verdicts and answer sheet of one system of the sample, in the current folder."""
    names = ("tidepool_eval_stat_result.json", "tidepool_eval_results.jsonl")
    for name in names:
        shutil.copy(SAMPLE / name, study_folder)
    return study_folder / names[0], study_folder / names[1]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_a_failed_open_leaves_nothing_and_the_next_one_starts_afresh(
    run_files: tuple[Path, Path], study_folder: Path, overread_cli: Overread
) -> None:
    verdicts, sheet = run_files
    whole = verdicts.read_text(encoding="utf-8")
    verdicts.write_text(whole[: len(whole) // 2], encoding="utf-8")
    before = names(study_folder)
    told = overread_cli("open", verdicts, sheet, "--no-tui")
    assert told.exit_code == 1 and f"{verdicts.name}:" in told.stderr and "nothing was imported" in told.stderr, told
    assert names(study_folder) == before
    verdicts.write_text(whole, encoding="utf-8")
    told = overread_cli("open", verdicts, sheet, "--no-tui")
    assert told.exit_code == 0 and "is there already" not in told.stderr, told
    assert names(study_folder) == before | {"tidepool.duckdb", "tidepool.journal.jsonl"}


def test_a_failed_open_of_a_study_that_was_there_changes_nothing_in_it(
    run_files: tuple[Path, Path], study_folder: Path, overread_cli: Overread
) -> None:
    verdicts, sheet = run_files
    assert overread_cli("open", verdicts, sheet, "--no-tui").exit_code == 0
    verdicts.write_text('{"memory_integrity_records": [{', encoding="utf-8")
    told = overread_cli("open", verdicts, "--no-tui")
    assert told.exit_code == 1 and "is there already" in told.stderr, told
    with Study.open(study_folder / "tidepool.duckdb") as study:
        assert study.notices == []
        assert study.rows("SELECT count(*) FROM verdicts")[0][0] > 50


def test_files_of_another_benchmark_are_not_read_as_the_studys(
    run_files: tuple[Path, Path], study_folder: Path, overread_cli: Overread
) -> None:
    verdicts, _ = run_files
    other = study_folder / "tidepool.jsonl"
    rows = [
        {"item_id": f"i{label}", "question": "Q?", "response": "R", "judge": [{"judge": "j", "label": label}]}
        for label in ("pass", "fail")
    ]
    other.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert overread_cli("open", other, "--no-tui").exit_code == 0
    told = overread_cli("open", verdicts, "--no-tui")
    assert told.exit_code == 2 and "holds table, these files are halumem" in told.stderr, told
    assert "--system" in told.stderr and "Nothing was changed" in told.stderr
    with Study.open(study_folder / "tidepool.duckdb") as study:
        assert study.rows("SELECT count(*) FROM items") == [(2,)]


def test_a_study_somebody_worked_in_is_never_discarded(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa()]) as study:
        press(sit(study, "never"), "c")
        study.discard()
    with Study.open(tmp_path / "s.duckdb") as study:
        assert study.rows("SELECT value FROM current_labels") == [("Correct",)]


def test_a_study_whose_tasks_cannot_be_stored_is_taken_away(
    study_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate.cli.study import create_study

    def refuse(study: Study, records: object) -> None:
        raise SaveError("Not saved.", "No space left on device", "Free disk space.")

    monkeypatch.setattr(Study, "record", refuse)
    with pytest.raises(SaveError):
        create_study(study_folder / "s.duckdb", "halumem")
    assert names(study_folder) == set()
