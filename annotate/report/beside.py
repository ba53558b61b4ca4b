"""What a benchmark says beside its scores, as blocks of a report: alarms, remarks, warnings, tables, doubts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from annotate.report.blocks import Block, Callout, Cell, Fold, Heading, Listing, Paragraph, Row, Section, Table
from annotate.report.nested import NestedTable, beyond, cell_text, nested_tables
from annotate.report.score_text import Block as TextBlock
from annotate.report.score_text import description_lines
from annotate.report.words import NO_NUMBER, count
from judges.benchmarks.benchmark import Alarm, Doubt
from judges.scoring import StudyScores, SystemScores

DOUBTS_SHOWN: Final = 200
"""Rows of the list of doubtful verdicts; `score --json` has them all."""
ANSWER_SHOWN: Final = 160
"""Characters of an answer in that list."""


def alarm_blocks(alarms: Sequence[Mapping[str, Sequence[Alarm]]]) -> Iterator[Block]:
    """What comes before every number: what happened, a line each; what did not, folded.

    Args:
        alarms: by system, once for each set of judges.
    """
    told = dict.fromkeys(
        (f"{system}: {alarm.sentence}", alarm.count)
        for one in alarms
        for system, found in one.items()
        for alarm in found
    )
    yield from (Callout("danger", words) for words, happened in told if happened)
    quiet = tuple(words for words, happened in told if not happened)
    if quiet and len(quiet) < len(told):
        yield Fold(f"{count(len(quiet), 'more such line')} without a case", (Listing(quiet),))
    else:
        yield from (Callout("safe", words) for words in quiet)


def remark_blocks(scores: Sequence[StudyScores]) -> Iterator[Block]:
    """What one must know to read the benchmark's numbers at all."""
    remarks = tuple(dict.fromkeys(remark for one in scores for remark in one.remarks))
    if remarks:
        yield Listing(remarks)


def beside_blocks(system: str, found: SystemScores, texts: bool) -> Iterator[Block]:
    """Of one system: warnings, where it went wrong, tables, and every number that is in no official score.

    Args:
        texts: whether texts of items may be shown.
    """
    if found.warnings:
        yield Heading("Read with care")
        yield Listing(tuple(found.warnings))
    if found.description is not None:
        blocks = tuple(laid_out(description_lines(found.description), f"{system}: "))
        yield Fold("Where it went wrong, and tables by user, type and the like", blocks)
    told = beyond(found.overridden, found.as_coded)
    if told:
        yield Fold("What people's labels tell besides", tuple(nested_blocks(told, system)))
    if any(isinstance(value, Mapping) for value in found.as_described.values()):
        described = tuple(nested_blocks(found.as_described, system))
        yield Fold("What the benchmark's paper reports and its code does not compute", described)
    if found.doubts:
        title = f"{count(len(found.doubts), 'verdict')} that a person should look at"
        yield Fold(title, tuple(_doubt_blocks(found.doubts, system, texts)))


def compared_section(scores: Sequence[StudyScores]) -> Section | None:
    """What takes several systems at once: with people's labels put in, and as coded."""
    blocks: list[Block] = []
    for one in scores:
        if not one.compared:
            continue
        coded = tuple(nested_blocks(one.compared, one.judge))
        if one.compared_overridden and one.compared_overridden != one.compared:
            blocks.append(Paragraph("With people's final labels in place of the verdicts:"))
            blocks += nested_blocks(one.compared_overridden, one.judge)
            blocks.append(Fold(f"The same as coded, judged by {one.judge}", coded))
        else:
            blocks += [Paragraph(f"As coded, judged by {one.judge}:"), *coded]
    return Section("compared", "Systems side by side", tuple(blocks)) if blocks else None


def nested_blocks(scores: Mapping[str, Any], about: str) -> Iterator[Block]:
    """A nesting as tables, and why numbers are missing.

    Args:
        about: what the captions say the numbers are of.
    """
    for table in nested_tables(scores):
        yield _nested_table(table, about)
        if table.reasons:
            yield Paragraph(f"{NO_NUMBER}: {'; '.join(table.reasons)}.", "small")


def _nested_table(table: NestedTable, about: str) -> Table:
    title = table.title.replace("_", " ")
    caption = ", ".join(filter(None, (title, about))) + (": mean (n)" if table.is_grid else "")
    rows = tuple(
        Row((Cell(name), *(_cell(row.get(column), table.is_grid) for column in table.columns)))
        for name, row in table.rows.items()
    )
    return Table(caption, ("", *(column.replace("_", " ") for column in table.columns)), rows)


def _cell(value: Any, is_grid: bool) -> Cell:
    number = value["mean"] if isinstance(value, Mapping) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        return Cell(number if isinstance(number, str) else "" if value is None else NO_NUMBER)
    heat = float(number) if is_grid and 0 <= number <= 1 else None
    return Cell(cell_text(value, 4), value=float(number), heat=heat)


def laid_out(blocks: Iterable[TextBlock], about: str) -> Iterator[Block]:
    """Lines and tables of the terminal as blocks; a line right before a table is its caption."""
    waiting = ""
    for block in blocks:
        if isinstance(block, str):
            if waiting:
                yield Paragraph(waiting)
            waiting = block.strip()
        elif block:
            head, *rows = block if not block[0][0] else [[""] * len(block[0]), *block]
            body = tuple(Row(tuple(Cell(cell) for cell in row)) for row in rows)
            yield Table(f"{about}{waiting.removesuffix(':')}", tuple(head), body)
            waiting = ""
    if waiting:
        yield Paragraph(waiting)


def _doubt_blocks(doubts: Sequence[Doubt], system: str, texts: bool) -> Iterator[Block]:
    titles = [title for title in doubts[0].cells if texts or title not in ("answer", "looked for")]
    rows = tuple(
        Row((Cell(doubt.kind.replace("_", " ")), *(Cell(_clipped(doubt.cells[title])) for title in titles)))
        for doubt in doubts[:DOUBTS_SHOWN]
    )
    yield Table(f"Doubtful on the face of them, {system}", ("kind", *titles), rows, words=True)
    if len(doubts) > DOUBTS_SHOWN:
        yield Paragraph(f"{len(doubts) - DOUBTS_SHOWN} more: score --json.", "small")


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ANSWER_SHOWN else f"{line[: ANSWER_SHOWN - 1]}…"
