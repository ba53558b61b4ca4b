"""A study: one `.duckdb` file and its journal. The only door to both."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store import draws, migrations, tasks
from store.errors import SaveError, StudyDamagedError, StudyLockedError, UsageError
from store.events import EVENT, Event, EventDraft, Mode, event_of, seal
from store.files import fsync_folder, private_umask
from store.journal import FORMAT, Entry, Journal, journal_path, read_journal
from store.opening import connect
from store.reconcile import HEADER, Applier, apply_entries, known_ids, reconcile, settle_torn_tail
from store.records import canonical_json
from store.writer import Writer, in_transaction

if TYPE_CHECKING:
    import duckdb

APPLIERS: dict[str, Applier] = {"task": tasks.apply, "draw": draws.apply_draw, "draw_items": draws.apply_items}
"""How each type of journal record reaches its tables; types without one are only kept."""

_open_paths: set[Path] = set()
_open_paths_lock = threading.Lock()


def now() -> dt.datetime:
    """This moment, with the machine's UTC offset."""
    return dt.datetime.now().astimezone()


class Study:
    """An open study. Use it as a context manager; one process at a time holds it.

    Attributes:
        path: the `.duckdb` file.
        study_id: names the study in all its copies.
        copy_id: names this copy; chains of events belong to a copy.
        benchmark: name of the benchmark it holds.
        notices: what opening repaired, as sentences for the user.
    """

    def __init__(
        self,
        path: Path,
        connection: duckdb.DuckDBPyConnection,
        journal: Journal,
        settings: Mapping[str, Any],
        notices: list[str],
    ) -> None:
        self.path = path
        self.study_id: str = settings["study_id"]
        self.copy_id: str = settings["copy_id"]
        self.benchmark: str = settings["benchmark"]
        self.notices = notices
        self._connection = connection
        self._journal = journal
        self._cursor_lock = threading.Lock()
        self._pending: list[Entry] = []
        self._heads = _load_heads(connection, self.copy_id)
        self._clock = connection.execute("SELECT coalesce(max(clock), 0) FROM label_events").fetchone()[0]  # type: ignore[index]
        self._exposures = _load_exposures(connection)
        self.writer = Writer(connection)

    @classmethod
    def create(cls, path: Path, benchmark: str) -> Study:
        """Make a new study and open it.

        Raises:
            UsageError: something of that name is there already.
            OverreadError: the folder cannot be written.
        """
        path = path.absolute()
        for taken in (path, journal_path(path)):
            if taken.exists():
                raise UsageError(
                    f"{taken.name} is there already.", str(taken), "Choose another name, or use the study."
                )
        if not path.parent.is_dir():
            raise UsageError(f"There is no folder {path.parent}.", "", "Make the folder first.")
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            _lay_foundation(unfinished, benchmark)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        fsync_folder(path.parent)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Study:
        """Open a study, bring journal and database together, migrate what an older version made.

        Raises:
            UsageError: there is no study at `path`.
            StudyLockedError: another process, or this one, holds it.
            StudyDamagedError: the file, its log or its journal is damaged; the text says what is lost.
        """
        path = path.absolute()
        _require_file(path)
        with _open_paths_lock:
            if path in _open_paths:
                raise StudyLockedError(f"{path.name} is open already in this program.")
            _open_paths.add(path)
        connection = None
        try:
            connection = connect(path)
            settings = _load_settings(connection, path)
            migrations.migrate(connection)
            journal, notices = _open_journal(connection, path, settings)
            return cls(path, connection, journal, settings, notices)
        except BaseException:
            if connection is not None:
                connection.close()
            _open_paths.discard(path)
            raise

    def close(self) -> None:
        """Finish queued writes, checkpoint and release the file."""
        self.writer.close()
        self._connection.close()
        self._journal.close()
        _open_paths.discard(self.path)

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextlib.contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A reader of its own: one a thread, never shared."""
        with self._cursor_lock:
            cursor = self._connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, read on a cursor of its own."""
        with self.cursor() as cursor:
            return cursor.execute(query, list(parameters)).fetchall()

    def stream(self, query: str, parameters: Sequence[Any] = (), *, batch: int = 2000) -> Iterator[tuple[Any, ...]]:
        """The rows of a query in batches, so that memory does not grow with the study."""
        with self.cursor() as cursor:
            cursor.execute(query, list(parameters))
            while rows := cursor.fetchmany(batch):
                yield from rows

    def append(self, acts: Sequence[EventDraft]) -> list[Event]:
        """Make acts safe: fsync'd in the journal and committed in the database when this returns.

        The mode of each label is decided here, from what the person has been shown.

        Raises:
            SaveError: not safe. With `journaled` the acts stand in the journal and `flush()` completes them; otherwise
                nothing was written and the same acts may be given again.
        """
        return self.writer.do(lambda connection: self._append(connection, list(acts)))

    def record(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Journal and apply records other than label events (draws, tasks, imports …); each names its `type`.

        Raises:
            SaveError: as for `append`.
        """
        self.writer.do(lambda connection: self._write(connection, [Entry.of(record) for record in records]))

    def flush(self) -> None:
        """Complete acts that are in the journal but not yet in the database.

        Raises:
            SaveError: the database still refuses them.
        """
        self.writer.do(self._flush)

    def exposure(self, annotator: str, item_id: str) -> Mode:
        """The mode a label of this person on this item would have now."""
        return self._exposures.get((annotator, item_id), "blind")

    def setting(self, key: str, default: Any = None) -> Any:
        """A setting of the study, or `default`."""
        rows = self.rows("SELECT value FROM study WHERE key = ?", [key])
        return json.loads(rows[0][0]) if rows else default

    def journal_records(self, kind: str) -> list[dict[str, Any]]:
        """The journal's records of one type, oldest first."""
        rows = self.rows("SELECT body FROM journal_records WHERE type = ? ORDER BY rowid", [kind])
        return [json.loads(row[0]) for row in rows]

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file."""
        self.writer.do(lambda connection: connection.execute("CHECKPOINT") and None, urgent=False)

    def _append(self, connection: Any, acts: list[EventDraft]) -> list[Event]:
        self._flush(connection)
        sealed = self._seal(acts)
        events = [event for event, _ in sealed]
        self._write(connection, [entry for _, entry in sealed], events)
        return events

    def _seal(self, acts: list[EventDraft]) -> list[tuple[Event, Entry]]:
        """Place acts at the end of their chains without advancing them: a failed write leaves no trace."""
        heads, clock, exposures = dict(self._heads), self._clock, dict[tuple[str, str], Mode]()
        sealed = []
        for act in acts:
            seq, head = heads.get(act.annotator, (0, self.study_id))
            mode = self._mode_of(act, exposures)
            clock += 1
            event, entry = seal(
                act,
                study_id=self.study_id,
                copy_id=self.copy_id,
                seq=seq + 1,
                clock=clock,
                prev_hash=head,
                mode=mode,
                now=now(),
            )
            heads[act.annotator] = (event.seq, event.event_id)
            sealed.append((event, entry))
        return sealed

    def _mode_of(self, act: EventDraft, fresh: dict[tuple[str, str], Mode]) -> Mode:
        key = (act.annotator, act.item_id)
        known = fresh.get(key) or self._exposures.get(key)
        if act.kind == "import" and act.mode:
            return act.mode
        exposure = _exposed_by(act.kind, act.policy, act.state.decided, "blind")
        if exposure is not None and known is None:
            fresh[key] = exposure
            return "blind" if act.state.decided else exposure
        return known or "blind"

    def _write(self, connection: Any, entries: list[Entry], events: Sequence[Event] = ()) -> None:
        self._journal.append(entries)
        self._pending.extend(entries)
        for event in events:
            self._advance(event)
        try:
            self._flush(connection)
        except SaveError as error:
            error.events = events
            raise

    def _advance(self, event: Event) -> None:
        self._heads[event.act.annotator] = (event.seq, event.event_id)
        self._clock = max(self._clock, event.clock)
        exposure = _exposed_by(event.act.kind, event.act.policy, event.state.decided, event.mode)
        if exposure is not None:
            self._exposures.setdefault((event.act.annotator, event.act.item_id), exposure)

    def _flush(self, connection: Any) -> None:
        import duckdb

        if not self._pending:
            return
        try:
            apply_entries(connection, self._pending, APPLIERS)
        except duckdb.Error as error:
            raise SaveError(
                "Saved in the journal, but the study file refuses it.",
                str(error).splitlines()[0][:300],
                "Free disk space or fix the folder's rights, then press the retry key. Nothing is lost if you quit.",
                journaled=True,
            ) from error
        self._pending.clear()


def _exposed_by(kind: str, policy: str, decided: bool, mode: Mode) -> Mode | None:
    """The mode of every later label of an item after this event, or None when it shows nothing."""
    if kind == "import" and mode != "blind":
        return mode
    if kind != "reveal":
        return None
    return "assisted" if policy == "assisted" and not decided else "revised"


def _require_file(path: Path) -> None:
    if path.exists():
        return
    if (journal := journal_path(path)).exists():
        raise StudyDamagedError(
            f"{path.name} is missing, but its journal is here.",
            f"{journal.name} holds every label, draw and rubric; the benchmark's items must be imported again.",
            f"overread --study {path} doctor --rebuild",
        )
    raise UsageError(f"There is no study at {path}.", "", f"overread init {path.name} --benchmark halumem")


def _lay_foundation(path: Path, benchmark: str) -> None:
    connection = connect(path)
    try:
        migrations.migrate(connection)
        settings = {
            "study_id": secrets.token_hex(16),
            "copy_id": secrets.token_hex(8),
            "benchmark": benchmark,
            "format": FORMAT,
            "created_at": now().isoformat(timespec="seconds"),
        }
        write_settings(connection, settings)
    finally:
        connection.close()


def write_settings(connection: Any, settings: Mapping[str, Any]) -> None:
    """Store settings that are not there yet, in one transaction."""
    rows = [[key, canonical_json(value)] for key, value in settings.items()]
    in_transaction(connection, lambda: connection.executemany("INSERT INTO study VALUES (?, ?)", rows))


def _load_settings(connection: Any, path: Path) -> dict[str, Any]:
    if not migrations.applied(connection):
        raise StudyDamagedError(f"{path.name} is a DuckDB file, but no overread study.", "", "Name another file.")
    if newer := migrations.unknown(connection):
        raise StudyDamagedError(
            f"{path.name} was made by a newer overread.", f"It has {newer[0]}.", "Upgrade overread."
        )
    return {key: json.loads(value) for key, value in connection.execute("SELECT key, value FROM study").fetchall()}


def _open_journal(connection: Any, path: Path, settings: Mapping[str, Any]) -> tuple[Journal, list[str]]:
    file = journal_path(path)
    if not file.exists():
        _refuse_if_labelled(connection, path)
        return _new_journal(file, settings), []
    reading = read_journal(file)
    if not reading.entries:
        _refuse_if_labelled(connection, path)
        journal = Journal(file)
        notices = settle_torn_tail(journal, reading, file)
        journal.append([header_entry(settings)])
        return journal, notices
    header = reading.entries[0].record
    if header["type"] != HEADER or header["study_id"] != settings["study_id"]:
        raise StudyDamagedError(
            f"{file.name} belongs to another study.",
            "Its first line names another study. Nothing was changed.",
            "Put the right journal beside the study.",
        )
    journal = Journal(file)
    try:
        notices = settle_torn_tail(journal, reading, file)
        notices += reconcile(connection, journal, reading, APPLIERS)
    except BaseException:
        journal.close()
        raise
    return journal, notices


def _refuse_if_labelled(connection: Any, path: Path) -> None:
    if count := len(known_ids(connection)):
        raise StudyDamagedError(
            f"The journal of {path.name} is missing.",
            f"{journal_path(path).name} should stand beside it. Nothing is lost: the study holds all {count} acts.",
            f"Put the journal back, or write it anew from the study: overread --study {path} doctor --repair",
        )


def _new_journal(file: Path, settings: Mapping[str, Any]) -> Journal:
    with private_umask():
        journal = Journal(file)
    journal.append([header_entry(settings)])
    return journal


def header_entry(settings: Mapping[str, Any]) -> Entry:
    """The first line of a journal."""
    return Entry.of(
        {
            "type": HEADER,
            "study_id": settings["study_id"],
            "copy_id": settings["copy_id"],
            "benchmark": settings["benchmark"],
            "format": settings["format"],
            "created_at": settings["created_at"],
        }
    )


def _load_heads(connection: Any, copy_id: str) -> dict[str, tuple[int, str]]:
    rows = connection.execute(
        "SELECT annotator, max(seq), max_by(event_id, seq) FROM label_events WHERE copy_id = ? GROUP BY annotator",
        [copy_id],
    ).fetchall()
    return {annotator: (seq, event_id) for annotator, seq, event_id in rows}


def _load_exposures(connection: Any) -> dict[tuple[str, str], Mode]:
    rows = connection.execute(
        """SELECT annotator, item_id, kind, policy, value IS NOT NULL OR cannot_judge <> '', mode FROM label_events
        WHERE kind = 'reveal' OR (kind = 'import' AND mode <> 'blind') ORDER BY clock, copy_id, annotator, seq"""
    ).fetchall()
    exposures: dict[tuple[str, str], Mode] = {}
    for annotator, item_id, kind, policy, decided, mode in rows:
        if (exposure := _exposed_by(kind, policy, decided, mode)) is not None:
            exposures.setdefault((annotator, item_id), exposure)
    return exposures


__all__ = ["EVENT", "Study", "event_of", "header_entry", "now", "write_settings"]
