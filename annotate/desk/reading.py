"""An item as sections of safe text: the panels its task declares, filled from the study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotate.desk.entries import letters_of
from annotate.desk.ledger import Reading
from annotate.desk.sections import Section, sections_of, text_section
from judges.benchmarks.decisions import decisions_of, rows_of
from store.items import get_texts
from store.model_names import model_names_in
from store.safe_text import safe_line
from store.study import Study

MISSING_INPUTS = "missing_inputs"
"""The payload field that names what the judge saw and the files that were read do not have."""


def sections_for(reading: Reading, study: Study) -> list[Section]:
    """The sections of an item, long texts loaded: what is missing, the panels, the responses to rank."""
    fields = {name.strip() for panel in reading.task.panels for name in panel.field.split(",")}
    wanted = {name: hash_ for name, hash_ in reading.item.texts.items() if name in fields}
    texts = get_texts(study, set(wanted.values()))
    found = {name: texts[wanted[name]] for name in wanted}
    panels = sections_of(reading.task.panels, reading.item.payload, found)
    return [*_missing_inputs(reading), *panels, *entry_sections(reading)]


def entry_sections(reading: Reading) -> list[Section]:
    """The entries of a ranking, in the order this person is shown them, each under its letter."""
    sections = []
    for decision in decisions_of(reading.task):
        order = reading.orders.get(decision.id, ())
        letters, rows = letters_of(order), {row.id: row for row in rows_of(decision, reading.item.payload)}
        sections += [
            text_section(f"{decision.rows_field}:{entry}", f"{letters.get(entry, '–')}   {number} of {len(order)}",
                         rows[entry].text)
            for number, entry in enumerate(order, start=1)
        ]  # fmt: skip
    return sections


def _missing_inputs(reading: Reading) -> Iterator[Section]:
    """One line that says what the judge had and the reader has not."""
    named = reading.item.payload.get(MISSING_INPUTS)
    if isinstance(named, list) and named:
        titles = {panel.field: panel.title for panel in reading.task.panels}
        words = ", ".join(titles.get(str(name), str(name)) for name in named)
        yield text_section(MISSING_INPUTS, "Not here", f"The judge also saw: {words}. The files read do not have it.")


def names_a_model(reading: Reading) -> bool:
    """Whether a short text of the item names a model or a vendor: it may tell whose answer this is."""
    return any(model_names_in(text) for value in reading.item.payload.values() for text in _strings(value))


def _strings(value: object) -> Iterator[str]:
    """The texts in a payload field: itself, or those of its list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry.get("text", "") if isinstance(entry, Mapping) else entry)


def response_line(reading: Reading, limit: int) -> str:
    """The response in a line: it tells items apart that have one question. "" where there is none, or it is the
    headline."""
    text = safe_line(_short_text(reading, "response"), limit)
    return "" if text == headline(reading, limit) else text


def _short_text(reading: Reading, role: str) -> str:
    fields = [panel.field for panel in reading.task.panels if panel.kind == "text" and panel.role == role]
    text = reading.item.payload.get(fields[-1]) if fields else None
    return text if isinstance(text, str) and text.strip() else ""


def headline(reading: Reading, limit: int = 60) -> str:
    """One line that names an item to its reader: its question, else its first short text."""
    for role in ("question", "gold", "reference", "response"):
        if text := _short_text(reading, role):
            return safe_line(text, limit)
    return next((safe_line(value, limit) for value in reading.item.payload.values() if isinstance(value, str)), "item")
