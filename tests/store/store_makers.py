"""What the store's tests are made of: studies, items, verdicts and acts with names of their own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from store.draws import Draw, DrawnItem, add_draw
from store.events import EventDraft, Kind
from store.importing import ImportedFile, ImportReport, import_records
from store.journal import journal_path
from store.records import ItemRecord, JudgeRecord, LabelState, Record, SystemRecord, TextRecord, VerdictRecord, item_id
from store.study import Study

ROOT = Path(__file__).resolve().parents[2]
JUDGE = JudgeRecord("qa", "judge-a", "model", "v1")
AT = "2026-03-01T09:00:00+01:00"


def item(key: Any, *, question: str = "Which dog?", system: str = "sys", **changes: Any) -> ItemRecord:
    """A question of the made-up task `qa`."""
    fields: dict[str, Any] = {
        "item_id": item_id("made-up", "qa", system, key), "task": "qa", "system": system,
        "natural_key": json.dumps(key), "cluster": "user 1", "group": "", "payload": {"question": question},
    }  # fmt: skip
    return ItemRecord(**{**fields, **changes})


def verdict(
    of: ItemRecord, label: str | None = "correct", *, judge: JudgeRecord = JUDGE, **changes: Any
) -> VerdictRecord:
    """The judge's answer on an item."""
    return VerdictRecord(of.item_id, of.content_hash, judge.judge_id, label, **changes)


def run_of(items: Sequence[ItemRecord], *more: Record, judge: JudgeRecord = JUDGE) -> list[Record]:
    """A whole run: a system, a judge, the items, and `more`."""
    return [SystemRecord("sys", "The system"), judge, *items, *more]


def take(study: Study, records: Iterable[Record], files: Sequence[Path] = (), **options: Any) -> ImportReport:
    """Import records as if they came from `files`."""
    return import_records(study, records, [ImportedFile(path, "results", "sys") for path in files], **options)


def act(
    kind: Kind = "label", *, value: str | None = "correct", who: str = "dr.li", of: str = "item-1", **changes: Any
) -> EventDraft:
    """What a person did; `state` or any other field may be given."""
    state = changes.pop("state", LabelState(value=value))
    return EventDraft(kind=kind, annotator=who, item_id=of, content_hash="content", state=state, **changes)


def draw_of(ids: Sequence[str], draw_id: str = "draw-1", **changes: Any) -> tuple[Draw, list[DrawnItem]]:
    """A draw of those items, in that order."""
    fields: dict[str, Any] = {
        "draw_id": draw_id, "task": "qa", "stream": "estimate", "design": "simple", "reveal": "item", "seed": 7,
        "created_by": "lead", "at": AT,
    }  # fmt: skip
    return Draw(**{**fields, **changes}), [DrawnItem(name, number) for number, name in enumerate(ids)]


def labelled_study(path: Path, labels: int = 5) -> Path:
    """A closed study with items, verdicts, a task-less draw and that many labels of dr.li."""
    items = [item(number) for number in range(3)]
    source = path.with_suffix(".source.json")
    source.write_text("{}", encoding="utf-8")
    with Study.create(path, "halumem") as study:
        take(study, run_of(items, TextRecord.of("a long dialogue"), *map(verdict, items)), [source])
        add_draw(study, *draw_of([each.item_id for each in items]))
        for number in range(labels):
            study.append([act(of=items[number % 3].item_id, value=f"value-{number}")])
    return path


def labels_in(study: Study) -> list[str]:
    """The values of all acts, in order."""
    return [row[0] for row in study.rows("SELECT value FROM label_events ORDER BY clock, copy_id, annotator, seq")]


def values(path: Path) -> list[str]:
    """The values of all acts of a closed study, in order."""
    with Study.open(path) as study:
        return labels_in(study)


def journal_lines(path: Path) -> list[bytes]:
    """The lines of a study's journal, each with its newline."""
    return journal_path(path).read_bytes().splitlines(keepends=True)


def dump(study: Study) -> dict[str, list[tuple[Any, ...]]]:
    """Everything people made in a study, table by table."""
    tables = ("label_events", "journal_records", "tasks", "draws", "draw_items")
    return {table: sorted(study.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


def crash(path: Path) -> Iterator[bytes]:
    """The bytes of a file, cut at every length: what a crash can leave of it."""
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        yield whole[:length]


def overread(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, inside this process: its exit code and what it says."""
    from annotate.cli.main import app, run

    app.registered_commands.clear()  # `run` registers them; here it runs many times
    words = [str(argument) for argument in arguments]
    out, err = io.StringIO(), io.StringIO()
    mask = os.umask(0o022)
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run(words)
        except SystemExit as left:
            code = left.code
        finally:
            os.umask(mask)
    assert isinstance(code, int)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def overread_process(*arguments: str | Path, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own; it leaves no compiled modules, which a full disk would cut."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "annotate", *map(str, arguments)], cwd=cwd, capture_output=True, encoding="utf-8",
        env=environment, timeout=120, check=False, **options,
    )  # fmt: skip


def python(code: str, *arguments: str | Path, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a script in another process that has the store and these makers."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=cwd, capture_output=True, encoding="utf-8",
        env=environment, timeout=120, check=False, **options,
    )  # fmt: skip


def as_entry_line(record: Mapping[str, Any]) -> bytes:
    """A record as a line of a journal."""
    from store.journal import Entry

    return Entry.of(record).line_bytes()


def crashed(study: Study, folder: Path) -> Path:
    """What a power cut would leave of an open study, in another folder: file, log and journal as they are now."""
    folder.mkdir()
    for path in (study.path, study.path.with_name(f"{study.path.name}.wal"), journal_path(study.path)):
        if path.exists():
            shutil.copy(path, folder / path.name)
    return folder / study.path.name


def crashed_study(base: Path, labels: int = 5) -> Path:
    """A study as a power cut leaves it: items in the file, labels in its log and in the journal."""
    path = labelled_study(base / "s.duckdb", 0)
    with Study.open(path) as study:
        for number in range(labels):
            study.append([act(value=f"value-{number}")])
        return crashed(study, base / "crashed")


def wal_of(path: Path) -> Path:
    """A study's write-ahead log."""
    return path.with_name(f"{path.name}.wal")


def refused(path: Path, *words: str) -> str:
    """Open by the real command, which must refuse with exit code 4 and say these words; returns all it said."""
    result = overread("--study", path, "status", cwd=path.parent)
    assert result.returncode == 4, result
    for word in words:
        assert word in result.stderr, result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


def doctor(path: Path, *options: str, code: int = 0) -> str:
    """Run the real doctor; returns what it says."""
    result = overread("--study", path, "doctor", *options, cwd=path.parent)
    assert result.returncode == code, result
    return result.stdout + result.stderr


def healthy(path: Path, labels: int = 5) -> None:
    """The doctor finds nothing, and these labels are there."""
    said = doctor(path)
    assert said.rstrip().endswith("healthy"), said
    assert values(path) == [f"value-{number}" for number in range(labels)]
