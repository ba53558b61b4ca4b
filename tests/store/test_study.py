"""A study's life: made once, held by one program, closed clean; whatever its path; for its owner only."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from store_makers import (
    ROOT,
    act,
    draw_of,
    item,
    labelled_study,
    labels_in,
    overread,
    overread_process,
    run_of,
    take,
    values,
)

from store import database
from store.draws import add_draw
from store.errors import NotWrittenError, OverreadError, StudyDamagedError, StudyLockedError, UsageError
from store.journal import journal_path, read_journal
from store.opening import connect_again
from store.study import Study


def test_a_new_study_is_two_files_and_nothing_else(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.duckdb", "halumem") as study:
        assert study.benchmark == "halumem" and study.notices == []
        assert len(study.study_id) == 32 and len(study.copy_id) == 16
        assert study.setting("benchmark") == "halumem" and study.setting("none", 3) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.duckdb", "s.journal.jsonl"]
    header = read_journal(tmp_path / "s.journal.jsonl").entries[0].record
    assert header["type"] == "header" and header["study_id"] == study.study_id and header["format"] == 1


def test_labels_are_there_after_closing(tmp_path: Path) -> None:
    assert values(labelled_study(tmp_path / "s.duckdb")) == [f"value-{number}" for number in range(5)]


@pytest.mark.parametrize("taken", ["s.duckdb", "s.journal.jsonl", "s.duckdb.wal"])
def test_nothing_is_written_over(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_bytes(b"mine")
    with pytest.raises(UsageError, match="is there already"):
        Study.create(tmp_path / "s.duckdb", "halumem")
    assert (tmp_path / taken).read_bytes() == b"mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_of_many_programs_that_make_one_study_one_does(tmp_path: Path) -> None:
    outcomes: list[object] = []

    def make() -> None:
        try:
            outcomes.append(Study.create(tmp_path / "s.duckdb", "halumem"))
        except (UsageError, StudyLockedError) as error:
            outcomes.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [outcome for outcome in outcomes if isinstance(outcome, Study)]
    assert len(made) == 1, outcomes
    made[0].close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.duckdb", "s.journal.jsonl"]


def test_a_study_needs_its_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        Study.create(tmp_path / "none" / "s.duckdb", "halumem")
    with pytest.raises(UsageError, match="no study"):
        Study.open(tmp_path / "s.duckdb")
    assert overread("--study", "s.duckdb", "status", cwd=tmp_path).returncode == 2


def test_another_duckdb_file_is_no_study(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "s.duckdb"
    duckdb.connect(str(path)).execute("CREATE TABLE mine AS SELECT 1").close()
    with pytest.raises(StudyDamagedError, match="no overread study"):
        Study.open(path)
    assert not journal_path(path).exists()


_HOLD = """
import sys, time
from pathlib import Path
from store.study import Study
with Study.open(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_program_is_told_who_holds_the_study_and_what_to_do(tmp_path: Path) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StudyLockedError) as caught:
            Study.open(path)
        result = overread("--study", path, "status", cwd=tmp_path)
        doctor = overread_process("--study", path, "doctor", "--repair", cwd=tmp_path)
        rebuild = overread("--study", path, "doctor", "--rebuild", cwd=tmp_path)
        holder.stdin.close()
        holder.wait(20)
    assert str(holder.pid) in caught.value.title and f"kill {holder.pid}" in caught.value.hint
    for refused in (result, doctor, rebuild):
        assert refused.returncode == 4 and f"process {holder.pid}" in refused.stderr, refused
    assert values(path) == [f"value-{number}" for number in range(5)]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["s.duckdb", "s.journal.jsonl", "s.source.json"]


_OPEN = """
import sys
from pathlib import Path
from store.study import Study
print("ready", flush=True)
sys.stdin.readline()
try:
    Study.open(Path(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, flush=True)
"""


def test_no_program_gets_between_closing_and_opening_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    command = [sys.executable, "-c", _OPEN, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    refusals = [StudyLockedError("s.duckdb is open in process 1 (cp).", "", "")]

    def while_it_is_closed(place: Path) -> Any:
        if refusals:
            raise refusals.pop()
        assert other.stdin is not None
        other.stdin.write(b"go\n")
        other.stdin.flush()
        with contextlib.suppress(subprocess.TimeoutExpired):  # there is nothing to hold it but the lock
            other.wait(0.5)
        return connect_again(place)

    with (
        Study.open(path) as study,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as other,
    ):
        assert other.stdout is not None and other.stdout.readline() == b"ready\n"
        monkeypatch.setattr(database, "connect_again", while_it_is_closed)
        assert study.renew() and not refusals
        assert other.stdout.read() == b"StudyLockedError\n"
        assert len(labels_in(study)) == 5


def test_a_study_that_could_not_be_opened_anew_is_opened_at_the_next_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held_elsewhere(_: Path) -> Any:
        raise StudyLockedError("s.duckdb is open in process 1 (cp).", "", "")

    with Study.open(labelled_study(tmp_path / "s.duckdb")) as study:
        monkeypatch.setattr(database, "connect_again", held_elsewhere)
        monkeypatch.setattr(database, "_PATIENCE_S", 0)
        for write in (
            lambda: study.keep_paid(lambda _: (None, [])).result(),
            lambda: study.append([act(value="late")]),
        ):
            with pytest.raises(StudyLockedError):
                study.renew()
            with pytest.raises(NotWrittenError, match="could not be opened again"):
                study.rows("SELECT 1")
            write()
        assert len(labels_in(study)) == 6


def test_one_program_opens_a_study_once(tmp_path: Path) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    with Study.open(path), pytest.raises(StudyLockedError, match="already in this program"):
        Study.open(path)
    assert len(values(path)) == 5


def test_a_failed_opening_lets_the_study_go(tmp_path: Path) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    journal = journal_path(path)
    aside = journal.rename(tmp_path / "aside")
    for _ in range(2):
        with pytest.raises(StudyDamagedError, match="missing"):
            Study.open(path)
    aside.rename(journal)
    assert len(values(path)) == 5


@pytest.mark.parametrize(
    "name", ["with space", 'quote\'s "two"', "ünï 漢字 😀", "[a-z]*", "{a,b}", "percent%20 #&;", "lock WAL", "-x=y"]
)
def test_a_study_lives_under_any_path(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    path = labelled_study(folder / f"{name}.duckdb")
    assert len(values(path)) == 5
    assert sorted(each.suffix for each in folder.iterdir()) == [".duckdb", ".json", ".jsonl"]


def test_the_command_in_a_message_can_be_copied_as_it_stands(tmp_path: Path) -> None:
    folder = tmp_path / '$HOME `x`; it\'s "two" * [a]'
    folder.mkdir()
    path = labelled_study(folder / "my study.duckdb")
    journal_path(path).unlink()
    refused = overread("--study", path, "status", cwd=tmp_path)
    assert refused.returncode == 4
    command = next(line for line in refused.stderr.splitlines() if "doctor --repair" in line)
    words = command[command.index("overread --study") :].removeprefix("overread ")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        ["sh", "-c", f'"$0" -m annotate {words}', sys.executable], env=environment, check=True, cwd=tmp_path, timeout=60
    )
    assert len(values(path)) == 5


@pytest.mark.parametrize("name", ["what?.duckdb", "a?b/s.duckdb", os.fsdecode(b"bad\xff.duckdb")])
def test_a_name_that_duckdb_cannot_take_is_refused_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    with pytest.raises(UsageError, match=r"question mark|UTF-8"):
        Study.create(tmp_path / name, "halumem")
    with pytest.raises(UsageError, match=r"question mark|UTF-8"):
        Study.open(tmp_path / name)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_two_names_of_one_study_are_one_study(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    path = labelled_study(tmp_path / "far" / "s.duckdb")
    (tmp_path / "link.duckdb").symlink_to(path)
    (tmp_path / "folder").symlink_to(tmp_path / "far", target_is_directory=True)
    for name in (
        tmp_path / "link.duckdb",
        tmp_path / "folder" / "s.duckdb",
        tmp_path / "far" / ".." / "far" / "s.duckdb",
    ):
        with Study.open(name) as study:
            assert study.path == path
            assert len(labels_in(study)) == 5
            with pytest.raises(StudyLockedError):
                Study.open(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["far", "folder", "link.duckdb"]
    with pytest.raises(UsageError, match="already"):
        Study.create(tmp_path / "link.duckdb", "halumem")
    result = overread("--study", "link.duckdb", "doctor", cwd=tmp_path)
    assert result.returncode == 0 and "healthy" in result.stdout


def test_everything_is_for_its_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with Study.create(tmp_path / "s.duckdb", "halumem") as study:
            study.append([act()])
            add_draw(study, *draw_of(["item-1"]))
            take(study, run_of([item(1)]))
            study.append([act()])
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        assert modes == {"s.duckdb": 0o600, "s.duckdb.wal": 0o600, "s.journal.jsonl": 0o600}
        assert os.umask(0o022) == 0o022, "the program's own umask is given back"
    finally:
        os.umask(before)


def test_what_a_big_query_spills_is_for_its_owner_only(study: Study) -> None:
    before = os.umask(0o022)
    try:
        with study.cursor() as cursor:
            cursor.execute("SET memory_limit = '40MB'; SET threads = 1")
        query = "SELECT i, repeat(md5(i::VARCHAR), 4) AS b FROM range(300000) t(i) ORDER BY b"
        seen: set[int] = set()
        for number, _ in enumerate(study.stream(query)):
            if number % 20_000 == 0:
                spilled = study.path.parent.glob("s.duckdb.tmp/*")
                seen |= {stat.S_IMODE(path.stat().st_mode) for path in spilled}
        assert seen == {0o600}
    finally:
        os.umask(before)


def test_too_little_memory_is_told_and_is_no_damage(study: Study) -> None:
    with study.cursor() as cursor:
        cursor.execute("SET memory_limit = '5MB'; SET threads = 1")
    with pytest.raises(OverreadError, match="not enough memory") as caught:
        study.rows("SELECT i, repeat(md5(i::VARCHAR), 40) AS b FROM range(100000) t(i) ORDER BY b")
    assert not isinstance(caught.value, StudyDamagedError)


def test_what_killed_programs_left_is_taken_away_and_nothing_else(tmp_path: Path) -> None:
    path = labelled_study(tmp_path / "s.duckdb")
    leftovers = [".s.duckdb.import-x1/items.ndjson", ".s.duckdb.ab12.part", ".s.duckdb.ab12.part.wal",
                 ".s.journal.jsonl.x.part", "s.duckdb.tmp/duckdb_temp_storage_DEFAULT-0.tmp"]  # fmt: skip
    others = [".t.duckdb.import-x1/items.ndjson", ".t.duckdb.ab12.part", "s.duckdb.damaged-1", "s.duckdb.tmp/mine.txt"]
    for name in [*leftovers, *others]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("patient's words", encoding="utf-8")
    assert len(values(path)) == 5
    assert [name for name in leftovers if (tmp_path / name).exists()] == []
    assert [name for name in others if not (tmp_path / name).exists()] == []
    assert not (tmp_path / ".s.duckdb.import-x1").exists()


def test_streaming_sees_every_row_in_order(study: Study) -> None:
    assert [row[0] for row in study.stream("SELECT i FROM range(5000) t(i) ORDER BY i", batch=7)] == list(range(5000))


def test_records_are_kept_in_order(study: Study) -> None:
    study.record([{"type": "note", "number": number} for number in range(3)])
    study.record([{"type": "other"}, {"type": "note", "number": 3}])
    assert [record["number"] for record in study.journal_records("note")] == [0, 1, 2, 3]


def test_closing_twice_does_no_harm_and_a_closed_study_takes_nothing(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.duckdb", "halumem")
    study.close()
    study.close()
    with pytest.raises(RuntimeError, match="closed"):
        study.append([act()])


def test_a_query_that_nobody_read_to_its_end_does_not_hold_the_study(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    study = Study.create(path, "halumem")
    rows = study.stream("SELECT i FROM range(100000) t(i)", batch=10)
    assert next(rows) == (0,)
    study.close()
    result = overread_process("--study", path, "status", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert [next(rows) for _ in range(9)] == [(number,) for number in range(1, 10)], "what was fetched is still there"
    with pytest.raises(OverreadError, match="closed while it was read"):
        next(rows)


def test_a_checkpoint_empties_the_log(study: Study) -> None:
    study.append([act()])
    log = study.path.with_name("s.duckdb.wal")
    assert log.exists()
    study.checkpoint()
    assert not log.exists() or log.stat().st_size == 0


def test_a_folder_in_the_studys_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "s.duckdb").mkdir()
    with pytest.raises(UsageError, match="no study"):
        Study.open(tmp_path / "s.duckdb")
    with pytest.raises(UsageError, match="already"):
        Study.create(tmp_path / "s.duckdb", "halumem")


def test_a_name_too_long_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError, match="cannot be"):
        Study.create(tmp_path / f"{'x' * 300}.duckdb", "halumem")
