"""Size: opening 20,000 acts, counting 100,000 items, saving one label; what each may touch and take."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from store_makers import act, labels_in

from store import journal as journal_module
from store.applying import apply_entries
from store.chains import Chains
from store.database import Database, in_transaction
from store.events import EventDraft
from store.items import count_items, get_item, systems
from store.journal import Journal, journal_path, read_journal
from store.records import LabelState
from store.study import Study

ACTS = 20_000
ITEMS = 100_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with 20,000 acts of three people, each with a note, laid by the store's own pieces."""
    path = tmp_path_factory.mktemp("long") / "s.duckdb"
    Study.create(path, "halumem").close()
    header = read_journal(journal_path(path)).entries[0].record
    state = LabelState(value="correct", parts={"included": "true"}, note="a note of some length " * 4)
    drafts = [
        EventDraft("label", f"dr.{number % 3}", f"{number:032x}", "c" * 32, state, draw_id="d" * 16, active_ms=900)
        for number in range(ACTS)
    ]
    database, journal = Database(path), Journal(journal_path(path))
    chains = Chains(database.connection, header["study_id"], header["copy_id"])
    entries = [entry for _, entry in chains.place(drafts)]
    in_transaction(database.connection, lambda: apply_entries(database.connection, entries))
    journal.append(entries)
    journal.close()
    database.close()
    return path


def test_opening_many_acts_parses_none_of_them(long: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is verified by hashing; only what the study lacks is parsed."""
    parsed = []
    loads = json.loads

    def counting(text: str, **options: object) -> object:
        parsed.append(text)
        return loads(text, **options)

    monkeypatch.setattr(journal_module.json, "loads", counting)
    with Study.open(long) as study:
        assert study.notices == []
    assert len([text for text in parsed if "label_event" in text]) == 0


def test_a_label_on_a_long_study_costs_what_it_costs_on_a_new_one(long: Path, tmp_path: Path) -> None:
    def cost(study: Study) -> float:
        for _ in range(5):
            study.append([act()])
        started = time.process_time()
        for _ in range(30):
            study.append([act()])
        return (time.process_time() - started) / 30

    with Study.create(tmp_path / "s.duckdb", "halumem") as study:
        short = cost(study)
    with Study.open(long) as study:
        assert cost(study) < 4 * short + 0.005


def test_saving_writes_one_line_with_one_sync_and_one_commit(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs: list[int] = []
    fsync = journal_module.os.fsync
    monkeypatch.setattr(journal_module.os, "fsync", lambda descriptor: (syncs.append(descriptor), fsync(descriptor)))
    parsed: list[str] = []
    monkeypatch.setattr(journal_module.json, "loads", parsed.append)
    before = len(journal_path(study.path).read_bytes().splitlines())
    study.append([act()])
    assert len(syncs) == 1 and parsed == []
    study.append([act(), act("reveal", policy="item")])
    assert len(syncs) == 2 and parsed == [], "a label and its showing are one write"
    assert len(journal_path(study.path).read_bytes().splitlines()) == before + 3


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with 100,000 items, some of them in two versions."""
    path = tmp_path_factory.mktemp("wide") / "s.duckdb"
    with Study.create(path, "halumem") as study:
        study.change(_fill, [])
    return path


def _fill(connection: object) -> None:
    columns = """md5(i::VARCHAR), 0, 'content', 'meta', ['qa', 'update'][1 + i % 2], 'sys', '1', 'pair', 'u' || i % 50,
        'g' || i % 1000, '{}', 1.0, '{"text": "' || repeat(md5(i::VARCHAR), 16) || '"}', '{}', '{}', i, 'import'"""
    connection.execute(f"INSERT INTO items SELECT {columns} FROM range({ITEMS}) t(i)")  # type: ignore[attr-defined]
    connection.execute(  # type: ignore[attr-defined]
        "INSERT INTO items SELECT * REPLACE (1 AS version, 'new' AS content_hash) FROM items WHERE position % 100 = 0"
    )


def test_counting_many_items_touches_no_payload(wide: Path) -> None:
    queries = (
        "SELECT task, count(*) FROM current_items GROUP BY task ORDER BY task",
        "SELECT item_id, group_key FROM current_items",
        "SELECT system FROM items GROUP BY system ORDER BY min(rowid)",
    )
    with Study.open(wide) as study:
        for query in queries:
            plan = study.rows(f"EXPLAIN {query}")[0][1]
            assert "items" in plan and "payload" not in plan, plan
        assert count_items(study) == {"qa": ITEMS // 2, "update": ITEMS // 2}
        assert systems(study) == ["sys"]


def test_one_of_many_items_is_its_newest_version(wide: Path) -> None:
    with Study.open(wide) as study:
        changed, kept = study.rows("SELECT md5('100'), md5('101')")[0]
        assert get_item(study, changed).content_hash == "new"
        assert get_item(study, kept).content_hash == "content"


def test_streaming_many_items_takes_memory_for_a_batch_only(wide: Path) -> None:
    """60 MB of payload pass through a few megabytes of Python."""
    import tracemalloc

    with Study.open(wide) as study:
        tracemalloc.start()
        rows = sum(1 for _ in study.stream("SELECT payload FROM current_items"))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert rows == ITEMS
    assert most < 12_000_000
    assert labels_in_nothing(wide)


def labels_in_nothing(path: Path) -> bool:
    with Study.open(path) as study:
        return labels_in(study) == []
