"""Studies that the pilots sit down at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.study import Study
from tests.desk.desk_studies import accuracy, make_study, qa


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Twenty questions: two blocks of ten; a third of the verdicts say Correct, the others Omission."""
    evidence = ["Martin prefers the Golden Retriever now."]
    specs = [qa("Omission" if number % 3 else "Correct", evidence=evidence) for number in range(20)]
    with make_study(tmp_path / "s.duckdb", specs) as study:
        yield study


@pytest.fixture
def parts_study(tmp_path: Path) -> Iterator[Study]:
    """Ten stored memories, each to be judged by score and flag."""
    with make_study(tmp_path / "p.duckdb", [accuracy("0", "false") for _ in range(10)]) as study:
        yield study
