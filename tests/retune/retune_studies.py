"""Studies for the tests of this folder: the sample table, imported as a user imports it."""

from __future__ import annotations

from pathlib import Path

from annotate.cli.study import create_study, read_into
from store.study import Study
from tests.commands import ROOT

TABLE = ROOT / "sample_data" / "table"
AT = "2026-03-01T09:00:00+01:00"
TASK = "support"


def table_study(path: Path, sampled: str = "census") -> Study:
    """An open study of the sample table, every item labelled by two people."""
    study = create_study(path, "table")
    options = {"tasks": str(TABLE / "tasks.toml")}
    read_into(study, [TABLE / "items.jsonl"], [], system="", judge="", skip_bad=False, options=options, sampled=sampled)
    return study
