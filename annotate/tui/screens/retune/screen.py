"""The retune screen: candidates and items in lists, what changed in the prompt beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from annotate.tui.screens.key_screen import ASIDE, MOVES, PAGES, KeyScreen
from annotate.tui.screens.retune import lines
from annotate.tui.screens.retune.state import RetuneState
from annotate.tui.widgets.lines import Lines

EVERY_S = 0.25
LEFT = 68


class RetuneScreen(KeyScreen):
    """Shows `state`.

    Attributes:
        on_stop: what stops the search; its argument is whether not to wait.
    """

    DEFAULT_CSS: ClassVar[str] = f"""
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
    keys, explained = lines.KEYS, lines.EXPLAINED

    def __init__(self, state: RetuneState, on_stop: Callable[[bool], None] = lambda _: None) -> None:
        super().__init__()
        self.state, self.on_stop = state, on_stop
        self._status, self._candidates = Lines(id="status"), Lines(id="candidates")
        self._items, self._diff = Lines(id="items"), Lines(id="diff")
        self._diff_of: tuple[int, int | None] = (-1, None)

    def compose(self) -> ComposeResult:
        yield from (self.header, self.footer)
        with Horizontal():
            with Vertical(id="left"):
                yield from (self._status, self._candidates, self._items)
            yield self._diff

    def on_mount(self) -> None:
        if self.state.is_live:
            self.set_interval(EVERY_S, self.paint)
        super().on_mount()

    def lay_out(self) -> None:
        self.set_class(self.state.focus == "items", "-items")
        super().lay_out()

    def paint(self) -> None:
        """Show how things stand now."""
        state, width = self.state, self.app.size.width
        state.look()
        self.header.show([lines.header(state, width)])
        self.footer.show([lines.footer(state, width)])
        self._status.show(lines.status_lines(state))
        self._candidates.show(lines.candidate_rows(state, self._candidates.size.height, self._candidates.size.width))
        self._items.show(lines.item_rows(state, self._items.size.height, self._items.size.width))
        candidate = state.candidate
        shown = (state.place, candidate.number if candidate is not None else None)
        self._diff.show(lines.diff_rows(state), self._diff.top if shown == self._diff_of else 0)
        self._diff_of = shown

    # Keys

    def take(self, key: str, character: str) -> None:
        if key in MOVES:
            self.state.move(MOVES[key])
            self.paint()
        elif key in PAGES:
            self._page(PAGES[key])
        elif key in ASIDE:
            self.state.other_search(ASIDE[key])
            self.paint()
        elif key == "tab":
            self.state.switch()
            self.lay_out()
        elif key == "enter":
            self._open()
        elif character == "b":
            self.state.number = None
            self.paint()
        elif character == "s":
            self.stop()

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
            self.lay_out()
        else:
            self.app.push_screen(RetuneItemScreen(self.state), lambda _: self.paint())

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
