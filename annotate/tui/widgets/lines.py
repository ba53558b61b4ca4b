"""A stretch of styled lines: text is laid down as it is, never as markup, and only rows that changed are repainted."""

from __future__ import annotations

from typing import ClassVar, get_args

from rich.segment import Segment
from rich.style import Style
from textual.events import MouseScrollDown, MouseScrollUp, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from annotate.tui.widgets.spans import GLUE, Line, Role, line_width, wrap_lines

WHEEL_ROWS = 3
"""Rows a turn of the mouse wheel scrolls."""


class Lines(Widget, can_focus=False, inherit_bindings=False):
    """Shows lines of spans, wrapped to its width; a role is a component class `lines--ROLE`.

    It has no scrollbar: `top` is the first row shown.
    """

    class Resized(Message):
        """It has another size; whoever chose its lines for the old one may choose anew."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{role}" for role in get_args(Role)}

    DEFAULT_CSS = """
    Lines {
        height: auto;
        & > .lines--title { text-style: bold; }
        & > .lines--key { text-style: bold; color: $text-accent; }
        & > .lines--chosen { text-style: bold; color: $text-success; }
        & > .lines--muted { color: $text-muted; }
        & > .lines--judge { text-style: bold; }
        & > .lines--differs { text-style: bold; color: $text-warning; }
        & > .lines--warning { text-style: bold; color: $text-warning; }
        & > .lines--caret { text-style: reverse; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._rows: list[Line] = []
        self._wrapped_at = 0
        self._styles_of: dict[str, Style] = {}
        self.top = 0

    def show(self, lines: list[Line], top: int = 0) -> None:
        """Show these lines instead, from row `top` on; only what differs is repainted."""
        before, height = self._visible(), len(self.rows)
        self._lines = lines
        self._wrapped_at = 0
        self.top = max(0, min(top, len(self.rows) - 1))
        if len(self.rows) != height and self.styles.is_auto_height:
            self.refresh(layout=True)
        else:
            self._repaint(before)

    @property
    def rows(self) -> list[Line]:
        """The lines wrapped to the widget's width; none while it has no width."""
        width = self.size.width
        if width != self._wrapped_at:
            self._rows = wrap_lines(self._lines, width)
            self._wrapped_at = width
        return self._rows

    def scroll_rows(self, count: int) -> None:
        """Scroll `count` rows down, or up when negative, staying inside."""
        self.show(self._lines, max(0, min(self.top + count, len(self.rows) - self.size.height)))

    def reveal(self, first: int, last: int) -> None:
        """Scroll so that rows `first` to `last` are seen, the first of them at any rate."""
        top, height = self.top, self.size.height
        if height and last >= top + height:
            top = last - height + 1
        self.show(self._lines, min(top, first))

    def _visible(self) -> list[Line]:
        return self.rows[self.top : self.top + self.size.height]

    def _repaint(self, before: list[Line]) -> None:
        """Repaint the rows that are not what they were."""
        now, width = self._visible(), self.size.width
        for row in range(max(len(before), len(now))):
            if before[row : row + 1] != now[row : row + 1]:
                self.refresh(Region(0, row, width, 1))

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        self.refresh()
        self.post_message(self.Resized())

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self._wheel(event, WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self._wheel(event, -WHEEL_ROWS)

    def _wheel(self, event: MouseScrollDown | MouseScrollUp, rows: int) -> None:
        if len(self.rows) > self.size.height:
            event.stop()
            self.scroll_rows(rows)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return max(len(wrap_lines(self._lines, width)), 1)

    def notify_style_update(self) -> None:
        """Another theme, or colours switched off."""
        self._styles_of.clear()
        super().notify_style_update()

    def _style_of(self, role: str) -> Style:
        style = self._styles_of.get(role)
        if style is None:
            style = self._styles_of[role] = self.get_component_rich_style(f"lines--{role}")
        return style

    def render_line(self, y: int) -> Strip:
        width, plain = self.size.width, self._style_of("plain")
        number = self.top + y
        if number >= len(self.rows):
            return Strip.blank(width, plain)
        row = self.rows[number]
        segments = [Segment(span.text.replace(GLUE, " "), self._style_of(span.role)) for span in row if span.text]
        return Strip(segments, line_width(row)).adjust_cell_length(width, plain)
