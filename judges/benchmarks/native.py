"""What native writers share: a spool, what a person said of an item, and the two lists that go beside the file.

`NAME.changes.jsonl` has a line for every item whose verdict a person changed: who, when, why, from what to what.
`NAME.reference_wrong.jsonl` has one for every reference that a person marked wrong, for the benchmark's authors.

A row that a person decided carries `overread`: the judge's own fields under `judge`, who decided and when, and the
whole label. Read again, it gives the judge's verdict, and the person's label beside it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from typing import IO, Any, get_args

from judges.benchmarks.benchmark import NativeFile, ScoredItem
from store.events import Mode
from store.records import SHOWN_ORDER, LabelRecord, LabelState

CHANGES_ABOUT = "what was changed, by whom, when and why"
REFERENCES_ABOUT = "references that people marked wrong, for the benchmark's authors"

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
    said_parts = {part: value for part, value in label.parts.items() if not part.endswith(SHOWN_ORDER)}
    return any(verdict.parts.get(part) != value for part, value in said_parts.items())


class References:
    """The list of references that people marked wrong: `NAME.reference_wrong.jsonl`, for the benchmark's authors."""

    def __init__(self, stem: str, provenance: Mapping[str, Mapping[str, Any]]) -> None:
        self._stem, self._provenance = stem, provenance
        self._lines = Spool()

    def add(self, item: ScoredItem, where: Mapping[str, Any]) -> None:
        """Note the item, if a person marked its reference wrong.

        Args:
            where: what names the item in the benchmark's own words.
        """
        label = item.label
        if label is None or not label.reference_wrong:
            return
        line = {"item": item.item_id, "task": item.task, **where}
        who = self._provenance.get(item.item_id, {})
        self._lines.write_line(line | {"right_answer": label.right_answer, "note": label.note, **who})

    def files(self) -> Iterator[NativeFile]:
        """The list, when there is anything on it."""
        if self._lines.lines:
            yield NativeFile(f"{self._stem}.reference_wrong.jsonl", self._lines.drain(), REFERENCES_ABOUT)


class SideFiles:
    """The lists that go beside a patched file."""

    def __init__(self, stem: str, provenance: Mapping[str, Mapping[str, Any]]) -> None:
        self._stem, self._provenance = stem, provenance
        self._changes, self._references = Spool(), References(stem, provenance)

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
        self._references.add(item, where)

    def files(self) -> Iterator[NativeFile]:
        """The list of changes, and the one of wrong references when there are any."""
        yield NativeFile(f"{self._stem}.changes.jsonl", self._changes.drain(), CHANGES_ABOUT)
        yield from self._references.files()


def _verdict(item: ScoredItem) -> dict[str, Any] | None:
    verdict = item.verdict
    if verdict is None:
        return None
    found: dict[str, Any] = {"label": verdict.label}
    if verdict.parts:
        found["parts"] = dict(verdict.parts)
    return found | ({"failure": verdict.failure} if verdict.failure else {})


# People's labels inside a patched row

PATCH_FIELD = "overread"
"""What a patched row keeps beside a person's label: the judge's own fields, who decided, and the whole label."""


class WrongPatchError(ValueError):
    """A patched row's label cannot be read; the message says why."""


def patch_of(label: LabelState, judge: Mapping[str, Any], who: Mapping[str, Any]) -> dict[str, Any]:
    """The value of `PATCH_FIELD`.

    Args:
        judge: the row's own fields that the label replaces, as they were; those that were not there are left out.
        who: the provenance of the label.
    """
    return {"judge": dict(judge), **who, **said(label)}


def labels_of_patch(patch: Any, item_id: str, content_hash: str) -> Iterator[LabelRecord]:
    """The labels that a patched row holds, one for each person who gave it.

    Raises:
        WrongPatchError: it holds something else.
    """
    if not isinstance(patch, Mapping):
        raise WrongPatchError(f"{PATCH_FIELD} is not an object")
    state = _state_of(patch)
    if not state.decided:
        return
    at, mode = _text(patch, "at"), _text(patch, "mode")
    for name in filter(None, _text(patch, "annotator").split(", ")):
        yield LabelRecord(item_id, content_hash, name, state, mode if mode in get_args(Mode) else "", at=at)


def _state_of(patch: Mapping[str, Any]) -> LabelState:
    empty = LabelState().as_json()
    found = {name: patch[name] for name in empty if name in patch}
    for name, value in found.items():
        wanted = str if name == "value" else type(empty[name])
        if not isinstance(value, wanted) and not (name == "value" and value is None):
            raise WrongPatchError(f"{name} in {PATCH_FIELD} has a wrong type")
    if not all(isinstance(value, str) for value in found.get("parts", {}).values()):
        raise WrongPatchError(f"parts in {PATCH_FIELD} has a wrong type")
    return LabelState.from_json(empty | found)


def _text(patch: Mapping[str, Any], name: str) -> str:
    value = patch.get(name) or ""
    if not isinstance(value, str):
        raise WrongPatchError(f"{name} in {PATCH_FIELD} is not a text")
    return value
