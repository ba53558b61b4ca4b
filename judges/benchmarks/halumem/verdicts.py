"""Reads verdict files (stat_result, tmp2) and joins their records to the answer sheet by user, session and key."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from judges.benchmarks.halumem.items import Session, build_item, id_of, natural_key
from judges.benchmarks.halumem.ledger import Known, Ledger, fingerprint
from judges.benchmarks.halumem.shapes import (
    KEY_FIELD,
    OVERREAD_FIELD,
    SEEN,
    SESSION,
    TASK_OF_MEMBER,
    UUID,
    VALID_FIELD,
    rationale_of,
    verdict_names,
)
from judges.benchmarks.halumem.verdict_labels import read_label
from judges.benchmarks.json_stream import ArrayStart, Element, iter_members
from judges.benchmarks.native import WrongPatchError, labels_of_patch
from store.records import FactRecord, Problem, Record, VerdictRecord, canonical_json

JUDGED = {task: frozenset(field.source for field in SEEN[task] if field.judge) for task in SEEN}
"""Fields of a record that the judge saw: with another text it is another record."""

LINES_NAMED = 8


class Row(NamedTuple):
    """A verdict record where it stands.

    Attributes:
        judged: False when a person's label is all it has. patch: what a patched record keeps of that label.
    """

    task: str
    record: Mapping[str, Any]
    line: int
    column: int
    judged: bool
    patch: Any = None


class Slot(NamedTuple):
    """The item a record belongs to, and what is known of it."""

    item_id: str
    known: Known | None
    ordinal: int = 0


@dataclass(slots=True)
class UserNotes:
    """What is told once per user: records of a user whom no sheet has, repeats, other values than the sheet's."""

    line: int
    strangers: int = 0
    repeats: int = 0
    contradictions: list[tuple[int, str]] = field(default_factory=list)
    other_values: dict[str, int] = field(default_factory=dict)
    empty_but_judged: int = 0

    @property
    def repeated(self) -> bool:
        """The user's records are there more than once: what repeats an extracted memory is a copy of it."""
        return bool(self.repeats or self.contradictions)


def read_verdicts(path: Path, ledger: Ledger) -> Iterator[Record]:
    """The verdicts of a file, and the items of records that no answer sheet has; its own scores as facts.

    Raises:
        OSError: the file cannot be read.
    """
    ledger.verdict_files += 1
    yield from _VerdictFile(path, ledger).records()


class _VerdictFile:
    """One verdict file while it is read."""

    def __init__(self, path: Path, ledger: Ledger) -> None:
        self.path, self.file = path, str(path)
        self.ledger = ledger
        self.number = ledger.verdict_files
        self.notes: dict[str, UserNotes] = {}
        self.arrays: list[str] = []
        self.members: dict[str, Any] = {}
        self.fields: dict[str, dict[str, None]] = {}
        self.patched = 0

    def records(self) -> Iterator[Record]:
        for found in iter_members(self.path):
            if isinstance(found, Problem):
                yield found
            elif isinstance(found, ArrayStart):
                self.arrays.append(found.member)
                self.members[found.member] = []
            elif found.member in TASK_OF_MEMBER and found.index >= 0:
                yield from self._row(found)
            elif found.index >= 0:
                self.members[found.member].append(found.value)
            else:
                self.members[found.member] = found.value
        yield from self._facts()
        yield from self._problems()

    # One record

    def _row(self, element: Element) -> Iterator[Record]:
        task = TASK_OF_MEMBER[element.member]
        fault = _fault(task, element.value)
        if fault:
            yield Problem(self.file, element.line, element.column, fault, "correct the record, or judge it again")
            return
        seen = self.fields.setdefault(task, {})
        seen.update(dict.fromkeys(element.value))
        record, judged = _as_judged(task, element.value)
        self.patched += record is not element.value
        patch = element.value[OVERREAD_FIELD] if record is not element.value else None
        row = Row(task, record, element.line, element.column, judged, patch)
        session = Session(record[UUID], record[SESSION], {})
        if record[UUID] in self.ledger.users:
            yield from self._join(row, session)
        else:
            self._note(row).strangers += bool(self.ledger.users)
            yield from self._alone(row, session)

    def _join(self, row: Row, session: Session) -> Iterator[Record]:
        """A record of a user the answer sheet has."""
        item_id, known, _ = self._slot(row, session)
        if known is None:
            yield self._mismatch(row, self._why_unknown(row, session))
            return
        differing = known.differs(row.record)
        judged = differing & JUDGED[row.task]
        if judged:
            yield self._mismatch(row, f"{' and '.join(sorted(judged))} differ from the answer sheet's record")
            return
        names = verdict_names(row.task, row.record)
        own = {
            name: value
            for name, value in row.record.items()
            if name in names or name in differing or (name not in known.names and name not in (UUID, SESSION))
        }
        for name in sorted(differing):
            counts = self._note(row).other_values
            counts[name] = counts.get(name, 0) + 1
        yield from self._attach(row, item_id, known, own)

    def _alone(self, row: Row, session: Session) -> Iterator[Record]:
        """A record that is all there is of its item."""
        item_id, known, ordinal = self._slot(row, session)
        names = verdict_names(row.task, row.record)
        fields = {name: value for name, value in row.record.items() if name not in names}
        built = build_item(
            row.task,
            self.ledger.system,
            session,
            fields,
            ordinal=ordinal,
            position=self.ledger.items,
            shape=tuple(row.record),
        )
        if known is None:
            known = Known(built.content_hash)
            yield from self.ledger.add(built, known)
        elif known.content_hash != built.content_hash:
            self._contradiction(row, known)
            return
        own = {name: value for name, value in row.record.items() if name in names}
        yield from self._attach(row, item_id, known, own)

    def _slot(self, row: Row, session: Session) -> Slot:
        """Where a record belongs; an extracted memory that is there several times takes the next free ordinal."""
        first = self._slot_at(row, session, 0)
        if row.task != "accuracy" or not self._taken(first):
            return first
        note = self.notes.get(session.uuid)
        all_known = session.uuid in self.ledger.users or (note is not None and note.repeated)
        others = (self._slot_at(row, session, ordinal) for ordinal in itertools.count(1))
        free = next(slot for slot in others if not self._taken(slot))
        return first if free.known is None and all_known else free

    def _slot_at(self, row: Row, session: Session, ordinal: int) -> Slot:
        item_id = id_of(row.task, self.ledger.system, natural_key(row.task, session, row.record, ordinal))
        return Slot(item_id, self.ledger.find(item_id), ordinal)

    def _taken(self, slot: Slot) -> bool:
        return slot.known is not None and slot.known.file == self.number

    def _attach(self, row: Row, item_id: str, known: Known, own: Mapping[str, Any]) -> Iterator[Record]:
        answer = fingerprint({name: value for name, value in own.items() if name != VALID_FIELD})
        if known.file:
            if known.answer != answer:
                self._contradiction(row, known)
            else:
                self._note(row).repeats += 1
            known.file = self.number
            return
        known.file, known.line, known.answer = self.number, row.line, answer
        yield from self._labels(row, item_id, known)
        if not row.judged:
            return
        yield self._verdict(row, item_id, known, own)
        self.ledger.verdicts += 1
        user = self.ledger.users.get(row.record[UUID])
        if user:
            user.verdicts += 1

    def _labels(self, row: Row, item_id: str, known: Known) -> Iterator[Record]:
        """The label that a patched record holds, once for each person who gave it."""
        if row.patch is None:
            return
        try:
            yield from labels_of_patch(row.patch, item_id, known.content_hash)
        except WrongPatchError as error:
            yield Problem(self.file, row.line, row.column, str(error), "correct the record")

    def _verdict(self, row: Row, item_id: str, known: Known, own: Mapping[str, Any]) -> VerdictRecord:
        read = read_label(row.task, row.record)
        unasked = row.task == "integrity" and known.empty
        if unasked and read.label != "0":
            self._note(row).empty_but_judged += 1
        return VerdictRecord(
            item_id=item_id,
            content_hash=known.content_hash,
            judge_id=self.ledger.judge_ids[row.task],
            label=read.label,
            parts=read.parts,
            failure=read.failure,
            raw=canonical_json(own),
            route="empty_extraction" if unasked and read.label == "0" else "judged",
            score=read.score,
            rationale=rationale_of(row.task, own)[1],
            position=self.ledger.verdicts,
        )

    # What is told at the end

    def _note(self, row: Row) -> UserNotes:
        return self.notes.setdefault(row.record[UUID], UserNotes(row.line))

    def _contradiction(self, row: Row, known: Known) -> None:
        where = "" if known.file == self.number else " of an earlier file"
        self._note(row).contradictions.append((row.line, f"{known.line}{where}"))

    def _mismatch(self, row: Row, what: str) -> Problem:
        where = f"session {row.record[SESSION]} of user {row.record[UUID]}"
        remedy = "give the answer sheet that was judged, or judge this one again"
        return Problem(self.file, row.line, row.column, f"verdict not attached ({where}): {what}", remedy)

    def _why_unknown(self, row: Row, session: Session) -> str:
        other = {"integrity": "update", "update": "integrity"}.get(row.task)
        if other and self.ledger.find(id_of(other, self.ledger.system, natural_key(other, session, row.record))):
            return f"the answer sheet sends this point to {other}, not to {row.task}"
        return f"the answer sheet has no record for {row.task} with this {KEY_FIELD[row.task]}"

    def _facts(self) -> Iterator[Record]:
        """What the writer needs to write this file again, and the scores it came with."""
        scores = self.members.get("overall_score")
        known = {"overall_score", *TASK_OF_MEMBER}
        others = {
            name: json.dumps(value, ensure_ascii=False) for name, value in self.members.items() if name not in known
        }
        key = f"{self.ledger.judge}/{self.path.name}"
        about = {
            "file": self.path.name,
            "judge": self.ledger.judge,
            "judge_ids": dict(self.ledger.judge_ids),
            "order": self.number,
        }
        members = {
            "members": list(self.members),
            "others": others,
            "fields": {t: list(f) for t, f in self.fields.items()},
        }
        yield FactRecord(self.ledger.system, "verdict_file", key, about | members, self.number)
        if isinstance(scores, dict):
            yield FactRecord(self.ledger.system, "official_score", key, about | {"overall_score": scores}, self.number)

    def _problems(self) -> Iterator[Problem]:
        if not self.arrays and not self.members:
            yield Problem(self.file, 0, 0, "no verdict record could be read", "give a stat_result or tmp2 file")
        if self.patched:
            what = f"{self.patched} records hold people's labels; they were read beside the judge's own verdicts"
            remedy = "nothing; what a person said at the desk outweighs what a file says of that person"
            yield Problem(self.file, 0, 0, what, remedy, fatal=False)
        for uuid, note in self.notes.items():
            for what, remedy, fatal in _told(uuid, note):
                line = note.contradictions[0][0] if fatal else note.line
                yield Problem(self.file, line, 0, what, remedy, fatal)


def _fault(task: str, record: Any) -> str:
    """Why a record cannot be placed; "" when it can."""
    if not isinstance(record, dict):
        return f"a record for {task} is not an object"
    missing = [name for name in (UUID, SESSION, KEY_FIELD[task]) if name not in record]
    if missing:
        return f"a record for {task} has no {' and no '.join(missing)}"
    if not isinstance(record[UUID], str) or type(record[SESSION]) is not int:
        return f"a record for {task} has a {UUID} that is no text or a {SESSION} that is no whole number"
    if not isinstance(record[KEY_FIELD[task]], int | str if KEY_FIELD[task] == "index" else str):
        return f"a record for {task} has a {KEY_FIELD[task]} of the wrong type"
    return ""


def _as_judged(task: str, record: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The record as the judge left it, also where a person's label stands in its place, and whether one judged it."""
    patch = record.get(OVERREAD_FIELD)
    if not isinstance(patch, dict) or not isinstance(patch.get("judge", ""), dict | None):
        return record, True
    answer = patch["judge"] or {}
    replaced = {*verdict_names(task, record), *answer}
    own_fields = {name: value for name, value in record.items() if name not in replaced}
    return own_fields | answer, bool(answer)


def _told(uuid: str, note: UserNotes) -> Iterator[tuple[str, str, bool]]:
    if note.contradictions:
        named = "; ".join(f"{again} and {first}" for again, first in note.contradictions[:LINES_NAMED])
        more = "; …" if len(note.contradictions) > LINES_NAMED else ""
        what = f"{len(note.contradictions)} records of user {uuid} are there twice and differ: lines {named}{more}"
        yield what, "keep one of each pair, or import the files of two systems or judges one by one", True
    if note.repeats:
        what = f"{note.repeats} records of user {uuid} are there twice with the same verdict and were read once"
        yield what, "nothing, unless the file's own scores count them twice", False
    if note.strangers:
        what = f"user {uuid} is not in the answer sheet: {note.strangers} records were read without what the judge saw"
        yield what, "give this user's answer sheet, or leave out the stale verdicts", False
    for name, count in note.other_values.items():
        what = f"{name} differs from the answer sheet in {count} records of user {uuid}"
        yield what, "nothing; scores as coded use the verdict file's", False
    if note.empty_but_judged:
        what = f"user {uuid}: {note.empty_but_judged} points of sessions without extraction have another verdict than 0"
        yield what, "check that the verdicts are of this answer sheet", False
