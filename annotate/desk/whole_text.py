"""An item as one plain text: every panel whole, for a reader that is not the desk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotate.desk.sections import Section, Unit


def whole_text(sections: Sequence[Section]) -> str:
    """Every panel under its title, folded or not; what stands before a text has a line of its own, so that a pager that
    knows right-to-left text finds its direction by the text alone."""
    return "\n".join(line for section in sections for line in _lines(section))


def _lines(section: Section) -> Iterator[str]:
    yield f"── {section.title} ──" + (f"  ({section.badge})" if section.badge else "")
    for number, unit in enumerate(section.units, start=1):
        if head := _head(unit, number if len(section.units) > 1 else 0):
            yield head
        yield unit.text or unit.note
        yield ""


def _head(unit: Unit, number: int) -> str:
    parts = (f"{number}." if number else "", unit.head, f"[{unit.time}]" if unit.time else "")
    return " ".join(part for part in parts if part)
