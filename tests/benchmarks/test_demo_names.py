"""`demo --benchmark`: a study of its own for each, and a wrong name is told with those there are."""

from __future__ import annotations

from pathlib import Path

from annotate.cli.openings import demo_name
from annotate.sample import sample_folder, sample_of, sampled_benchmarks
from tests.benchmarks.sample_studies import BENCHMARKS
from tests.commands import Overread


def test_every_benchmark_ships_a_sample_whose_files_are_there() -> None:
    assert sampled_benchmarks() == list(BENCHMARKS)
    for name in BENCHMARKS:
        sample = sample_of(name)
        files = [path for source in sample.sources for path in (*source.files, *source.answers)]
        assert files and all(path.is_file() and sample_folder(name) in path.parents for path in files)
        assert sample.about


def test_each_demo_has_a_study_of_its_own() -> None:
    assert demo_name("halumem") == "overread-demo.duckdb"
    assert len({demo_name(name) for name in BENCHMARKS}) == len(BENCHMARKS)


def test_a_wrong_name_is_told_with_those_there_are(tmp_path: Path) -> None:
    outcome = Overread()("demo", "--benchmark", "helm", "--no-tui", cwd=tmp_path)
    assert outcome.exit_code == 2 and list(tmp_path.iterdir()) == []
    assert "There is no sample of 'helm'." in outcome.stderr and "medmemorybench" in outcome.stderr
