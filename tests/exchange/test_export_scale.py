"""Size: an export streams; its time and memory grow with the lines it writes, not with the study it comes from."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from annotate.exchange.exporting import export_csv, export_jsonl
from store.applying import apply_entries
from store.chains import Chains
from store.database import Database, in_transaction
from store.events import EventDraft
from store.importing import import_records
from store.journal import Journal, journal_path, read_journal
from store.records import ItemRecord, JudgeRecord, LabelState, SystemRecord, VerdictRecord, item_id
from store.study import Study

PEOPLE = ("dr.li", "dr.okafor", "李医生")


def labelled_study(path: Path, items: int) -> Path:
    """That many items with a verdict and a label of three people each, laid by the store's own pieces."""
    judge = JudgeRecord("qa", "j")
    records = [
        ItemRecord(item_id("halumem", "qa", "s", number), "qa", "s", str(number), "u", "", position=number,
                   payload={"question": f"What dog, {number}?", "response": "A Labrador. " * 20})
        for number in range(items)
    ]  # fmt: skip
    verdicts = [VerdictRecord(item.item_id, item.content_hash, judge.judge_id, "Correct") for item in records]
    with Study.create(path, "halumem") as study:
        import_records(study, [SystemRecord("s", "S"), judge, *records, *verdicts], [])
    header = read_journal(journal_path(path)).entries[0].record
    drafts = [
        EventDraft("label", who, item.item_id, item.content_hash, LabelState(value="Correct", note="a note"))
        for item in records
        for who in PEOPLE
    ]
    database, journal = Database(path), Journal(journal_path(path))
    entries = [e for _, e in Chains(database.connection, header["study_id"], header["copy_id"]).place(drafts)]
    in_transaction(database.connection, lambda: apply_entries(database.connection, entries))
    journal.append(entries)
    journal.close()
    database.close()
    return path


def peak_of(study: Study, path: Path) -> int:
    """Bytes of Python at the most while exporting."""
    tracemalloc.start()
    export_jsonl(study, path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.slow
def test_memory_does_not_grow_with_the_study(tmp_path: Path) -> None:
    peaks = []
    for items in (1_000, 4_000):
        with Study.open(labelled_study(tmp_path / f"{items}.duckdb", items)) as study:
            peaks.append(peak_of(study, tmp_path / f"{items}.jsonl"))
    assert peaks[1] < peaks[0] * 2, "four times the items, a batch at a time"


@pytest.mark.slow
def test_ten_thousand_items_of_three_people_are_all_out(tmp_path: Path) -> None:
    with Study.open(labelled_study(tmp_path / "s.duckdb", 10_000)) as study:
        assert export_jsonl(study, tmp_path / "out.jsonl") == 10_000
        assert export_csv(study, tmp_path / "out.csv") == 30_000
