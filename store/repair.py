"""Health, repair and rebuilding. Nothing is deleted: what is damaged is kept under another name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from store import migrations
from store.alterations import altered_acts, altered_imports, altered_records, put_back, untrue_tables
from store.applying import keep_record, known_ids
from store.carrying import carry_over
from store.chains import now
from store.database import Database, in_transaction, told
from store.errors import OverreadError, StudyDamagedError, StudyLockedError, UsageError
from store.events import EVENT, event_of
from store.files import free_name, fsync_folder, keep_copy, move_aside, told_of, write_atomically
from store.founding import SETTINGS, founded, load_settings
from store.journal import Entry, Journal, JournalDamagedError, Reading, journal_path, read_journal
from store.losses import loss_of
from store.opening import command, connect, real_path
from store.paid_calls import PaidCalls
from store.reconcile import (
    GAP,
    HEADER,
    Break,
    breaks,
    broken,
    header_entry,
    loss,
    refuse_other_study,
    settle_tail,
    stored_entries,
    take_in,
)
from store.shards import waiting_shards, waiting_words
from store.study import Study, held


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
    """Open a study as every command does (which brings study and journal together), and look at every act in it.

    Raises:
        StudyLockedError: it is open elsewhere.
    """
    path = real_path(path)
    health = Health()
    try:
        health.facts.append(("journal", _journal_fact(journal_path(path))))
        with Study.open(path) as study:
            _look_inside(study, health)
    except StudyLockedError:
        raise
    except OverreadError as error:
        health.trouble = " ".join(part for part in (error.title, error.detail) if part)
        health.remedy = error.hint
    return health


def _journal_fact(journal: Path) -> str:
    if not journal.exists():
        return "missing"
    reading = read_journal(journal, tolerant=True)
    return f"{len(reading.entries)} lines intact, {len(reading.damaged)} damaged"


def _look_inside(study: Study, health: Health) -> None:
    acts, people = study.rows("SELECT count(*), count(DISTINCT annotator) FROM label_events")[0]
    items, verdicts = study.rows("SELECT (SELECT count(*) FROM current_items), (SELECT count(*) FROM verdicts)")[0]
    lost = [record["missing"] for record in study.journal_records(GAP)]
    chains = f"{sum(lost)} lost, as a repair has noted" if lost else "every chain is whole"
    health.facts += [
        ("study", f"{study.path.name}, benchmark {study.benchmark}, {items:,} items, {verdicts:,} verdicts"),
        ("acts", f"{acts:,} by {people} {'person' if people == 1 else 'people'}; {chains}"),
        *(("note", notice) for notice in study.notices),
    ]
    if waiting := waiting_shards(study):
        health.facts.append(("shards", waiting_words(len(waiting))))
    with study.cursor() as cursor:
        _look_at_paid_calls(study, cursor, health)
        acts_altered = bool(altered_acts(cursor) or altered_records(cursor) or untrue_tables(cursor))
        imports_altered = altered_imports(cursor)
    if acts_altered:
        health.trouble = "Acts, draws or tasks in the study are not what was journaled: they were altered."
        health.remedy = (
            f"{command(study.path, 'doctor --repair')}   (puts back what was written, keeps what was altered)"
        )
    elif imports_altered:
        health.trouble = f"{imports_altered} items, texts or verdicts are not what was imported: they were altered."
        health.remedy = f"{command(study.path, 'doctor --rebuild')}   (then import the files again)"


def _look_at_paid_calls(study: Study, cursor: Any, health: Health) -> None:
    paid = PaidCalls(study.path, study.study_id)
    found = paid.compare(cursor)
    remedy = command(study.path, "doctor --repair")
    if not (found.verdicts or found.answers or paid.path.exists()):
        return
    if not paid.path.exists() and not paid.was_there(cursor):
        how = f"{found.words} stand in the study alone; to keep them beside it too: {remedy}"
        health.facts.append(("calls", how))
        return
    health.facts.append(("calls", f"{found.words} in the study, {found.in_file:,} of them in {paid.path.name}"))
    if found.damaged or found.only_study or found.only_file:
        damaged = f" {found.damaged:,} bytes of it cannot be read." if found.damaged else ""
        lacking = f" It lacks {found.only_study:,} that the study has." if found.only_study else ""
        more = f" It has {found.only_file:,} that the study lacks." if found.only_file else ""
        health.trouble = f"{paid.path.name} (the paid calls) is not whole.{damaged}{lacking}{more}"
        health.remedy = f"{remedy}   (brings both together; keeps the file as it was)"


def repair(path: Path) -> list[str]:
    """Mend what can be mended in place; returns what was done and what is lost, as sentences.

    Raises:
        StudyDamagedError: the database itself is unreadable, or two copies have gone apart: `rebuild` is the way.
        StudyLockedError: the study is open elsewhere. NotWrittenError: no space, no rights.
    """
    path = real_path(path)
    if not path.exists():
        raise StudyDamagedError(f"{path.name} is missing.", "", command(path, "doctor --rebuild"))
    with held(path), told_of(path):
        done = _set_aside_damaged_log(path)
        database = Database(path)
        try:
            with told(path):
                done += _mend(database.connection, path)
        finally:
            database.close()
    with Study.open(path) as study:
        done += study.notices
        done += _to_import_again(study)
    return done or ["Nothing needed mending."]


def _mend(connection: Any, path: Path) -> list[str]:
    settings = load_settings(connection, path)
    migrations.migrate(connection)
    journal = journal_path(path)
    ids = read_journal(journal, tolerant=True).ids if journal.exists() else set()
    return [
        *put_back(connection, path, ids),
        *_mend_journal(connection, path, settings),
        *_note_losses(connection, path),
        *PaidCalls(path, settings["study_id"]).mend(connection),
    ]


def _set_aside_damaged_log(path: Path) -> list[str]:
    log = path.with_name(f"{path.name}.wal")
    try:
        connect(path).close()
    except StudyDamagedError:
        if not log.exists():
            raise
    else:
        return []
    kept = move_aside(log, "damaged")
    try:
        connect(path).close()
    except BaseException:
        kept.rename(log)  # the log is not what is wrong
        raise
    return [f"The damaged write-ahead log is kept as {kept.name}; what people made comes back from the journal."]


def _mend_journal(connection: Any, path: Path, settings: dict[str, Any]) -> list[str]:
    file = journal_path(path)
    stored = stored_entries(connection)
    if not file.exists():
        _write_journal(file, [header_entry(settings), *stored])
        return [f"The journal was written anew from the study: {len(stored)} acts, nothing lost."]
    reading = read_journal(file, tolerant=True)
    header = reading.entries[0].record if reading.entries else {"type": ""}
    if header["type"] == HEADER:
        refuse_other_study(path, settings, header)
        if not reading.damaged:
            return []
    elif not stored and not reading.entries:
        return []
    return _replace_journal(file, reading, stored, settings)


def _replace_journal(file: Path, reading: Reading, stored: Sequence[Entry], settings: dict[str, Any]) -> list[str]:
    recovered = [entry for entry in stored if entry.event_id not in reading.ids]
    body = [entry for entry in reading.entries if entry.record["type"] != HEADER]
    kept = keep_copy(file, "damaged")
    try:
        _write_journal(file, [header_entry(settings), *_in_order([*body, *recovered])])
    except BaseException:
        kept.unlink()
        raise
    count = max(1, len(reading.damaged))
    lines = "1 line of the journal was" if count == 1 else f"{count} lines of the journal were"
    back = "1 act" if len(recovered) == 1 else f"{len(recovered)} acts"
    loss = loss_of(reading.damaged, recovered, reading.ids)
    return [
        f"{lines} damaged; {back} came back from the study, {loss.words()}.",
        f"The damaged journal is kept as {kept.name}.",
    ]


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    parsed = [(entry, entry.record) for entry in entries]
    records = [entry for entry, record in parsed if record["type"] != EVENT]
    events = [(event_of(entry, record).order, entry) for entry, record in parsed if record["type"] == EVENT]
    return [*records, *(entry for _, entry in sorted(events, key=lambda pair: pair[0]))]


def _note_losses(connection: Any, path: Path) -> list[str]:
    """Take in what only the journal has; where a chain misses acts for good, say so in the journal and go on."""
    file = journal_path(path)
    reading = read_journal(file, known=known_ids(connection))
    found: list[Break] = []
    notes: list[Entry] = []

    def take_in_and_note() -> None:
        take_in(connection, path, reading.entries[1:])
        found.extend(breaks(connection))
        if fork := next((place for place in found if place.forked), None):
            raise broken(fork, path)
        notes.extend(_gap(place) for place in found)
        for note in notes:
            keep_record(connection, note, note.record)

    in_transaction(connection, take_in_and_note)
    done = [f"{len(reading.entries) - 1} acts came back from the journal."] if reading.entries[1:] else []
    if notes:
        absent = [entry for entry in stored_entries(connection) if entry.event_id not in reading.ids]
        _append(file, reading, notes, absent)
    return [*done, *map(_gap_words, found)]


def _append(file: Path, reading: Reading, entries: Sequence[Entry], absent: Sequence[Entry]) -> None:
    journal = Journal(file)
    try:
        settle_tail(journal, reading, absent)
        journal.append(entries)
    finally:
        journal.close()


def _gap(place: Break) -> Entry:
    return Entry.of(
        {"type": GAP, "copy_id": place.copy_id, "annotator": place.annotator, "seq": place.seq,
         "missing": place.lost, "at": now().isoformat()}
    )  # fmt: skip


def _gap_words(place: Break) -> str:
    if place.lost:
        return loss(place)
    return f"Act {place.seq} of {place.annotator} does not follow the act before it: noted in the journal."


def _to_import_again(study: Study) -> list[str]:
    """Imports whose items the study does not hold (a log or a file that held them is gone)."""
    there = {row[0] for row in study.rows("SELECT import_id FROM imports")}
    lost = [record for record in study.journal_records("import") if record["import_id"] not in there]
    return [f"Import again: {record['path']} (sha256 {record['sha256'][:12]}…)" for record in lost]


def rebuild(path: Path) -> list[str]:
    """Make the study anew from its journal; returns what was done and what must be imported again.

    What the old file still tells of items and verdicts is carried over. The old file is kept under another name.

    Raises:
        UsageError: there is no journal. JournalDamagedError: the journal has no header to go by.
        StudyLockedError: the study is open elsewhere. NotWrittenError: no space, no rights.
    """
    path = real_path(path)
    file = journal_path(path)
    if not file.exists():
        raise UsageError(f"There is no journal {file.name} to rebuild from.", "", "Put it beside the study.")
    reading = read_journal(file, tolerant=True)
    if not reading.entries or reading.entries[0].record["type"] != HEADER:
        raise JournalDamagedError("The first line of the journal is damaged.", str(file), "Restore it from a copy.")
    with held(path), told_of(path):
        done = _build(path, reading)
    done += [sentence for sentence in repair(path) if sentence != "Nothing needed mending."]
    return done


def _build(path: Path, reading: Reading) -> list[str]:
    header = reading.entries[0].record
    done: list[str] = []
    _refuse_if_held(path)
    with founded(path, {name: header[name] for name in SETTINGS}, lambda: done.extend(_keep_old_files(path))) as new:
        in_transaction(new, lambda: take_in(new, path, reading.entries[1:]))
        if path.exists():
            done += carry_over(new, path)
    acts = sum(1 for entry in reading.entries if entry.record["type"] == EVENT)
    return [f"{path.name} was made anew: {acts} acts of people restored.", *done]


def _refuse_if_held(path: Path) -> None:
    if path.exists():
        try:
            connect(path).close()
        except StudyDamagedError:
            return


def _keep_old_files(path: Path) -> list[str]:
    """The old file and its log stay together, so that they can be opened under their new name."""
    log = path.with_name(f"{path.name}.wal")
    kept = free_name(path, "damaged")
    if log.exists():
        log.rename(log.with_name(f"{kept.name}.wal"))
    if path.exists():
        path.rename(kept)
    fsync_folder(path.parent)
    return [f"The old file is kept as {kept.name}."] if kept.exists() else []


def _write_journal(file: Path, entries: Sequence[Entry]) -> None:
    write_atomically(file, (entry.line_bytes().decode("utf-8") for entry in entries))
