"""Adding a benchmark touches one folder: a foreign one works in every command, and nothing of ours names it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.commands import ROOT, Outcome, Overread

TOY = Path(__file__).parent / "toy"
ROWS = [
    {
        "toy_id": f"q{number}", "model": model, "question": f"What is {number} and {number}?",
        "reference": str(2 * number), "answer": str(2 * number + (number % 3 == 0)), "verdict": number % 4 != 0,
    }
    for model in ("abacus", "slide-rule") for number in range(1, 13)
]  # fmt: skip


@pytest.fixture
def plugins(tmp_path: Path) -> Mapping[str, str]:
    """The environment in which a distribution is installed that offers the toy."""
    home = tmp_path / "site"
    shutil.copytree(TOY, home / "overread_toy", ignore=shutil.ignore_patterns("__pycache__"))
    about = home / "overread_toy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: overread-toy\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[overread.benchmarks]\ntoy = overread_toy\n", encoding="utf-8")
    return {"PYTHONPATH": f"{ROOT}:{home}"}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "run.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def done(outcome: Outcome) -> Outcome:
    assert outcome.exit_code == 0, outcome
    return outcome


def test_nothing_of_ours_names_the_toy() -> None:
    for package in ("annotate", "judges", "store"):
        for path in (ROOT / package).rglob("*.py"):
            assert "toy" not in path.read_text(encoding="utf-8").lower().replace("history", ""), path


@pytest.mark.slow
def test_every_command_works_on_it(plugins: Mapping[str, str], rows: Path) -> None:
    overread, here = Overread(), rows.parent

    def run(*arguments: str | Path, stdin: str = "") -> Outcome:
        return done(overread(*arguments, cwd=here, env=plugins, stdin=stdin))

    opened = run("open", rows, "--no-tui")
    assert "A toy's accuracy says nothing of a product." in opened.stdout
    assert "abacus, judged by toy-judge" in opened.stdout and "0.7500" in opened.stdout
    keys = "c\n" * 10 + "o\n" * 2  # of 24 items: the two systems answer alike, and what is identical is read once
    run("label", "--plain", "--annotator", "dr.li", "--mode", "never", "--seed", "1", stdin=keys)
    audit = run("audit", "--json").json()["tasks"]["answer"]
    assert (audit["items"], audit["labelled"]) == (24, 24)
    scores = run("score", "--json").json()
    assert scores["remarks"] == ["A toy's accuracy says nothing of a product."]
    assert scores["systems"]["abacus"]["as_coded"] == {"accuracy": 0.75, "n": 12}
    assert scores["compared"]["as_coded"]["by_model"]["slide-rule"]["accuracy"] == 0.75
    right = sum(scores["systems"][name]["overridden"]["accuracy"] * 12 for name in ("abacus", "slide-rule"))
    assert round(right) == 20
    # All is labelled, so what people would have scored is known exactly.
    corrected = scores["systems"]["abacus"]["corrected"]["accuracy"]
    assert corrected["value"] == pytest.approx(scores["systems"]["abacus"]["overridden"]["accuracy"])
    run("report", "trust.html")
    assert "says nothing of a product" in (here / "trust.html").read_text(encoding="utf-8")
    told = run("export", "patched.jsonl", "--format", "native", "--system", "abacus").stdout
    assert "the toy's rows, patched" in told and "what was changed, by whom" in told
    assert "toy: shout: yes: the answers are read in capitals" in run("import", "--help").stdout
    run("init", "again.duckdb", "--benchmark", "toy")
    run("--study", "again.duckdb", "import", "patched.jsonl")
    again = run("--study", "again.duckdb", "score", "--json").json()["systems"]["abacus"]
    assert again["as_coded"] == scores["systems"]["abacus"]["as_coded"]
    assert again["overridden"] == scores["systems"]["abacus"]["overridden"]


def test_an_option_that_it_does_not_take_is_refused_with_those_it_takes(plugins: Mapping[str, str], rows: Path) -> None:
    outcome = Overread()("open", rows, "--no-tui", "--option", "whisper=yes", cwd=rows.parent, env=plugins)
    assert outcome.exit_code == 2
    assert "toy takes no option 'whisper'" in outcome.stderr and "shout" in outcome.stderr


def test_without_the_distribution_there_is_no_such_benchmark(tmp_path: Path) -> None:
    outcome = Overread()("init", "s.duckdb", "--benchmark", "toy", cwd=tmp_path)
    assert outcome.exit_code == 2 and "There is no benchmark 'toy'." in outcome.stderr
