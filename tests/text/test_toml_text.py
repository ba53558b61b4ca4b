"""TOML that is none, in every way: each file of that form that a person gives is refused by name and never a crash."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from judges.backends.prices import load_prices
from judges.benchmarks.mist.columns import read_mapping
from judges.benchmarks.table.task_file import read_task_file
from judges.toml_text import read_toml
from store.errors import InputError

BROKEN = {"deep": "a = " + "[" * 3000, "digits": "a = 1" + "0" * 5000, "date": "a = 2024-02-31", "no TOML": "a"}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_no_toml_is_refused_everywhere(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "given.toml"
    file.write_text(BROKEN[kind], encoding="utf-8")
    with pytest.raises(tomllib.TOMLDecodeError):
        read_toml(BROKEN[kind])
    with pytest.raises(InputError):
        load_prices(file)
    assert "TOML" in str(read_task_file(file))
    assert "TOML" in str(read_mapping(file))
