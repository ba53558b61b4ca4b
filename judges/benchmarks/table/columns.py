"""Finds in a row what its columns mean: ids, what people and judges said, strata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from judges.benchmarks.table.entries import (
    HumanEntry,
    JudgeEntry,
    WrongEntryError,
    human_entries,
    human_entry,
    judge_entries,
    judge_entry,
    label_text,
    plain_text,
    unpacked,
)
from judges.benchmarks.table.rows import Row
from judges.benchmarks.table.specs import JUDGE_FIELDS, ROLES, TaskFile

HUMAN_PREFIX, JUDGE_PREFIX = "human:", "judge:"
"""How a flat file names columns without a task file: `human:Anna`, `judge:gpt-4o`, `judge:gpt-4o:score`."""

FINAL = "final"
"""The column a native export adds; it is never read back."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Role → column, with each role's own name where the task file says nothing.

    Attributes:
        humans: column → annotator. judges: judge → field → column.
        unnamed_judge: name of a judge the file does not name.
    """

    of: Mapping[str, str]
    humans: Mapping[str, str]
    judges: Mapping[str, Mapping[str, str]]
    unnamed_judge: str = "judge"

    @classmethod
    def from_file(cls, file: TaskFile, unnamed_judge: str = "") -> Columns:
        of = {role: file.columns.get(role, role) for role in ROLES}
        return cls(of, file.humans, file.judges, unnamed_judge or "judge")

    def value(self, row: Row, role: str) -> object | None:
        """What the row has in a role; None when it is missing."""
        return filled(row, self.of[role])

    def text(self, row: Row, role: str) -> str:
        """The same as a text, "" when missing.

        Raises:
            WrongEntryError: it is a list or an object.
        """
        return plain_text(self.value(row, role))

    def systems(self, row: Row) -> tuple[str, ...]:
        """The systems that a row's `systems` lists.

        Raises:
            WrongEntryError: it is no list of names.
        """
        value = unpacked(self.value(row, "systems"), row.flat)
        entries = value if isinstance(value, list) else [] if value is None else [value]
        return tuple(plain_text(entry) for entry in entries)

    def people(self, row: Row) -> list[HumanEntry]:
        """What people said, the adjudicated label apart.

        Raises:
            WrongEntryError: says what is wrong.
        """
        found = human_entries(unpacked(self.value(row, "human"), row.flat))
        for column, annotator in self._human_columns(row).items():
            found.append(human_entry(annotator, label_text(row.values.get(column)), {}))
        named = [entry.annotator for entry in found]
        doubled = {name for name in named if named.count(name) > 1}
        if doubled:
            raise WrongEntryError(f"the row has two labels of {', '.join(sorted(doubled))}")
        return found

    def verdicts(self, row: Row) -> list[JudgeEntry]:
        """What judges said, in the row's order.

        Raises:
            WrongEntryError: says what is wrong.
        """
        found = judge_entries(unpacked(self.value(row, "judge"), row.flat), self.unnamed_judge)
        for judge, fields in self._judge_columns(row).items():
            found.append(judge_entry(judge, {name: row.values.get(column) for name, column in fields.items()}))
        return found

    def label_columns(self, row: Row) -> set[str]:
        """Columns of the row that hold somebody's label, and so are never shown before one."""
        judges = {column for fields in self._judge_columns(row).values() for column in fields.values()}
        return {self.of["human"], self.of["judge"], FINAL, *self._human_columns(row), *judges}

    def _human_columns(self, row: Row) -> dict[str, str]:
        named = {name: name.removeprefix(HUMAN_PREFIX) for name in row.values if name.startswith(HUMAN_PREFIX)}
        return {**named, **{column: who for column, who in self.humans.items() if column in row.values}}

    def _judge_columns(self, row: Row) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for name in row.values:
            if name.startswith(JUDGE_PREFIX):
                judge, field = _judge_and_field(name.removeprefix(JUDGE_PREFIX))
                found.setdefault(judge, {})[field] = name
        for judge, fields in self.judges.items():
            if fields["label"] in row.values:
                found[judge] = dict(fields)
        return found


def filled(row: Row, column: str) -> object | None:
    """The value in a column; None also for an empty text."""
    value = row.values.get(column)
    return None if value == "" else value


def _judge_and_field(name: str) -> tuple[str, str]:
    judge, _, field = name.rpartition(":")
    return (judge, field) if judge and field in JUDGE_FIELDS else (name, "label")


def spread(row: Row) -> Iterator[tuple[str, object]]:
    """The row's columns that have a value."""
    for name in row.values:
        if (value := filled(row, name)) is not None:
            yield name, value
