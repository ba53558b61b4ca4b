"""Wide rows in an order, so that memory holds a page of them: the order is found on narrow columns, row ids among them.

A sort of whole rows, as of items with their payload, would hold the study in memory. Rows are read in pages of
`PAGE`; where they lie all over the file, of `SCATTERED_PAGE`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from store.errors import OverreadError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.study import Study

    Ids = NDArray[np.int64]

Row = tuple[Any, ...]

PAGE = 2048
SCATTERED_PAGE = 16 * PAGE
"""Rows that lie all over the file take a pass over the table for each page, so that pages are fewer and larger."""
_GAP, _MOST_SPANS, _MOST_READ = 512, 16, 8
"""Rows to read over rather than to ask once more; spans of a page up to which each is asked for by itself; rows of
these spans for each that is wanted."""


class Wide(NamedTuple):
    """Whole rows to read.

    Attributes:
        name: the order has their row ids as column NAME, −1 for none, and as NAME_key what `key` says of the row.
        table, columns: as SQL. key: SQL that tells a row from any other, as `hash(item_id, version)`.
        where, parameters: what all wanted rows have in common, so that what lies between them is not read.
    """

    name: str
    table: str
    columns: str
    key: str
    where: str = "true"
    parameters: tuple[Any, ...] = ()


def ordered_rows(
    study: Study, order: str, parameters: Sequence[Any], kinds: Sequence[Wide]
) -> Iterator[tuple[Row | None, ...]]:
    """For each row of the query `order` the wide row of each kind, None where it has none.

    Raises:
        OverreadError: rows were moved while they were read.
    """
    found = study.columns(order, parameters)
    ids: list[Ids] = [found[kind.name] for kind in kinds]
    keys = [found[f"{kind.name}_key"] for kind in kinds]
    size = PAGE if all(map(_lies_together, ids)) else SCATTERED_PAGE
    for start in range(0, len(ids[0]), size):
        page = slice(start, start + size)
        columns = [_rows_of(study, kind, one[page], key[page]) for kind, one, key in zip(kinds, ids, keys, strict=True)]
        yield from zip(*columns, strict=True)


def _rows_of(study: Study, kind: Wide, ids: Ids, keys: NDArray[np.uint64]) -> list[Row | None]:
    """The rows of these ids, each at its id's place."""
    rows: dict[int, Row] = {-1: ()}
    wanted = set(ids.tolist())
    query = f"SELECT rowid, {kind.key}, {kind.columns} FROM {kind.table} WHERE {kind.where} AND rowid"
    spans = _spans(ids)
    # DuckDB reads a range of row ids without the rest of the table, a list of them it does not
    asked: list[tuple[str, Sequence[Any]]] = [(f"{query} BETWEEN ? AND ?", span) for span in spans]
    if not _is_close(spans, len(ids)):
        asked = [(f"{query} IN (SELECT unnest(?::BIGINT[]))", [list(wanted)])]
    for said, place in asked:
        read = study.rows(said, [*kind.parameters, *place], lean=True)
        rows.update((row[0], row[1:]) for row in read if row[0] in wanted)
    found: list[Row | None] = []
    for row_id, key in zip(ids.tolist(), keys.tolist(), strict=True):
        row = rows.get(row_id)
        if row is None or (row and row[0] != key):
            raise OverreadError(f"{study.path.name} was changed while it was read.", "", "Try again.")
        found.append(row[1:] if row else None)
    return found


def _lies_together(ids: Ids) -> bool:
    """Whether most pages of rows are a few spans of the table, with little between the rows."""
    pages = [ids[start : start + PAGE] for start in range(0, len(ids), PAGE)]
    return 2 * sum(_is_close(_spans(page), len(page)) for page in pages) >= len(pages)


def _is_close(spans: Sequence[tuple[int, int]], wanted: int) -> bool:
    read = sum(last - first + 1 for first, last in spans)
    return len(spans) <= _MOST_SPANS and read <= _MOST_READ * wanted


def _spans(ids: Ids) -> list[tuple[int, int]]:
    """First and last of the ranges in which row ids lie."""
    import numpy as np

    there = np.unique(ids[ids >= 0])
    if not len(there):
        return []
    ends = np.flatnonzero(np.diff(there) > _GAP)
    firsts, lasts = there[np.concatenate([[0], ends + 1])], there[np.concatenate([ends, [len(there) - 1]])]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
