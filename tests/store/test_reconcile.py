"""Opening brings journal and database together: whatever each still has, the union, in order, once; or nothing."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_makers import act, draw_of

from store.applying import apply_entries, known_ids
from store.draws import add_draw
from store.errors import StudyDamagedError
from store.events import EVENT
from store.journal import Entry, journal_path, read_journal
from store.study import Study
from store.tasks import add_tasks


class Whole(NamedTuple):
    """A study's journal line by line, and an empty study file of the same name."""

    header: Entry
    entries: list[Entry]
    empty: Path
    folder: Path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    path = folder / "s.duckdb"
    with Study.create(path, "halumem") as study:
        study.checkpoint()
        shutil.copy(path, folder / "empty")
        add_tasks(study, [{"task": "qa", "labels": ["a", "b"]}], "2026-01-01T00:00:00+00:00")
        add_draw(study, *draw_of(["item-1", "item-2", "item-3"]))
        study.append([act(value="a"), act("reveal", policy="item", value="a")])
        study.append([act(who="dr.wu", value="b")])
        study.append([act("revise", value="c"), act("undo", value="a")])
        study.record([{"type": "note", "n": 1}])
        study.append([act(who="dr.wu", value=None, kind="clear"), act(of="item-2", value="漢\x00")])
    entries = read_journal(journal_path(path)).entries
    return Whole(entries[0], entries[1:], folder / "empty", folder)


def lay(whole: Whole, folder: Path, journal: Sequence[Entry], stored: Sequence[Entry], torn: bytes = b"") -> Path:
    """A study with those lines in its journal and those entries in its tables."""
    path = folder / "s.duckdb"
    path.with_name("s.duckdb.wal").unlink(missing_ok=True)
    shutil.copy(whole.empty, path)
    with duckdb.connect(str(path)) as connection:
        apply_entries(connection, stored)
    lines = [entry.line_bytes() for entry in [whole.header, *journal]]
    journal_path(path).write_bytes(b"".join(lines) + torn)
    return path


def is_whole(entries: Sequence[Entry]) -> bool:
    """Every chain among them runs 1, 2, 3 …"""
    chains: dict[Any, list[int]] = defaultdict(list)
    for record in (entry.record for entry in entries):
        if record["type"] == EVENT:
            chains[record["copy_id"], record["annotator"]].append(record["seq"])
    return all(sorted(seqs) == list(range(1, len(seqs) + 1)) for seqs in chains.values())


def stored_in(path: Path) -> list[str]:
    """Every id in the tables, doubles and all."""
    with duckdb.connect(str(path)) as connection:
        query = "SELECT event_id FROM label_events UNION ALL SELECT event_id FROM journal_records"
        return sorted(row[0] for row in connection.execute(query).fetchall())


def journaled_in(path: Path) -> list[str]:
    """Every id in the journal but the header's, doubles and all."""
    lines = journal_path(path).read_bytes().split(b"\n")
    assert lines[-1] == b"", "the last line is ended"
    return sorted(line[13:77].decode() for line in lines[1:-1])


def expect_union(path: Path, union: Sequence[Entry]) -> None:
    """Both sides have the union, each act once and in order, and a second opening finds nothing to do."""
    ids = sorted(entry.event_id for entry in union)
    with Study.open(path) as study:
        rows = study.rows("SELECT body FROM label_events ORDER BY clock, copy_id, annotator, seq")
        draws = study.rows("SELECT count(*) FROM draws"), study.rows("SELECT count(*) FROM draw_items")
    assert stored_in(path) == ids
    assert journaled_in(path) == ids
    assert [row[0] for row in rows] == [entry.body for entry in union if entry.record["type"] == EVENT]
    kinds = [entry.record["type"] for entry in union]
    assert draws == ([(kinds.count("draw"),)], [(3 * kinds.count("draw_items"),)])
    with Study.open(path) as study:
        assert study.notices == []


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_two_beginnings_become_the_longer_one(whole: Whole, tmp_path_factory: Any, data: st.DataObject) -> None:
    """What a crash leaves: the journal up to anywhere, half a line after it, and a log that lost its end."""
    count = len(whole.entries)
    journaled, stored = data.draw(st.integers(0, count)), data.draw(st.integers(0, count))
    torn = b""
    if journaled < count:
        line = whole.entries[journaled].line_bytes()
        torn = line[: data.draw(st.integers(0, len(line) - 2))]
    folder = tmp_path_factory.mktemp("beginnings")
    path = lay(whole, folder, whole.entries[:journaled], whole.entries[:stored], torn)
    expect_union(path, whole.entries[: max(journaled, stored)])
    set_aside = [place.read_bytes() for place in folder.glob("*.torn-*")]
    assert set_aside == ([torn] if torn and stored <= journaled else [])


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_two_parts_become_their_union_or_are_both_left_alone(
    whole: Whole, tmp_path_factory: Any, data: st.DataObject
) -> None:
    """What worse than a crash leaves: lines and rows missing anywhere, lines twice."""
    places = st.sets(st.integers(0, len(whole.entries) - 1))
    gone_in_journal, gone_in_study = data.draw(places), data.draw(places)
    journal = [entry for place, entry in enumerate(whole.entries) if place not in gone_in_journal]
    stored = [entry for place, entry in enumerate(whole.entries) if place not in gone_in_study]
    twice = data.draw(st.lists(st.sampled_from(journal), max_size=2)) if journal else []
    path = lay(whole, tmp_path_factory.mktemp("parts"), [*journal, *twice], stored)
    union = [entry for place, entry in enumerate(whole.entries) if place not in gone_in_journal & gone_in_study]
    if is_whole(union):
        with Study.open(path):
            pass
        assert stored_in(path) == sorted(entry.event_id for entry in union)
        assert set(journaled_in(path)) == {entry.event_id for entry in union}
        return
    before = journal_path(path).read_bytes(), stored_in(path)
    with pytest.raises(StudyDamagedError, match="chain of labels is broken") as caught:
        Study.open(path)
    assert "Lost: act" in caught.value.detail
    assert (journal_path(path).read_bytes(), stored_in(path)) == before


def test_a_crash_between_the_two_writes_of_opening_is_mended_by_the_next(whole: Whole, tmp_path: Path) -> None:
    """Opening first takes in what the journal has, then writes back what only the study has."""
    from store import reconcile

    path = lay(whole, tmp_path, whole.entries[:4], [whole.entries[0], *whole.entries[3:]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reconcile.Journal, "append", _die)
        with pytest.raises(KeyboardInterrupt):
            Study.open(path)
    with duckdb.connect(str(path)) as connection:
        assert len(known_ids(connection)) == len(whole.entries)
    expect_union(path, whole.entries)


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_opening_mended_is_told(whole: Whole, tmp_path: Path) -> None:
    path = lay(whole, tmp_path, whole.entries[:-1], [*whole.entries[:-3], whole.entries[-1]])
    with Study.open(path) as study:
        assert study.notices == [
            "2 acts were restored from the journal.",
            "1 act was written back to the journal from the study.",
        ]


def test_a_draw_that_a_crash_cut_is_no_draw(whole: Whole, tmp_path: Path) -> None:
    """The head of a draw comes last: items without it are not served as if they were the whole."""
    from store.draws import list_draws

    kinds = [entry.record["type"] for entry in whole.entries]
    assert kinds.index("draw_items") < kinds.index("draw")
    path = lay(whole, tmp_path, whole.entries[: kinds.index("draw")], [])
    with Study.open(path) as study:
        assert list_draws(study) == []
