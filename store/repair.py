"""Health, repair and rebuilding. Nothing is deleted: what is damaged is kept under another name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from store import migrations
from store.errors import OverreadError, StudyDamagedError, StudyLockedError, UsageError
from store.events import EVENT, Event, event_of
from store.files import move_aside, write_atomically
from store.journal import Entry, JournalDamagedError, Reading, journal_path, read_journal
from store.opening import connect
from store.reconcile import GAP, HEADER, apply_entries, known_ids, stored_entries
from store.study import APPLIERS, Study, header_entry, now, write_settings


@dataclass
class Health:
    """What an examination found.

    Attributes:
        facts: (what, how it is), for the user.
        trouble: what is wrong; "" when all is well. remedy: the command that mends it.
    """

    facts: list[tuple[str, str]] = field(default_factory=list)
    trouble: str = ""
    remedy: str = ""


def examine(path: Path) -> Health:
    """Look at study and journal without changing either's content."""
    health = Health()
    journal = journal_path(path)
    if journal.exists():
        reading = read_journal(journal, tolerant=True)
        health.facts.append(("journal", f"{len(reading.entries)} lines intact, {len(reading.damaged)} damaged"))
    else:
        health.facts.append(("journal", "missing"))
    try:
        with Study.open(path) as study:
            _look_inside(study, health)
    except StudyLockedError:
        raise
    except OverreadError as error:
        health.trouble = " ".join(part for part in (error.title, error.detail) if part)
        health.remedy = error.hint
    return health


def _look_inside(study: Study, health: Health) -> None:
    acts, people = study.rows("SELECT count(*), count(DISTINCT annotator) FROM label_events")[0]
    items, verdicts = study.rows("SELECT (SELECT count(*) FROM current_items), (SELECT count(*) FROM verdicts)")[0]
    altered = _altered_rows(study)
    health.facts += [
        ("study", f"{study.path.name}, benchmark {study.benchmark}, {items:,} items, {verdicts:,} verdicts"),
        ("acts", f"{acts:,} by {people} people; every chain is whole"),
        *(("repaired", notice) for notice in study.notices),
    ]
    if altered:
        health.trouble = f"{altered} rows of label_events differ from what was journaled: they were edited by hand."
        health.remedy = f"overread --study {study.path} doctor --rebuild"


def _altered_rows(study: Study) -> int:
    """Rows whose columns do not say what their journaled body says."""
    rows = study.stream("SELECT event_id, body, kind, item_id, annotator, value, note, mode, seq FROM label_events")
    count = 0
    for event_id, body, *columns in rows:
        sound = Entry.of(Entry(event_id, body).record)
        event = event_of(sound)
        expected = [event.act.kind, event.act.item_id, event.act.annotator, event.state.value, event.state.note,
                    event.mode, event.seq]  # fmt: skip
        count += sound.event_id != event_id or columns != expected
    return count


def repair(path: Path) -> list[str]:
    """Mend what can be mended in place; returns what was done and what is lost, as sentences.

    Raises:
        StudyDamagedError: the database itself is unreadable: `rebuild` is the way.
        StudyLockedError: the study is open elsewhere.
    """
    if not path.exists():
        raise StudyDamagedError(f"{path.name} is missing.", "", f"overread --study {path} doctor --rebuild")
    done = _set_aside_damaged_log(path)
    done += _mend_journal(path)
    with Study.open(path) as study:
        done += study.notices
    return done or ["Nothing needed mending."]


def _set_aside_damaged_log(path: Path) -> list[str]:
    log = path.with_name(f"{path.name}.wal")
    try:
        connect(path).close()
    except StudyLockedError:
        raise
    except StudyDamagedError:
        if not log.exists():
            raise
    else:
        return []
    kept = move_aside(log, "damaged")
    connect(path).close()
    return [f"The damaged write-ahead log is kept as {kept.name}; what it held comes back from the journal."]


def _mend_journal(path: Path) -> list[str]:
    file = journal_path(path)
    connection = connect(path)
    try:
        settings = {key: value for key, value in connection.execute("SELECT key, value FROM study").fetchall()}
        stored = stored_entries(connection)
    finally:
        connection.close()
    if not file.exists():
        _write_journal(file, [_header(settings), *stored])
        return [f"The journal was written anew from the study: {len(stored)} acts, nothing lost."]
    reading = read_journal(file, tolerant=True)
    if not reading.damaged:
        return []
    return _replace_journal(file, reading, stored, settings)


def _replace_journal(file: Path, reading: Reading, stored: Sequence[Entry], settings: dict[str, str]) -> list[str]:
    have = {entry.event_id for entry in reading.entries}
    recovered = [entry for entry in stored if entry.event_id not in have]
    body = [entry for entry in reading.entries if entry.record["type"] != HEADER]
    merged = _in_order([*body, *recovered])
    lost = _gaps(merged)
    kept = move_aside(file, "damaged")
    _write_journal(file, [_header(settings), *merged, *lost])
    missing = max(0, len(reading.damaged) - len(recovered))
    fate = "nothing is lost" if not missing else f"{missing} stand in neither file and are lost"
    return [
        f"{len(reading.damaged)} lines of the journal were damaged; {len(recovered)} came back from the study, {fate}.",
        f"The damaged journal is kept as {kept.name}.",
        *(_gap_words(entry) for entry in lost),
    ]


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    records = [entry for entry in entries if entry.record["type"] != EVENT]
    events = [entry for entry in entries if entry.record["type"] == EVENT]
    return [*records, *sorted(events, key=lambda entry: event_of(entry).order)]


def _gaps(entries: Sequence[Entry]) -> list[Entry]:
    """A `gap` record for each place where a chain misses acts, so that it may be opened again, told apart for ever."""
    known = {(r["copy_id"], r["annotator"], r["seq"]) for e in entries if (r := e.record)["type"] == GAP}
    last: dict[tuple[str, str], int] = {}
    gaps = []
    for entry in entries:
        if entry.record["type"] != EVENT:
            continue
        event = event_of(entry)
        expected = last.get(event.chain, 0) + 1
        if event.seq != expected and (*event.chain, event.seq) not in known:
            gaps.append(_gap(event, event.seq - expected))
        last[event.chain] = event.seq
    return gaps


def _gap(event: Event, missing: int) -> Entry:
    return Entry.of(
        {"type": GAP, "copy_id": event.copy_id, "annotator": event.act.annotator, "seq": event.seq, "missing": missing,
         "at": now().isoformat()}
    )  # fmt: skip


def _gap_words(entry: Entry) -> str:
    gap = entry.record
    return f"Lost: {gap['missing']} acts of {gap['annotator']} before act {gap['seq']}."


def rebuild(path: Path) -> list[str]:
    """Make the study anew from its journal alone; returns what was done and what must be imported again.

    Raises:
        UsageError: there is no journal. JournalDamagedError: the journal has no header to go by.
    """
    file = journal_path(path)
    if not file.exists():
        raise UsageError(f"There is no journal {file.name} to rebuild from.", "", "Put it beside the study.")
    reading = read_journal(file, tolerant=True)
    if not reading.entries or reading.entries[0].record["type"] != HEADER:
        raise JournalDamagedError("The first line of the journal is damaged.", str(file), "Restore it from a copy.")
    done = _keep_old_files(path)
    header = reading.entries[0].record
    _build(path, header, reading.entries[1:])
    if reading.damaged:
        done += repair(path)
    acts = sum(1 for entry in reading.entries if entry.record["type"] == EVENT)
    done.append(f"{path.name} was made anew: {acts} acts of people restored.")
    with Study.open(path) as study:
        imports = study.journal_records("import")
    done += [f"Import again: {record['path']} (sha256 {record['sha256'][:12]}…)" for record in imports]
    return done


def _keep_old_files(path: Path) -> list[str]:
    done = []
    for old in (path, path.with_name(f"{path.name}.wal")):
        if old.exists():
            if old == path:
                _refuse_if_held(path)
            done.append(f"The old file is kept as {move_aside(old, 'damaged').name}.")
    return done


def _refuse_if_held(path: Path) -> None:
    try:
        connect(path).close()
    except StudyLockedError:
        raise
    except StudyDamagedError:
        return


def _build(path: Path, header: dict[str, Any], entries: Sequence[Entry]) -> None:
    connection = connect(path)
    try:
        migrations.migrate(connection)
        names = ("study_id", "copy_id", "benchmark", "format", "created_at")
        write_settings(connection, {name: header[name] for name in names})
        known = known_ids(connection)
        apply_entries(connection, [entry for entry in entries if entry.event_id not in known], APPLIERS)
    finally:
        connection.close()


def _header(settings: dict[str, str]) -> Entry:
    import json

    return header_entry({key: json.loads(value) for key, value in settings.items()})


def _write_journal(file: Path, entries: Sequence[Entry]) -> None:
    write_atomically(file, (entry.line_bytes().decode("utf-8") for entry in entries))
