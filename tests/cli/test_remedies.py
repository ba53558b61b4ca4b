"""What a message recommends can be typed as it stands: with the study that the user named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.cli.remedies import as_called, name_study
from tests.commands import Overread


@pytest.fixture
def named() -> Iterator[None]:
    name_study(Path("my runs/s.duckdb"))
    yield
    name_study(None)


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("overread label", "overread --study 'my runs/s.duckdb' label"),
        (
            "Finish it: overread label   or: overread audit",
            "Finish it: overread --study 'my runs/s.duckdb' label   or: overread --study 'my runs/s.duckdb' audit",
        ),
        ("overread --study other.duckdb doctor --repair", "overread --study other.duckdb doctor --repair"),
        ("overread init NAME.duckdb", "overread init NAME.duckdb"),
        ("overread labels nothing", "overread labels nothing"),
    ],
)  # fmt: skip
def test_recommended_commands_name_the_study(said: str, shown: str) -> None:
    assert as_called(said) == shown


def test_without_a_named_study_nothing_is_added() -> None:
    assert as_called("overread label") == "overread label"


@pytest.mark.slow
def test_a_refusal_tells_the_command_for_the_named_study(overread_cli: Overread, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    overread_cli("init", "runs/s.duckdb", "--benchmark", "halumem", cwd=tmp_path)
    refused = overread_cli("--study", "runs/s.duckdb", "sample", "--n", "5", cwd=tmp_path)
    assert refused.exit_code == 2 and "overread --study runs/s.duckdb import FILE" in refused.stderr
    found = overread_cli("sample", "--n", "5", cwd=tmp_path / "runs")
    assert "  overread import FILE" in found.stderr, "a study that was found needs no name"
