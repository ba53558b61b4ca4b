"""A person at the real desk without a terminal: keys as a terminal sends them, the screen as text, what is stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from textual._xterm_parser import XTermParser
from textual.message import Message
from textual.pilot import Pilot

from annotate.desk.desk import Desk
from annotate.tui.app import DeskApp
from annotate.tui.screens.desk_screen import DeskScreen
from store.draws import RevealPolicy
from store.errors import SaveError
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import ANNOTATOR, Clock, current_labels, sit
from tests.desk.desk_studies import events as stored_events
from tests.terminal.harness import key_bytes

ESCAPE_DELAY = 0.1
"""Seconds after which Textual takes a lone ESC for the key."""
PATIENCE = 40
"""Hundredths of a second to wait for a paint; a window that is too small never paints an item."""
NARROW, WIDE = (80, 24), (140, 45)


class Person:
    """Presses keys and looks. Before each key a second passes on the desk's clock, so that no key is too fast."""

    def __init__(self, pilot: Pilot[SaveError], app: DeskApp, desk: Desk, study: Study, clock: Clock) -> None:
        self.pilot, self.app, self.desk, self.study, self.clock = pilot, app, desk, study, clock
        self._parser = XTermParser()

    async def press(self, *keys: str, after: float = 1.0) -> None:
        """Keys by the names of `tests.terminal.harness`, each `after` seconds of the desk's clock."""
        for key in keys:
            self.clock.wait(after)
            await self.write(key_bytes(key).decode())
            if key == "escape" or key.startswith("alt+"):  # ESC means a key only after a time without more bytes
                await asyncio.sleep(ESCAPE_DELAY * 1.5)
                await self._send(*self._parser.tick())

    async def type(self, text: str) -> None:
        """A text typed in one go, faster than anything is painted."""
        await self.write(text)

    async def paste(self, text: str) -> None:
        """A text pasted by a terminal with bracketed paste."""
        await self.write(f"\x1b[200~{text}\x1b[201~")

    async def write(self, data: str) -> None:
        """What a terminal sends, taken apart as the app does it."""
        await self._send(*self._parser.feed(data))

    async def _send(self, *messages: Message) -> None:
        driver = self.app._driver
        assert driver is not None
        for message in messages:
            message.set_sender(self.app)
            driver.process_message(message)
        await self.pilot.pause()
        for _ in range(PATIENCE):
            if not self.app.is_running or self._is_painted:
                break
            await self.pilot.pause(0.01)

    @property
    def _is_painted(self) -> bool:
        screen = self.app.screen
        if not (screen.is_mounted and screen.size) or screen._layout_required or screen._dirty_widgets:
            return False
        return self.desk.guard.painted_at is not None or self.desk.phase == "done"

    async def read_ahead(self) -> None:
        """Wait until the desk has prepared the next item, which it does while this one is read; then it does no more.

        A slow machine would else prepare the one after it in the middle of what a test counts.
        """
        reader = self.desk_screen._reader
        for _ in range(25 * PATIENCE):
            if reader._ahead.item_id not in ("", reader._shown.item_id):
                self.desk.look_ahead = lambda: None  # type: ignore[method-assign]
                return
            await self.pilot.pause(0.01)
        raise AssertionError("the next item was not read ahead")

    async def resize(self, width: int, height: int) -> None:
        await self.pilot.resize_terminal(width, height)
        await self.pilot.pause()

    # What is seen

    @property
    def rows(self) -> list[str]:
        """The screen, row by row, without trailing blanks."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def screen(self) -> str:
        return "\n".join(self.rows)

    def row(self, words: str) -> str:
        """The one row that holds these words."""
        found = [row for row in self.rows if words in row]
        assert len(found) == 1, f"{words!r} is in {len(found)} rows of\n{self.screen}"
        return found[0]

    @property
    def message(self) -> str:
        """The line above the keys."""
        return self.rows[-2].strip()

    @property
    def desk_screen(self) -> DeskScreen:
        screen = self.app.screen
        assert isinstance(screen, DeskScreen), screen
        return screen

    # What is stored

    @property
    def labels(self) -> dict[str, LabelState]:
        return current_labels(self.study)

    @property
    def events(self) -> list[dict[str, Any]]:
        return stored_events(self.study)

    @property
    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events]

    @property
    def last(self) -> dict[str, Any]:
        """The last event."""
        return self.events[-1]

    @property
    def item(self) -> str:
        """The id of the item that is read."""
        return self.desk.current.item.item_id

    @property
    def label(self) -> LabelState:
        """The stored label of the item that is read."""
        return self.labels.get(self.item, LabelState())

    async def go_to(self, *, hidden: bool) -> None:
        """To the first open item whose verdict stays hidden, or does not, by keys."""
        place = next(
            place
            for place, item in enumerate(self.desk.queue.items)
            if self.desk.ledger.stays_hidden(item.item_id) == hidden and not self.desk.ledger.is_decided(item.item_id)
        )
        await self.press(":", *str(place + 1), "enter")


@asynccontextmanager
async def at_desk(
    study: Study,
    mode: RevealPolicy | None = None,
    *,
    size: tuple[int, int] = NARROW,
    annotator: str = ANNOTATOR,
    remapped: Mapping[str, Sequence[str]] | None = None,
    clock: Clock | None = None,
    **options: Any,
) -> AsyncIterator[Person]:
    """Sit down in a window of that size and leave at the end."""
    clock = clock or Clock()
    desk = sit(study, mode, annotator=annotator, clock=clock, **options)
    app = DeskApp(desk, "halumem", remapped or {})
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Person(pilot, app, desk, study, clock)
