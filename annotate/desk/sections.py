"""What an item shows, as data: sections of safe texts, built from the panels a benchmark declares."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from judges.benchmarks.benchmark import Panel, PanelKind
from store.safe_text import safe_line, safe_text

NOT_SEEN: Final = "the judge did not see this"
EMPTY: Final = "(empty)"
MISSING: Final = "(not in the data)"
_HEAD_LIMIT: Final = 60
_TITLE_LIMIT: Final = 120
_SPEAKERS: Final = {"user": "User", "human": "User", "assistant": "Assistant", "system": "System"}
_ROLE_KEYS: Final = ("role", "speaker")
_CONTENT_KEYS: Final = ("content", "text")
_TIME_KEYS: Final = ("timestamp", "time")


@dataclass(frozen=True, slots=True)
class Unit:
    """One text of a section: the paragraph, a list's item, a dialogue's turn, a column.

    Attributes:
        text: safe; offsets of highlights count its code points.
        head: who speaks, or the column's title; "" for none.
        time: the turn's timestamp as the data spells it.
        note: what to say when there is no text: `EMPTY` or `MISSING`.
    """

    text: str
    head: str = ""
    time: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One panel with its texts. `id` is unique in a document; `badge` is a short remark beside the title."""

    id: str
    title: str
    kind: PanelKind
    units: tuple[Unit, ...]
    badge: str = ""
    folded: bool = False


class Turn(NamedTuple):
    """One message of a dialogue, as the data has it."""

    role: str
    text: str
    timestamp: str = ""


class Column(NamedTuple):
    """One of the texts that stand side by side."""

    title: str
    text: str | None


def unit(text: str | None, head: str = "", time: str = "") -> Unit:
    """A unit with its strings made safe; None is a text the data does not have."""
    shown = safe_text(text or "").rstrip("\n")
    note = MISSING if text is None else "" if shown.strip() else EMPTY
    return Unit(shown, safe_line(head, _HEAD_LIMIT), safe_line(time, _HEAD_LIMIT), note)


def text_section(section_id: str, title: str, text: str | None, *, badge: str = "", folded: bool = False) -> Section:
    """A section of one text."""
    return _section(section_id, title, "text", (unit(text),), badge, folded)


def list_section(
    section_id: str, title: str, texts: Iterable[str | None], *, badge: str = "", folded: bool = False
) -> Section:
    """A section of numbered short texts."""
    return _section(section_id, title, "list", tuple(unit(text) for text in texts), badge, folded)


def dialogue_section(
    section_id: str, title: str, turns: Iterable[Turn], *, badge: str = "", folded: bool = False
) -> Section:
    """A section of turns; unit n is turn n of the data, 0-based, whether or not it repeats an earlier one."""
    units = tuple(
        unit(turn.text, _SPEAKERS.get(turn.role.strip().lower(), turn.role), turn.timestamp) for turn in turns
    )
    return _section(section_id, title, "dialogue", units, badge, folded)


def compare_section(
    section_id: str, title: str, columns: Iterable[Column], *, badge: str = "", folded: bool = False
) -> Section:
    """A section of texts side by side."""
    units = tuple(unit(column.text, column.title) for column in columns)
    return _section(section_id, title, "compare", units, badge, folded)


def _section(
    section_id: str, title: str, kind: PanelKind, units: tuple[Unit, ...], badge: str, folded: bool
) -> Section:
    return Section(section_id, safe_line(title, _TITLE_LIMIT), kind, units, safe_line(badge, _TITLE_LIMIT), folded)


def sections_of(panels: Sequence[Panel], payload: Mapping[str, Any], texts: Mapping[str, str]) -> list[Section]:
    """The sections of an item: its panels filled from its payload, or from its long texts by the panel's field.

    A dialogue is a list of mappings (`role` or `speaker`, `content` or `text`, `timestamp` or `time`), or that list as
    JSON text. A value of another shape is shown as its JSON, never dropped. A section's id is its panel's field.

    Raises:
        ValueError: two panels show the same field.
    """
    if len({panel.field for panel in panels}) < len(panels):
        raise ValueError("two panels show the same field")
    values = {**texts, **payload}
    return [_panel_section(panel, values) for panel in panels]


def _panel_section(panel: Panel, values: Mapping[str, Any]) -> Section:
    badge = "" if panel.judge_saw else NOT_SEEN
    if panel.kind == "compare":
        columns = _columns(panel, values)
        return compare_section(panel.field, panel.title, columns, badge=badge, folded=panel.folded)
    value = values.get(panel.field)
    if value is None or panel.kind == "text":
        return text_section(panel.field, panel.title, _as_text(value), badge=badge, folded=panel.folded)
    if panel.kind == "dialogue":
        return dialogue_section(panel.field, panel.title, turns_of(value), badge=badge, folded=panel.folded)
    return list_section(panel.field, panel.title, map(_as_text, _as_list(value)), badge=badge, folded=panel.folded)


def _columns(panel: Panel, values: Mapping[str, Any]) -> list[Column]:
    """The fields of a compare panel; "Old version, New version" as its title names the columns."""
    fields = [name.strip() for name in panel.field.split(",")]
    titles = [title.strip() for title in panel.title.split(",")]
    if len(titles) != len(fields):
        titles = [name.replace("_", " ").capitalize() for name in fields]
    return [Column(title, _as_text(values.get(name))) for title, name in zip(titles, fields, strict=True)]


def turns_of(value: Any) -> list[Turn]:
    """The turns of a dialogue in any of the shapes `sections_of` names."""
    return [_turn(entry) for entry in _as_list(value)]


def _turn(entry: Any) -> Turn:
    if not isinstance(entry, Mapping):
        return Turn("", _as_text(entry) or "")
    content = _first(entry, _CONTENT_KEYS)
    if content is None:
        return Turn("", _as_json(entry))
    return Turn(*(_as_text(part) or "" for part in (_first(entry, _ROLE_KEYS), content, _first(entry, _TIME_KEYS))))


def _first(entry: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.lstrip().startswith("[") else [value]
        except json.JSONDecodeError:
            value = [value]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


class Entry(NamedTuple):
    """Turns `first` to `last` of a dialogue as they are shown: one turn, or a run that only repeats earlier ones.

    Attributes:
        original: the turn that `first` repeats; `first` itself when it is new.
    """

    first: int
    last: int
    original: int


@dataclass(frozen=True, slots=True)
class FoldedTurns:
    """A dialogue with its repeats folded.

    Attributes:
        entries: what to show, in order. A turn that repeats the one just above it has no entry.
        original: for each turn the first turn with the same speaker and text.
        counts: for each original how many turns say the same.
    """

    entries: tuple[Entry, ...]
    original: tuple[int, ...]
    counts: Mapping[int, int]

    @property
    def distinct(self) -> int:
        return len(self.counts)


def fold_repeats(units: Sequence[Unit]) -> FoldedTurns:
    """Find the turns that say exactly what an earlier turn of the same speaker said."""
    first_of: dict[tuple[str, str], int] = {}
    original = tuple(first_of.setdefault((turn.head, turn.text), index) for index, turn in enumerate(units))
    counts: dict[int, int] = {}
    entries: list[Entry] = []
    above = -1
    for index, source in enumerate(original):
        counts[source] = counts.get(source, 0) + 1
        if source == index:
            entries.append(Entry(index, index, index))
        elif entries[-1].original != entries[-1].first:
            entries[-1] = entries[-1]._replace(last=index)
        elif source != above:
            entries.append(Entry(index, index, source))
        above = source
    return FoldedTurns(tuple(entries), original, counts)
