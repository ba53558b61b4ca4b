"""The runs of judges on the screen, read only."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from annotate.tui.screens.judge import runs
from annotate.tui.screens.judge.runs import RunsState
from annotate.tui.widgets.lines import Lines


class JudgeRunsScreen(Screen[None]):
    """Dismissed by q or Esc. Nothing has the focus: every key comes here."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    JudgeRunsScreen { overflow: hidden; layout: vertical; }
    JudgeRunsScreen #header { height: 1; background: $panel; }
    JudgeRunsScreen #list { height: 1fr; padding: 1 1 0 1; border-bottom: solid $panel-lighten-2; }
    JudgeRunsScreen #run { height: 13; padding: 0 1; }
    JudgeRunsScreen #footer { height: 1; background: $panel; }
    """

    def __init__(self, state: RunsState) -> None:
        super().__init__()
        self._state = state
        self._header, self._footer = Lines(id="header"), Lines(id="footer")
        self._list, self._run = Lines(id="list"), Lines(id="run")

    def compose(self) -> ComposeResult:
        yield from (self._header, self._list, self._run, self._footer)

    def on_mount(self) -> None:
        self.call_after_refresh(self.paint)

    def on_resize(self) -> None:
        self.call_after_refresh(self.paint)

    def paint(self) -> None:
        """Show the list and the run in hand."""
        state, width = self._state, self.app.size.width
        self._header.show([runs.header(state, width)])
        self._footer.show([runs.footer(width)])
        self._list.show(runs.list_rows(state, self._list.size.height - 1, self._list.size.width))
        self._run.show(runs.run_lines(state.run))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.is_active:
            self._take(event.key, (event.character or "").lower())

    def _take(self, key: str, character: str) -> None:
        moves = {"down": 1, "up": -1, "home": -(10**9), "end": 10**9}
        if key in moves:
            self._state.move(moves[key])
            self.paint()
        elif character == "?" or key == "f1":
            self._show_keys()
        elif character == "q" or key == "escape":
            self.leave()

    def _show_keys(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import key_lines

        self.app.push_screen(TextScreen("Keys", key_lines(runs.KEYS, runs.EXPLAINED)))

    def leave(self) -> None:
        """Back to the desk."""
        self.dismiss(None)
