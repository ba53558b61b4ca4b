"""What one import has seen so far: its items, users, shared texts and counters."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judges.benchmarks.halumem.items import Built, shape_id
from store.records import FactRecord, ItemRecord, Record, TextRecord, canonical_json


def fingerprint(value: Any) -> int:
    """Equal for equal JSON values, within one process; 64 bits."""
    return hash(value) if isinstance(value, str) else hash("\0" + canonical_json(value))


def fingerprints(record: Mapping[str, Any]) -> bytes:
    """Those of a record's fields in order, 8 bytes each."""
    return array("q", map(fingerprint, record.values())).tobytes()


@dataclass(slots=True)
class Known:
    """An item that was yielded, as small as it goes: a full run has more than 100,000.

    Attributes:
        names, prints: fields of the answer sheet's record and their fingerprints; empty when it is from a verdict file.
        empty: nothing was extracted in its session.
        file, line, answer: the last verdict file it was in, the line, and the fingerprint of the verdict; 0 before.
    """

    content_hash: str
    names: tuple[str, ...] = ()
    prints: bytes = b""
    empty: bool = False
    file: int = 0
    line: int = 0
    answer: int = 0

    def differs(self, record: Mapping[str, Any]) -> set[str]:
        """Fields that both records have, with other values."""
        pairs = zip(self.names, array("q", self.prints), strict=True)
        return {name for name, was in pairs if name in record and fingerprint(record[name]) != was}


@dataclass(slots=True)
class User:
    """A user of an answer sheet.

    Attributes:
        line: where it stands first. sessions: fingerprint of each session without timings. copies: lines it has.
        items, verdicts: how many it has.
    """

    file: str
    line: int
    sessions: list[int]
    copies: int = 1
    items: int = 0
    verdicts: int = 0


@dataclass(slots=True)
class Ledger:
    """One import of one system.

    Attributes:
        judge: the judge's name. judge_ids: by task.
        known: items by the bytes of their id. users: those of the answer sheets by uuid.
    """

    system: str
    judge: str
    judge_ids: Mapping[str, str]
    known: dict[bytes, Known] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    items: int = 0
    verdicts: int = 0
    verdict_files: int = 0
    tasks: Counter[str] = field(default_factory=Counter)
    _texts: set[bytes] = field(default_factory=set)
    _shapes: set[str] = field(default_factory=set)
    _names: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def find(self, item_id: str) -> Known | None:
        return self.known.get(bytes.fromhex(item_id))

    def text(self, record: TextRecord) -> Iterator[Record]:
        """The text, unless it was yielded before."""
        key = bytes.fromhex(record.text_hash)
        if key not in self._texts:
            self._texts.add(key)
            yield record

    def add(self, built: Built, known: Known) -> Iterator[Record]:
        """Yield an item with the texts and the shape it refers to."""
        for text in built.texts:
            yield from self.text(text)
        name = shape_id(built.shape)
        if name not in self._shapes:
            self._shapes.add(name)
            yield FactRecord(self.system, "record_shape", name, list(built.shape), len(self._shapes))
        item: ItemRecord = built.item
        known.names = self._names.setdefault(known.names, known.names)
        self.known[bytes.fromhex(item.item_id)] = known
        self.items += 1
        self.tasks[item.task] += 1
        yield item
