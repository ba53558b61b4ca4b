"""Texts that a row refers to instead of holding them: rows of another file by their id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judges.benchmarks.table.columns import filled
from judges.benchmarks.table.entries import WrongEntryError, plain_text
from judges.benchmarks.table.rows import Row, read_rows
from judges.benchmarks.table.specs import Reference
from store.records import Problem


class Referred(NamedTuple):
    """The fields that another file has for a row, and what names that row: "column id"."""

    fields: Mapping[str, Any]
    shared: str


class References:
    """The files that a table refers to, read once.

    Attributes:
        problems: files that are not there, or rows of them that cannot be read.
    """

    def __init__(self, references: Mapping[str, Reference], others: Sequence[Path], folders: Sequence[Path]) -> None:
        self._references = references
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}
        self._unread: set[str] = set()
        self.problems: list[Problem] = []
        for column, reference in references.items():
            self._rows[column] = self._read(column, reference, _find(reference.file, others, folders))

    def of(self, row: Row) -> Referred:
        """What other files have for a row.

        Raises:
            WrongEntryError: one of them has no row of that id.
        """
        fields: dict[str, Any] = {}
        shared: list[str] = []
        for column, reference in self._references.items():
            identifier = plain_text(filled(row, column))
            if not identifier:
                continue
            found = self._rows[column].get(identifier)
            if found is None and column in self._unread:
                # That the file cannot be read is said once; no row is to blame for it.
                continue
            if found is None:
                raise WrongEntryError(f"{column} names a row that {Path(reference.file).name} does not have")
            fields |= found
            shared.append(f"{column} {identifier}")
        return Referred(fields, "; ".join(shared))

    def _read(self, column: str, reference: Reference, path: Path) -> dict[str, dict[str, Any]]:
        rows: dict[str, dict[str, Any]] = {}
        try:
            for found in read_rows(path):
                if isinstance(found, Problem):
                    self.problems.append(found)
                else:
                    self._add(rows, found, reference, path)
        except OSError as error:
            self._unread.add(column)
            what = f"{column} refers to {Path(reference.file).name}, which cannot be read: {error.strerror}"
            self.problems.append(Problem(str(path), 0, 0, what, "put the file beside the table"))
        return rows

    def _add(self, rows: dict[str, dict[str, Any]], row: Row, reference: Reference, path: Path) -> None:
        try:
            identifier = plain_text(filled(row, reference.id))
        except WrongEntryError as error:
            self.problems.append(Problem(str(path), row.line, row.column, str(error), "write the id as text"))
            return
        fields = {name: value for name in reference.fields if (value := filled(row, name)) is not None}
        what = ""
        if not identifier:
            what = f"this row has no {reference.id}"
        elif rows.setdefault(identifier, fields) != fields:
            what = f"a {reference.id} is there twice with different texts"
        if what:
            self.problems.append(Problem(str(path), row.line, row.column, what, "give every row an id of its own"))


def _find(name: str, others: Sequence[Path], folders: Sequence[Path]) -> Path:
    """A file the user gave under that name, else the one in the first of the folders that has it."""
    given = [path for path in others if path.name == Path(name).name]
    beside = [folder / name for folder in folders if (folder / name).is_file()]
    return next(iter([*given, *beside]), folders[0] / name)
