"""The judge screen: watches the runs and stops them. It belongs to the one who runs the judge, not to an annotator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen

from annotate.tui.base_app import OverreadApp, run_to_end
from annotate.tui.screens.judge.state import EXPLAINED, KEYS, JudgeView
from annotate.tui.screens.key_screen import KeyScreen
from annotate.tui.widgets.lines import Lines
from judges.run import JudgeRun, RunResult
from store.errors import OverreadError

Watch = Callable[[JudgeRun], Awaitable[RunResult]]
"""Runs a judge to its end while somebody looks on."""

EVERY_S = 0.25


class JudgeScreen(KeyScreen):
    """Shows `view`; `s` stops, once more drops what is on its way; `q` leaves when nothing goes on any more."""

    DEFAULT_CSS: ClassVar[str] = """
    JudgeScreen #judge { height: 1fr; padding: 1 1 0 1; }
    """
    keys, explained = KEYS, EXPLAINED

    def __init__(self, view: JudgeView) -> None:
        super().__init__()
        self.view = view
        self._lines = Lines(id="judge")

    def compose(self) -> ComposeResult:
        yield from (self.header, self.footer, self._lines)

    def on_mount(self) -> None:
        self.set_interval(EVERY_S, self.paint)
        super().on_mount()

    def paint(self) -> None:
        """Show how things stand now."""
        width = self.app.size.width
        self.header.show([self.view.header(width)])
        self._lines.show(self.view.lines(), self._lines.top)
        self.footer.show([self.view.footer(width)])

    def take(self, key: str, character: str) -> None:
        if key in ("down", "up"):
            self._lines.scroll_rows(1 if key == "down" else -1)
        elif character == "s" and not self.view.over:
            self.stop()

    def leave(self) -> None:
        """Out of the program; a run that goes on is stopped first."""
        if self.view.over:
            self.app.exit()
        else:
            self.stop(leave=True)

    def stop(self, *, leave: bool = False) -> None:
        """Send no further call; asked again, do not wait either."""
        app = self.app
        assert isinstance(app, JudgeApp)
        app.leaves = app.leaves or leave
        if self.view.run is not None:
            (self.view.run.drop if self.view.stopping else self.view.run.stop)()
        self.view.stopping = True
        self.paint()


class JudgeApp(OverreadApp[None]):
    """Runs judges under the judge screen.

    Attributes:
        results: of all runs. refusal: what ended them early. leaves: the app ends with them.
    """

    def __init__(self, work: Callable[[Watch], Awaitable[Sequence[RunResult]]]) -> None:
        super().__init__()
        self.view = JudgeView()
        self.results: Sequence[RunResult] = ()
        self.refusal: OverreadError | None = None
        self.leaves = False
        self._judge_screen = JudgeScreen(self.view)
        self._work = work

    def get_default_screen(self) -> Screen[None]:
        return self._judge_screen

    def on_mount(self) -> None:
        self._judging = asyncio.create_task(self._all())

    async def on_unmount(self) -> None:
        """The terminal is given back; a run that goes on is ended, so that all that was answered is stored."""
        if self.view.run is not None and not self.view.over:
            self.view.run.drop()
        await self._judging

    async def _all(self) -> None:
        try:
            self.results = await self._work(self._watch)
            refused = [str(result.error) for result in self.results if result.error is not None]
            self.view.fault = refused[0] if refused else self.view.fault
        except OverreadError as error:
            self.refusal, self.view.fault = error, str(error)
        except Exception as error:
            self._handle_exception(error)
        self.view.over = True
        if not self.is_running:
            return
        if self.leaves:
            self.exit()
        else:
            self._judge_screen.paint()

    async def _watch(self, run: JudgeRun) -> RunResult:
        self.view.run = run
        if not self.is_running:
            run.stop()
        result = await run.run()
        self.view.results.append(result)
        if result.error is not None:
            self.view.fault = str(result.error)
        return result

    def action_leave(self) -> None:
        """Ctrl-Q and Ctrl-C stop in good order too."""
        if self.view.over:
            self.exit()
        else:
            self._judge_screen.stop(leave=True)


def run_judge_app(work: Callable[[Watch], Awaitable[Sequence[RunResult]]]) -> tuple[Sequence[RunResult], int]:
    """Show the runs until they are over and the person leaves.

    Returns:
        What came of the runs, and the exit code: 0, or 128 and the signal that ended the screen.

    Raises:
        OverreadError: what ended them early.
        Exception: a fault of the program ended the screen; what was answered is stored.
    """
    app = JudgeApp(work)
    code = run_to_end(app)
    if app.refusal is not None:
        raise app.refusal
    return app.results, code
