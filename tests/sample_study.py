"""A study of the sample data, made by the commands a user would use."""

from __future__ import annotations

from pathlib import Path

from tests.commands import ROOT, Overread

SAMPLE = ROOT / "sample_data" / "halumem"


def make_sample_study(folder: Path, name: str = "study.duckdb") -> Path:
    """A fresh study in `folder` with every system of the sample data, and nothing drawn or labelled.

    Raises:
        AssertionError: a command failed; shows what it said.
    """
    overread, study = Overread(), folder / name
    outcomes = [overread("init", study, "--benchmark", "halumem", cwd=folder)]
    for results in sorted(SAMPLE.glob("*_eval_stat_result.json")):
        system = results.name.removesuffix("_eval_stat_result.json")
        answers = results.with_name(f"{system}_eval_results.jsonl")
        outcomes.append(
            overread("--study", study, "import", results, "--answers", answers, "--system", system, cwd=folder)
        )
    assert len(outcomes) > 1, f"no result file in {SAMPLE}"
    for outcome in outcomes:
        assert outcome.exit_code == 0, outcome
    return study
