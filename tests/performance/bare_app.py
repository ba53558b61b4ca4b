"""The yardstick: the least Textual app that shows the same texts, one for each key. `bare_app.py SCREENS.json`"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static


class BareApp(App[None]):
    """Shows screen after screen; ctrl+q quits."""

    def __init__(self, screens: list[str]) -> None:
        super().__init__()
        self.screens = screens
        self.shown = 0

    def compose(self) -> ComposeResult:
        yield Static(self.screens[0], markup=False)

    def on_key(self, event: events.Key) -> None:
        if event.key != "ctrl+q":
            self.shown = min(self.shown + 1, len(self.screens) - 1)
            self.query_one(Static).update(self.screens[self.shown])


if __name__ == "__main__":
    BareApp(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).run()
