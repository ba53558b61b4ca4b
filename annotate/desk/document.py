"""What the desk shows of an item: sections that fold, rows at any width, places, marks and highlights in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, Literal, NamedTuple

from annotate.desk.blocks import Block, Piece, Place, Role, fit
from annotate.desk.cells import cell_width
from annotate.desk.layout import is_right_to_left
from annotate.desk.section_layout import SectionLayout, can_fold, folded_turns, label_width
from annotate.desk.sections import FoldedTurns, Section

HighlightRole = Literal["find", "find-current", "number", "unit", "date", "negation", "word", "similar"]
Layer = Literal["find", "find-current", "differences", "similar"]
"""Highlights of one layer replace each other; layers add up."""

GUTTER: Final = 2
"""Cells left of every row: the cursor's bar or a mark, and a blank."""

CURSOR_BAR: Final = "▌"
DIFFERENCE_MARK: Final = "≠"
FOUND_MARK: Final = "»"
_DIFFERENCES: Final = frozenset(("number", "unit", "date", "negation", "word"))


class Highlight(NamedTuple):
    """Characters `start` up to `end` of a unit's safe text that mean something."""

    section: str
    unit: int
    start: int
    end: int
    role: HighlightRole


class Mark(NamedTuple):
    """A remark about a whole unit: a sign, and the words that say it ("◆", "evidence")."""

    section: str
    unit: int
    sign: str
    words: str


class Run(NamedTuple):
    """Characters of a row that look the same."""

    text: str
    role: Role
    highlights: tuple[HighlightRole, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the screen.

    Attributes:
        unit: the unit it is about; -1 for a section's title.
        is_title: True for the line a section folds by.
    """

    section: str
    unit: int
    is_title: bool
    runs: tuple[Run, ...]

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


class Position(NamedTuple):
    """A place in a document that survives folding and another width."""

    section: str
    place: Place


class _Laid(NamedTuple):
    """A block and the index of its section."""

    section: int
    block: Block


class Document:
    """The sections of one item, laid out at a width.

    Rows are numbered from 0 over everything that is open. Nothing is laid out before `lay_out()`.
    """

    def __init__(self, sections: Iterable[Section]) -> None:
        self.sections: tuple[Section, ...] = tuple(sections)
        self._index: dict[str, int] = {section.id: index for index, section in enumerate(self.sections)}
        if len(self._index) < len(self.sections):
            raise ValueError("two sections have the same id")
        self._turns: tuple[FoldedTurns | None, ...] = tuple(folded_turns(section) for section in self.sections)
        self._open: set[str] = {section.id for section in self.sections if not section.folded}
        self._label_width = label_width(self.sections)
        self._width = 0
        self._blocks: dict[int, list[Block]] = {}
        self._laid: list[_Laid] = []
        self._ends: list[int] = []
        self._highlights: dict[Layer, dict[tuple[int, int], list[Highlight]]] = {}
        self._marks: dict[str, dict[tuple[int, int], list[Mark]]] = {}
        self.cursor: tuple[str, int] | None = None

    @property
    def width(self) -> int:
        """Cells of a row, gutter included; 0 before `lay_out()`."""
        return self._width

    @property
    def rows(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def open_sections(self) -> tuple[str, ...]:
        return tuple(section.id for section in self.sections if section.id in self._open)

    def lay_out(self, width: int) -> None:
        """Arrange the open sections for rows of `width` cells."""
        if width != self._width:
            self._width = width
            self._blocks.clear()
        self._assemble()

    def _assemble(self) -> None:
        """Number the rows anew; lay out only what is not yet laid out at this width."""
        self._laid = [
            _Laid(index, block) for index in range(len(self.sections)) for block in self._section_blocks(index)
        ]
        self._ends = list(accumulate(laid.block.rows for laid in self._laid))

    def _section_blocks(self, index: int) -> list[Block]:
        blocks = self._blocks.get(index)
        if blocks is None:
            section = self.sections[index]
            width = max(self._width - GUTTER, 1)
            layout = SectionLayout(section, width, self._label_width, section.id in self._open, self._turns[index])
            blocks = self._blocks[index] = layout.blocks()
        return blocks

    # Folding

    def is_open(self, section: str) -> bool:
        return section in self._open

    def set_open(self, section: str, is_open: bool) -> bool:
        """Open or close a section; True when that changed anything. A section that cannot fold stays open.

        Raises:
            KeyError: there is no such section.
        """
        index = self._index[section]
        if is_open == (section in self._open) or not can_fold(self.sections[index]):
            return False
        self._open.symmetric_difference_update((section,))
        self._blocks.pop(index, None)
        if self._width:
            self._assemble()
        return True

    # Texts, turns and places

    def section(self, section: str) -> Section:
        return self.sections[self._index[section]]

    def text(self, section: str, unit: int) -> str:
        """The safe text of a unit: what offsets count in."""
        return self.section(section).units[unit].text

    def texts(self, section: str) -> tuple[str, ...]:
        return tuple(unit.text for unit in self.section(section).units)

    @property
    def is_right_to_left(self) -> bool:
        """True when a text is of a right-to-left script: its order on the screen is the terminal's."""
        return any(is_right_to_left(unit.text) for section in self.sections for unit in section.units)

    def distinct_units(self, section: str) -> tuple[int, ...]:
        """The units that are shown in full: all, or in a dialogue those that repeat no earlier turn."""
        turns = self._turns[self._index[section]]
        return tuple(turns.counts) if turns else tuple(range(len(self.section(section).units)))

    def original_unit(self, section: str, unit: int) -> int:
        """The unit where `unit` is shown: itself, or the earlier turn that it repeats.

        Raises:
            KeyError: there is no such section. IndexError: it has no such unit.
        """
        turns = self._turns[self._index[section]]
        return (turns.original if turns else range(len(self.section(section).units)))[unit]

    def same_units(self, section: str, unit: int) -> tuple[int, ...]:
        """All turns that say what `unit` says."""
        turns = self._turns[self._index[section]]
        if turns is None:
            return (unit,)
        original = turns.original[unit]
        return tuple(index for index, source in enumerate(turns.original) if source == original)

    def locate(self, section: str, unit: int, offset: int = -1) -> int | None:
        """The row of a unit's head (offset -1), or of a character of it; None while that is folded or not laid out.

        Unit -1 is the section's title, or its first row when the title stands beside the text.
        """
        return self._row_at(section, self.original_unit(section, unit) if unit >= 0 else unit, offset)

    def _row_at(self, section: str, unit: int, offset: int) -> int | None:
        """The row of a unit just as it is numbered, a run of repeats by its first turn."""
        index = self._index[section]
        if not self._laid:
            return None
        first = self._first_block(index)
        fallback = None if unit >= 0 else self._row_of(first)
        for number in range(first, len(self._laid)):
            laid = self._laid[number]
            if laid.section != index:
                break
            row = laid.block.row_at(unit, offset)
            if row is not None:
                return self._row_of(number) + row
            if laid.block.unit == unit and fallback is None:
                fallback = self._row_of(number)
        return fallback

    def _first_block(self, section: int) -> int:
        return bisect_left(self._laid, section, key=lambda laid: laid.section)

    def _row_of(self, block: int) -> int:
        return self._ends[block] - self._laid[block].block.rows

    def position(self, row: int) -> Position:
        """Where a row is, to find it again with `row_of` after folding or at another width."""
        laid, within = self._block_at(row)
        return Position(self.sections[laid.section].id, laid.block.place(within))

    def row_of(self, position: Position) -> int:
        """The row of a position; the section's title when it is closed."""
        section, (unit, offset) = position
        row = self._row_at(section, unit, offset)
        return row if row is not None else self.locate(section, -1) or 0

    def _block_at(self, row: int) -> tuple[_Laid, int]:
        number = bisect_right(self._ends, row)
        return self._laid[number], row - self._row_of(number)

    # Marks and highlights

    def set_highlights(self, layer: Layer, highlights: Iterable[Highlight]) -> None:
        """Show these and no others in a layer. Within a unit they may not overlap.

        A highlight of a repeated turn shows where the turn is shown.
        """
        grouped: dict[tuple[int, int], list[Highlight]] = {}
        for highlight in highlights:
            unit = self.original_unit(highlight.section, highlight.unit)
            grouped.setdefault((self._index[highlight.section], unit), []).append(highlight)
        for group in grouped.values():
            group.sort(key=lambda highlight: highlight.start)
        self._highlights[layer] = grouped

    def set_marks(self, kind: str, marks: Iterable[Mark]) -> None:
        """Show these and no other marks of a kind, each once where its unit is shown."""
        grouped: dict[tuple[int, int], list[Mark]] = {}
        for mark in marks:
            group = grouped.setdefault((self._index[mark.section], self.original_unit(mark.section, mark.unit)), [])
            if all((mark.sign, mark.words) != (other.sign, other.words) for other in group):
                group.append(mark)
        self._marks[kind] = grouped

    def marks_of(self, section: str, unit: int) -> list[Mark]:
        """The marks shown at a unit, kinds in the order they were set."""
        key = (self._index[section], self.original_unit(section, unit))
        return [mark for kind in self._marks.values() for mark in kind.get(key, ())]

    # Rows

    def row(self, number: int) -> Row:
        """The row of that number, made now.

        Raises:
            IndexError: there is no such row.
        """
        if not 0 <= number < self.rows:
            raise IndexError(number)
        laid, within = self._block_at(number)
        section = self.sections[laid.section].id
        runs = [run for piece in laid.block.pieces(within) for run in self._runs(laid.section, piece)]
        marks = self.marks_of(section, laid.block.unit) if laid.block.unit >= 0 else []
        if laid.block.head:
            runs += self._marks_in_words(runs, marks)
        sign = marks[0].sign if marks and within == 0 and not laid.block.head and not self._turns[laid.section] else ""
        gutter = Run(f"{self._gutter(laid, runs, sign)} ", "gutter")
        is_title = laid.block.unit < 0 and within == 0 and can_fold(self.sections[laid.section])
        return Row(section, laid.block.unit, is_title, (gutter, *runs))

    def _marks_in_words(self, runs: Sequence[Run], marks: Sequence[Mark]) -> list[Run]:
        """The marks of a unit as far as there is room after its head."""
        room = self._width - GUTTER - sum(cell_width(run.text) for run in runs)
        words = fit([Piece(f"  {mark.sign} {mark.words}", "mark") for mark in marks], room)
        return [Run(piece.text, piece.role) for piece in words]

    def _gutter(self, laid: _Laid, runs: Sequence[Run], sign: str) -> str:
        if self.cursor == (self.sections[laid.section].id, laid.block.unit):
            return CURSOR_BAR
        roles = {role for run in runs for role in run.highlights}
        if "find-current" in roles:
            return FOUND_MARK
        return DIFFERENCE_MARK if roles & _DIFFERENCES else sign or " "

    def _runs(self, section: int, piece: Piece) -> list[Run]:
        """A piece cut where a highlight begins or ends."""
        hits = self._hits(section, piece) if piece.unit >= 0 else []
        if not hits:
            return [Run(piece.text, piece.role)] if piece.text else []
        end = piece.start + len(piece.text)
        edges = sorted({piece.start, end}.union(*((max(hit.start, piece.start), min(hit.end, end)) for hit in hits)))
        return [
            Run(
                piece.text[left - piece.start : right - piece.start],
                piece.role,
                tuple(hit.role for hit in hits if hit.start < right and hit.end > left),
            )
            for left, right in pairwise(edges)
        ]

    def _hits(self, section: int, piece: Piece) -> list[Highlight]:
        """The highlights that touch a piece, of all layers."""
        end = piece.start + len(piece.text)
        hits: list[Highlight] = []
        for layer in self._highlights.values():
            group = layer.get((section, piece.unit), ())
            first = bisect_right(group, piece.start, key=_end_of)
            last = bisect_left(group, end, key=_start_of)
            hits += group[first:last]
        return hits


def _start_of(highlight: Highlight) -> int:
    return highlight.start


def _end_of(highlight: Highlight) -> int:
    return highlight.end
