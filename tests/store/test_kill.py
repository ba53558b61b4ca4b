"""Thirty programs killed while they label; the thousand are `python -m tests.store.kill_loop --times 1000`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from store_makers import ROOT, act

from store.study import Study

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def test_thirty_kills_lose_nothing() -> None:
    """In a process of its own: a program with DuckDB's threads cannot fork."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.store.kill_loop", "--times", "30", "--seed", "30"], cwd=ROOT,
        capture_output=True, encoding="utf-8", timeout=170, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert "30 rounds" in result.stdout and "nothing lost, nothing doubled" in result.stdout


def test_the_check_notices_what_it_is_there_for(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.store.kill_loop import Known, check

    known = Known(tmp_path)
    with Study.create(known.path, "halumem") as study:
        first, second = study.append([act(value="a"), act("revise", value="b")])
    known.acts[second.event_id] = "revise"
    assert any("before one that was" in fault for fault in check(known, anew=True).faults)
    known.acts[first.event_id] = "label"
    assert check(known, anew=True).faults == []
    known.marks.add("draw 1")
    known.acts["0" * 64] = "label c on item-1"
    faults = check(known, anew=False).faults
    assert [fault.split(":")[0] for fault in faults] == ["lost from the study", "lost from the journal", "lost"]
    with Study.open(known.path) as study, study.cursor() as cursor:
        cursor.execute("UPDATE label_events SET value = 'altered' WHERE seq = 2")
    assert any("current_labels" in fault for fault in check(known, anew=False).faults)
    gone = Known(tmp_path / "none", dict(known.acts))
    assert len(check(gone, anew=False).faults) == 3
