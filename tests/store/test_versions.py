"""Studies made on one DuckDB open on the other: file, log and journal, closed cleanly or not."""

from __future__ import annotations

import tarfile
from pathlib import Path

import duckdb
import pytest
from store_makers import act, healthy, values, wal_of

from store.opening import CONFIG
from store.study import Study

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("made_by_duckdb_*.tar.gz"))


@pytest.mark.parametrize("made", FIXTURES, ids=lambda made: made.name.removesuffix(".tar.gz"))
def test_a_study_that_crashed_under_another_duckdb_opens(made: Path, tmp_path: Path) -> None:
    """Five labels stand in its log alone, next to the journal."""
    with tarfile.open(made) as packed:
        packed.extractall(tmp_path, filter="data")
    path = tmp_path / "s.duckdb"
    assert wal_of(path).stat().st_size > 5000
    healthy(path)
    with Study.open(path) as study:
        assert study.rows("SELECT count(*) FROM current_items") == [(3,)]
        assert study.append([act(value="value-5")])[0].seq == 6
    assert values(path) == [f"value-{number}" for number in range(6)]


def test_both_versions_are_among_the_fixtures() -> None:
    assert {made.name[15:16] for made in FIXTURES} == {"1", "2"}


def test_the_file_names_the_storage_version_that_both_read(study: Study) -> None:
    assert CONFIG["storage_compatibility_version"] == "v1.5.0"
    tags = study.rows("SELECT tags FROM duckdb_databases() WHERE NOT internal")[0][0]
    assert tags["storage_version"].startswith("v1.5"), tags
    assert duckdb.__version__ >= "1.5"


def test_no_extension_is_ever_fetched(study: Study) -> None:
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions"):
        assert study.rows(f"SELECT current_setting('{setting}')") == [(False,)]
