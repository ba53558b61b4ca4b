"""A study of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """An open, empty study."""
    with Study.create(tmp_path / "s.duckdb", "halumem") as made:
        yield made
