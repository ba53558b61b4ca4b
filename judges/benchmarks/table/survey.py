"""What a first reading of a table finds: which columns there are, which labels occur, how many values a stratum has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import PanelKind
from judges.benchmarks.table.columns import Columns, spread
from judges.benchmarks.table.entries import WrongEntryError, label_text, unpacked
from judges.benchmarks.table.rows import Row, read_rows


@dataclass(slots=True)
class LabelCounts:
    """How often each spelling of a label occurs, by who gave it."""

    people: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Survey:
    """Counts over all readable rows.

    Attributes:
        filled: rows that have a value, by column. kinds: what a column's values are.
        tasks: rows by the value of the task column, "" without one. labels: by that value.
        groups, clusters: rows by the value of the group and the cluster column.
        label_columns: columns that hold labels. without_mode: people's labels that do not say how they were given.
        numbers: whether any judge gives a score.
    """

    rows: int = 0
    filled: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, set[PanelKind]] = field(default_factory=dict)
    tasks: Counter[str] = field(default_factory=Counter)
    labels: dict[str, LabelCounts] = field(default_factory=dict)
    groups: Counter[str] = field(default_factory=Counter)
    annotators: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    label_columns: set[str] = field(default_factory=set)
    without_mode: int = 0

    def labels_of(self, task: str) -> LabelCounts:
        return self.labels.setdefault(task, LabelCounts())

    def merged(self) -> LabelCounts:
        """The labels of all tasks together."""
        whole = LabelCounts()
        for counts in self.labels.values():
            whole.people += counts.people
            whole.judges += counts.judges
            whole.gold += counts.gold
        return whole


def survey(files: Iterable[Path], columns: Columns) -> Survey:
    """Read everything once. Rows that cannot be read are left to the reader to tell of."""
    found = Survey()
    for path in files:
        try:
            for row in read_rows(path):
                if isinstance(row, Row):
                    _count(found, row, columns)
        except OSError:
            continue
    return found


def _count(found: Survey, row: Row, columns: Columns) -> None:
    try:
        people, verdicts = columns.people(row), columns.verdicts(row)
        task, group = columns.text(row, "task"), columns.text(row, "group")
    except WrongEntryError:
        return
    found.rows += 1
    found.tasks[task] += 1
    if group:
        found.groups[group] += 1
    for name, value in spread(row):
        found.filled[name] += 1
        found.kinds.setdefault(name, set()).add(_kind(value, row.flat))
    found.label_columns |= columns.label_columns(row)
    counts = found.labels_of(task)
    given = [entry for entry in people if entry.label is not None]
    counts.people.update(entry.label for entry in given if entry.label is not None)
    counts.judges.update(entry.label for entry in verdicts if entry.label is not None)
    found.annotators.update(entry.annotator for entry in given)
    found.judges.update(entry.judge for entry in verdicts)
    found.without_mode += sum(1 for entry in given if not entry.mode)
    gold = columns.value(row, "gold")
    if gold is not None and not isinstance(gold, list | dict):
        counts.gold[label_text(gold) or ""] += 1


def _kind(value: Any, flat: bool) -> PanelKind:
    try:
        value = unpacked(value, flat)
    except WrongEntryError:
        return "text"
    if not isinstance(value, list) or not value:
        return "text"
    turns = all(isinstance(entry, Mapping) and {"content", "text"} & entry.keys() for entry in value)
    return "dialogue" if turns else "list"
