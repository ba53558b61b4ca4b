"""The retune screen: candidates and items in lists, what changed in the prompt beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from annotate.tui.screens.retune import lines
from annotate.tui.screens.retune.state import RetuneState
from annotate.tui.widgets.lines import Lines

WIDE = 110
"""From this width on the diff stands beside the lists."""
EVERY_S = 0.25
LEFT = 68


class RetuneScreen(Screen[None]):
    """Shows `state`. Nothing has the focus: every key comes here.

    Attributes:
        on_stop: what stops the search; its argument is whether not to wait.
    """

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = f"""
    RetuneScreen {{ overflow: hidden; layout: vertical; }}
    RetuneScreen #header {{ height: 1; background: $panel; }}
    RetuneScreen #footer {{ height: 1; background: $panel; dock: bottom; }}
    RetuneScreen #left {{ width: {LEFT}; height: 1fr; padding: 0 1; border-right: solid $panel-lighten-2; }}
    RetuneScreen #status {{ height: auto; max-height: 9; margin-bottom: 1; }}
    RetuneScreen #candidates {{ height: 2fr; }}
    RetuneScreen #items {{ height: 3fr; margin-top: 1; }}
    RetuneScreen #diff {{ width: 1fr; height: 1fr; padding: 0 1; }}
    RetuneScreen.-narrow Horizontal {{ layout: vertical; }}
    RetuneScreen.-narrow #left {{ width: 1fr; height: 13; border-right: none; border-bottom: solid $panel-lighten-2; }}
    RetuneScreen.-narrow #status {{ margin-bottom: 0; max-height: 6; }}
    RetuneScreen.-narrow #candidates {{ height: 1fr; }}
    RetuneScreen.-narrow #items {{ display: none; }}
    RetuneScreen.-narrow.-items #left {{ height: 1fr; border-bottom: none; }}
    RetuneScreen.-narrow.-items #candidates {{ height: 5; }}
    RetuneScreen.-narrow.-items #items {{ display: block; height: 1fr; }}
    RetuneScreen.-narrow.-items #diff {{ display: none; }}
    """

    def __init__(self, state: RetuneState, on_stop: Callable[[bool], None] = lambda _: None) -> None:
        super().__init__()
        self.state, self.on_stop = state, on_stop
        self._header, self._footer = Lines(id="header"), Lines(id="footer")
        self._status, self._candidates = Lines(id="status"), Lines(id="candidates")
        self._items, self._diff = Lines(id="items"), Lines(id="diff")
        self._diff_of: tuple[int, int | None] = (-1, None)

    def compose(self) -> ComposeResult:
        yield self._header
        with Horizontal():
            with Vertical(id="left"):
                yield from (self._status, self._candidates, self._items)
            yield self._diff
        yield self._footer

    def on_mount(self) -> None:
        if self.state.is_live:
            self.set_interval(EVERY_S, self.paint)
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        self.set_class(self.app.size.width < WIDE, "-narrow")
        self.set_class(self.state.focus == "items", "-items")
        self.call_after_refresh(self.paint)

    def paint(self) -> None:
        """Show how things stand now; lists know their room only after they were laid out."""
        state, width = self.state, self.app.size.width
        state.look()
        self._header.show([lines.header(state, width)])
        self._footer.show([lines.footer(state, width)])
        self._status.show(lines.status_lines(state))
        self._candidates.show(lines.candidate_rows(state, self._candidates.size.height, self._candidates.size.width))
        self._items.show(lines.item_rows(state, self._items.size.height, self._items.size.width))
        candidate = state.candidate
        shown = (state.place, candidate.number if candidate is not None else None)
        self._diff.show(lines.diff_rows(state), self._diff.top if shown == self._diff_of else 0)
        self._diff_of = shown

    # Keys

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.is_active:
            self._take(event.key, (event.character or "").lower())

    def _take(self, key: str, character: str) -> None:
        moves = {"down": 1, "up": -1, "home": -(10**9), "end": 10**9}
        if key in moves:
            self.state.move(moves[key])
            self.paint()
        elif key in ("pagedown", "pageup"):
            self._page(1 if key == "pagedown" else -1)
        elif key in ("left", "right"):
            self.state.other_search(1 if key == "right" else -1)
            self.paint()
        elif key == "tab":
            self.state.switch()
            self._arrange()
        elif key == "enter":
            self._open()
        elif character == "b":
            self.state.number = None
            self.paint()
        elif character == "s":
            self.stop()
        elif character == "?" or key == "f1":
            self._show_keys()
        elif character == "q" or key == "escape":
            self.leave()

    def _page(self, pages: int) -> None:
        if self.state.focus == "items":
            self.state.move(pages * max(self._items.size.height - 2, 1))
            self.paint()
        else:
            self._diff.scroll_rows(pages * max(self._diff.size.height - 1, 1))

    def _open(self) -> None:
        from annotate.tui.screens.retune.item import RetuneItemScreen

        one = self.state.open_item()
        if one is None:
            self._arrange()
        else:
            self.app.push_screen(RetuneItemScreen(self.state), lambda _: self.paint())

    def _show_keys(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import key_lines

        self.app.push_screen(TextScreen("Keys", key_lines(lines.KEYS, lines.EXPLAINED)))

    def stop(self) -> None:
        """Send no further call; asked again, do not wait either."""
        if self.state.is_live and not self.state.over:
            self.on_stop(self.state.stopping)
            self.state.stopping = True
            self.paint()

    def leave(self) -> None:
        """Back to what it was opened from, or out of the program; a search that goes on is stopped first."""
        from annotate.tui.base_app import OverreadApp

        if not self.state.is_live and len(self.app.screen_stack) > 1:
            self.dismiss(None)
            return
        assert isinstance(self.app, OverreadApp)
        self.app.action_leave()
