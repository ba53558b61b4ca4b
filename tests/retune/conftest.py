"""The sample table as a study: imported once, copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from retune_studies import table_study

from store.study import Study


@pytest.fixture(scope="session")
def imported_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the closed study `s.duckdb`."""
    folder = tmp_path_factory.mktemp("table")
    table_study(folder / "s.duckdb").close()
    return folder


@pytest.fixture
def table_path(imported_table: Path, tmp_path: Path) -> Path:
    """A closed study of the sample table."""
    shutil.copytree(imported_table, tmp_path / "table")
    return tmp_path / "table" / "s.duckdb"


@pytest.fixture
def table(table_path: Path) -> Iterator[Study]:
    """The same, open."""
    with Study.open(table_path) as study:
        yield study
