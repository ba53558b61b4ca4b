"""Studies for the tests of this folder: the sample table, imported as a user imports it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from annotate.cli.study import create_study, read_into
from store.study import Study
from tests.commands import ROOT

TABLE = ROOT / "sample_data" / "table"
AT = "2026-03-01T09:00:00+01:00"
TASK = "support"


def table_study(path: Path, sampled: str = "census", rows: Sequence[str] = ()) -> Study:
    """An open study of the sample table (or of some of its lines), every item labelled by two people."""
    study = create_study(path, "table")
    items, tasks = TABLE / "items.jsonl", TABLE / "tasks.toml"
    if rows:
        items = path.with_name("items.jsonl")
        items.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        shutil.copy(TABLE / "contexts.jsonl", path.with_name("contexts.jsonl"))
        tasks = Path(shutil.copy(tasks, path.with_name("tasks.toml")))
    options = {"tasks": str(tasks)}
    read_into(study, [items], [], system="", judge="", skip_bad=False, options=options, sampled=sampled)
    return study
