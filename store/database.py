"""The study's DuckDB: the writer's connection and the readers' cursors.

It is opened anew after a fatal error, and now and then in long work: DuckDB keeps a little of every statement, and the
blocks it has read, until the file is closed.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from store.between import nobody_between
from store.errors import NotWrittenError, OverreadError, StudyLockedError
from store.files import private_umask
from store.journal import RETRY_HINT
from store.opening import connect, connect_again, explain, is_fault_of_data

if TYPE_CHECKING:
    import duckdb

Result = TypeVar("Result")

LEAN_MEMORY = "32MB"
"""For queries whose result is columns; one that cannot do with so little is given what there is."""

_BULK_MEMORY, _BULK_MEMORY_OF_THREAD = 128, 64
"""Megabytes for a merge of any size."""
_LOG_LIMIT = "SET GLOBAL wal_autocheckpoint = '{}'"
_PATIENCE_S = 10.0
"""How long another program may hold the file while it is opened anew, such as one that copies it."""
_SCARCE_S = 10.0
"""How long readers may have all of the memory."""


class Database:
    """One open DuckDB file.

    Attributes:
        connection: for the writer thread alone.
    """

    connection: duckdb.DuckDBPyConnection

    def __init__(self, path: Path) -> None:
        """Open the file; errors are those of `connect`."""
        self._path = path
        self._lock = threading.Lock()
        self._down = False
        self._reading: set[Any] = set()
        self._paused: set[Any] = set()
        self._openings = 1
        self._log_limit = ""
        self._limits = threading.Lock()
        self._lean = self._roomy = self._bounded = 0
        connection = connect(path)
        self._usual_memory = _memory_limit(connection)
        self._use(connection)

    @contextlib.contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A reader of its own: one a thread, never shared.

        Raises:
            StudyDamagedError: inside the block, when a read meets damage.
        """
        with self._lock, told(self._path):
            if self._down:
                raise NotWrittenError(f"{self._path.name} could not be opened again.", "", RETRY_HINT)
            cursor = self._mother.cursor()
            self._reading.add(cursor)
        try:
            with told(self._path):
                yield cursor
        finally:
            self._paused.discard(cursor)
            cursor.close()
            self._reading.discard(cursor)

    def rows(self, query: str, parameters: Sequence[Any], *, lean: bool = False) -> list[tuple[Any, ...]]:
        """All rows of a query; lean, as of many pages of a table, with few of the file's blocks in memory."""
        with self.cursor() as cursor, private_umask(), self._lean_memory(cursor) if lean else contextlib.nullcontext():
            return self.roomy(cursor, lambda: cursor.execute(query, list(parameters)).fetchall())

    def columns(self, query: str, parameters: Sequence[Any]) -> dict[str, Any]:
        """All rows of a query as NumPy arrays by column.

        Few of the file's blocks stay in memory meanwhile: a scan that reads each once gains nothing from more.
        """
        with self.cursor() as cursor, private_umask(), self._lean_memory(cursor):
            return self.roomy(cursor, lambda: cursor.execute(query, list(parameters)).fetchnumpy())

    @contextlib.contextmanager
    def _lean_memory(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Little memory inside the block, for all connections, unless somebody has to have all there is."""
        from store.engine import duckdb

        with self._limits:
            self._lean += 1
        try:
            with self._limits, contextlib.suppress(duckdb.OutOfMemoryException):  # more is in use at this moment
                if not self._roomy:
                    cursor.execute(f"SET memory_limit = '{LEAN_MEMORY}'")
            yield
        finally:
            with self._limits:
                self._lean -= 1
                if not self._bounded:
                    self._give_memory(cursor)

    def stream(self, query: str, parameters: Sequence[Any], batch: int) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, fetched in batches. What is not read to its end is closed with the database."""
        with self.cursor() as cursor:
            opening = self._openings
            with private_umask():
                self.roomy(cursor, lambda: cursor.execute(query, list(parameters)))
            while rows := self._fetch(cursor, batch, opening):
                yield from rows

    def _fetch(self, cursor: duckdb.DuckDBPyConnection, batch: int, opening: int) -> list[tuple[Any, ...]]:
        """The next rows; until they are used up the cursor pauses, and may be closed meanwhile."""
        if self._openings != opening:
            raise OverreadError(f"{self._path.name} was closed while it was read.", "", "Try again.")
        self._paused.discard(cursor)
        with private_umask():
            rows = cursor.fetchmany(batch)
        self._paused.add(cursor)
        return rows

    def limit_log(self, size: str) -> None:
        """Fold the log into the file whenever it is as large as this ("4MB"). Writer thread only."""
        self._log_limit = size
        self.connection.execute(_LOG_LIMIT.format(size))

    def roomy(self, connection: duckdb.DuckDBPyConnection, work: Callable[[], Result]) -> Result:
        """Do a piece of work; once more with all the memory there is, where others' bounds leave it too little."""
        from store.engine import duckdb

        try:
            return work()
        except duckdb.OutOfMemoryException:
            if not self._lean and not self._bounded:
                raise
        with self.all_memory(connection):
            return work()

    @contextlib.contextmanager
    def all_memory(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """All the memory there is inside the block, whatever others read meanwhile."""
        from store.engine import duckdb

        with self._limits:
            self._roomy += 1
            if self._lean or self._bounded:
                with contextlib.suppress(duckdb.Error):  # the work itself tells what is wrong
                    self._give_memory(connection)
        try:
            yield
        finally:
            with self._limits:
                self._roomy -= 1

    @contextlib.contextmanager
    def bounded(self) -> Iterator[None]:
        """Memory for bulk work inside the block, the rest goes to disk; for the writer, within `all_memory`.

        Whoever reads meanwhile and needs more ends the bound.
        """
        with self._lock:
            mother = self._mother
        with contextlib.closing(mother.cursor()) as setter:  # in a transaction that failed nothing can be set
            threads = setter.execute("SELECT current_setting('threads')").fetchone()
            megabytes = _BULK_MEMORY + _BULK_MEMORY_OF_THREAD * int(threads[0] if threads else 1)
            try:
                with self._limits:
                    self._bounded += 1
                    if megabytes < _megabytes(self._usual_memory):
                        setter.execute(f"SET memory_limit = '{megabytes}MB'")
                yield
            finally:
                with self._limits:
                    self._bounded -= 1
                    self._give_memory(setter)

    def _give_memory(self, connection: duckdb.DuckDBPyConnection) -> None:
        insist(lambda: connection.execute(f"SET memory_limit = '{self._usual_memory}'"))

    def reopen(self) -> None:
        """Open the file anew: after a fatal error DuckDB refuses everything until then. Writer thread only."""
        with self._lock:
            self._down = True
            self._close()
            self._use(connect(self._path))
            self._down = False

    def renew(self) -> bool:
        """Open the file anew so that DuckDB gives its memory back, unless somebody reads; says whether it did.

        Whoever comes to read meanwhile waits. Writer thread only, between transactions.

        Raises:
            StudyLockedError: another program, none of ours, took the file meanwhile and keeps it. NotWrittenError.
        """
        with self._lock, nobody_between(self._path) as alone:
            if self._reading or not alone:
                return False
            self._down = True
            self._close()
            self._use(self._connect_again())
            self._down = False
            return True

    def ready(self) -> duckdb.DuckDBPyConnection:
        """The writer's connection, opened again where that failed before. Writer thread only.

        Raises:
            OverreadError: it fails again.
        """
        if self._down:
            self.reopen()
        return self.connection

    def _connect_again(self) -> duckdb.DuckDBPyConnection:
        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return connect_again(self._path)
            except StudyLockedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def _use(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        if self._log_limit:
            connection.execute(_LOG_LIMIT.format(self._log_limit))
        self._mother = connection.cursor()

    def close(self) -> None:
        """Checkpoint and release the file."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        self._openings += 1
        with private_umask():
            while self._paused:  # one of them left open would keep the file locked
                self._reading.discard(cursor := self._paused.pop())
                cursor.close()
            self._mother.close()
            self.connection.close()


def _memory_limit(connection: duckdb.DuckDBPyConnection) -> str:
    row = connection.execute("SELECT current_setting('memory_limit')").fetchone()
    return str(row[0]) if row else ""


def _megabytes(said: str) -> float:
    """DuckDB's "18.8 GiB" as a number."""
    number, unit = said.split()
    powers = {"bytes": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}
    return float(number) * 1024.0 ** powers[unit] / 1e6


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what DuckDB says of a damaged file or a full disk into what it means; faults of a query pass."""
    from store.engine import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        if is_fault_of_data(error):
            raise
        raise explain(path, str(error)) from error


def in_transaction(connection: Any, work: Callable[[], Result]) -> Result:
    """Run `work` between BEGIN and COMMIT; any exception rolls back and is raised again."""
    connection.execute("BEGIN TRANSACTION")
    try:
        result = work()
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    return result


def roll_back(connection: Any) -> None:
    """End a transaction without its work."""
    from store.engine import duckdb

    # A failed COMMIT has rolled back already, and after a fatal error there is nothing left to roll back.
    with contextlib.suppress(duckdb.TransactionException, duckdb.FatalException):
        insist(lambda: connection.execute("ROLLBACK"))  # left open, it would refuse whatever comes next


def insist(work: Callable[[], object]) -> None:
    """Do what needs next to no memory, and finds none for a moment, while readers have all of the little there is."""
    from store.engine import duckdb

    end = time.monotonic() + _SCARCE_S
    while True:
        try:
            work()
        except duckdb.OutOfMemoryException:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return
