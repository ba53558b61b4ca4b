"""The rubric screen: versions in a list, the text or its changes beside it, the editor one key away."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal

from annotate.editor import edited_text
from annotate.tui.base_app import OverreadApp
from annotate.tui.screens.key_screen import ASIDE, MOVES, PAGES, KeyScreen
from annotate.tui.screens.rubric import state as shown
from annotate.tui.screens.rubric.state import RubricState
from annotate.tui.widgets.lines import Lines
from store.errors import SaveError, UsageError


class RubricScreen(KeyScreen):
    """Shows `state`."""

    DEFAULT_CSS: ClassVar[str] = """
    RubricScreen #message { split: bottom; height: auto; max-height: 4; }
    RubricScreen #versions { width: 62; height: 1fr; padding: 0 1; border-right: solid $panel-lighten-2; }
    RubricScreen #rubric { width: 1fr; height: 1fr; padding: 0 1; }
    RubricScreen.-narrow Horizontal { layout: vertical; }
    RubricScreen.-narrow #versions { width: 1fr; height: 6; border-right: none; border-bottom: solid $panel-lighten-2; }
    """
    keys, explained = shown.KEYS, shown.EXPLAINED

    def __init__(self, state: RubricState) -> None:
        super().__init__()
        self.state = state
        self._versions, self._text, self._message = Lines(id="versions"), Lines(id="rubric"), Lines(id="message")

    def compose(self) -> ComposeResult:
        yield from (self.header, self.footer, self._message)
        with Horizontal():
            yield from (self._versions, self._text)

    def paint(self) -> None:
        """Show how things stand now."""
        state, width = self.state, self.app.size.width
        self.header.show([shown.header(state, width)])
        self.footer.show([shown.footer(state, width)])
        self._message.show(shown.message_lines(state))
        self._versions.show(shown.version_rows(state, self._versions.size.height, self._versions.size.width))
        self._text.show(shown.text_rows(state))

    # Keys

    def take(self, key: str, character: str) -> None:
        if key in PAGES:
            self._text.scroll_rows(PAGES[key] * max(self._text.size.height - 1, 1))
        elif self._acts(key, character):
            self.paint()

    def _acts(self, key: str, character: str) -> bool:
        """Do what changes the state; False when the key means nothing."""
        state = self.state
        if key in MOVES:
            state.move(MOVES[key])
        elif key in ASIDE:
            state.other(ASIDE[key])
        elif character == "d":
            state.toggle()
        elif character == "m":
            state.toggle_signs()
        elif character == "e":
            self.edit()
        else:
            return False
        return True

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
