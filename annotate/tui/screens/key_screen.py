"""What the screens beside the desk share: a header, a footer, and every key in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import events
from textual.screen import Screen

from annotate.tui.widgets.lines import Lines

WIDE: Final = 110
"""From this width on two things stand side by side."""
FAR: Final = 10**9
MOVES: Final = {"down": 1, "up": -1, "home": -FAR, "end": FAR}
"""Keys of a list → how many places on."""
PAGES: Final = {"pagedown": 1, "pageup": -1}
"""Keys of a text → how many pages on."""
ASIDE: Final = {"right": 1, "left": -1}
"""Keys of what stands beside → how many on."""


class KeyScreen(Screen[None]):
    """Nothing has the focus: every key comes here; q and Esc leave, ? and F1 show the keys.

    Attributes:
        header, footer: one line each, which `paint` fills.
        keys: key and what it does; none where the footer says all. explained: what else the help says.
    """

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    KeyScreen { overflow: hidden; }
    KeyScreen #header { split: top; height: 1; background: $panel; }
    KeyScreen #footer { split: bottom; height: 1; background: $panel; }
    """
    keys: ClassVar[Sequence[tuple[str, str]]] = ()
    explained: ClassVar[Sequence[str]] = ()

    def __init__(self) -> None:
        super().__init__()
        self.header, self.footer = Lines(id="header"), Lines(id="footer")

    def on_mount(self) -> None:
        self.lay_out()

    def on_resize(self) -> None:
        self.lay_out()

    def lay_out(self) -> None:
        """Lay out for the window's width, then paint: what is on the screen knows its room only after that."""
        wide = self.app.size.width >= WIDE
        self.update_classes({"-wide": wide, "-narrow": not wide})
        self.call_after_refresh(self.paint)

    def on_lines_resized(self, event: Lines.Resized) -> None:
        """What came into view, or grew with its text, has given something another room: fill it."""
        event.stop()
        self.paint()

    def paint(self) -> None:
        """Show how things stand now."""
        raise NotImplementedError

    def take(self, key: str, character: str) -> None:
        """A key that neither leaves nor shows the keys, by name, and the character it gives in lower case."""
        raise NotImplementedError

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if not self.is_active:
            return
        key, character = event.key, (event.character or "").lower()
        if character == "q" or key == "escape":
            self.leave()
        elif self.keys and (character == "?" or key == "f1"):
            self._show_keys()
        else:
            self.take(key, character)

    def _show_keys(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import key_lines

        self.app.push_screen(TextScreen("Keys", key_lines(self.keys, self.explained)))

    def leave(self) -> None:
        """Back to what it was opened from, or out of the program."""
        if len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self.app.exit()
