"""A report as data: plain strings in few kinds of blocks. Renderers escape every string; nothing here is markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judges.calibration.checks import Answer, Outcome

Tone = Literal["plain", "lead", "small"]
Sign = Literal["danger", "safe", "note"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or more. `small` is for what only some readers need."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section; level 2 in a section that has no title of its own."""

    text: str
    level: Literal[2, 3] = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in plain words: a word ("Undecided"), the finding, and what it rests on."""

    outcome: Outcome
    word: str
    headline: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Callout:
    """One line that must not be overlooked."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class ScaleRow:
    """A number with its interval and its threshold on one axis.

    Attributes:
        title, detail: what it is, and what it is counted from ("recall, 9 of 19").
        value, low, high, threshold: None where there is none. lowest: where the axis begins; it ends at 1.
        number: the value and the interval as text.
        answer: None for a number that has no threshold. words: the answer, or why there is no number.
    """

    title: str
    detail: str
    number: str
    words: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    answer: Answer | None = None
    lowest: float = 0.0
    unit: Literal["percent", "plain"] = "percent"


@dataclass(frozen=True, slots=True)
class Scale:
    """Rows of numbers on axes of their own."""

    caption: str
    rows: tuple[ScaleRow, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        value: the whole number behind a rounded text.
        heat: 0 to 1, how strongly it is filled; None for not at all. marked: it stands out (agreement on a diagonal).
        bar: an axis in place of nothing but the text.
    """

    text: str
    value: float | None = None
    heat: float | None = None
    marked: bool = False
    bar: ScaleRow | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; the first cell is its head. `muted`: rests on too little. `group`: heads the rows below."""

    cells: tuple[Cell, ...]
    muted: bool = False
    group: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; columns after the first are flush right unless `words`."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    words: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Short sentences one below the other."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A line of an overview that leads to a section."""

    anchor: str
    outcome: Outcome | None
    word: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The sections in one line each."""

    lines: tuple[LinkLine, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of an item: who speaks or "", the text, and what to say in its place or after it."""

    text: str
    head: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A titled group of passages."""

    title: str
    passages: tuple[Passage, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One item with what people and the judge say of it.

    Attributes:
        title: one line that names it. where: its system and id. remark: "" or why it comes early. urgent: dangerous.
        remarks: what people marked on it.
    """

    title: str
    people: str
    judge: str
    where: str
    remark: str = ""
    urgent: bool = False
    panels: tuple[Panel, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks a reader opens; open in print."""

    title: str
    blocks: tuple[Block, ...]


Block = Paragraph | Heading | Verdict | Callout | Scale | Table | Listing | Overview | Case | Fold


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report, under a heading if it has a title; printed, it begins a page if `page`."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    subtitle: str = ""
    page: bool = True


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    colophon: str
