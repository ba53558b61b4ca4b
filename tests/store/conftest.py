"""A study of its own for each test; those that are only broken and mended are copies of one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_makers import crashed_study, labelled_study

from store.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """An open, empty study."""
    with Study.create(tmp_path / "s.duckdb", "halumem") as made:
        yield made


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with a study each: `closed`, and `crashed` as a power cut leaves it."""
    base = tmp_path_factory.mktemp("made-once")
    (base / "closed").mkdir()
    (base / "to-crash").mkdir()
    labelled_study(base / "closed" / "s.duckdb")
    return {"closed": base / "closed", "crashed": crashed_study(base / "to-crash").parent}


@pytest.fixture
def path(made_once: dict[str, Path], tmp_path: Path) -> Path:
    """A closed study with three items and five labels."""
    shutil.copytree(made_once["closed"], tmp_path / "closed")
    return tmp_path / "closed" / "s.duckdb"


@pytest.fixture
def crashed_path(made_once: dict[str, Path], tmp_path: Path) -> Path:
    """The same as a power cut leaves it: the labels are in the log and in the journal only."""
    shutil.copytree(made_once["crashed"], tmp_path / "crashed")
    return tmp_path / "crashed" / "s.duckdb"
