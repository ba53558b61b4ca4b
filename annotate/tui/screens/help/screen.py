"""A text over the desk: the keys, or the rubric of the task."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from annotate.desk.actions import ACTIONS, HARMS, REASONS, KeyMap
from annotate.desk.document import Document
from annotate.desk.sections import text_section
from annotate.tui.screens.label.state import Span
from annotate.tui.widgets.document_view import DocumentView
from annotate.tui.widgets.lines import Lines
from judges.benchmarks.benchmark import TaskDefinition

_SCROLL = {"down": 1, "up": -1, "j": 1, "k": -1}
_PAGE = {"pagedown": 1, "pageup": -1, "space": 1}


class TextScreen(ModalScreen[None]):
    """Shows a text until a key closes it; arrows and page keys scroll."""

    DEFAULT_CSS = """
    TextScreen { align: center middle; background: $background; }
    TextScreen #title { height: 1; background: $panel; }
    TextScreen DocumentView { height: 1fr; }
    TextScreen #close { height: 1; background: $panel; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        yield Lines(id="title")
        yield DocumentView()
        yield Lines(id="close")

    def on_mount(self) -> None:
        self.query_one("#title", Lines).show([[Span(f" {self._title}", "title")]])
        self.query_one("#close", Lines).show([[Span(" any key", "key"), Span(" closes · arrows scroll", "muted")]])
        self.query_one(DocumentView).show(Document([text_section("text", "", self._text)]))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        view = self.query_one(DocumentView)
        if event.key in _SCROLL:
            view.scroll_rows(_SCROLL[event.key])
        elif event.key in _PAGE:
            view.scroll_pages(_PAGE[event.key])
        else:
            self.dismiss(None)


def help_text(keymap: KeyMap, task: TaskDefinition | None) -> str:
    """All keys in words, from the registry and the task."""
    return "\n".join(_help_lines(keymap, task))


def _help_lines(keymap: KeyMap, task: TaskDefinition | None) -> Iterator[str]:
    if task is not None:
        for title, labels in [(task.title, task.labels), *((part.title, part.labels) for part in task.parts)]:
            yield title
            for label in labels:
                yield f"  {label.key} or {label.digit:12} {label.title}" + (f" — {label.hint}" if label.hint else "")
            yield ""
        yield "  shift + label    the same, unsure"
        yield ""
    for action in ACTIONS:
        yield f"  {' or '.join(keymap.keys_of[action.id]):16} {action.description}"
    yield ""
    yield "After x: " + ", ".join(f"{key} {words}" for key, (_, words) in REASONS.items())
    yield "After !: " + ", ".join(f"{key} {words}" for key, (_, words) in HARMS.items())
