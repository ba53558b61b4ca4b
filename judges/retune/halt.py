"""Ending a search from another thread: between two calls, or without waiting for those on their way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from store.errors import OverreadError

Found = TypeVar("Found")


class SearchStoppedError(OverreadError):
    """Somebody stopped the search; every answer is kept, and the same command goes on."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__(
            "The search was stopped.", "Every answer is kept.", "The same command goes on where it stopped."
        )


class Halt:
    """A search asks it before every call; whoever watches the search may stop it from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may stop the search while its own thread holds it
        self._asked = threading.Event()
        self._under_way: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def stop(self) -> None:
        """Send no further call; those on their way are waited for and kept."""
        self._asked.set()

    def drop(self) -> None:
        """Do not even wait for the calls on their way."""
        with self._lock:
            self._asked.set()
            if self._under_way is not None:
                loop, task = self._under_way
                loop.call_soon_threadsafe(task.cancel)

    @property
    def is_asked(self) -> bool:
        """Whether somebody asked for it."""
        return self._asked.is_set()

    def check(self) -> None:
        """
        Raises:
            SearchStoppedError: somebody asked for it.
        """
        if self._asked.is_set():
            raise SearchStoppedError

    def run(self, runner: asyncio.Runner, calls: Coroutine[Any, Any, Found]) -> Found:
        """Run calls to their end, or until they are dropped.

        Raises:
            SearchStoppedError: they were dropped.
        """

        async def watched() -> Found:
            task = asyncio.current_task()
            assert task is not None
            with self._lock:
                self._under_way = (asyncio.get_running_loop(), task)
            try:
                return await calls
            except asyncio.CancelledError:
                self.check()
                raise
            finally:
                with self._lock:
                    self._under_way = None

        return runner.run(watched())
