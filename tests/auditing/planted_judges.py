"""Studies with what an audit should find planted in them: tables as files, and labels as events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.commands import Overread


def table_study(folder: Path, rows: Sequence[Mapping[str, Any]], *, name: str = "t") -> Path:
    """A table study made by the commands, from these rows."""
    file, study = folder / f"{name}.jsonl", folder / f"{name}.duckdb"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    overread = Overread()
    for arguments in (("init", study, "--benchmark", "table"), ("import", file)):
        done = overread("--study", study, *arguments)
        assert done.exit_code == 0, done
    return study


def row(number: int, people: str, judge: str | None, **more: Any) -> dict[str, Any]:
    """An item labelled by one person and one judge."""
    return {
        "item_id": f"i{number:04}", "question": f"Question {number}?", "response": "An answer.",
        "human": [{"annotator": "ann", "label": people, **more.pop("human", {})}],
        "judge": [{"judge": "gpt-4o", "label": judge, **more.pop("judge", {})}], **more,
    }  # fmt: skip
