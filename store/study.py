"""A study: one `.duckdb` file and its journal. The only door to both."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from store import migrations
from store.call_log import calls_path
from store.chains import Chains, now
from store.database import Database, in_transaction, told
from store.drives import unsafe_drive
from store.errors import SaveError, StudyDamagedError, StudyLockedError, UsageError
from store.events import Event, EventDraft, Mode
from store.files import not_written
from store.founding import founded, is_there, load_settings, new_settings
from store.journal import RETRY_HINT, Entry, Journal, journal_path
from store.opening import command, real_path, sweep
from store.paid_calls import PaidCalls
from store.reconcile import open_journal
from store.recorder import Bulk, Recorder
from store.writer import Writer

if TYPE_CHECKING:
    import duckdb

Result = TypeVar("Result")

_open_paths: set[Path] = set()
_open_paths_lock = threading.Lock()

_BREAKING_OFF_S = 10.0
"""How long a change that is broken off may take to let go."""


class Study:
    """An open study. Use it as a context manager; one process at a time holds it.

    Attributes:
        path: the `.duckdb` file itself, links followed.
        study_id: names the study in all its copies.
        copy_id: names this copy; chains of events belong to a copy.
        benchmark: name of the benchmark it holds.
        notices: what opening repaired, as sentences for the user.
    """

    def __init__(
        self, path: Path, database: Database, journal: Journal, settings: Mapping[str, Any], notices: list[str]
    ) -> None:
        self.path = path
        self.study_id: str = settings["study_id"]
        self.copy_id: str = settings["copy_id"]
        self.benchmark: str = settings["benchmark"]
        self.notices = notices
        self._database = database
        self._journal = journal
        self._chains = Chains(database.connection, self.study_id, self.copy_id)
        self._recorder = Recorder(database, journal)
        self._paid_calls = PaidCalls(path, self.study_id)
        self.writer = Writer(lambda: database.connection)

    @classmethod
    def create(cls, path: Path, benchmark: str) -> Study:
        """Make a new study and open it.

        Raises:
            UsageError: something of that name is there already, or the folder is not there.
            NotWrittenError: the folder cannot be written.
        """
        path = real_path(path)
        for taken in (path, journal_path(path), calls_path(path), path.with_name(f"{path.name}.wal")):
            if _exists(taken):
                raise is_there(taken)
        if not path.parent.is_dir():
            raise UsageError(f"There is no folder {path.parent}.", "", "Make the folder first.")
        with founded(path, new_settings(benchmark, now().isoformat(timespec="seconds"))):
            pass
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Study:
        """Open a study, bring journal and database together, migrate what an older version made.

        Raises:
            UsageError: there is no study at `path`.
            StudyLockedError: another process, or this one, holds it.
            StudyDamagedError: the file, its log or its journal is damaged; the text says what is lost.
            NotWrittenError: the folder or a file in it cannot be written, or the disk is full.
        """
        path = real_path(path)
        _require_file(path)
        with held(path) as claim:
            database = Database(path)
            claim.callback(database.close)
            with told(path):
                settings = load_settings(database.connection, path)
                sweep(path)
                migrations.migrate(database.connection)
                journal, notices = open_journal(database.connection, path, settings)
                claim.callback(journal.close)
                notices += PaidCalls(path, settings["study_id"]).bring_together(database.connection)
                if warning := unsafe_drive(path):
                    notices.append(warning)
                study = cls(path, database, journal, settings, notices)
            claim.pop_all()
        return study

    def close(self) -> None:
        """Finish queued writes, checkpoint and release the file. Calling it again does nothing."""
        self.writer.close()
        try:
            self._database.close()
        finally:
            self._journal.close()
            _open_paths.discard(self.path)

    def discard(self) -> None:
        """Close a study that nobody has labelled in and remove its files; with a person's act in it, only close it."""
        worked_in = bool(self.rows("SELECT 1 FROM label_events LIMIT 1"))
        self.close()
        if not worked_in:
            log = self.path.with_name(f"{self.path.name}.wal")
            for file in (log, self.path, journal_path(self.path), calls_path(self.path)):
                file.unlink(missing_ok=True)

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def cursor(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """A reader of its own: one a thread, never shared."""
        return self._database.cursor()

    def rows(self, query: str, parameters: Sequence[Any] = (), *, lean: bool = False) -> list[tuple[Any, ...]]:
        """All rows of a query, read on a cursor of its own; lean where the study is read page by page."""
        return self._database.rows(query, parameters, lean=lean)

    def columns(self, query: str, parameters: Sequence[Any] = ()) -> dict[str, Any]:
        """The columns of a query's result by name, as NumPy arrays: a million rows without a million objects.

        A column that may hold NULL comes as a masked array: let the query say what stands for it.
        """
        return self._database.columns(query, parameters)

    def stream(self, query: str, parameters: Sequence[Any] = (), *, batch: int = 2000) -> Iterator[tuple[Any, ...]]:
        """The rows of a query in batches, so that memory does not grow with the study."""
        return self._database.stream(query, parameters, batch)

    def append(self, acts: Sequence[EventDraft]) -> list[Event]:
        """Make acts safe: fsync'd in the journal and committed in the database when this returns.

        The mode of each label is decided here, from what the person has been shown.

        Raises:
            SaveError: not safe. With `journaled` the acts stand in the journal and `flush()` completes them; otherwise
                nothing was written and the same acts may be given again.
        """
        return self.writer.do(lambda _: self._append(list(acts)))

    def record(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Journal and apply records other than label events (draws, tasks, imports …); each names its `type`.

        Raises:
            SaveError: as for `append`.
        """
        entries = [Entry.of(record) for record in records]
        self.writer.do(lambda _: self._write(entries))

    def change(
        self, work: Callable[[Any], None], records: Sequence[Mapping[str, Any]], bulk: Bulk | None = None
    ) -> None:
        """Run `work(connection)` and note it in the journal with `records`: all or nothing; labels overtake it.

        Args:
            bulk: what a large `work` reads; `work` may be run twice then.

        Raises:
            OverreadError: what `work` raises, or the disk is full or damaged; nothing was changed.
        """
        entries = [Entry.of(record) for record in records]
        begun, broken_off = threading.Event(), threading.Event()

        def unless_broken_off(connection: Any) -> None:
            go_on()  # an interrupt is lost where it meets no query
            work(connection)
            go_on()

        def go_on() -> None:
            if broken_off.is_set():
                raise CancelledError

        def guarded(_: Any) -> None:
            begun.set()
            self._finish_earlier()
            with told(self.path):
                self._recorder.change(unless_broken_off, entries, bulk)

        change = self.writer.submit(guarded, urgent=False)
        try:
            change.result()
        except KeyboardInterrupt:
            broken_off.set()
            if begun.is_set() and not change.done():
                self._database.connection.interrupt()
            if not change.cancel():
                wait([change], _BREAKING_OFF_S)  # so that nothing is read any more of what the caller takes away
            raise

    def keep_paid(self, work: Callable[[Any], tuple[Result, Sequence[str]]]) -> Future[Result]:
        """Run `work(connection)`, and make the lines it gives safe in the file of paid calls before it is committed.

        One transaction, behind whatever labels wait. The future fails with an `OverreadError` when it cannot be made
        safe: then the study is as it was.
        """

        def whole(connection: Any) -> Result:
            result, lines = work(connection)
            if lines:
                self._paid_calls.keep(connection, lines)
            return result

        def told_whole(_: Any) -> Result:
            with told(self.path):
                connection = self._database.ready()
                with self._database.all_memory(connection):
                    return in_transaction(connection, lambda: whole(connection))

        return self.writer.submit(told_whole, urgent=False)

    def lay_out_paid_calls(self) -> None:
        """Write the file of paid calls of a study that never had one, before calls are kept; not on the writer's time.

        Raises:
            NotWrittenError: no space, no rights.
        """
        with self.cursor() as reader:
            laid = self._paid_calls.lay_out(reader)
        if laid is not None:
            self.writer.do(lambda connection: self._paid_calls.take_over(connection, laid))

    def flush(self) -> None:
        """Complete acts that are in the journal but not yet in the database.

        Raises:
            SaveError: the database still refuses them.
        """
        self.writer.do(lambda _: self._recorder.flush())

    def exposure(self, annotator: str, item_id: str) -> Mode:
        """The mode a label of this person on this item would have now."""
        return self._chains.exposure(annotator, item_id)

    def setting(self, key: str, default: Any = None) -> Any:
        """A setting of the study, or `default`."""
        rows = self.rows("SELECT value FROM study WHERE key = ?", [key])
        return json.loads(rows[0][0]) if rows else default

    def journal_records(self, kind: str) -> list[dict[str, Any]]:
        """The journal's records of one type, oldest first."""
        rows = self.rows("SELECT body FROM journal_records WHERE type = ? ORDER BY rowid", [kind])
        return [json.loads(row[0]) for row in rows]

    def renew(self) -> bool:
        """Have DuckDB give back the memory that it gathers while a study is open; long work asks for it now and then.

        Not done where somebody reads at this moment, for readers are never cut off; says whether it was.

        Raises:
            StudyLockedError: a program that is none of ours took the file in that moment. NotWrittenError.
        """
        return self.writer.do(lambda _: self._database.renew(), urgent=False)

    def limit_log(self, size: str) -> None:
        """Fold the write-ahead log into the file whenever it is as large as this ("4MB")."""
        self.writer.do(lambda _: self._database.limit_log(size), urgent=False)

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file.

        Raises:
            NotWrittenError: the disk is full.
        """
        self.writer.do(self._checkpoint, urgent=False)

    def _checkpoint(self, connection: Any) -> None:
        with told(self.path):
            connection.execute("CHECKPOINT")

    def _append(self, acts: list[EventDraft]) -> list[Event]:
        self._finish_earlier()
        placed = self._chains.place(acts)
        events = [event for event, _ in placed]
        try:
            self._recorder.write([entry for _, entry in placed])
        except SaveError as error:
            if error.journaled:
                self._chains.advance(events)
                error.events = events
            raise
        self._chains.advance(events)
        return events

    def _write(self, entries: list[Entry]) -> None:
        self._finish_earlier()
        self._recorder.write(entries)

    def _finish_earlier(self) -> None:
        """Nothing new is written before what waits in the journal is complete."""
        try:
            self._recorder.flush()
        except SaveError as error:
            raise SaveError(
                "Not saved: an earlier act still waits in the journal.", error.detail, RETRY_HINT
            ) from error


@contextlib.contextmanager
def held(path: Path) -> Iterator[contextlib.ExitStack]:
    """This process's own claim on a study; kept when the stack is taken over with `pop_all`."""
    with _open_paths_lock:
        if path in _open_paths:
            raise StudyLockedError(
                f"{path.name} is open already in this program.", "Nothing was changed.", "Close it first."
            )
        _open_paths.add(path)
    with contextlib.ExitStack() as stack:
        stack.callback(_open_paths.discard, path)
        yield stack


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise not_written(path, error, f"{path.name} cannot be read or written here.") from error


def _require_file(path: Path) -> None:
    if _exists(path) and path.is_file():
        return
    if _exists(journal_path(path)):
        raise StudyDamagedError(
            f"{path.name} is missing, but its journal is here.",
            f"{journal_path(path).name} holds every label, draw and rubric: no label is lost. The benchmark's items"
            " must be imported again.",
            command(path, "doctor --rebuild"),
        )
    raise UsageError(f"There is no study at {path}.", "", f"overread init {path.name} --benchmark halumem")


__all__ = ["Study", "now"]
