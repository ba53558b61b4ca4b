"""Numbers, rankings and grids in the report: the same lines as `audit` prints."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.report.blocks import Block, Cell, Heading, Paragraph, Row, Section, Table
from annotate.report.facts import Facts
from annotate.report.part_text import part_lines

COLUMNS = ("statistic", "value", "interval", "n")


def parts_section(facts: Facts) -> Section | None:
    """None when nobody has given any."""
    blocks = tuple(_blocks(facts))
    if not blocks:
        return None
    return Section("parts", "Numbers, rankings and grids", blocks, "labels of more than one key, each on its own scale")


def _blocks(facts: Facts) -> Iterator[Block]:
    for task, parts in facts.audit.declared.items():
        for part, found in parts.items():
            name = f"{task} / {part}" if part else task
            lines = [line for line in part_lines(name, found) if line]
            if lines:
                yield Heading(f"{name}: {found.title}")
            for line in lines:
                if isinstance(line, str):
                    yield Paragraph(line.strip(), "small")
                else:
                    yield Table("", COLUMNS, tuple(Row(tuple(map(Cell, row))) for row in line))
