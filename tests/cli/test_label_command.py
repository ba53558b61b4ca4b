"""`label` on studies that are not whole: what cannot be shown is told and never passes for done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.journal import journal_path
from store.study import Study
from tests.commands import Overread
from tests.desk.desk_studies import copy_study, current_labels, make_study, press, qa, sit

LABEL = ("label", "--plain", "--annotator", "dr.li")


@pytest.fixture
def study(study_folder: Path) -> Path:
    """Six questions, two of them labelled."""
    path = study_folder / "s.duckdb"
    with make_study(path, [qa() for _ in range(6)]) as made:
        press(sit(made, "never"), "c", "h")
        made.record([{"type": "import", "path": "run.jsonl", "import_id": "x", "sha256": "0" * 64}])
    return path


@pytest.mark.slow
def test_items_that_are_gone_are_no_finished_queue(study: Path, overread_cli: Overread) -> None:
    """A study made anew from its journal has every label and no item."""
    study.unlink()
    assert overread_cli("--study", study, "doctor", "--rebuild").exit_code == 0
    told = overread_cli("--study", study, *LABEL, stdin="c\n")
    assert told.exit_code == 2 and "items to label are not in the study" in told.stderr, told
    assert "6 items were drawn" in told.stderr and "run.jsonl" in told.stderr
    assert "end of the queue" not in told.stdout
    with Study.open(study) as opened:
        assert len(current_labels(opened)) == 2


def test_some_that_are_gone_are_left_out_and_counted(study: Path, overread_cli: Overread) -> None:
    with Study.open(study) as opened:
        gone = [row[0] for row in opened.rows("SELECT item_id FROM draw_items ORDER BY ordinal")][1:3]
        labelled = current_labels(opened)
        opened.writer.do(
            lambda connection: connection.execute("DELETE FROM items WHERE list_contains(?, item_id)", [gone])
        )
    told = overread_cli("--study", study, *LABEL, stdin="c\nc\nc\n")
    assert told.exit_code == 0 and "2 drawn items are not in the study and are left out" in told.stderr, told
    assert "4 of 4 items are labelled." in told.stdout
    with Study.open(study) as opened:
        assert labelled.items() <= current_labels(opened).items(), "also the label on an item that is gone"


@pytest.mark.slow
def test_a_folder_where_locks_do_not_hold_is_warned_of_at_every_opening(study: Path, overread_cli: Overread) -> None:
    shared = study.parent / "Dropbox"
    shared.mkdir()
    path = copy_study(study, shared / "s.duckdb")
    for command in (("status",), LABEL):
        told = overread_cli("--study", path, *command)
        assert told.exit_code == 0 and "kept in sync (Dropbox)" in told.stderr, told
    assert "Dropbox" not in overread_cli("--study", study, "status").stderr
    assert journal_path(path).exists()


@pytest.mark.slow
def test_status_counts_labels_that_came_with_a_file(overread_cli: Overread, tmp_path: Path) -> None:
    rows = [
        {"item_id": f"i{n}", "question": "Q?", "response": f"R{n}", "human": [{"annotator": "dr.li", "label": "yes"}],
         "judge": [{"judge": "j", "label": "no"}]}
        for n in range(4)
    ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    overread_cli("init", "t.duckdb", "--benchmark", "table", cwd=tmp_path)
    assert overread_cli("import", "rows.jsonl", cwd=tmp_path).exit_code == 0
    status = overread_cli("status", cwd=tmp_path)
    assert "1 system," in status.stdout
    assert "labels that came with the files: dr.li 4\n" in status.stdout
    assert "nobody has labelled at the desk yet" in status.stdout
    assert overread_cli("status", "--json", cwd=tmp_path).json()["labels_from_files"] == {"dr.li": 4}
