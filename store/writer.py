"""The one thread that owns a study's connection. Labels overtake bulk writes; nothing here is cancellable."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from store.files import private_umask

if TYPE_CHECKING:
    import duckdb

Result = TypeVar("Result")
_URGENT, _BULK, _STOP = 0, 1, 2


@dataclass(order=True)
class _Job:
    priority: int
    number: int
    run: Callable[[], None] | None = field(compare=False)


class Writer:
    """Runs functions of the connection one after another in its own thread."""

    def __init__(self, connection: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        """`connection` says which one to use; it is asked for every piece of work."""
        self._connection = connection
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._count = 0
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="overread-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[duckdb.DuckDBPyConnection], Result], *, urgent: bool) -> Future[Result]:
        """Queue `work(connection)`; urgent work overtakes bulk work that has not begun."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                future.set_result(work(self._connection()))
            except BaseException as error:
                future.set_exception(error)

        self._put(_URGENT if urgent else _BULK, run)
        return future

    def do(self, work: Callable[[duckdb.DuckDBPyConnection], Result], *, urgent: bool = True) -> Result:
        """Queue the work and wait for its result; its exception is raised here."""
        return self.submit(work, urgent=urgent).result()

    def close(self) -> None:
        """Finish everything queued, then stop the thread. Calling it again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._count += 1
            self._jobs.put(_Job(_STOP, self._count, None))
        self._thread.join()

    def _put(self, priority: int, run: Callable[[], None]) -> None:
        with self._lock:
            if self._closed:
                raise RuntimeError("the study is closed")
            self._count += 1
            self._jobs.put(_Job(priority, self._count, run))

    def _work(self) -> None:
        while (job := self._jobs.get()).run is not None:
            with private_umask():
                job.run()
