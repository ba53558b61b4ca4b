"""The rubric screen: versions in a list, the text or its changes beside it, the editor one key away."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal
from textual.screen import Screen

from annotate.editor import edited_text
from annotate.tui.base_app import OverreadApp
from annotate.tui.screens.rubric import state as shown
from annotate.tui.screens.rubric.state import RubricState
from annotate.tui.widgets.lines import Lines
from store.errors import SaveError, UsageError

WIDE = 110


class RubricScreen(Screen[None]):
    """Shows `state`. Nothing has the focus: every key comes here."""

    AUTO_FOCUS = ""
    DEFAULT_CSS: ClassVar[str] = """
    RubricScreen { overflow: hidden; layout: vertical; }
    RubricScreen #header { height: 1; background: $panel; }
    RubricScreen #message { height: auto; max-height: 4; }
    RubricScreen #footer { height: 1; background: $panel; }
    RubricScreen #versions { width: 62; height: 1fr; padding: 0 1; border-right: solid $panel-lighten-2; }
    RubricScreen #rubric { width: 1fr; height: 1fr; padding: 0 1; }
    RubricScreen.-narrow Horizontal { layout: vertical; }
    RubricScreen.-narrow #versions { width: 1fr; height: 6; border-right: none; border-bottom: solid $panel-lighten-2; }
    """

    def __init__(self, state: RubricState) -> None:
        super().__init__()
        self.state = state
        self._header, self._footer, self._message = Lines(id="header"), Lines(id="footer"), Lines(id="message")
        self._versions, self._text = Lines(id="versions"), Lines(id="rubric")

    def compose(self) -> ComposeResult:
        yield self._header
        with Horizontal():
            yield from (self._versions, self._text)
        yield from (self._message, self._footer)

    def on_mount(self) -> None:
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        self.set_class(self.app.size.width < WIDE, "-narrow")
        self.call_after_refresh(self.paint)

    def paint(self) -> None:
        """Show how things stand now."""
        state, width = self.state, self.app.size.width
        self._header.show([shown.header(state, width)])
        self._footer.show([shown.footer(state, width)])
        self._message.show(shown.message_lines(state))
        self._versions.show(shown.version_rows(state, self._versions.size.height, self._versions.size.width))
        self._text.show(shown.text_rows(state))

    # Keys

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.is_active:
            self._take(event.key, (event.character or "").lower())

    def _take(self, key: str, character: str) -> None:
        if key in ("pagedown", "pageup"):
            self._text.scroll_rows((1 if key == "pagedown" else -1) * max(self._text.size.height - 1, 1))
        elif character == "?" or key == "f1":
            self._show_keys()
        elif character == "q" or key == "escape":
            self.app.exit()
        elif self._acts(key, character):
            self.paint()

    def _acts(self, key: str, character: str) -> bool:
        """Do what changes the state; False when the key means nothing."""
        state, moves = self.state, {"down": 1, "up": -1, "home": -(10**9), "end": 10**9}
        if key in moves:
            state.move(moves[key])
        elif key in ("left", "right"):
            state.other(1 if key == "right" else -1)
        elif character == "d":
            state.toggle()
        elif character == "e":
            self.edit()
        else:
            return False
        return True

    def _show_keys(self) -> None:
        from annotate.tui.screens.help.screen import TextScreen
        from annotate.tui.screens.help.texts import key_lines

        self.app.push_screen(TextScreen("Keys", key_lines(shown.KEYS, shown.EXPLAINED)))

    def edit(self) -> None:
        """Give the terminal to the editor; store what it leaves, or say why not."""
        assert isinstance(self.app, OverreadApp)
        state = self.state
        try:
            with self.app.lend_terminal():
                text = edited_text(state.text_to_edit, "rubric.md")
            state.save(text)
        except SuspendNotSupported:
            state.tell("This terminal cannot be given to an editor: use overread rubric --edit")
        except (UsageError, SaveError) as error:
            state.tell(" ".join(part for part in (error.title, error.detail, error.hint) if part))
