"""A document on the screen: only the rows that are seen are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual._styles_cache import StylesCache
from textual.events import Click, Resize
from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from annotate.desk.cells import cell_width
from annotate.desk.document import Document, Highlight, HighlightRole, Layer, Mark, Row
from annotate.desk.find import Finder, Hit

NARROWEST: Final = 12
"""Cells below which a document is not laid out: nothing could be read."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """The first screen of a document, rendered before it is shown.

    Attributes:
        size: of the view, scrollbar included.
        lines: the rendered lines, as the view keeps those of what it shows.
    """

    document: Document
    size: Size
    lines: StylesCache


class DocumentView(ScrollView, can_focus=False, inherit_bindings=False):
    """Shows a `Document`. It takes no keys: the screen calls its methods.

    What a style says is always said by a sign or a word as well: the bar ▌ of the cursor, ≠ before a line with a
    difference, » before the hit that is looked at, and the marks of a turn in words.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "document--title",
        "document--count",
        "document--badge",
        "document--head",
        "document--time",
        "document--repeat",
        "document--number",
        "document--text",
        "document--note",
        "document--rule",
        "document--mark",
        "document--gutter",
        "document--find",
        "document--find-current",
        "document--difference-number",
        "document--difference-unit",
        "document--difference-date",
        "document--difference-negation",
        "document--difference-word",
        "document--similar",
    }

    DEFAULT_CSS = """
    DocumentView {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-color: $panel-lighten-2;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        & > .document--title { text-style: bold; }
        & > .document--head { text-style: bold; }
        & > .document--mark { text-style: bold; }
        & > .document--gutter { text-style: bold; }
        & > .document--badge { text-style: italic; }
        & > .document--repeat { text-style: italic; color: $text-muted; }
        & > .document--note { text-style: italic; color: $text-muted; }
        & > .document--count { color: $text-muted; }
        & > .document--time { color: $text-muted; }
        & > .document--number { color: $text-muted; }
        & > .document--rule { color: $text-muted; }
        & > .document--find { text-style: underline; }
        & > .document--find-current { text-style: bold reverse; }
        & > .document--difference-number { text-style: bold underline; color: $warning; }
        & > .document--difference-unit { text-style: bold underline; color: $warning; }
        & > .document--difference-date { text-style: bold underline; color: $warning; }
        & > .document--difference-negation { text-style: bold underline; color: $error; }
        & > .document--difference-word { text-style: underline; }
        & > .document--similar { text-style: italic underline; }
    }
    """

    _HIGHLIGHT_CLASSES: ClassVar[dict[str, str]] = {
        "find": "document--find",
        "find-current": "document--find-current",
        "number": "document--difference-number",
        "unit": "document--difference-unit",
        "date": "document--difference-date",
        "negation": "document--difference-negation",
        "word": "document--difference-word",
        "similar": "document--similar",
    }

    class SectionsOpened(Message):
        """Sections of the document that the reader has just unfolded."""

        def __init__(self, view: DocumentView, sections: tuple[str, ...]) -> None:
            super().__init__()
            self.view = view
            self.sections = sections

        @property
        def control(self) -> DocumentView:
            return self.view

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._document = Document(())
        self._finder = Finder(self._document)
        self._styles_of: dict[tuple[str, ...], Style] = {}
        self._ahead: Ahead | None = None
        self._rendered: Document | None = None

    # The document

    @property
    def document(self) -> Document:
        return self._document

    def show(self, document: Document) -> None:
        """Show another document from its top, no search active."""
        self._document = document
        self._finder = Finder(document)
        self._lay_out()
        if self.scroll_offset.y:
            self.scroll_rows_to(0)
        self._use_ahead()

    def render_ahead(self, document: Document) -> None:
        """Render the first screen of the document that comes next, so that showing it only has to paint."""
        if self.scrollable_size.width < NARROWEST:
            return
        document.lay_out(self.scrollable_size.width)
        lines = StylesCache()
        self._rendered = document
        try:
            lines.render_widget(self, self.region.size.region)
        finally:
            self._rendered = None
        self._ahead = Ahead(document, self.region.size, lines)

    def _use_ahead(self) -> None:
        """Take over lines rendered ahead for what is shown now; whatever is refreshed later makes them dirty."""
        ahead, self._ahead = self._ahead, None
        if (
            ahead is not None
            and ahead.document is self._document
            and ahead.size == self.region.size
            and self.text_selection is None
            and not self.scroll_offset.y
        ):
            self._styles_cache = ahead.lines

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        """Wrap anew, the same text on the top line."""
        if self.scrollable_size.width != self._document.width:
            self._keep_top(self._lay_out)

    def _lay_out(self) -> None:
        if self.scrollable_size.width >= NARROWEST:
            self._document.lay_out(self.scrollable_size.width)
        self._rows_changed()

    def _rows_changed(self) -> None:
        """The size is set behind the reactive's back: as a reactive it would lay out the whole screen for each item."""
        self.set_reactive(ScrollView.virtual_size, Size(self.scrollable_size.width, self._document.rows))
        bar = self.vertical_scrollbar
        bar.window_virtual_size, bar.window_size = self._document.rows, self.scrollable_size.height
        self.refresh()

    def _keep_top(self, change: Callable[[], None]) -> None:
        """Change the rows and scroll so that the text on the top line stays there."""
        position = self._document.position(self.top_row) if self._document.rows else None
        change()
        if position is not None:
            self.scroll_rows_to(self._document.row_of(position))

    # Scrolling

    @property
    def top_row(self) -> int:
        """Number of the row on the top line."""
        return min(self.scroll_offset.y, max(self._document.rows - 1, 0))

    def scroll_rows_to(self, row: int) -> None:
        """Put a row on the top line, as far as there are rows below it."""
        self.scroll_to(y=row, animate=False, force=True)

    def scroll_rows(self, count: int) -> None:
        """Scroll `count` rows down, or up when negative."""
        self.scroll_rows_to(self.scroll_offset.y + count)

    def scroll_pages(self, count: int) -> None:
        """Scroll `count` screens down, or up when negative; one row stays in view."""
        self.scroll_rows(count * max(self.scrollable_size.height - 1, 1))

    def scroll_to_top(self) -> None:
        self.scroll_rows_to(0)

    def scroll_to_bottom(self) -> None:
        self.scroll_rows_to(self._document.rows)

    def reveal(self, row: int) -> None:
        """Scroll so that a row is seen with some rows around it; not at all when it already is."""
        margin = min(2, self.scrollable_size.height // 4)
        top = self.scroll_offset.y
        if not top + margin <= row < top + self.scrollable_size.height - margin:
            self.scroll_rows_to(max(row - self.scrollable_size.height // 4, 0))

    # Sections

    def toggle_section(self, section: str) -> bool:
        """Unfold a closed section or fold an open one; True when it is open now.

        Raises:
            KeyError: there is no such section.
        """
        is_open = not self._document.is_open(section)
        self._set_open((section,), is_open)
        return self._document.is_open(section)

    def toggle_top(self) -> None:
        """Unfold or fold the section at the top of the view, if there is any."""
        if self._document.rows:
            self.toggle_section(self._document.position(self.top_row).section)

    def open_section(self, section: str) -> None:
        """Unfold a section if it is closed.

        Raises:
            KeyError: there is no such section.
        """
        self._set_open((section,), True)

    def open_all(self) -> None:
        """Unfold everything."""
        self._set_open([section.id for section in self._document.sections], True)

    def _set_open(self, sections: Sequence[str], is_open: bool) -> None:
        changed: list[str] = []

        def change() -> None:
            changed.extend(section for section in sections if self._document.set_open(section, is_open))
            self._rows_changed()

        self._keep_top(change)
        if changed and is_open:
            self.post_message(self.SectionsOpened(self, tuple(changed)))

    def on_click(self, event: Click) -> None:
        """A click on the title of a section folds or unfolds it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row = self.scroll_offset.y + offset.y
        if row < self._document.rows:
            shown = self._document.row(row)
            if shown.is_title:
                self.toggle_section(shown.section)

    # Cursor, marks and highlights

    @property
    def cursor(self) -> tuple[str, int] | None:
        """Section and unit with the bar beside it."""
        return self._document.cursor

    def jump_to(self, section: str, unit: int = -1, offset: int = -1) -> None:
        """Unfold a section, scroll to its title, a unit or a character of a unit, and set the cursor to the unit.

        Raises:
            KeyError: there is no such section. IndexError: it has no such unit.
        """
        self.open_section(section)
        if unit >= 0:
            self._document.cursor = (section, self._document.original_unit(section, unit))
        row = self._document.locate(section, unit, offset)
        if row is not None:
            self.reveal(row)
        self.refresh()

    def move_cursor(self, section: str, step: int) -> int | None:
        """Move the cursor `step` units on in a section, stopping at its ends; the unit it is on now.

        From elsewhere it starts at the first unit on the screen, or the section's first. None: there is no unit.
        """
        units = self._document.distinct_units(section)
        if not units:
            return None
        here = self.cursor
        if here is not None and here[0] == section:
            index = units.index(here[1]) + step
        else:
            index = units.index(self._unit_in_view(section) or units[0])
        unit = units[min(max(index, 0), len(units) - 1)]
        self.jump_to(section, unit)
        return unit

    def _unit_in_view(self, section: str) -> int | None:
        """The first unit of a section that is on the screen."""
        top = self.top_row
        for number in range(top, min(top + self.scrollable_size.height, self._document.rows)):
            row = self._document.row(number)
            if row.section == section and row.unit >= 0:
                return self._document.original_unit(section, row.unit)
        return None

    def clear_cursor(self) -> None:
        self._document.cursor = None
        self.refresh()

    def set_highlights(self, layer: Layer, highlights: Iterable[Highlight]) -> None:
        """Show these and no others in a layer, see `Document.set_highlights`."""
        self._document.set_highlights(layer, highlights)
        self.refresh()

    def set_marks(self, kind: str, marks: Iterable[Mark]) -> None:
        """Show these and no other marks of a kind, see `Document.set_marks`."""
        self._document.set_marks(kind, marks)
        self.refresh()

    # Finding

    @property
    def hits(self) -> Sequence[Hit]:
        return self._finder.hits

    @property
    def current_hit(self) -> int | None:
        """Index in `hits` of the one that is looked at."""
        return self._finder.current

    def find(self, query: str) -> int:
        """Mark where `query` occurs, in folded sections too, and say how often; an empty query ends the search."""
        count = self._finder.search(query)
        self.set_highlights("find", self._finder.highlights())
        self.set_highlights("find-current", ())
        return count

    def find_step(self, by: int = 1) -> Hit | None:
        """Go to the next hit (-1: the previous one), unfolding where it is; the search starts at the top line."""
        near = self._document.position(self.top_row) if self._document.rows else None
        hit = self._finder.step(by, near)
        if hit is not None:
            self.open_section(hit.section)
            self.set_highlights("find-current", self._finder.current_highlight())
            row = self._document.locate(hit.section, hit.unit, hit.start)
            if row is not None:
                self.reveal(row)
        return hit

    # Rows to strips

    def render_line(self, y: int) -> Strip:
        if self._rendered is not None:
            return self._strip(self._rendered, y, None)
        number = self.scroll_offset.y + y
        width = self.scrollable_size.width
        if not self._document.width and width >= NARROWEST:  # the first paint comes before the first resize event
            self._document.lay_out(width)
        selection = self.text_selection
        return self._strip(self._document, number, selection.get_span(number) if selection is not None else None)

    def _strip(self, document: Document, number: int, selected: tuple[int, int] | None) -> Strip:
        """A row of a document as wide as the view, the selected characters apart."""
        width = self.scrollable_size.width
        base = self._look("text")
        if number >= document.rows:
            return Strip.blank(width, base)
        row = document.row(number)
        segments = [*self._segments(row, selected)]
        room = width - cell_width(row.text)
        if room > 0:
            segments.append(Segment(" " * room, base))
        strip = Strip(segments, max(width, width - room))
        return (strip if room >= 0 else strip.crop(0, width)).apply_offsets(0, number)

    def _segments(self, row: Row, selected: tuple[int, int] | None) -> Iterator[Segment]:
        """The runs of a row in their styles, the selected characters apart."""
        first, last = selected or (0, 0)
        last = len(row.text) if last < 0 else last
        start = 0
        for run in row.runs:
            end = start + len(run.text)
            edges = sorted({start, end, min(max(first, start), end), min(max(last, start), end)})
            style = self._look(run.role, *run.highlights)
            for left, right in pairwise(edges):
                chosen = first <= left < last
                text = run.text[left - start : right - start]
                yield Segment(text, style + self._selection_style if chosen else style)
            start = end

    @property
    def _selection_style(self) -> Style:
        return self.screen.get_component_rich_style("screen--selection")

    def _look(self, role: str, *highlights: HighlightRole) -> Style:
        """The style of a role under highlights, worked out once for each theme."""
        style = self._styles_of.get((role, *highlights))
        if style is None:
            style = self.get_component_rich_style(f"document--{role}")
            for highlight in highlights:
                style += self.get_component_rich_style(self._HIGHLIGHT_CLASSES[highlight], partial=True)
            self._styles_of[role, *highlights] = style
        return style

    def notify_style_update(self) -> None:
        """Another theme, or colours switched off."""
        self._styles_of.clear()
        self._ahead = None
        super().notify_style_update()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, as it is shown."""
        rows = self._document.rows
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else rows, rows - 1)
        lines = [self._document.row(number).text for number in range(first, last + 1)]
        within = Selection(
            selection.start and Offset(selection.start.x, 0), selection.end and Offset(selection.end.x, last - first)
        )
        return within.extract("\n".join(lines)), "\n"
