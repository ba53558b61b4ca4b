"""The runs of judges on the screen, read only."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult

from annotate.tui.screens.judge import runs
from annotate.tui.screens.judge.runs import RunsState
from annotate.tui.screens.key_screen import MOVES, KeyScreen
from annotate.tui.widgets.lines import Lines


class JudgeRunsScreen(KeyScreen):
    """A list, and the run in hand below it."""

    DEFAULT_CSS: ClassVar[str] = """
    JudgeRunsScreen #list { height: 1fr; padding: 1 1 0 1; border-bottom: solid $panel-lighten-2; }
    JudgeRunsScreen #run { height: 13; padding: 0 1; }
    """
    keys, explained = runs.KEYS, runs.EXPLAINED

    def __init__(self, state: RunsState) -> None:
        super().__init__()
        self._state = state
        self._list, self._run = Lines(id="list"), Lines(id="run")

    def compose(self) -> ComposeResult:
        yield from (self.header, self.footer, self._list, self._run)

    def paint(self) -> None:
        """Show the list and the run in hand."""
        state, width = self._state, self.app.size.width
        self.header.show([runs.header(state, width)])
        self.footer.show([runs.footer(width)])
        self._list.show(runs.list_rows(state, self._list.size.height - 1, self._list.size.width))
        self._run.show(runs.run_lines(state.run))

    def take(self, key: str, character: str) -> None:  # noqa: ARG002
        if key in MOVES:
            self._state.move(MOVES[key])
            self.paint()
