"""Nested scores as tables: a row for each name, its numbers across; a mean and its n in one cell of a grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from judges.benchmarks.benchmark import Undefined

SEPARATOR = " / "
VALUE: Final = "value"
_GRID: Final = frozenset({"mean", "n"})
"""What every cell of a grid holds."""


@dataclass(frozen=True, slots=True)
class NestedTable:
    """One table of a nesting.

    Attributes:
        title: the path to it.
        columns: names of the numbers, without the first column.
        rows: name → cell by column; a grid's cells are (mean, n).
    """

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Any]]
    is_grid: bool = False
    reasons: tuple[str, ...] = field(default=())
    """Why numbers are not there, each once."""


def nested_tables(scores: Mapping[str, Any], title: str = "") -> Iterator[NestedTable]:
    """The tables of a nesting, outer before inner."""
    single = {name: {VALUE: value} for name, value in scores.items() if not isinstance(value, Mapping)}
    inner = {name: value for name, value in scores.items() if isinstance(value, Mapping) and value}
    if single:
        yield _table(title, single)
    if _is_heat_map(inner):
        yield _table(title, inner, is_grid=True)
        return
    rows = {name: row for name, value in inner.items() if (row := _row(value)) is not None}
    for group in _by_columns(rows):
        if len(group) == 1 and len(inner) > 1:
            ((name, alone),) = group.items()
            yield _table(_path(title, name), {key: {VALUE: value} for key, value in alone.items()})
        else:
            yield _table(title, group)
    for name, value in inner.items():
        rest = _deeper(value) if name in rows else value
        if rest:
            yield from nested_tables(rest, _path(title, name))


def _row(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """The numbers of one name in a row, those one level further in as "outer inner"; None where it has none itself."""
    if all(isinstance(one, Mapping) for one in value.values()):
        return None
    deeper = _deeper(value)
    row: dict[str, Any] = {}
    for name, one in value.items():
        if name not in deeper:
            row |= {f"{name} {key}": leaf for key, leaf in one.items()} if isinstance(one, Mapping) else {name: one}
    return row


def _deeper(value: Mapping[str, Any]) -> dict[str, Any]:
    """What holds tables of its own."""
    return {
        name: one
        for name, one in value.items()
        if isinstance(one, Mapping) and any(isinstance(inner, Mapping) for inner in one.values())
    }


def _by_columns(rows: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Mapping[str, Any]]]:
    """Rows that share most of their columns, together."""
    groups: list[tuple[set[str], dict[str, Mapping[str, Any]]]] = []
    for name, row in rows.items():
        found = next((group for group in groups if _alike(group[0], row)), None)
        if found is None:
            groups.append((set(row), {name: row}))
        else:
            found[0].update(row)
            found[1][name] = row
    return [group for _, group in groups]


def _alike(columns: set[str], row: Mapping[str, Any]) -> bool:
    return len(columns & row.keys()) * 2 >= min(len(columns), len(row))


def _is_heat_map(rows: Mapping[str, Mapping[str, Any]]) -> bool:
    return bool(rows) and all(
        isinstance(cell, Mapping) and cell.keys() == _GRID for row in rows.values() for cell in row.values()
    )


def _table(title: str, rows: Mapping[str, Mapping[str, Any]], *, is_grid: bool = False) -> NestedTable:
    columns = tuple(dict.fromkeys(column for row in rows.values() for column in row))
    values = [value for row in rows.values() for value in row.values()]
    if is_grid:
        values = [cell["mean"] for cell in values]
    reasons = tuple(dict.fromkeys(value.why for value in values if isinstance(value, Undefined)))
    return NestedTable(title, columns, rows, is_grid, reasons)


def _path(title: str, name: str) -> str:
    return f"{title}{SEPARATOR}{name}" if title else name


def beyond(scores: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """What of a nesting stands under names that another one does not have."""
    found: dict[str, Any] = {}
    for name, value in scores.items():
        other = known.get(name)
        if name not in known:
            found[name] = value
        elif isinstance(value, Mapping) and isinstance(other, Mapping) and (inner := beyond(value, other)):
            found[name] = inner
    return found


def cell_text(value: Any, digits: int = 3) -> str:
    """A number for reading, n/a where it is undefined; a grid's cell as "0.45 (7)"."""
    if isinstance(value, Mapping):
        return f"{cell_text(value['mean'], 2)} ({value['n']})" if value["n"] else ""
    if value is None:
        return ""
    if isinstance(value, Undefined):
        return "n/a"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    return str(value)
