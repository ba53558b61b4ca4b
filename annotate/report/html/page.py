"""A document as one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatchmethod
from itertools import count
from pathlib import Path
from typing import Final

from annotate.report.blocks import (
    Callout,
    Case,
    Cell,
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
from annotate.report.html.axis import axis, bar
from annotate.report.html.escape import escaped, isolated, paragraphs
from annotate.report.signs import ANSWER_SIGNS, CALLOUT_SIGNS, OUTCOME_SIGNS

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Nothing is fetched, run or sent, whatever an item's text may hold."""
LONG_WORD: Final = 40
"""A word of more characters, a hash, may be broken to fit its column."""


def html_page(document: Document) -> Iterator[str]:
    """The page in chunks of text."""
    page = _Page()
    yield f'<!DOCTYPE html>\n<!-- {MARK} -->\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
    yield f"<title>{escaped(document.title)}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n"
    yield f"<header><h1>{escaped(document.title)}</h1>"
    yield f'<p class="subtitle">{isolated(document.subtitle)}</p></header>\n<main>\n'
    for number, section in enumerate(document.sections):
        yield from page.section(section)
        if number == 0:
            yield _contents(document)
    yield f"</main>\n<footer><p>{escaped(document.colophon)}</p></footer>\n</body>\n</html>\n"


def style() -> str:
    """The page's style sheet."""
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def _contents(document: Document) -> str:
    links = "".join(f'<a href="#{section.anchor}">{escaped(section.title)}</a>' for section in document.sections[1:])
    return f'<nav aria-label="Parts of this report">{links}</nav>'


class _Page:
    """Renders blocks; numbers the pictures so that their ids differ."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def section(self, section: Section) -> Iterator[str]:
        page = ' class="page"' if section.page else ""
        yield f'<section id="{section.anchor}"{page}>\n'
        if section.title:
            yield f"<h2>{escaped(section.title)}</h2>\n"
        if section.subtitle:
            yield f'<p class="subtitle">{isolated(section.subtitle)}</p>\n'
        for block in section.blocks:
            yield self.block(block) + "\n"
        yield "</section>\n"

    def blocks(self, blocks: Iterable[object]) -> str:
        return "\n".join(self.block(block) for block in blocks)

    @singledispatchmethod
    def block(self, block: object) -> str:
        raise TypeError(f"no such block: {type(block).__name__}")

    @block.register
    def _(self, block: Paragraph) -> str:
        tone = "" if block.tone == "plain" else f' class="{block.tone}"'
        return f'<p dir="auto"{tone}>{escaped(block.text)}</p>'

    @block.register
    def _(self, block: Heading) -> str:
        return f'<h{block.level} dir="auto">{escaped(block.text)}</h{block.level}>'

    @block.register
    def _(self, block: Verdict) -> str:
        detail = f'<p class="detail" dir="auto">{escaped(block.detail)}</p>' if block.detail else ""
        return (
            f'<div class="verdict {block.outcome}"><p class="word">{_sign(OUTCOME_SIGNS[block.outcome])} '
            f'{escaped(block.word)}</p><p class="finding" dir="auto">{escaped(block.headline)}</p>{detail}</div>'
        )

    @block.register
    def _(self, block: Callout) -> str:
        return (
            f'<p class="callout {block.sign}" dir="auto">{_sign(CALLOUT_SIGNS[block.sign])} {escaped(block.text)}</p>'
        )

    @block.register
    def _(self, block: Listing) -> str:
        return _list(block.items)

    @block.register
    def _(self, block: Overview) -> str:
        return f'<ul class="overview">{"".join(map(_line, block.lines))}</ul>'

    @block.register
    def _(self, block: Scale) -> str:
        rows = "".join(self._scale_row(row) for row in block.rows)
        return f'<figure class="scale"><figcaption>{escaped(block.caption)}</figcaption><ul>{rows}</ul></figure>'

    def _scale_row(self, row: ScaleRow) -> str:
        answer = f'<p class="answer">{_sign(ANSWER_SIGNS[row.answer])} {escaped(row.words)}</p>' if row.answer else ""
        return (
            f'<li class="{row.answer or "plain"}"><p class="what"><b>{isolated(row.title)}</b> '
            f"<span>{isolated(row.detail)}</span></p>"
            f'<p class="number">{_data(row.number, row.value)}</p>{axis(row, self._name())}{answer}</li>'
        )

    @block.register
    def _(self, block: Table) -> str:
        columns = "".join(f'<th scope="col"><div dir="auto">{escaped(name)}</div></th>' for name in block.columns)
        rows = "".join(self._row(row, len(block.columns)) for row in block.rows)
        words = ' class="words"' if block.words else ""
        return (
            f'<div class="wide" tabindex="0" role="group" aria-label="{escaped(block.caption)}"><table{words}>'
            f"<caption>{escaped(block.caption)}</caption><thead><tr>{columns}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>"
        )

    def _row(self, row: Row, columns: int) -> str:
        head, *cells = row.cells
        if row.group:
            return f'<tr class="group"><th scope="rowgroup" colspan="{columns}">{isolated(head.text)}</th></tr>'
        marked = ' class="marked"' if head.marked else ""
        muted = ' class="muted"' if row.muted else ""
        return f'<tr{muted}><th scope="row"{marked}>{isolated(head.text)}</th>{"".join(map(self._cell, cells))}</tr>'

    def _cell(self, cell: Cell) -> str:
        if cell.bar is not None:
            return f'<td class="bar">{bar(cell.bar, self._name())}</td>'
        kinds = {"heat": cell.heat is not None, "marked": cell.marked, "long": len(cell.text.split(" ")[0]) > LONG_WORD}
        names = " ".join(name for name, holds in kinds.items() if holds)
        look = f' class="{names}"' if names else ""
        heat = f' style="--heat:{cell.heat:.3f}"' if cell.heat is not None else ""
        return f"<td{look}{heat}>{_data(cell.text, cell.value)}</td>"

    @block.register
    def _(self, block: Fold) -> str:
        return f"<details><summary>{isolated(block.title)}</summary>\n{self.blocks(block.blocks)}</details>"

    @block.register
    def _(self, block: Case) -> str:
        sign = _sign(CALLOUT_SIGNS["danger"]) if block.urgent else ""
        remark = f"<span>{sign} {escaped(block.remark)}</span>" if block.remark else ""
        look = "case danger" if block.urgent else "case"
        return (
            f'<details class="{look}"><summary><span class="title">{isolated(block.title)}</span>'
            f'<span class="both"><span>People: <b>{isolated(block.people)}</b></span> '
            f"<span>Judge: <b>{isolated(block.judge)}</b></span> {remark}</span></summary>"
            f'<div class="panels">{"".join(map(_panel, block.panels))}</div>{_list(block.remarks)}'
            f'<p class="small">{isolated(block.where)}</p></details>'
        )

    def _name(self) -> str:
        return f"n{next(self._numbers)}"


def _list(items: Iterable[str]) -> str:
    entries = "".join(f'<li dir="auto">{escaped(item)}</li>' for item in items)
    return f"<ul>{entries}</ul>" if entries else ""


def _sign(sign: str) -> str:
    return f'<span class="sign" aria-hidden="true">{sign}</span>'


def _data(text: str, value: float | None) -> str:
    """A number as it is read, with the whole number behind it."""
    return isolated(text) if value is None else f'<data value="{value!r}">{escaped(text)}</data>'


def _line(line: LinkLine) -> str:
    outcome = line.outcome or "plain"
    sign = _sign(OUTCOME_SIGNS[line.outcome]) if line.outcome else ""
    return (
        f'<li class="{outcome}"><a href="#{line.anchor}">{isolated(line.title)}</a> '
        f'<span class="word">{sign} {escaped(line.word)}</span> <span class="finding">{isolated(line.text)}</span></li>'
    )


def _panel(panel: Panel) -> str:
    if panel.numbered:
        items = "".join(f"<li>{_passage(passage)}</li>" for passage in panel.passages)
        body = f"<ol>{items}</ol>"
    else:
        body = "".join(map(_passage, panel.passages))
    return f'<div class="panel"><h4>{isolated(panel.title)}</h4>{body}</div>'


def _passage(passage: Passage) -> str:
    head = f'<p class="head">{isolated(passage.head)}</p>' if passage.head else ""
    note = f'<p class="small">{escaped(passage.note)}</p>' if passage.note else ""
    return f"{head}{paragraphs(passage.text)}{note}"
