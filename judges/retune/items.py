"""The labelled items that a prompt is tuned, chosen and tested on: what the judge sees, and what people said.

Train takes people's final labels, with their notes and tags, in any mode: they teach. Val and test take statistical
labels, which were given blind: they measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judges.calibration.statistical_label import Adjudication, statistical_label
from judges.collect import BlindLabels, blind_labels, final_labels
from store.items import StoredItem, get_items, get_texts
from store.splits import Part, SplitItem

if TYPE_CHECKING:
    from store.study import Study


@dataclass(frozen=True, slots=True)
class TuneItem:
    """A labelled item.

    Attributes:
        texts: its long texts by field. group: what it was split by. label: what people say.
        note, tags: of the person who gave the label; "" and () in val and test, where nobody looks at them.
    """

    item: StoredItem
    texts: Mapping[str, str]
    part: Part
    group: str
    label: str
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def item_id(self) -> str:
        return self.item.item_id

    def words(self) -> list[str]:
        """All its texts, for the search for quotations."""
        return [*_strings(self.item.payload), *self.texts.values(), *([self.note] if self.note else [])]


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for one in value.values() for text in _strings(one)]
    if isinstance(value, list | tuple):
        return [text for one in value for text in _strings(one)]
    return []


def measured_ids(study: Study, places: Mapping[str, SplitItem], part: Part) -> list[str]:
    """Items of a part that have somebody's blind label; which one is not looked at."""
    labels = blind_labels(study)
    return sorted(item for item, place in places.items() if place.part == part and item in labels)


def tune_items(
    study: Study, places: Mapping[str, SplitItem], part: Part, values: Sequence[str], only: Iterable[str] | None = None
) -> list[TuneItem]:
    """The labelled items of a part in the order of their ids; `values` are the labels that count.

    Args:
        only: those of them that may be read (an opened test).
    """
    wanted = {item for item, place in places.items() if place.part == part}
    if only is not None:
        wanted &= set(only)
    found = _taught(study, wanted) if part == "train" else _measured(study, wanted)
    kept = {item: said for item, said in found.items() if said[0] in values}
    items = get_items(study, sorted(kept))
    texts = get_texts(study, {text for item in items.values() for text in item.texts.values()})
    return [
        TuneItem(
            items[item],
            {field: texts[text] for field, text in items[item].texts.items()},
            part,
            places[item].group,
            *kept[item],
        )
        for item in sorted(kept)
        if item in items
    ]


_Said = tuple[str, str, tuple[str, ...]]


def _taught(study: Study, wanted: set[str]) -> dict[str, _Said]:
    return {
        item: (label.state.value, label.state.note, label.state.tags)
        for item, label in final_labels(study).items()
        if item in wanted and label.state.value is not None and not label.state.reference_wrong
    }


def _measured(study: Study, wanted: set[str]) -> dict[str, _Said]:
    found: dict[str, _Said] = {}
    for item, said in blind_labels(study).items():
        if item in wanted and (label := _resolved(said)) is not None:
            found[item] = (label, "", ())
    return found


def _resolved(said: BlindLabels) -> str | None:
    decision = Adjudication(said.adjudicated.value) if said.adjudicated is not None else None
    return statistical_label({who: label.value for who, label in said.people.items()}, decision).label
