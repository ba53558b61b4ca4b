"""What native writers share: a spool, what a person said of an item, and the two lists that go beside the file.

`NAME.changes.jsonl` has a line for every item whose verdict a person changed: who, when, why, from what to what.
`NAME.reference_wrong.jsonl` has one for every reference that a person marked wrong, for the benchmark's authors.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

from judges.benchmarks.benchmark import NativeFile, ScoredItem
from store.records import LabelState

SPOOLED_IN_MEMORY = 1 << 22
READ_CHARACTERS = 1 << 16


class Spool:
    """Text that is written before it is known what comes ahead of it; goes to disk when it is long."""

    def __init__(self) -> None:
        self._file = _temporary()
        self.lines = 0

    def write_line(self, value: Any) -> None:
        """The value as one line of JSON."""
        self._file.write(json.dumps(value, ensure_ascii=False) + "\n")
        self.lines += 1

    def drain(self) -> Iterator[str]:
        """What was written, in pieces; nothing is left behind."""
        with self._file:
            self._file.seek(0)
            while piece := self._file.read(READ_CHARACTERS):
                yield piece

    def drain_lines(self) -> Iterator[str]:
        """What was written, line by line without its line feed; nothing is left behind."""
        with self._file:
            self._file.seek(0)
            for line in self._file:
                yield line.rstrip("\n")


def _temporary() -> IO[str]:
    return tempfile.SpooledTemporaryFile(SPOOLED_IN_MEMORY, "w+", encoding="utf-8", newline="")


def said(label: LabelState) -> dict[str, Any]:
    """A label without what it leaves at its default."""
    empty = LabelState().as_json()
    return {name: value for name, value in label.as_json().items() if value != empty[name]}


def is_changed(item: ScoredItem) -> bool:
    """Whether a person's final label says something else than the judge's verdict, or where there was none."""
    label, verdict = item.label, item.verdict
    if label is None or label.value is None:
        return False
    if verdict is None or verdict.label != label.value:
        return True
    return any(verdict.parts.get(part) != value for part, value in label.parts.items())


class SideFiles:
    """The lists that go beside a patched file."""

    def __init__(self, stem: str, provenance: Mapping[str, Mapping[str, Any]]) -> None:
        self._stem, self._provenance = stem, provenance
        self._changes, self._references = Spool(), Spool()

    def add(self, item: ScoredItem, where: Mapping[str, Any]) -> None:
        """Note what a person said of an item.

        Args:
            where: what names the item in the benchmark's own words.
        """
        label = item.label
        if label is None or not label.decided:
            return
        who = dict(self._provenance.get(item.item_id, {}))
        line = {"item": item.item_id, "task": item.task, **where}
        if is_changed(item):
            self._changes.write_line(line | {"judge": _verdict(item), "person": said(label), **who})
        if label.reference_wrong:
            self._references.write_line(line | {"right_answer": label.right_answer, "note": label.note, **who})

    def files(self) -> Iterator[NativeFile]:
        """The list of changes, and the one of wrong references when there are any."""
        yield NativeFile(f"{self._stem}.changes.jsonl", self._changes.drain())
        if self._references.lines:
            yield NativeFile(f"{self._stem}.reference_wrong.jsonl", self._references.drain())


def _verdict(item: ScoredItem) -> dict[str, Any] | None:
    verdict = item.verdict
    if verdict is None:
        return None
    found: dict[str, Any] = {"label": verdict.label}
    if verdict.parts:
        found["parts"] = dict(verdict.parts)
    return found | ({"failure": verdict.failure} if verdict.failure else {})
