"""A full disk and a read-only folder: nothing acknowledged is lost, nothing half is left, the same call works later.

A full disk is played by the limit on file sizes that a process can set itself.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_makers import (
    ROOT,
    crashed_study,
    doctor,
    journal_lines,
    labelled_study,
    overread,
    overread_process,
    python,
    values,
    wal_of,
)

from annotate.sample import sample_runs
from store.journal import journal_path

resource = pytest.importorskip("resource")

HEAD = """
import os, resource, sys
from pathlib import Path
from store.errors import NotWrittenError, SaveError
from store.journal import journal_path
from store.study import Study
from store_makers import act, item, labels_in, run_of, take, verdict, wal_of
path = Path(sys.argv[1])

sys.dont_write_bytecode = True  # Python would keep half of a compiled module

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def lift():
    limit(resource.RLIM_INFINITY)

def refused(call):
    try:
        call()
    except SaveError as error:
        return error
    raise AssertionError("saved on a full disk")
"""


def run(script: str, *arguments: str | Path, cwd: Path) -> None:
    """Run a script that asserts for itself."""
    result = python(HEAD + script, *arguments, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def test_a_full_journal_refuses_the_label_and_takes_it_later(path: Path) -> None:
    run("""
with Study.create(path, "halumem") as study:
    study.append([act(value=f"value-{n}") for n in range(30)])
    study.checkpoint()
    before = journal_path(path).read_bytes()
    limit(len(before) + 100)
    for _ in range(2):
        error = refused(lambda: study.append([act(value="again")]))
        assert error.title == "Not saved." and not error.journaled and error.events == (), error
        assert "File too large" in error.detail and "Free disk space" in error.hint, error
        assert journal_path(path).read_bytes() == before
        assert len(labels_in(study)) == 30
    lift()
    event = study.append([act(value="again")])[0]
    assert event.seq == 31
""", path, cwd=path.parent)  # fmt: skip
    assert values(path) == [*(f"value-{number}" for number in range(30)), "again"]


def test_a_full_log_keeps_the_label_in_the_journal_and_completes_it_later(path: Path) -> None:
    run("""
with Study.create(path, "halumem") as study:
    for n in range(30):
        study.append([act(value=f"value-{n}")])
    assert wal_of(path).stat().st_size > journal_path(path).stat().st_size + 2000
    limit(wal_of(path).stat().st_size + 200)
    error = refused(lambda: study.append([act(value="kept"), act("mark", value="kept")]))
    assert error.journaled and [event.seq for event in error.events] == [31, 32], error
    assert "Nothing is lost if you quit" in error.hint, error
    assert refused(study.flush).journaled
    other = refused(lambda: study.append([act(value="too early")]))
    assert not other.journaled and other.events == () and "earlier act" in other.title, other
    assert len(labels_in(study)) == 30
    assert study.exposure("dr.li", "item-1") == "blind"
    lift()
    study.flush()
    study.flush()
    assert study.append([act(value="next")])[0].seq == 33
""", path, cwd=path.parent)  # fmt: skip
    assert values(path) == [*(f"value-{number}" for number in range(30)), "kept", "kept", "next"]


def test_leaving_with_a_full_log_loses_nothing(path: Path) -> None:
    run("""
with Study.create(path, "halumem") as study:
    for n in range(30):
        study.append([act(value=f"value-{n}")])
    limit(wal_of(path).stat().st_size + 200)
    assert refused(lambda: study.append([act(value="kept")])).journaled
    if sys.argv[2] == "killed":
        os._exit(0)
""", path, "closed", cwd=path.parent)  # fmt: skip
    assert values(path) == [*(f"value-{number}" for number in range(30)), "kept"]


def test_being_killed_with_a_full_log_loses_nothing(path: Path) -> None:
    run("""
study = Study.create(path, "halumem")
for n in range(30):
    study.append([act(value=f"value-{n}")])
limit(wal_of(path).stat().st_size + 200)
assert refused(lambda: study.append([act(value="kept")])).journaled
os._exit(0)
""", path, cwd=path.parent)  # fmt: skip
    result = overread("--study", path, "status", cwd=path.parent)
    assert result.returncode == 0 and "1 act was restored from the journal" in result.stderr
    assert values(path) == [*(f"value-{number}" for number in range(30)), "kept"]


def test_a_checkpoint_that_finds_no_space_doubles_nothing(path: Path) -> None:
    """DuckDB commits, fails to fold its log into the file, says it failed, and refuses everything until reopened."""
    run("""
import secrets
study = Study.create(path, "halumem")
take(study, run_of([item(n, payload={"q": secrets.token_hex(2000)}) for n in range(100)]))
with study.cursor() as cursor:
    cursor.execute("SET wal_autocheckpoint = '40KB'")
limit(path.stat().st_size)
given, told = [], []
for n in range(60):
    try:
        study.append([act(value=f"value-{n}")])
        given.append(f"value-{n}")
    except SaveError as error:
        told.append(error)
        if error.journaled:
            given.append(f"value-{n}")
        break
lift()
study.flush()
assert labels_in(study) == given, (labels_in(study), given, told)
study.append([act(value="later")])
assert labels_in(study) == [*given, "later"]
study.close()
with Study.open(path) as study:
    assert labels_in(study) == [*given, "later"] and study.notices == []
    assert study.rows("SELECT count(*) FROM items") == [(100,)]
print(len(given), told)
""", path, cwd=path.parent)  # fmt: skip


def test_an_import_without_space_changes_nothing_and_works_later(path: Path) -> None:
    run("""
import secrets
items = [item(n, payload={"q": secrets.token_hex(500)}) for n in range(800)]
records = run_of(items, *map(verdict, items))
with Study.create(path, "halumem") as study:
    take(study, run_of([item("first")]))
    study.append([act(value="mine")])
    size = path.stat().st_size
    outcomes = []
    for room in (20_000, 300_000, 600_000, size + 50_000, size + 400_000):
        before = journal_path(path).read_bytes(), study.rows("SELECT count(*) FROM imports")
        limit(room)
        try:
            take(study, records)
            outcomes.append("done")
        except SaveError as error:
            assert error.title == "Not imported." and "Free disk space" in error.hint, error
            assert (journal_path(path).read_bytes(), study.rows("SELECT count(*) FROM imports")) == before
            assert study.rows("SELECT count(*) FROM items") == [(1,)], room
            outcomes.append("refused")
        lift()
        left = [each.name for each in path.parent.iterdir() if each.name.startswith(".")]
        assert left == [], left
        if outcomes[-1] == "done":
            break
    assert outcomes.count("refused") >= 3, outcomes
    study.append([act("revise", value="mine still")])
    assert take(study, records).items["qa"].as_json()["rejected"] == 0
    assert study.rows("SELECT count(*) FROM items") == [(801,)]
    assert labels_in(study) == ["mine", "mine still"]
with Study.open(path) as study:
    assert study.rows("SELECT count(*), count(DISTINCT item_id) FROM items") == [(801, 801)]
""", path, cwd=path.parent)  # fmt: skip


def full(size: int) -> dict[str, object]:
    """Options of a process that cannot write files longer than `size`."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))}


def test_the_commands_say_it_with_exit_code_4(path: Path) -> None:
    folder = path.parent
    made = overread_process("init", path, "--benchmark", "halumem", cwd=folder, **full(5_000))
    assert made.returncode == 4 and "no space left" in made.stderr, made
    assert list(folder.iterdir()) == []
    assert overread("init", path, "--benchmark", "halumem", cwd=folder).returncode == 0
    files = sample_runs()[0].files
    imported = overread_process("--study", path, "import", *files, cwd=folder, **full(30_000))
    assert imported.returncode == 4 and "Not imported." in imported.stderr and "Free disk space" in imported.stderr
    assert "Traceback" not in imported.stderr
    assert overread("--study", path, "import", *files, cwd=folder).returncode == 0
    before = sorted(each.name for each in folder.iterdir())
    kept = folder / "kept.jsonl"
    kept.write_text("what was exported before", encoding="utf-8")
    exported = overread_process("--study", path, "export", kept, cwd=folder, **full(2_000))
    assert exported.returncode == 4 and "kept.jsonl cannot be written" in exported.stderr
    assert kept.read_text(encoding="utf-8") == "what was exported before"
    assert sorted(each.name for each in folder.iterdir()) == sorted([*before, "kept.jsonl"]), "no half of an export"


def test_opening_a_crashed_study_without_space_loses_nothing(tmp_path: Path) -> None:
    """Its log is cut: a label must be restored from the journal, and there is no room for it."""
    path = crashed_study(tmp_path, 30)
    log = wal_of(path).read_bytes()
    wal_of(path).write_bytes(log[:-7])
    result = overread_process("--study", path, "status", cwd=tmp_path, **full(len(log) - 1000))
    assert result.returncode == 4 and "no space left" in result.stderr and "Nothing is lost" in result.stderr, result
    assert values(path) == [f"value-{number}" for number in range(30)]


def test_a_journal_that_must_be_completed_without_space_is_told(tmp_path: Path) -> None:
    path = labelled_study(tmp_path / "s.duckdb", 30)
    whole = journal_lines(path)
    journal_path(path).write_bytes(b"".join(whole[:-10]))
    size = journal_path(path).stat().st_size
    result = overread_process("--study", path, "status", cwd=tmp_path, **full(size + 100))
    assert result.returncode == 4 and "s.journal.jsonl cannot be written" in result.stderr, result
    assert journal_path(path).read_bytes() == b"".join(whole[:-10])
    assert overread("--study", path, "status", cwd=tmp_path).returncode == 0
    assert sorted(journal_lines(path)) == sorted(whole)


@pytest.mark.parametrize("option", ["--repair", "--rebuild"])
def test_a_repair_without_space_leaves_what_was_there(tmp_path: Path, option: str) -> None:
    path = labelled_study(tmp_path / "s.duckdb", 30)
    lines = journal_lines(path)
    journal_path(path).write_bytes(b"".join([*lines[:-3], b"x" + lines[-3][1:], *lines[-2:]]))
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    result = overread_process("--study", path, "doctor", option, cwd=tmp_path, **full(3000))
    assert result.returncode == 4 and "Traceback" not in result.stderr, result
    after = {each.name.replace(".damaged-1", ""): each.read_bytes() for each in tmp_path.iterdir()}
    assert after == before
    if not journal_path(path).exists():
        journal_path(path).with_name("s.journal.jsonl.damaged-1").rename(journal_path(path))
    doctor(path, "--repair")
    assert values(path) == [f"value-{number}" for number in range(30)]


# Read-only places


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="overread-tests-"))
    folder.chmod(0o777)
    yield folder
    for place in [folder, *folder.rglob("*")]:
        place.chmod(0o700)
    shutil.rmtree(folder)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's rights for a moment; a user who has none to begin with stays as they are."""
    if os.getuid() != 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setresgid(65534, 65534, 0)
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)


@pytest.fixture
def place(open_folder: Path) -> Path:
    """A folder with a study that every user may read and write."""
    folder = open_folder / "place"
    folder.mkdir()
    path = labelled_study(folder / "s.duckdb")
    for command in (["status"], ["export", open_folder / "warm.csv"]):
        overread("--study", path, *command, cwd=open_folder)  # loads what a user without rights could not load later
    for each in folder.iterdir():
        each.chmod(0o666)
    folder.chmod(0o777)
    return folder


def told(folder: Path, *arguments: str | Path) -> str:
    """Run the command without rights; it must refuse with exit code 4 and leave every file alone."""
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    with as_nobody():
        result = overread(*arguments, cwd=folder.parent)
    assert result.returncode == 4 and "Traceback" not in result.stderr, result
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before
    return result.stderr


def test_a_read_only_folder_is_told(place: Path) -> None:
    place.chmod(0o555)
    said = told(place, "--study", place / "s.duckdb", "status")
    for words in ("s.duckdb cannot be written here", str(place), "Nothing was changed", "Copy the study and its"):
        assert words in said
    said = told(place, "init", place / "new.duckdb", "--benchmark", "halumem")
    assert "cannot be written" in said and str(place) in said
    place.chmod(0o777)
    with as_nobody():
        assert overread("--study", place / "s.duckdb", "status", cwd=place.parent).returncode == 0
    assert values(place / "s.duckdb") == [f"value-{number}" for number in range(5)]


def test_a_read_only_study_or_journal_is_told(place: Path) -> None:
    path = place / "s.duckdb"
    path.chmod(0o444)
    assert "s.duckdb cannot be written here" in told(place, "--study", path, "status")
    path.chmod(0o666)
    for mode in (0o444, 0o000):
        journal_path(path).chmod(mode)
        said = told(place, "--study", path, "status")
        assert "s.journal.jsonl cannot be" in said and "Permission denied" in said
        assert "Give yourself the right" in said


def test_a_folder_that_may_not_be_entered_is_told(place: Path) -> None:
    place.chmod(0o000)
    with as_nobody():
        result = overread("--study", place / "s.duckdb", "status", cwd=place.parent)
    assert result.returncode == 4 and "cannot be read" in result.stderr and "Permission denied" in result.stderr


def test_an_export_into_a_read_only_folder_is_told(place: Path) -> None:
    locked = place / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    with as_nobody():
        result = overread("--study", place / "s.duckdb", "export", locked / "out.csv", cwd=place.parent)
    assert result.returncode == 4 and "out.csv cannot be written" in result.stderr
    assert "Permission denied" in result.stderr and list(locked.iterdir()) == []


def test_the_scripts_run_this_tree() -> None:
    result = python("import store; print(store.__file__)", cwd=ROOT)
    assert result.stdout.strip() == str(ROOT / "store" / "__init__.py")


def test_a_module_that_was_cut_on_a_full_disk_is_told_from_an_end_of_input(tmp_path: Path) -> None:
    """Python 3.11 keeps what fitted of a compiled module, and cannot load it again."""
    copy = tmp_path / "installed"
    for package in ("annotate", "judges", "store"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "annotate", "--help"]
    for _ in range(2):
        told = subprocess.run(
            command,
            cwd=copy,
            env={**environment, "PYTHONPATH": str(copy)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if told.returncode == 0:
            cut = next((copy / "annotate" / "cli" / "__pycache__").glob("score.*.pyc"))
            cut.write_bytes(cut.read_bytes()[:-100])
    assert told.returncode == 70
    assert "cut short" in told.stderr and "Delete the __pycache__ folders" in told.stderr, told.stderr
    assert "everything confirmed" not in told.stderr
