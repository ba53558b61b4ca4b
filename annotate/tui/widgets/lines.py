"""A static stretch of styled lines: text is laid down as it is, never as markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from rich.text import Text
from textual.widgets import Static


class StyledSpan(Protocol):
    """A piece of text with the name of its role."""

    @property
    def text(self) -> str: ...

    @property
    def role(self) -> str: ...


class Lines(Static):
    """Shows lines of spans; a role is a component class `lines--ROLE`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"lines--{role}" for role in ("plain", "title", "key", "chosen", "muted", "judge", "differs", "warning")
    }

    DEFAULT_CSS = """
    Lines .lines--title { text-style: bold; }
    Lines .lines--key { text-style: bold; color: $accent; }
    Lines .lines--chosen { text-style: bold; color: $success; }
    Lines .lines--muted { color: $text-muted; }
    Lines .lines--judge { text-style: bold; }
    Lines .lines--differs { text-style: bold; color: $warning; }
    Lines .lines--warning { color: $warning; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__("", markup=False, id=id, classes=classes)
        self._lines: Sequence[Sequence[StyledSpan]] = ()

    def show(self, lines: Sequence[Sequence[StyledSpan]]) -> None:
        """Show these lines instead; nothing is repainted when they are the same."""
        if lines == self._lines:
            return
        self._lines = lines
        self.update(self._text())

    def _text(self) -> Text:
        text = Text(end="")
        for number, line in enumerate(self._lines):
            if number:
                text.append("\n")
            for span in line:
                text.append(span.text, self.get_component_rich_style(f"lines--{span.role}", partial=True))
        return text

    def on_mount(self) -> None:
        self.update(self._text())
