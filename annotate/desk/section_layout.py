"""How a section is arranged: beside its title or below it, folded or open, in columns or one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from annotate.desk.blocks import (
    INDENT,
    MARGIN,
    RULE,
    Block,
    ColumnsBlock,
    Piece,
    TextBlock,
    TurnHeadBlock,
    WordsBlock,
    number_piece,
    pad,
)
from annotate.desk.cells import cell_width, cut_to_width
from annotate.desk.layout import has_disputed_width, wrap
from annotate.desk.sections import Entry, FoldedTurns, Section, Unit, fold_repeats

SIDE_BY_SIDE: Final = 28
"""Cells a column needs before texts are compared side by side."""

INLINE_WIDTH: Final = 58
"""Cells a line needs before a section's title stands left of its text rather than above it."""

INLINE_CELLS: Final = 2_000
"""Longest text, in code points, that gives up room for a title on its left."""

LONGEST_LABEL: Final = 20
"""Cells of the longest title that others are aligned with."""


@dataclass(frozen=True, slots=True)
class SectionLayout:
    """How one section is laid out.

    Attributes:
        width: cells of a row. label_width: cells of the title column of sections shown inline.
    """

    section: Section
    width: int
    label_width: int
    is_open: bool
    turns: FoldedTurns | None

    def blocks(self) -> list[Block]:
        """The section's blocks, its title first."""
        if self._inline:
            return self._inline_blocks()
        title = self._title_blocks()
        if not self.is_open:
            return title
        if self.turns is not None:
            return title + dialogue_blocks(self.section.units, self.turns, self.width)
        if self.section.kind == "compare":
            columns = _compare_blocks(self.section.units, self.width)
            return columns if self._named_by_columns else title + columns
        return title + _plain_blocks(self.section, self.width)

    @property
    def _inline(self) -> bool:
        if can_fold(self.section) or self.section.kind in ("dialogue", "compare") or self.width < INLINE_WIDTH:
            return False
        if not self.section.title or cell_width(self.section.title) >= self.label_width:
            return False
        return sum(len(unit.text) for unit in self.section.units) <= INLINE_CELLS

    @property
    def _named_by_columns(self) -> bool:
        return not can_fold(self.section) and not self.section.badge

    def _title_blocks(self) -> list[Block]:
        """The title and how much it holds; the badge beside it, or below it when it would be cut there.

        A section without a title is its text alone.
        """
        if not self.section.title:
            return []
        words, badge = count_words(self.section, self.turns), self.section.badge
        label = label_of(self.section, self.is_open)
        title = [Piece(pad(label, self.label_width) if words or badge else label, "title"), Piece(words, "count")]
        beside = [*title, Piece(f" · {badge}" if words and badge else badge, "badge")]
        if not badge or sum(cell_width(piece.text) for piece in beside) <= self.width:
            return [WordsBlock(-1, self.width, tuple(beside))]
        below = (MARGIN, Piece(badge, "badge"))
        return [WordsBlock(-1, self.width, tuple(title)), WordsBlock(-1, self.width, below)]

    def _inline_blocks(self) -> list[Block]:
        """The title in a column on the left of the first row."""
        label = Piece(pad(cut_to_width(self.section.title, self.label_width - 1), self.label_width), "title")
        blank = Piece(" " * self.label_width, "text")
        blocks: list[Block] = []
        if self.section.badge:
            blocks.append(WordsBlock(-1, self.width, (label, Piece(self.section.badge, "badge"))))
        if not self.section.units:
            return [*blocks, WordsBlock(-1, self.width, (blank if blocks else label, Piece("(none)", "note")))]
        for index, unit in enumerate(self.section.units):
            left = [blank if blocks else label]
            if self.section.kind == "list":
                left.append(number_piece(index, len(self.section.units)))
            blocks.append(_unit_block(index, unit, left, self.width))
        return blocks


def can_fold(section: Section) -> bool:
    """True for a section that opens and closes: any that starts closed, a dialogue, or what is long."""
    if not section.title:
        return False
    if section.folded or section.kind == "dialogue":
        return True
    return sum(len(unit.text) for unit in section.units) > INLINE_CELLS


def label_of(section: Section, is_open: bool) -> str:
    """The title with the sign that says whether the section is open."""
    if not can_fold(section):
        return section.title
    return f"{'▾' if is_open else '▸'} {section.title}"


def count_words(section: Section, turns: FoldedTurns | None) -> str:
    """How much a section holds: "52 turns, 24 distinct"."""
    total = len(section.units)
    if turns is not None:
        words = f"{total} turn{'' if total == 1 else 's'}"
        return f"{words}, {turns.distinct} distinct" if turns.distinct < total else words
    return str(total) if section.kind == "list" else ""


def label_width(sections: Sequence[Section]) -> int:
    """Cells of the title column that all sections of a document share."""
    widths = (cell_width(label_of(section, False)) for section in sections if section.kind != "compare")
    return max((width for width in widths if width <= LONGEST_LABEL), default=0) + INDENT


def folded_turns(section: Section) -> FoldedTurns | None:
    return fold_repeats(section.units) if section.kind == "dialogue" else None


def _unit_block(index: int, unit: Unit, left: Sequence[Piece], width: int) -> Block:
    """A unit's text with `left` before its first row."""
    if unit.note:
        return WordsBlock(index, width, (*left, Piece(unit.note, "note")))
    indent = sum(cell_width(piece.text) for piece in left)
    return TextBlock(index, wrap(unit.text, max(width - indent, INDENT)), tuple(left), indent)


def _plain_blocks(section: Section, width: int) -> list[Block]:
    """A text or a numbered list below its title."""
    if not section.units:
        return [WordsBlock(-1, width, (MARGIN, Piece("(none)", "note")))]
    blocks: list[Block] = []
    for index, unit in enumerate(section.units):
        left = [MARGIN, number_piece(index, len(section.units))] if section.kind == "list" else [MARGIN]
        blocks.append(_unit_block(index, unit, left, width))
    return blocks


def dialogue_blocks(units: Sequence[Unit], turns: FoldedTurns, width: int) -> list[Block]:
    """The turns below the title: a row for the speaker, the text below it, a row for a run of repeats."""
    blocks: list[Block] = []
    margin = (Piece(" " * (2 * INDENT if width >= INLINE_WIDTH else INDENT), "text"),)
    time = ""
    for entry in turns.entries:
        index, turn = entry.first, units[entry.first]
        if entry.original != index:
            blocks.append(WordsBlock(index, width, _repeat_words(entry, turn, width)))
            continue
        new_time = turn.time not in ("", time)
        blocks.append(TurnHeadBlock(index, width, turn, len(units), new_time, turns.counts[index]))
        blocks.append(_unit_block(index, turn, margin, width))
        time = turn.time
    return blocks


def _repeat_words(entry: Entry, turn: Unit, width: int) -> tuple[Piece, ...]:
    """ "14–37 repeat earlier turns", or for a single turn what it says again."""
    if entry.last > entry.first:
        return MARGIN, Piece(f"{entry.first + 1}–{entry.last + 1}  repeat earlier turns", "repeat")
    said = turn.text[:width].replace("\n", "↵")
    return MARGIN, Piece(f"{entry.first + 1}  {turn.head} = turn {entry.original + 1}: {said}", "repeat")


def _compare_blocks(units: Sequence[Unit], width: int) -> list[Block]:
    """Columns when they fit and nothing in a column can push the next one aside; otherwise one above the other."""
    room = (width - INDENT - len(RULE) * (len(units) - 1)) // max(len(units), 1)
    if len(units) < 2 or room < SIDE_BY_SIDE or any(has_disputed_width(unit.text + unit.head) for unit in units):
        return _stacked_blocks(units, width)
    heads = [MARGIN]
    for index, unit in enumerate(units):
        head = cut_to_width(unit.head, room)
        last = index + 1 == len(units)
        heads += [Piece(head, "head")] if last else [Piece(pad(head, room, 0), "head"), Piece(RULE, "rule")]
    columns = tuple(wrap(unit.text or unit.note, room) for unit in units)
    return [WordsBlock(0, width, tuple(heads)), ColumnsBlock(columns, room)]


def _stacked_blocks(units: Sequence[Unit], width: int) -> list[Block]:
    blocks: list[Block] = []
    for index, unit in enumerate(units):
        blocks.append(WordsBlock(index, width, (MARGIN, Piece(unit.head, "head")), head=True))
        blocks.append(_unit_block(index, unit, [MARGIN, MARGIN], width))
    return blocks
