"""A search for a better prompt under its screen: the search in a thread, stopped from the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.screen import Screen

from annotate.tui.base_app import OverreadApp, run_to_end
from annotate.tui.screens.retune.screen import RetuneScreen
from annotate.tui.screens.retune.state import RetuneState
from judges.retune.halt import Halt, SearchStoppedError
from judges.retune.retune import Result
from store.errors import OverreadError


class RetuneApp(OverreadApp[None]):
    """Shows a search that goes on, or those of the study.

    Attributes:
        result: of the search. refusal: what ended it early. leaves: the app ends with it.
    """

    def __init__(self, state: RetuneState, work: Callable[[], Result] | None = None, halt: Halt | None = None) -> None:
        """`work` is the search, which another thread runs; `halt` ends it."""
        super().__init__()
        self.state = state
        self.result: Result | None = None
        self.refusal: OverreadError | None = None
        self.leaves = False
        self._work, self._halt = work, halt or Halt()
        self._searching: asyncio.Task[None] | None = None

    def get_default_screen(self) -> Screen[None]:
        return RetuneScreen(self.state, self._stop)

    def on_mount(self) -> None:
        if self._work is not None:
            self._searching = asyncio.create_task(self._search(self._work))

    async def on_unmount(self) -> None:
        """The terminal is given back; a search that goes on is ended, and what was answered is kept."""
        if self._searching is not None:
            if not self.state.over:
                self._halt.drop()
            await self._searching

    async def _search(self, work: Callable[[], Result]) -> None:
        try:
            self.result = await asyncio.to_thread(work)
        except SearchStoppedError as stopped:
            self.refusal, self.state.fault = stopped, str(stopped)
        except OverreadError as error:
            self.refusal, self.state.fault = error, str(error)
        except Exception as error:
            self._handle_exception(error)
        self.state.over = True
        if not self.is_running:
            return
        if self.leaves:
            self.exit()
        elif isinstance(self.screen, RetuneScreen):
            self.screen.paint()

    def _stop(self, drop: bool) -> None:
        if drop:
            self._halt.drop()
        else:
            self._halt.stop()

    def action_leave(self) -> None:
        """Leave at once, or as soon as a search that goes on has ended in good order; asked again, drop its calls."""
        if self._work is None or self.state.over:
            self.exit()
            return
        self.leaves = True
        self._stop(self.state.stopping)
        self.state.stopping = True


def run_retune_app(state: RetuneState, work: Callable[[], Result], halt: Halt) -> tuple[Result | None, int]:
    """Show a search until it is over and the person leaves.

    Returns:
        What came of it, and the exit code: 0, or 128 and the signal that ended the screen.

    Raises:
        OverreadError: what ended the search early; of these `SearchStoppedError` where the person did.
        Exception: a fault of the program ended the screen; what was answered is kept.
    """
    app = RetuneApp(state, work, halt)
    code = run_to_end(app)
    if app.refusal is not None and not code:
        raise app.refusal
    return app.result, code


def run_past_searches(state: RetuneState) -> int:
    """Show the searches of a study until the person leaves; returns the exit code as `run_to_end` does."""
    return run_to_end(RetuneApp(state))
