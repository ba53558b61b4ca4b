"""The app's second wall against foreign text: no control character leaves a widget, whatever it was given."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from store.safe_text import TERMINAL_UNSAFE


class ControlCharacterFilter(LineFilter):
    """Deletes control characters, bidirectional overrides and lone surrogates from every line an app shows.

    Return one instance, always the same, from `App.get_line_filters()` beside the app's own filters. Links whose
    address holds such a character are dropped: terminals read the address too.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        search = TERMINAL_UNSAFE.search
        if not any(search(text) or (style is not None and style.link) for text, style, _ in segments):
            return segments
        return [_cleaned(segment) for segment in segments]


def _cleaned(segment: Segment) -> Segment:
    text, style, control = segment
    if style is not None and style.link and TERMINAL_UNSAFE.search(style.link):
        style = style.update_link(None)
    return Segment(TERMINAL_UNSAFE.sub("", text), style, control)
