"""Reading the items of a queue in batches, a little ahead of the person: one item alone costs as much as many."""

from __future__ import annotations

from typing import NamedTuple

from annotate.desk.queue import Queue
from store.items import StoredItem, StoredVerdict, get_items, verdicts_by_item
from store.study import Study

AHEAD = 16
"""Items read at a time. A read passes over whole columns of the study, whatever it looks for."""
KEPT = 96
"""Items held in memory at most; long texts are not among them."""


class Held(NamedTuple):
    """An item and all verdicts on its current content."""

    item: StoredItem
    verdicts: tuple[StoredVerdict, ...]


class ItemReader:
    """Items by id. Nothing of them changes while a desk is open."""

    def __init__(self, study: Study, queue: Queue) -> None:
        self._study, self._queue = study, queue
        self._held: dict[str, Held] = {}

    def read(self, item_id: str) -> Held:
        """The item with its verdicts.

        Raises:
            KeyError: the study has no such item.
        """
        if item_id not in self._held:
            self._load(item_id)
        return self._held[item_id]

    def _load(self, item_id: str) -> None:
        items = get_items(self._study, self._batch(item_id))
        verdicts = verdicts_by_item(self._study, items.values())
        if len(self._held) + len(items) > KEPT:
            self._held.clear()
        self._held |= {key: Held(item, tuple(verdicts[key])) for key, item in items.items()}

    def _batch(self, item_id: str) -> list[str]:
        """The item and those after it in the queue."""
        place = self._queue.place_of.get(item_id)
        if place is None:
            return [item_id]
        return [item.item_id for item in self._queue.items[place : place + AHEAD]]
