"""The judge screen: watches the runs and stops them. It belongs to the one who runs the judge, not to an annotator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.screen import Screen

from annotate.tui.line_filter import ControlCharacterFilter
from annotate.tui.screens.judge.state import JudgeView
from annotate.tui.widgets.lines import Lines
from judges.run import JudgeRun, RunResult
from store.errors import OverreadError

Watch = Callable[[JudgeRun], Awaitable[RunResult]]
"""Runs a judge to its end while somebody looks on."""

EVERY_S = 0.25


class JudgeScreen(Screen[None]):
    """Shows `view`; `s` stops, once more drops what is on its way; `q` leaves when nothing goes on any more."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = "JudgeScreen { padding: 1 2; }"

    def __init__(self, view: JudgeView) -> None:
        super().__init__()
        self.view = view
        self._lines = Lines(id="judge")

    def compose(self) -> ComposeResult:
        yield self._lines

    def on_mount(self) -> None:
        self.set_interval(EVERY_S, self.paint)
        self.paint()

    def paint(self) -> None:
        """Show how things stand now."""
        self._lines.show(self.view.lines())

    def on_key(self, event: events.Key) -> None:
        event.stop()
        key = (event.character or "").lower()
        if self.view.over and key == "q":
            self.app.exit()
        elif not self.view.over and key in ("s", "q"):
            self.stop(leave=key == "q")

    def stop(self, *, leave: bool = False) -> None:
        """Send no further call; asked again, do not wait either."""
        app = self.app
        assert isinstance(app, JudgeApp)
        app.leaves = app.leaves or leave
        if self.view.run is not None:
            (self.view.run.drop if self.view.stopping else self.view.run.stop)()
        self.view.stopping = True
        self.paint()


class JudgeApp(App[None]):
    """Runs judges under the judge screen.

    Attributes:
        results: of all runs. fault: what ended them early. leaves: the app ends with them.
    """

    TITLE = "overread"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, work: Callable[[Watch], Awaitable[Sequence[RunResult]]]) -> None:
        super().__init__()
        self.view = JudgeView()
        self.results: Sequence[RunResult] = ()
        self.fault: BaseException | None = None
        self.leaves = False
        self._work = work
        self._wall = ControlCharacterFilter()

    def get_default_screen(self) -> Screen[None]:
        return JudgeScreen(self.view)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever reaches a line of the screen loses its control characters here."""
        return [*super().get_line_filters(), self._wall]

    def on_mount(self) -> None:
        self._task = asyncio.create_task(self._all())

    async def _all(self) -> None:
        try:
            self.results = await self._work(self._watch)
            refused = [str(result.error) for result in self.results if result.error is not None]
            self.view.fault = refused[0] if refused else self.view.fault
        except OverreadError as error:
            self.fault, self.view.fault = error, str(error)
        except Exception as error:
            self.fault = error
            self.leaves = True
        self.view.over = True
        if isinstance(self.screen, JudgeScreen):
            self.screen.paint()
        if self.leaves:
            self.exit()

    async def _watch(self, run: JudgeRun) -> RunResult:
        self.view.run = run
        result = await run.run()
        self.view.results.append(result)
        if result.error is not None:
            self.view.fault = str(result.error)
        return result

    async def action_quit(self) -> None:
        """Ctrl-Q and Ctrl-C stop in good order too."""
        if self.view.over:
            self.exit()
        elif isinstance(self.screen, JudgeScreen):
            self.screen.stop(leave=True)


def run_judge_app(work: Callable[[Watch], Awaitable[Sequence[RunResult]]]) -> Sequence[RunResult]:
    """Show the runs until they are over and the person leaves.

    Raises:
        BaseException: what ended them early.
    """
    app = JudgeApp(work)
    app.run()
    if app.fault is not None:
        raise app.fault
    return app.results
