"""A small full-screen program for the harness's own tests.

Keys: n counts, w shows wide characters, q quits. With `--careless` it handles no signal, as Textual alone does not.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static


class SmallApp(App[None]):
    """Counts key presses."""

    count = 0

    def compose(self) -> ComposeResult:
        yield Static("count 0", id="count", markup=False)
        yield Static("", id="size", markup=False)
        yield Static("", id="wide", markup=False)

    def on_mount(self) -> None:
        if "--careless" not in sys.argv:
            for number in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self.exit)

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#size", Static).update(f"size {event.size.width}x{event.size.height}")

    def on_key(self, event: events.Key) -> None:
        if event.key == "n":
            self.count += 1
            self.query_one("#count", Static).update(f"count {self.count}")
        elif event.key == "w":
            self.query_one("#wide", Static).update("漢字 and 👍 end")
        elif event.key == "q":
            self.exit()
        else:
            self.query_one("#count", Static).update(f"key {event.key}")


if __name__ == "__main__":
    SmallApp().run()
    print("goodbye")
