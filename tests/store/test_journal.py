"""The journal: its line format, what it verifies, what a crash leaves of it, and failed writes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import journal as journal_module
from store.errors import NotWrittenError, SaveError
from store.journal import Entry, Journal, JournalDamagedError, journal_path, parse_line, read_journal


def entries(count: int) -> list[Entry]:
    return [Entry.of({"type": "t", "number": number, "text": "漢字 é"}) for number in range(count)]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A journal of four lines."""
    path = tmp_path / "s.journal.jsonl"
    journal = Journal(path)
    journal.append(entries(4))
    journal.close()
    return path


def test_a_journal_stands_beside_its_study_whatever_the_name() -> None:
    assert journal_path(Path("/a/run.duckdb")) == Path("/a/run.journal.jsonl")
    assert journal_path(Path("/a/run.v1 of.me.duckdb")) == Path("/a/run.v1 of.me.journal.jsonl")


def test_a_line_is_json_whose_id_is_the_hash_of_the_rest() -> None:
    line = Entry.of({"type": "t", "b": 1, "a": "漢"}).line_bytes()
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    read = json.loads(line)
    event_id = read.pop("event_id")
    rest = json.dumps(read, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")
    assert event_id == hashlib.sha256(rest).hexdigest()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8).filter(lambda key: key != "event_id"), json_values, max_size=6))
def test_what_is_written_is_read_back(record: dict[str, object]) -> None:
    line = Entry.of(record).line_bytes()
    read = parse_line(line.removesuffix(b"\n"), 1)
    assert read.record == record
    assert read.intact


@given(st.integers(min_value=0), st.integers(min_value=0, max_value=7))
def test_every_flipped_bit_is_noticed(place: int, bit: int) -> None:
    line = bytearray(Entry.of({"type": "t", "value": "correct"}).line_bytes().removesuffix(b"\n"))
    line[place % len(line)] ^= 1 << bit
    with pytest.raises(JournalDamagedError, match="Line 3"):
        parse_line(bytes(line), 3)


def test_half_an_emoji_is_written_as_a_replacement_and_a_whole_one_stays() -> None:
    entry = Entry.of({"note": "bad \ud83d end", "split": "\ud83d\ude00", "nul": "a\x00b"})
    assert parse_line(entry.line_bytes().rstrip(), 1).record == {
        "note": "bad \ufffd end",
        "split": "😀",
        "nul": "a\x00b",
    }
    assert entry.record["note"] == "bad \ufffd end"


def test_what_json_cannot_say_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Entry.of({"score": float("nan")})


def test_reading_keeps_order_and_verifies(written: Path) -> None:
    reading = read_journal(written)
    assert [entry.record["number"] for entry in reading.entries] == [0, 1, 2, 3]
    assert [entry.line for entry in reading.entries] == [1, 2, 3, 4]
    assert reading.good_bytes == written.stat().st_size
    assert (reading.torn, reading.damaged, reading.unended) == (b"", [], False)


def test_known_lines_are_verified_but_not_kept(written: Path) -> None:
    known = {entry.event_id for entry in entries(3)}
    reading = read_journal(written, known=known)
    assert [entry.record["number"] for entry in reading.entries] == [0, 3]
    assert reading.ids == {entry.event_id for entry in entries(4)}


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_torn_last_line_is_told_from_the_whole_ones(written: Path, cut: int) -> None:
    whole = written.read_bytes()
    last = len(entries(4)[3].line_bytes())
    written.write_bytes(whole[: len(whole) - 1 - cut])
    reading = read_journal(written)
    assert len(reading.entries) == 3
    assert reading.good_bytes == len(whole) - last
    assert reading.torn == whole[reading.good_bytes : -1 - cut]


def test_a_last_line_without_its_newline_is_whole(written: Path) -> None:
    written.write_bytes(written.read_bytes()[:-1])
    reading = read_journal(written)
    assert len(reading.entries) == 4 and reading.unended and not reading.torn


def test_a_damaged_line_in_the_middle_is_named(written: Path) -> None:
    lines = written.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"number":1', b'"number":7')
    written.write_bytes(b"".join(lines))
    with pytest.raises(JournalDamagedError, match="Line 2"):
        read_journal(written)
    reading = read_journal(written, tolerant=True)
    assert [line for line, _ in reading.damaged] == [2]
    assert [entry.record["number"] for entry in reading.entries] == [0, 2, 3]


def test_a_line_that_stands_twice_counts_once(written: Path) -> None:
    written.write_bytes(written.read_bytes() + entries(4)[2].line_bytes())
    assert [entry.record["number"] for entry in read_journal(written).entries] == [0, 1, 2, 3]


def test_line_ends_of_another_system_do_no_harm(written: Path) -> None:
    written.write_bytes(written.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert len(read_journal(written).entries) == 4


def test_a_failed_write_leaves_the_journal_as_it_was(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written.read_bytes()
    journal = Journal(written)
    write = os.write

    def half(descriptor: int, block: bytes) -> int:
        if len(block) < 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, bytes(block[: len(block) // 2]))

    monkeypatch.setattr(journal_module.os, "write", half)
    with pytest.raises(SaveError, match="No space left") as caught:
        journal.append(entries(1))
    assert not caught.value.journaled
    assert written.read_bytes() == before
    monkeypatch.undo()
    journal.append(entries(5)[4:])
    journal.close()
    assert len(read_journal(written).entries) == 5


def test_a_failed_sync_is_no_save(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written.read_bytes()
    journal = Journal(written)
    monkeypatch.setattr(journal_module.os, "fsync", _refuse)
    with pytest.raises(SaveError):
        journal.append(entries(1))
    assert written.read_bytes() == before
    monkeypatch.undo()
    journal.close()


def test_nothing_is_written_after_rest_that_could_not_be_cut_off(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(written)
    with monkeypatch.context() as broken:
        broken.setattr(journal_module.os, "fsync", _refuse)
        broken.setattr(journal_module.os, "ftruncate", _refuse)
        for _ in range(2):
            with pytest.raises(SaveError):
                journal.append(entries(5)[4:])
    assert len(written.read_bytes().splitlines()) == 5, "the rest that could not be cut off"
    journal.append(entries(6)[5:])
    journal.close()
    assert [entry.record["number"] for entry in read_journal(written).entries] == [0, 1, 2, 3, 5]


def _refuse(*_: object) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_a_journal_that_cannot_be_opened_says_where_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError) as caught:
        Journal(tmp_path)
    assert str(tmp_path) in caught.value.detail and caught.value.hint
    with pytest.raises(NotWrittenError, match="cannot be read"):
        read_journal(tmp_path)


def test_closing_twice_closes_no_other_file(written: Path, tmp_path: Path) -> None:
    journal = Journal(written)
    journal.close()
    with (tmp_path / "other").open("w", encoding="utf-8") as other:
        journal.close()
        other.write("still open")
        other.flush()
