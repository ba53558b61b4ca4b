"""A document as Markdown (CommonMark with tables); every string is escaped in one place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import Final

from annotate.report.blocks import (
    Callout,
    Case,
    Document,
    Fold,
    Heading,
    LinkLine,
    Listing,
    Overview,
    Panel,
    Paragraph,
    Passage,
    Row,
    Scale,
    ScaleRow,
    Section,
    Table,
    Verdict,
)
from annotate.report.document import MARK
from annotate.report.signs import ANSWER_SIGNS, CALLOUT_SIGNS, OUTCOME_SIGNS
from store.safe_text import safe_text

AXIS_CELLS: Final = 41
_SPECIAL: Final = re.compile(r"[\\`*\[\]<>|~#!$&{}@]|(?<![^\W_])_|_(?![^\W_])")
_LINK: Final = re.compile(r"(?i)(:)(?=//)|(?<=www)(\.)")
_LEADING: Final = re.compile(r"^([-+=]|\d+[.)](?=\s|$))")
_BLANKS: Final = re.compile("^ +")


def markdown_text(document: Document) -> Iterator[str]:
    """The text in chunks."""
    yield f"<!-- {MARK} -->\n\n# {line_of(document.title)}\n\n{line_of(document.subtitle)}\n\n"
    for section in document.sections:
        yield from _section(section)
    yield f"---\n\n{line_of(document.colophon)}\n"


def line_of(text: str) -> str:
    """`text` as one line that shows as it is."""
    return _escaped_line(" ".join(safe_text(text).split("\n")))


def lines_of(text: str) -> list[str]:
    """`text` as lines that show as they are, without empty ones."""
    return [_escaped_line(line) for line in safe_text(text).split("\n") if line.strip()]


def _escaped_line(line: str) -> str:
    """One line without a character that Markdown obeys, in the middle or at the start; leading blanks do not indent."""
    line = _BLANKS.sub(lambda match: "\u00a0" * len(match[0]), line.rstrip())
    line = _SPECIAL.sub(r"\\\g<0>", line)
    line = _LINK.sub(lambda match: f"\\{match[0]}", line)
    return _LEADING.sub(_escaped_start, line)


def _escaped_start(match: re.Match[str]) -> str:
    """ "1." and "-" at the start of a line would begin a list, "=" a heading."""
    return f"{match[0][:-1]}\\{match[0][-1]}"


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"## {line_of(section.title)}\n\n"
    if section.subtitle:
        yield f"{line_of(section.subtitle)}\n\n"
    for block in section.blocks:
        yield f"{_block(block)}\n\n"


def _blocks(blocks: Iterable[object]) -> str:
    return "\n\n".join(_block(block) for block in blocks)


@singledispatch
def _block(block: object) -> str:
    raise TypeError(f"no such block: {type(block).__name__}")


@_block.register
def _(block: Paragraph) -> str:
    return line_of(block.text)


@_block.register
def _(block: Heading) -> str:
    return f"{'#' * block.level} {line_of(block.text)}"


@_block.register
def _(block: Verdict) -> str:
    head = f"**{OUTCOME_SIGNS[block.outcome]} {line_of(block.word)}.** {line_of(block.headline)}"
    return f"{head} {line_of(block.detail)}" if block.detail else head


@_block.register
def _(block: Callout) -> str:
    return f"**{line_of(CALLOUT_SIGNS[block.sign])} {line_of(block.text)}**"


@_block.register
def _(block: Listing) -> str:
    return "\n".join(f"- {line_of(item)}" for item in block.items)


@_block.register
def _(block: Overview) -> str:
    return "\n".join(map(_overview_line, block.lines))


def _overview_line(line: LinkLine) -> str:
    sign = f"{OUTCOME_SIGNS[line.outcome]} " if line.outcome else ""
    return f"- {sign}**{line_of(line.title)}**: {line_of(line.word)}. {line_of(line.text)}"


@_block.register
def _(block: Scale) -> str:
    columns = ("", "counted", "value (interval)", "0 to 1, ┆ the threshold", "answer")
    rows = [_scale_row(row) for row in block.rows]
    return f"{line_of(block.caption)}\n\n{_grid(columns, rows, '')}"


def _scale_row(row: ScaleRow) -> list[str]:
    sign = f"{ANSWER_SIGNS[row.answer]} " if row.answer else ""
    return [line_of(row.title), line_of(row.detail), line_of(row.number), f"`{text_axis(row)}`",
            f"{sign}{line_of(row.words)}"]  # fmt: skip


def text_axis(row: ScaleRow) -> str:
    """The row's axis in characters: `├──●──┤` the interval and the value, `┆` the threshold."""
    cells = ["·"] * AXIS_CELLS

    def place(value: float) -> int:
        share = (value - row.lowest) / (1 - row.lowest)
        return round(min(max(share, 0.0), 1.0) * (AXIS_CELLS - 1))

    if row.low is not None and row.high is not None:
        low, high = place(row.low), place(row.high)
        cells[low : high + 1] = "─" * (high - low + 1)
        cells[low], cells[high] = "├", "┤"
    if row.threshold is not None:
        cells[place(row.threshold)] = "┆"
    if row.value is not None:
        cells[place(row.value)] = "●"
    return "".join(cells)


@_block.register
def _(block: Table) -> str:
    rows = [_table_row(row, len(block.columns)) for row in block.rows]
    aligned = "" if block.words else ":"
    return f"{line_of(block.caption)}\n\n{_grid([line_of(name) for name in block.columns], rows, aligned)}"


def _table_row(row: Row, columns: int) -> list[str]:
    if row.group:
        return [f"**{line_of(row.cells[0].text)}**", *[""] * (columns - 1)]
    cells = [f"`{text_axis(cell.bar)}`" if cell.bar is not None else line_of(cell.text) for cell in row.cells]
    return [f"**{text}**" if cell.marked and text else text for cell, text in zip(row.cells, cells, strict=True)]


def _grid(columns: Iterable[str], rows: Iterable[list[str]], right: str) -> str:
    head = list(columns)
    rule = ["---", *[f"---{right}"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


@_block.register
def _(block: Fold) -> str:
    return f"**{line_of(block.title)}**\n\n{_blocks(block.blocks)}"


@_block.register
def _(block: Case) -> str:
    sign = f"{line_of(CALLOUT_SIGNS['danger'])} " if block.urgent else ""
    remark = f". {sign}{line_of(block.remark)}" if block.remark else ""
    head = (
        f"#### {line_of(block.title)}\n\nPeople: **{line_of(block.people)}**. Judge: **{line_of(block.judge)}**{remark}"
    )
    parts = [head, *map(_panel, block.panels)]
    if block.remarks:
        parts.append("\n".join(f"- {line_of(remark)}" for remark in block.remarks))
    return "\n\n".join([*parts, line_of(block.where)])


def _panel(panel: Panel) -> str:
    entries = [_passage(passage, f"{n}. " if panel.numbered else "") for n, passage in enumerate(panel.passages, 1)]
    return "\n".join([f"> *{line_of(panel.title)}*", ">", *("\n>\n".join(entries).split("\n"))])


def _passage(passage: Passage, number: str) -> str:
    """A passage inside a quotation: a line break where the text has one."""
    lines = lines_of(passage.text)
    if passage.head:
        lines.insert(0, f"{line_of(passage.head)}:")
    if passage.note:
        lines.append(f"({line_of(passage.note.strip('()'))})")
    indent = " " * len(number)
    return "\\\n".join(f"> {number if first else indent}{line}" for first, line in _numbered(lines))


def _numbered(lines: Iterable[str]) -> Iterator[tuple[bool, str]]:
    return ((index == 0, line) for index, line in enumerate(lines))
