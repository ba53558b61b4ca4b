"""The command `report`: what it writes, what it refuses, and that it never takes the place of another file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.commands import Overread
from tests.offline import NoNetwork
from tests.report.page_tree import read_page
from tests.report.planted_studies import CORRECT, HALLUCINATION, Planted, items_of, plant
from tests.sample_study import SAMPLE, make_sample_study

TABLE = {(CORRECT, CORRECT): 24, (HALLUCINATION, CORRECT): 6}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with labels, closed."""
    path = tmp_path / "planted.duckdb"
    items = [*items_of(TABLE), Planted(CORRECT, {"dr.li": HALLUCINATION}, question="Quoted only with texts?")]
    plant(path, items).close()
    return path


def report(study: Path, *arguments: str, **more: dict[str, str]) -> tuple[int, str, str]:
    done = Overread()("--study", study, "report", *arguments, cwd=study.parent, env=more.get("env"))
    return done.exit_code, done.stdout, done.stderr


def test_the_report_is_written_whole_and_for_the_owner_alone(study: Path, no_network: NoNetwork) -> None:
    code, said, errors = report(study, "r.html", env=no_network.env)
    assert (code, errors) == (0, "")
    assert said == "r.html: written, with texts of items in it\n"
    read_page((study.parent / "r.html").read_text(encoding="utf-8"))
    if os.name == "posix":
        assert (study.parent / "r.html").stat().st_mode & 0o077 == 0
    assert not list(study.parent.glob(".r.html*"))
    assert no_network.attempts() == []


@pytest.mark.parametrize("name", ["r.html", "r.HTM", "r.md", "r.markdown"])
def test_the_ending_says_the_format(study: Path, name: str) -> None:
    assert report(study, name)[0] == 0
    text = (study.parent / name).read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>" if "ht" in name.lower() else "<!-- overread report -->")


def test_a_study_without_labels_is_not_enough_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "empty.duckdb"
    plant(path, [Planted(CORRECT)]).close()
    code, said, errors = report(path, "r.html")
    assert (code, said) == (3, "")
    assert "There is nothing to report yet." in errors
    assert "No item is labelled. Nothing was written." in errors
    assert f"overread --study {path} label" in errors
    assert not (tmp_path / "r.html").exists()


def test_a_fresh_study_of_the_sample_is_not_enough(tmp_path: Path) -> None:
    path = make_sample_study(tmp_path)
    assert report(path, "r.md")[0] == 3
    assert not (tmp_path / "r.md").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["r.pdf"], "There is no report of kind '.pdf'."),
        (["report"], "There is no report of kind 'report'."),
        (["nowhere/r.html"], "There is no folder nowhere."),
        (["r.html", "--task", "poetry"], "There is no task 'poetry'."),
        (["r.html", "--judge", "nobody"], "There is no judge 'nobody'."),
        (["r.html", "--min-recall", "1.2"], "--min-recall"),
        (["r.html", "--disagreements", "-1"], "--disagreements"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(study: Path, arguments: list[str], said: str) -> None:
    code, _, errors = report(study, *arguments)
    assert code == 2
    assert said in errors
    assert not (study.parent / "r.html").exists()


def test_an_older_report_is_replaced_and_nothing_else_is(study: Path) -> None:
    assert report(study, "r.html")[0] == 0
    assert report(study, "r.html", "--no-texts")[0] == 0
    assert "Quoted only" not in (study.parent / "r.html").read_text(encoding="utf-8")
    own = study.parent / "README.md"
    own.write_text("# Mine\n", encoding="utf-8")
    code, _, errors = report(study, "README.md")
    assert code == 2
    assert "README.md is there and is no report of overread." in errors
    assert own.read_text(encoding="utf-8") == "# Mine\n"
    (study.parent / "folder.html").mkdir()
    assert report(study, "folder.html")[0] == 2


def test_an_imported_file_is_never_written_over(tmp_path: Path) -> None:
    results = tmp_path / "tidepool_eval_stat_result.html"
    source = SAMPLE / "tidepool_eval_stat_result.json"
    results.write_bytes(source.read_bytes())
    overread = Overread()
    study = tmp_path / "s.duckdb"
    assert overread("init", study, "--benchmark", "halumem").exit_code == 0
    answers = SAMPLE / "tidepool_eval_results.jsonl"
    done = overread("--study", study, "import", results, "--answers", answers, "--system", "tidepool")
    assert done.exit_code == 0, done
    code, _, errors = report(study, str(results))
    assert code == 2
    assert "was imported; it is not overwritten" in errors
    assert hashlib.sha256(results.read_bytes()).digest() == hashlib.sha256(source.read_bytes()).digest()


@pytest.mark.skipif(os.name != "posix", reason="folders that cannot be written are made with POSIX rights")
def test_a_folder_that_cannot_be_written_is_said(study: Path) -> None:
    shut = study.parent / "shut"
    shut.mkdir(mode=0o500)
    if os.access(shut, os.W_OK):  # the superuser may write everywhere; a device may not
        shut = Path("/proc")
    code, _, errors = report(study, str(shut / "r.html"))
    assert code in (2, 4)
    assert "r.html" in errors and "written" in errors


def test_texts_can_be_left_out_altogether(study: Path) -> None:
    for name in ("r.html", "r.md"):
        code, said, _ = report(study, name, "--no-texts")
        assert (code, said) == (0, f"{name}: written\n")
        text = (study.parent / name).read_text(encoding="utf-8")
        for secret in ("Quoted only", "Ten milligrams", "Five milligrams", "The dose is the same", "Which dose"):
            assert secret not in text
        assert "Texts, reasons and notes are left out of this report" in text


def test_the_number_of_cases_and_the_thresholds_are_the_callers(study: Path) -> None:
    assert report(study, "r.html", "--disagreements", "2", "--min-recall", "0.1", "--min-precision", "0.1")[0] == 0
    page = read_page((study.parent / "r.html").read_text(encoding="utf-8"))
    assert len(list(page.all("details", "case"))) == 2
    assert "7 items; shown are 2, left out 5." in page.text
    assert "Asked of it: recall 10 % and precision 10 % for every label, and κ 0.60" in page.text


def test_help_shows_an_example(overread_cli: Overread) -> None:
    said = overread_cli("report", "--help")
    assert said.exit_code == 0
    assert "Example: overread report trust.html" in said.stdout
