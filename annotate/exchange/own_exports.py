"""Reading our own `jsonl` and `csv` exports back: labels only, never doubled, never over a newer one."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotate.exchange.entries import LabelEntry, label_entries
from annotate.exchange.flat import COLUMNS, entry_of_row
from store.errors import InputError
from store.events import EventDraft
from store.importing import BadInputError
from store.records import LabelState, Problem
from store.study import Study

MARK = "overread_export"
"""The key that every line of our JSONL carries, with the format's version."""
VERSION = 1
_HEAD = 4096
_BATCH = 500
Watch = Callable[[Sequence[LabelEntry]], Iterator[LabelEntry]]
_LONGEST_CELL = 1 << 27
"""Characters; the csv module's own limit of 128 kB is shorter than a rationale can be."""


@dataclass
class LabelImport:
    """What became of the labels of a file.

    Attributes:
        new: labels the study did not have. same: labels it has already.
        changed: labels of a person whose label in the study is another one; the study's stays.
        rejected: labels on items the study does not have, or on another content of them.
        problems: bad places.
    """

    new: int = 0
    same: int = 0
    changed: int = 0
    rejected: int = 0
    problems: list[Problem] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        counts = {"new": self.new, "same": self.same, "changed": self.changed, "rejected": self.rejected}
        return {"labels": counts, "problems": [problem.what for problem in self.problems]}

    def lines(self) -> list[str]:
        """The outcome in words."""
        words = [f"labels: {self.new} new, {self.same} the same, {self.changed} changed, {self.rejected} rejected"]
        if self.changed:
            words.append("Changed labels were not taken over: the study's own label of that person stays.")
        return words


def is_own_export(path: Path) -> bool:
    """True for a file this tool exported as JSONL or CSV."""
    with path.open("rb") as source:
        head = source.read(_HEAD).removeprefix(b"\xef\xbb\xbf")
    first = head.split(b"\n", 1)[0].strip()
    return first.startswith((b'{"' + MARK.encode(), ",".join(COLUMNS[:4]).encode()))


def import_labels(study: Study, files: list[Path], *, skip_bad: bool = False, watch: Watch = iter) -> LabelImport:
    """Take the labels of our own exports into the study; `watch` passes on what is written and may count it.

    What is stopped half-way is taken up again by the same import: no label comes in with half of its history.

    Raises:
        BadInputError: bad lines, and `skip_bad` is off; nothing was imported.
    """
    outcome = LabelImport()
    entries = [entry for path in files for entry in _read(path, outcome.problems)]
    if outcome.problems and not skip_bad:
        raise BadInputError(outcome.problems)
    outcome.rejected += len(outcome.problems)
    known = {(entry.item_id, entry.annotator, entry.round): entry for entry in label_entries(study)}
    contents = dict(study.rows("SELECT item_id, content_hash FROM current_items"))
    fresh: list[LabelEntry] = []
    for entry in entries:
        if contents.get(entry.item_id) != entry.content_hash:
            outcome.rejected += 1
        elif (mine := known.get((entry.item_id, entry.annotator, entry.round))) is None:
            outcome.new += 1
            fresh.append(entry)
        elif _said(mine) == _said(entry):
            outcome.same += 1
        else:
            outcome.changed += 1
    for batch in _batches(watch(fresh)):
        study.append(batch)
    return outcome


def _batches(entries: Iterator[LabelEntry]) -> Iterator[list[EventDraft]]:
    batch: list[EventDraft] = []
    for entry in entries:
        batch += _drafts(entry)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _said(entry: LabelEntry) -> tuple[LabelState, str, LabelState | None]:
    return entry.state, entry.mode, entry.blind[0] if entry.blind else None


def _drafts(entry: LabelEntry) -> list[EventDraft]:
    """The events that give this label its history back: blind label, verdict shown, label after it."""

    def draft(kind: str, state: LabelState, at: str, **more: Any) -> EventDraft:
        return EventDraft(
            kind=kind, annotator=entry.annotator, item_id=entry.item_id,  # type: ignore[arg-type]
            content_hash=entry.content_hash, state=state, round=entry.round, draw_id=entry.draw_id,
            rubric_version=entry.rubric_version, at=at, linked_to=entry.linked_to, **more,
        )  # fmt: skip

    drafts = []
    if entry.blind is not None:
        drafts.append(draft("import", *entry.blind, mode="blind", active_ms=entry.active_ms))
    if entry.shown is not None:
        policy, at, verdicts = entry.shown
        state = entry.blind[0] if entry.blind is not None else LabelState()
        drafts.append(draft("reveal", state, at, policy=policy, verdicts_shown=verdicts))
    if entry.mode != "blind" or entry.blind is None:
        spent = 0 if entry.blind is not None else entry.active_ms
        drafts.append(draft("import", entry.state, entry.at, mode=entry.mode, active_ms=spent))
    return drafts


def _read(path: Path, problems: list[Problem]) -> Iterator[LabelEntry]:
    text = path.read_bytes()
    try:
        lines = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise InputError(f"{path}:{line}: this is no UTF-8 text.", "", "Save it as UTF-8.") from error
    yield from _read_csv(path, lines, problems) if path.suffix == ".csv" else _read_jsonl(path, lines, problems)


def _read_jsonl(path: Path, text: str, problems: list[Problem]) -> Iterator[LabelEntry]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if row[MARK] != VERSION:
                raise ValueError(f"format {row[MARK]} is newer than this overread reads")
            for entry in row["human"]:
                yield LabelEntry.from_json(row["item_id"], row["content_hash"], entry)
        except json.JSONDecodeError as error:
            problems.append(
                Problem(str(path), number, error.colno, f"not JSON: {error.msg}", "Mend or remove the line.")
            )
        except (KeyError, TypeError, ValueError) as error:
            problems.append(Problem(str(path), number, 0, f"no export line: {error}", "Mend or remove the line."))


def _read_csv(path: Path, text: str, problems: list[Problem]) -> Iterator[LabelEntry]:
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    line = 1
    while True:
        try:
            line = reader.line_num + 1
            row = next(reader, None)
            if row is None:
                return
            if None in row:
                raise ValueError("it has more cells than the header")
            yield entry_of_row(row)
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            problems.append(Problem(str(path), line, 0, f"no export row: {error}", "Mend or remove the row."))
