"""An item as sections of safe text: the panels its task declares, filled from the study."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.desk.ledger import Reading
from annotate.desk.sections import Section, sections_of
from store.items import get_texts
from store.model_names import model_names_in
from store.safe_text import safe_line
from store.study import Study


def sections_for(reading: Reading, study: Study) -> list[Section]:
    """The sections of an item, long texts loaded."""
    fields = {name.strip() for panel in reading.task.panels for name in panel.field.split(",")}
    wanted = {name: hash_ for name, hash_ in reading.item.texts.items() if name in fields}
    texts = get_texts(study, set(wanted.values()))
    return sections_of(reading.task.panels, reading.item.payload, {name: texts[wanted[name]] for name in wanted})


def names_a_model(reading: Reading) -> bool:
    """Whether a short text of the item names a model or a vendor: it may tell whose answer this is."""
    return any(model_names_in(text) for value in reading.item.payload.values() for text in _strings(value))


def _strings(value: object) -> Iterator[str]:
    """The texts in a payload field: itself, or those of its list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, str))


def headline(reading: Reading, limit: int = 60) -> str:
    """One line that names an item to its reader: its question, else its first short text."""
    by_role = {panel.role: panel.field for panel in reading.task.panels if panel.kind == "text"}
    for role in ("question", "gold", "reference", "response"):
        text = reading.item.payload.get(by_role.get(role, ""))
        if isinstance(text, str) and text.strip():
            return safe_line(text, limit)
    return next((safe_line(value, limit) for value in reading.item.payload.values() if isinstance(value, str)), "item")
