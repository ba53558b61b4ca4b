"""Damaged files: each is refused with what is lost and the command that repairs, and that command repairs."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import duckdb
import pytest
from store_makers import (
    act,
    as_entry_line,
    crashed,
    crashed_study,
    doctor,
    draw_of,
    dump,
    healthy,
    item,
    journal_lines,
    labelled_study,
    labels_in,
    overread,
    refused,
    run_of,
    take,
    values,
    wal_of,
)

from store.alterations import altered_acts
from store.draws import add_draw
from store.errors import OverreadError, StudyDamagedError, UsageError
from store.events import COLUMNS
from store.journal import Entry, journal_path, read_journal
from store.repair import examine, rebuild, repair
from store.study import Study

LABELS = [f"value-{number}" for number in range(5)]


def kept(folder: Path) -> list[str]:
    """What repairs kept beside the study."""
    usual = {"s.duckdb", "s.duckdb.wal", "s.journal.jsonl", "s.source.json"}
    return sorted(each.name for each in folder.iterdir() if each.name not in usual)


def rewrite(path: Path, lines: list[bytes]) -> None:
    journal_path(path).write_bytes(b"".join(lines))


# The write-ahead log


def test_a_log_cut_by_seven_bytes_loses_no_label(crashed_path: Path) -> None:
    """DuckDB opens it in silence with the last label missing; the journal has it."""
    path = crashed_path
    whole = wal_of(path).read_bytes()
    wal_of(path).write_bytes(whole[:-7])
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT count(*) FROM label_events").fetchone() == (4,), "the last one is missing"
    result = overread("--study", path, "status", cwd=path.parent)
    assert result.returncode == 0 and "1 act was restored from the journal" in result.stderr
    healthy(path)


def test_a_log_cut_anywhere_loses_no_label(crashed_path: Path) -> None:
    path = crashed_path
    whole, file = wal_of(path).read_bytes(), path.read_bytes()
    for length in {0, 1, 8, 20, *random.Random(7).sample(range(len(whole)), 12)}:
        path.write_bytes(file)
        wal_of(path).write_bytes(whole[:length])
        try:
            assert values(path) == LABELS, length
        except StudyDamagedError as error:
            assert "doctor --repair" in error.hint
            repair(path)
            assert values(path) == LABELS, length


def test_a_flipped_bit_in_the_log_is_refused_and_repaired(crashed_path: Path) -> None:
    path = crashed_path
    log = bytearray(wal_of(path).read_bytes())
    log[60] ^= 4
    wal_of(path).write_bytes(log)
    refused(path, "write-ahead log", "No label is lost", f"overread --study {path} doctor --repair")
    said = doctor(path, "--repair")
    assert "kept as s.duckdb.wal.damaged-1" in said and "5 acts came back from the journal" in said
    assert wal_of(path).with_name("s.duckdb.wal.damaged-1").read_bytes() == log
    healthy(path)


@pytest.mark.slow
def test_a_flipped_bit_anywhere_in_the_log_loses_no_label(crashed_path: Path) -> None:
    path = crashed_path
    whole, file, chance = wal_of(path).read_bytes(), path.read_bytes(), random.Random(11)
    outcomes = set()
    for _ in range(15):
        path.write_bytes(file)
        log = bytearray(whole)
        log[chance.randrange(len(log))] ^= 1 << chance.randrange(8)
        wal_of(path).write_bytes(log)
        outcomes.add(_open_or_mend(path))
        assert values(path) == LABELS
    assert "repaired" in outcomes


def _open_or_mend(path: Path) -> str:
    """Open; if that is refused, do what the message says."""
    try:
        Study.open(path).close()
    except StudyDamagedError as error:
        if "--rebuild" in error.hint:
            rebuild(path)
            return "rebuilt"
        assert "--repair" in error.hint, error
        repair(path)
        return "repaired"
    return "opened"


@pytest.mark.parametrize("which", ["an older log", "a newer log", "another study's log"])
def test_a_log_that_does_not_belong_to_the_file_is_refused_and_set_aside(
    path: Path, tmp_path: Path, which: str
) -> None:
    """A backup put back beside a log that was left lying: replayed, it could double or lose acts in silence."""
    older = path.read_bytes()
    with Study.open(path) as study:
        study.append([act(value="value-5")])
        older_log = wal_of(path).read_bytes()
        study.checkpoint()
        study.append([act(value="value-6")])
        newer_log = wal_of(path).read_bytes()
    if which == "an older log":
        wal_of(path).write_bytes(older_log)
    elif which == "a newer log":
        path.write_bytes(older)
        wal_of(path).write_bytes(newer_log)
    else:
        (tmp_path / "other").mkdir()
        wal_of(path).write_bytes(wal_of(crashed_study(tmp_path / "other")).read_bytes())
    refused(path, "another copy's", "No label is lost", "doctor --repair")
    doctor(path, "--repair")
    healthy(path, 7)


def test_what_only_the_log_had_of_an_import_is_named(tmp_path: Path) -> None:
    """Killed between the commit of an import and its checkpoint, and then the log is damaged."""
    path = labelled_study(tmp_path / "s.duckdb")
    source = tmp_path / "more.json"
    source.write_text("{}", encoding="utf-8")
    with Study.open(path) as study:
        study._recorder._checkpoint = lambda: None  # type: ignore[method-assign]
        take(study, run_of([item("more")]), [source])
        path = crashed(study, tmp_path / "crashed")
    wal_of(path).write_bytes(bytes([wal_of(path).read_bytes()[0] ^ 1]) + wal_of(path).read_bytes()[1:])
    log = bytearray(wal_of(path).read_bytes())
    log[50] ^= 1
    wal_of(path).write_bytes(log)
    assert f"Import again: {source}" in doctor(path, "--repair")
    healthy(path)


# The journal


def test_half_a_line_is_set_aside(path: Path) -> None:
    torn = as_entry_line({"type": "label_event", "never": "confirmed"})[:-20]
    rewrite(path, [*journal_lines(path), torn])
    result = overread("--study", path, "status", cwd=path.parent)
    assert result.returncode == 0 and "half a line" in result.stderr and "s.journal.jsonl.torn-1" in result.stderr
    assert (path.parent / "s.journal.jsonl.torn-1").read_bytes() == torn
    assert (path.parent / "s.journal.jsonl.torn-1").stat().st_mode & 0o777 == 0o600
    healthy(path)
    rewrite(path, [*journal_lines(path), torn[:30]])
    healthy(path)
    assert kept(path.parent) == ["s.journal.jsonl.torn-1", "s.journal.jsonl.torn-2"]


def test_half_a_line_of_an_act_the_study_has_is_made_whole(path: Path) -> None:
    whole = journal_path(path).read_bytes()
    for cut in (1, 2, 30, 400):
        journal_path(path).write_bytes(whole[:-cut])
        healthy(path)
        assert read_journal(journal_path(path)).ids == set(_ids(whole))
    assert kept(path.parent) == []


def _ids(journal: bytes) -> list[str]:
    return [json.loads(line)["event_id"] for line in journal.splitlines()]


def test_a_line_damaged_in_the_middle_comes_back_from_the_study(path: Path) -> None:
    lines = journal_lines(path)
    damaged = lines[-3].replace(b"value-2", b"value-9")
    rewrite(path, [*lines[:-3], damaged, *lines[-2:]])
    refused(path, "journal of s.duckdb is damaged", f"line {len(lines) - 2}", "Nothing is lost",
            f"overread --study {path} doctor --repair")  # fmt: skip
    said = doctor(path, code=4)
    assert "1 damaged" in said and "doctor --repair" in said
    said = doctor(path, "--repair")
    assert "nothing is lost" in said and "s.journal.jsonl.damaged-1" in said
    healthy(path)
    assert damaged in (path.parent / "s.journal.jsonl.damaged-1").read_bytes()
    assert sorted(journal_lines(path)) == sorted(lines)


def test_a_line_damaged_in_both_is_named_as_lost_and_the_rest_goes_on(crashed_path: Path) -> None:
    path = crashed_path
    lines = journal_lines(path)
    rewrite(path, [*lines[:-3], b"x" + lines[-3][1:], *lines[-2:]])
    wal_of(path).unlink()
    refused(path, "1 act stands nowhere else and is lost; the study holds the rest", "doctor --repair")
    said = doctor(path, "--repair")
    assert "0 acts came back from the study, 1 act stands nowhere else and is lost" in said
    assert "Lost: act 3 of dr.li." in said
    assert values(path) == ["value-0", "value-1", "value-3", "value-4"]
    assert "1 lost, as a repair has noted" in doctor(path)
    with Study.open(path) as study:
        assert study.append([act(value="goes on")])[0].seq == 6
    again = rebuild(path)
    assert values(path)[-1] == "goes on" and not any("Lost" in sentence for sentence in again)


def _zeroed(lines: list[bytes]) -> list[bytes]:
    """A sector of zeros over two acts and the end of the line between them, as a disk leaves it."""
    return [*lines[:-3], bytes(len(lines[-3] + lines[-2]) - 1) + b"\n", lines[-1]]


HARMLESS = {
    "a line cut in two": lambda lines: [*lines[:-2], lines[-2][:150] + b"\n" + lines[-2][151:], lines[-1]],
    "two lines run into one": lambda lines: [*lines[:-3], lines[-3][:-1] + b"x" + lines[-2], lines[-1]],
    "marks of a version control": lambda lines: [*lines[:-1], b"<<<<<<< HEAD\n", lines[-1], b">>>>>>> other\n"],
    "a copy of an intact line, damaged": lambda lines: [*lines, lines[-2].replace(b"value-3", b"value-x")],
    "zeros over two acts": _zeroed,
    "a bit of the id itself": lambda lines: [*lines[:-2], lines[-2][:20] + b"~" + lines[-2][21:], lines[-1]],
    "an act cut short": lambda lines: [*lines[:-2], lines[-2][:100] + b"\n", lines[-1]],
}


@pytest.mark.parametrize("how", HARMLESS)
def test_what_the_study_holds_is_never_called_lost(path: Path, how: str) -> None:
    rewrite(path, HARMLESS[how](journal_lines(path)))
    refused(path, "journal of s.duckdb is damaged", "Nothing is lost: the study holds what they said.")
    assert "nothing is lost" in doctor(path, "--repair")
    healthy(path)


LOSING = {
    "two lines run into one": (
        lambda lines: [*lines[:-3], lines[-3][:-1] + b"x" + lines[-2], lines[-1]],
        "2 acts stand nowhere else and are lost",
        "Lost: acts 3 to 4 of dr.li.",
    ),
    "zeros over two acts": (
        _zeroed,
        "of 1 line nothing can be made out, and what it said is lost",
        "Lost: acts 3 to 4 of dr.li.",
    ),
    "the last act": (
        lambda lines: [*lines[:-1], lines[-1].replace(b"value-4", b"value-x")],
        "1 act stands nowhere else and is lost",
        "1 act stands nowhere else and is lost",
    ),
}


@pytest.mark.parametrize("how", LOSING)
def test_what_stands_nowhere_else_is_counted_exactly(crashed_path: Path, how: str) -> None:
    damage, loss, repaired = LOSING[how]
    rewrite(crashed_path, damage(journal_lines(crashed_path)))
    wal_of(crashed_path).unlink()
    refused(crashed_path, f"{loss[0].upper()}{loss[1:]}; the study holds the rest.")
    assert repaired in doctor(crashed_path, "--repair")
    assert doctor(crashed_path).rstrip().endswith("healthy")


def test_a_damaged_log_promises_only_what_the_journal_holds(crashed_path: Path) -> None:
    path = crashed_path
    log = bytearray(wal_of(path).read_bytes())
    log[60] ^= 4
    wal_of(path).write_bytes(log)
    lines = journal_lines(path)
    rewrite(path, [*lines[:-2], lines[-2].replace(b"value-3", b"value-x"), lines[-1]])
    said = refused(path, "write-ahead log", "1 line of s.journal.jsonl cannot be read either")
    assert "No label is lost" not in said
    journal_path(path).unlink()
    said = refused(path, "write-ahead log", "s.journal.jsonl is missing too: labels that only the log held are lost")
    assert "No label is lost" not in said


def test_a_line_taken_out_of_both_is_named_as_lost(crashed_path: Path) -> None:
    path = crashed_path
    lines = journal_lines(path)
    rewrite(path, [*lines[:-3], *lines[-1:]])
    wal_of(path).unlink()
    refused(path, "chain of labels is broken", "Lost: acts 3 to 4 of dr.li.", "doctor --repair")
    assert values_in_file(path) == [], "refused before anything was taken in"
    assert "Lost: acts 3 to 4 of dr.li." in doctor(path, "--repair")
    assert values(path) == ["value-0", "value-1", "value-4"]


def values_in_file(path: Path) -> list[str]:
    with duckdb.connect(str(path)) as connection:
        return [row[0] for row in connection.execute("SELECT value FROM label_events ORDER BY seq").fetchall()]


@pytest.mark.parametrize("first", [b"", b"garbage\n", b"\xef\xbb\xbf"])
def test_a_damaged_header_is_written_anew(path: Path, first: bytes) -> None:
    lines = journal_lines(path)
    rest = lines[1:] if first != b"\xef\xbb\xbf" else lines
    rewrite(path, [first, *rest])
    refused(path, "damaged", "line 1", "Nothing is lost", "doctor --repair")
    assert "nothing is lost" in doctor(path, "--repair")
    healthy(path)
    assert journal_lines(path)[0] == lines[0]


def test_the_journal_of_another_study_is_refused_and_both_are_left_alone(path: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = labelled_study(tmp_path / "other" / "s.duckdb", 1)
    own = journal_path(path).read_bytes()
    shutil.copy(journal_path(other), journal_path(path))
    before = journal_path(path).read_bytes()
    refused(path, "belongs to another study", "Nothing is lost", "doctor --repair")
    assert overread("--study", path, "doctor", "--repair", cwd=tmp_path).returncode == 4
    assert journal_path(path).read_bytes() == before and values_in_file(path) == LABELS
    journal_path(path).rename(tmp_path / "away")
    assert "written anew" in doctor(path, "--repair")
    healthy(path)
    assert set(_ids(journal_path(path).read_bytes())) == set(_ids(own))


def test_a_study_without_its_journal(path: Path) -> None:
    own = journal_lines(path)
    journal_path(path).unlink()
    refused(path, "journal of s.duckdb is missing", "Nothing is lost: the study holds all 8 acts", "doctor --repair")
    assert not journal_path(path).exists()
    assert "written anew from the study: 8 acts, nothing lost" in doctor(path, "--repair")
    assert journal_path(path).stat().st_mode & 0o777 == 0o600
    assert sorted(journal_lines(path)) == sorted(own)
    healthy(path)


@pytest.mark.parametrize("content", [b"", b"\n", b"no journal at all", b"two\nlines\n"])
def test_a_study_with_an_empty_or_foreign_journal(path: Path, content: bytes) -> None:
    journal_path(path).write_bytes(content)
    refused(path, "Nothing is lost", "doctor --repair")
    assert journal_path(path).read_bytes() == content
    doctor(path, "--repair")
    healthy(path)
    assert kept(path.parent) == ["s.journal.jsonl.damaged-1"]
    assert (path.parent / "s.journal.jsonl.damaged-1").read_bytes() == content


def test_a_new_study_whose_header_a_crash_cut(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    Study.create(path, "halumem").close()
    header = journal_path(path).read_bytes()
    for length in (0, 1, 40, len(header) - 1):
        journal_path(path).write_bytes(header[:length])
        with Study.open(path) as study:
            assert study.notices == []
        assert journal_path(path).read_bytes() == header
    journal_path(path).unlink()
    Study.open(path).close()
    assert journal_path(path).read_bytes() == header and kept(tmp_path) == []


def test_a_journal_that_says_what_is_not_understood_is_refused(path: Path) -> None:
    rewrite(path, [*journal_lines(path), as_entry_line({"type": "label_event", "from": "the future"})])
    before = values_in_file(path)
    refused(path, "does not understand", "Nothing is lost", "Upgrade overread")
    assert values_in_file(path) == before


def test_a_journal_of_a_newer_format_is_refused(path: Path) -> None:
    lines = journal_lines(path)
    header = json.loads(lines[0])
    del header["event_id"]
    rewrite(path, [as_entry_line({**header, "format": 99}), *lines[1:]])
    refused(path, "newer overread", "Upgrade")


def test_records_of_unknown_types_are_kept(path: Path) -> None:
    rewrite(path, [*journal_lines(path), as_entry_line({"type": "plan of a later version", "n": 1})])
    with Study.open(path) as study:
        assert study.journal_records("plan of a later version")[0]["n"] == 1


# The database file


def test_a_journal_without_its_study_makes_it_anew(path: Path) -> None:
    with Study.open(path) as study:
        made = (
            study.rows("SELECT * FROM label_events ORDER BY clock"),
            study.rows("SELECT * FROM draw_items ORDER BY ALL"),
        )
    path.unlink()
    refused(path, "s.duckdb is missing", "no label is lost", "doctor --rebuild")
    said = doctor(path, "--rebuild")
    assert "5 acts of people restored" in said
    assert "Import again: " in said and "s.source.json" in said
    healthy(path)
    assert path.stat().st_mode & 0o777 == 0o600
    with Study.open(path) as study:
        assert made == (
            study.rows("SELECT * FROM label_events ORDER BY clock"),
            study.rows("SELECT * FROM draw_items ORDER BY ALL"),
        )


@pytest.mark.parametrize("how", ["garbage", "empty", "half", "short", "other"])
def test_a_damaged_study_file_is_made_anew_and_kept(path: Path, how: str) -> None:
    whole = path.read_bytes()
    damaged = {"garbage": b"hello " * 5000, "empty": b"", "half": whole[: len(whole) // 2], "short": whole[:4000]}
    if how == "other":
        path.unlink()
        duckdb.connect(str(path)).execute("CREATE TABLE mine AS SELECT 1").close()
    else:
        path.write_bytes(damaged[how])
    content = path.read_bytes()
    refused(path, "s.duckdb", "o label is lost", f"overread --study {path} doctor --rebuild")
    said = doctor(path, "--rebuild")
    assert "kept as s.duckdb.damaged-1" in said and "Import again" in said
    assert (path.parent / "s.duckdb.damaged-1").read_bytes() == content or how == "other"
    healthy(path)


@pytest.mark.slow
def test_a_flipped_bit_anywhere_in_the_study_file_loses_no_label(path: Path, tmp_path: Path) -> None:
    """Whatever the bit: it opens, or it is refused and the command in the message mends it."""
    whole, journal, chance = path.read_bytes(), journal_path(path).read_bytes(), random.Random(5)
    outcomes: set[str] = set()
    for number in range(15):
        folder = tmp_path / str(number)
        folder.mkdir()
        study = folder / "s.duckdb"
        damaged = bytearray(whole)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        study.write_bytes(damaged)
        journal_path(study).write_bytes(journal)
        outcomes.add(_open_or_mend(study))
        health = examine(study)
        if health.trouble:
            assert "--rebuild" in health.remedy, health
            rebuild(study)
            outcomes.add("rebuilt after a look")
        assert values(study) == LABELS
    assert {"opened", "rebuilt"} <= outcomes


def test_damage_met_while_reading_is_told_with_its_remedy(tmp_path: Path) -> None:
    """A block of item text that only a query touches."""
    path = tmp_path / "s.duckdb"
    with Study.create(path, "halumem") as study:
        take(study, run_of([item(n, payload={"q": f"{n} {random.Random(n).random()}" * 40}) for n in range(2000)]))
        study.append([act(value="value-0")])
    content = bytearray(path.read_bytes())
    with Study.open(path) as study:
        block = study.rows("SELECT max(block_id) FROM pragma_storage_info('items') WHERE column_name = 'payload'")[0][0]
    content[3 * 4096 + block * 16384 + 9000] ^= 1
    path.write_bytes(content)
    with Study.open(path) as study:
        assert labels_in(study) == ["value-0"]
        with pytest.raises(StudyDamagedError, match="cannot be read") as caught:
            study.rows("SELECT sum(length(payload)) FROM items")
        with pytest.raises(StudyDamagedError):
            list(study.stream("SELECT payload FROM items"))
    assert "doctor --rebuild" in caught.value.hint and "No label is lost" in caught.value.detail
    said = doctor(path, "--rebuild")
    assert "carried over" not in said, "what cannot be read whole is not carried over"
    healthy(path, 1)


def test_both_gone_says_so(path: Path) -> None:
    path.write_bytes(b"garbage " * 4000)
    journal_path(path).unlink()
    said = refused(path, "There is no journal beside it", "Bring back s.journal.jsonl")
    assert "No label is lost" not in said
    assert overread("--study", path, "doctor", "--rebuild", cwd=path.parent).returncode == 2


def test_rebuilding_carries_over_what_the_old_file_still_tells(path: Path) -> None:
    with Study.open(path) as study:
        before = {table: study.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in ("items", "texts", "verdicts")}
    said = doctor(path, "--rebuild")
    assert "3 items and their verdicts were carried over" in said and "Import again" not in said
    with Study.open(path) as study:
        assert before == {table: study.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in before}
    healthy(path)


def test_rebuilding_takes_the_log_along(tmp_path: Path) -> None:
    """Items that only the log holds are carried over, and the old pair stays a pair."""
    path = labelled_study(tmp_path / "s.duckdb")
    with Study.open(path) as study:
        study._recorder._checkpoint = lambda: None  # type: ignore[method-assign]
        take(study, run_of([item("more")]))
        path = crashed(study, tmp_path / "crashed")
    assert wal_of(path).exists()
    assert "4 items and their verdicts were carried over" in doctor(path, "--rebuild")
    old = tmp_path / "crashed" / "s.duckdb.damaged-1"
    with duckdb.connect(str(old)) as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (4,)
    healthy(path)


def test_a_rebuild_that_fails_leaves_everything(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    monkeypatch.setattr("store.repair.carry_over", _fail)
    with pytest.raises(RuntimeError):
        rebuild(path)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before


def _fail(*_: object) -> None:
    raise RuntimeError("in the middle")


# Copies that went apart, and rows that were altered


@pytest.fixture
def forked(path: Path, tmp_path: Path) -> Path:
    """The study of one copy beside the journal of another, both worked in since."""
    other = tmp_path / "other"
    shutil.copytree(path.parent, other, ignore=shutil.ignore_patterns("other"))
    with Study.open(path) as study:
        study.append([act(value="mine 6"), act(value="mine 7")])
    with Study.open(other / "s.duckdb") as study:
        study.append([act(value="yours 6")])
    shutil.copy(other / "s.journal.jsonl", journal_path(path))
    return path


def test_a_fork_is_refused_and_neither_side_is_touched(forked: Path) -> None:
    before = {each.name: each.read_bytes() for each in forked.parent.iterdir() if each.is_file()}
    refused(forked, "have gone apart", "Act 6 of dr.li", "Nothing is lost", "doctor --rebuild", "doctor --repair")
    assert overread("--study", forked, "doctor", "--repair", cwd=forked.parent).returncode == 4
    after = {each.name: each.read_bytes() for each in forked.parent.iterdir() if each.is_file()}
    assert after["s.journal.jsonl"] == before["s.journal.jsonl"] and after.keys() == before.keys()
    assert values_in_file(forked) == [*LABELS, "mine 6", "mine 7"]


def test_the_journals_side_of_a_fork(forked: Path) -> None:
    said = doctor(forked, "--rebuild")
    assert "2 acts of the old file do not stand in the journal; only the old file keeps them" in said
    assert values(forked) == [*LABELS, "yours 6"]
    assert values_in_file(forked.parent / "s.duckdb.damaged-1") == [*LABELS, "mine 6", "mine 7"]


def test_the_studys_side_of_a_fork(forked: Path, tmp_path: Path) -> None:
    journal_path(forked).rename(tmp_path / "away")
    assert "written anew" in doctor(forked, "--repair")
    assert values(forked) == [*LABELS, "mine 6", "mine 7"]


def alter(path: Path, statement: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(statement)


_ALTERED = {
    "value": "'other'", "note": "'x'", "mode": "'revised'", "tags": "'[\"a\"]'", "unsure": "true", "harm": "'serious'",
    "active_ms": "active_ms + 1", "happened_at": "happened_at + INTERVAL 1 SECOND", "annotator": "'dr.wu'",
    "round": "1", "item_id": "'item-9'", "utc_offset_minutes": "5", "rubric_version": "'v'", "evidence": "'[1]'",
    "body": "replace(body, 'value-2', 'value-9')", "event_id": "repeat('0', 64)", "draw_id": "'d'",
}  # fmt: skip


def test_an_altered_row_is_found_whatever_the_column(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        for column, value in _ALTERED.items():
            connection.execute("BEGIN")
            connection.execute(f"UPDATE label_events SET {column} = {value} WHERE value = 'value-2'")
            assert len(altered_acts(connection)) == 1, column
            connection.execute("ROLLBACK")
        assert altered_acts(connection) == []


@pytest.mark.parametrize("column", ["value", "body", "event_id"])
def test_an_altered_row_is_put_back(path: Path, column: str) -> None:
    alter(path, f"UPDATE label_events SET {column} = {_ALTERED[column]} WHERE value = 'value-2'")
    said = doctor(path, code=4)
    assert "trouble" in said and "altered" in said and "doctor --repair" in said
    said = doctor(path, "--repair")
    assert "1 acts had been altered; all are as they were written again." in said
    row = json.loads((path.parent / "s.duckdb.altered-1").read_text(encoding="utf-8"))
    assert set(row) == set(COLUMNS.replace(" ", "").split(","))
    assert (path.parent / "s.duckdb.altered-1").stat().st_mode & 0o777 == 0o600
    healthy(path)


def test_a_row_taken_out_comes_back_and_one_put_in_by_hand_is_refused(path: Path) -> None:
    alter(path, "DELETE FROM label_events WHERE value = 'value-2'")
    healthy(path)
    forged = "repeat('1', 64) AS event_id, 'forged' AS value"
    alter(path, f"INSERT INTO label_events SELECT * REPLACE ({forged}) FROM label_events WHERE value = 'value-4'")
    refused(path, "altered", "doctor --repair")
    doctor(path, "--repair")
    healthy(path)


_ALTERED_RECORDS = [
    "UPDATE journal_records SET body = replace(body, '\"seed\":7', '\"seed\":8') WHERE type = 'draw'",
    "UPDATE draws SET seed = 8",
    "UPDATE draw_items SET probability = 0.5 WHERE ordinal = 1",
    "DELETE FROM draw_items WHERE ordinal = 2",
    "INSERT INTO draws SELECT * FROM draws",
    "INSERT INTO tasks VALUES ('qa', 'v', 0, '{}', now())",
]


@pytest.mark.parametrize("statement", _ALTERED_RECORDS)
def test_an_altered_record_is_put_back_with_its_tables(path: Path, statement: str) -> None:
    with Study.open(path) as study:
        before = dump(study)
    alter(path, statement)
    said = doctor(path, code=4)
    assert "altered" in said and "doctor --repair" in said
    said = doctor(path, "--repair")
    assert "as they were written again" in said or "filled anew" in said
    with Study.open(path) as study:
        assert dump(study) == before
    healthy(path)


def test_the_order_of_members_in_a_table_is_no_alteration(path: Path) -> None:
    """Earlier versions wrote JSON in the order it came."""
    draw, items = draw_of(["item-1"], "d2", settings={"z": {"y": 1, "b": 2}, "a": 1})
    with Study.open(path) as study:
        add_draw(study, draw, items)
    healthy(path)
    alter(path, """UPDATE draws SET settings = '{"z": {"y": 1, "b": 2}, "a": 1}' WHERE draw_id = 'd2'""")
    healthy(path)
    alter(path, """UPDATE draws SET settings = '{"z": {"y": 1, "b": 3}, "a": 1}' WHERE draw_id = 'd2'""")
    assert "altered" in doctor(path, code=4)


def test_an_act_that_stands_twice_is_taken_out_once(path: Path) -> None:
    alter(path, "INSERT INTO label_events SELECT * FROM label_events WHERE value IN ('value-1', 'value-4')")
    refused(path, "stands twice", "Nothing is lost", "doctor --repair")
    assert "2 acts had been altered" in doctor(path, "--repair")
    healthy(path)


_ALTERED_IMPORTS = [
    "UPDATE items SET payload = replace(payload, 'dog', 'cat') WHERE position = 0",
    "UPDATE texts SET body = 'another dialogue'",
    "UPDATE verdicts SET label = 'wrong' WHERE item_id = (SELECT min(item_id) FROM items)",
    "UPDATE items SET payload = 'no JSON' WHERE item_id = (SELECT min(item_id) FROM items)",
]


@pytest.mark.parametrize("statement", _ALTERED_IMPORTS)
def test_altered_items_texts_and_verdicts_are_found_and_not_carried_over(path: Path, statement: str) -> None:
    alter(path, statement)
    said = doctor(path, code=4)
    assert "not what was imported" in said and "doctor --rebuild" in said and "import the files again" in said
    said = doctor(path, "--rebuild")
    assert "nothing was carried over" in said and "Import again" in said
    healthy(path)


def test_a_link_of_a_chain_altered_with_its_hash_is_told(path: Path) -> None:
    """Someone edits an act and gives it a fitting id, in both files: the next one still names the old id."""
    lines = journal_lines(path)
    record = json.loads(lines[-2])
    del record["event_id"]
    record["state"]["value"] = "forged"
    forged = Entry.of(record)
    rewrite(path, [*lines[:-2], forged.line_bytes(), lines[-1]])
    alter(path, f"UPDATE label_events SET event_id = '{forged.event_id}', value = 'forged', body = $${forged.body}$$"
                " WHERE value = 'value-3'")  # fmt: skip
    refused(path, "chain of labels is broken", "Act 5 of dr.li does not follow the act before it", "doctor --repair")
    assert "noted in the journal" in doctor(path, "--repair")
    assert values(path)[3] == "forged"
    with Study.open(path) as study:
        assert study.journal_records("gap")[0]["seq"] == 5


def test_an_unaltered_study_has_no_altered_rows(path: Path) -> None:
    with Study.open(path) as study, study.cursor() as cursor:
        assert altered_acts(cursor) == []
    assert repair(path) == ["Nothing needed mending."]
    assert kept(path.parent) == []


def test_repairing_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OverreadError, match="missing"):
        repair(tmp_path / "s.duckdb")
    with pytest.raises(UsageError, match="no journal"):
        rebuild(tmp_path / "s.duckdb")
