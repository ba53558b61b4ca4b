"""Making acts safe in both places: one fsync of the journal and one transaction, in an order no crash can split.

The rows go into an open transaction first, so that nothing the database cannot take ever reaches the journal; then the
journal is fsync'd; then the transaction commits. What is in the journal and not committed is completed later, by id.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from store.applying import apply_entries, apply_missing, known_ids
from store.database import Database, in_transaction, roll_back
from store.errors import OverreadError, SaveError
from store.journal import Entry, Journal
from store.opening import is_fault_of_data

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Bulk:
    """What a large change is made of, laid out in a database of its own beside the study.

    Attributes:
        load: attaches it, outside a transaction, each time anew. unload: detaches it, if it is there.
    """

    load: Callable[[Any], None]
    unload: Callable[[Any], None]


class Recorder:
    """Writes entries to journal and database. Used by the writer thread alone."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database, self._journal = database, journal
        self._pending: list[Entry] = []

    def write(self, entries: Sequence[Entry]) -> None:
        """Make entries safe; returns when they are fsync'd in the journal and committed in the database.

        Nothing may wait from before: `flush` comes first.

        Raises:
            SaveError: not safe. With `journaled` the entries stand in the journal and `flush` completes them;
                otherwise nothing was written.
        """
        with self._database.all_memory(self._database.connection):
            self._make_safe(entries)

    def _make_safe(self, entries: Sequence[Entry]) -> None:
        from store.engine import duckdb

        connection = self._database.connection
        try:
            self._apply(connection, entries)
        except duckdb.Error as error:
            if is_fault_of_data(error):
                raise SaveError("Not saved.", f"The study refuses it: {type(error).__name__}.") from error
            self._journal.append(entries)
            self._pending.extend(entries)
            self._recover(error)
            return
        self._journal_and_commit(connection, entries)

    def flush(self) -> None:
        """Complete what is in the journal but not yet in the database.

        Raises:
            SaveError: the database still refuses it.
        """
        from store.engine import duckdb

        if not self._pending:
            return
        with self._database.all_memory(self._database.connection):
            try:
                self._complete()
            except duckdb.Error as error:
                self._recover(error)

    def change(self, work: Callable[[Any], None], entries: Sequence[Entry], bulk: Bulk | None = None) -> None:
        """Run `work(connection)` and take note of it with `entries`, all in one transaction.

        The journal follows the commit: should it refuse, or the program die, the next opening writes it from the study.

        Args:
            bulk: what `work` reads; it is done in bounded memory, or again with all there is where that is too little.

        Raises:
            OverreadError, duckdb.Error: nothing was changed.
        """
        from store.engine import duckdb

        def whole() -> None:
            connection = self._database.connection
            work(connection)
            apply_entries(connection, entries)

        try:
            with self._database.all_memory(self._database.connection):
                if bulk is None:
                    in_transaction(self._database.connection, whole)
                else:
                    self._in_bulk(bulk, whole)
        except duckdb.FatalException:
            self._database.reopen()
            if not {entry.event_id for entry in entries} <= known_ids(self._database.connection):
                raise
        with contextlib.suppress(SaveError):
            self._journal.append(entries)
        self._checkpoint()

    def _in_bulk(self, bulk: Bulk, whole: Callable[[], None]) -> None:
        connection = self._database.connection
        try:
            if not self._done_bounded(bulk, whole):
                bulk.load(connection)
                in_transaction(connection, whole)
        finally:
            bulk.unload(connection)

    def _done_bounded(self, bulk: Bulk, whole: Callable[[], None]) -> bool:
        """Whether a transaction could be done with little memory; its end, COMMIT or ROLLBACK, has all there is.

        DuckDB shuts a database that it cannot roll back for want of memory.
        """
        from store.engine import duckdb

        def bounded() -> None:
            with self._database.bounded():
                whole()

        try:
            with self._database.bounded():
                bulk.load(self._database.connection)
            in_transaction(self._database.connection, bounded)
        except duckdb.OutOfMemoryException:
            return False
        return True

    def _checkpoint(self) -> None:
        """Fold the log into the file; on a full disk the log keeps what it has and nothing is lost."""
        from store.engine import duckdb

        try:
            self._database.connection.execute("CHECKPOINT")
        except duckdb.FatalException:
            self._database.reopen()
        except duckdb.Error:
            return

    def _apply(self, connection: Any, entries: Sequence[Entry]) -> None:
        """Begin a transaction and put the entries into it."""
        connection.execute("BEGIN TRANSACTION")
        try:
            apply_entries(connection, entries)
        except BaseException:
            roll_back(connection)
            raise

    def _journal_and_commit(self, connection: Any, entries: Sequence[Entry]) -> None:
        from store.engine import duckdb

        try:
            self._journal.append(entries)
        except BaseException:
            roll_back(connection)
            raise
        try:
            connection.execute("COMMIT")
        except duckdb.Error as error:
            roll_back(connection)
            self._pending.extend(entries)
            self._recover(error)

    def _recover(self, error: duckdb.Error) -> None:
        """After a fatal error DuckDB refuses everything until it is opened anew; others wait for a retry.

        A commit may be durable although it was reported as failed (a checkpoint failed after it): hence by id.
        """
        from store.engine import duckdb

        if not isinstance(error, (duckdb.FatalException, duckdb.ConnectionException)):
            raise _half_saved(error) from error
        try:
            self._database.reopen()
            self._complete()
        except (OverreadError, duckdb.Error) as again:
            raise _half_saved(error) from again

    def _complete(self) -> None:
        connection = self._database.connection
        in_transaction(connection, lambda: apply_missing(connection, self._pending))
        self._pending.clear()


def _half_saved(error: Exception) -> SaveError:
    return SaveError(
        "Saved in the journal, but the study file refuses it.",
        str(error).splitlines()[0][:300],
        "Free disk space or fix the folder's rights, then press the retry key. Nothing is lost if you quit.",
        journaled=True,
    )
