"""Rows of JSONL, JSON, CSV, TSV and Parquet files, each with its place; bad rows come as problems among them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Literal

from judges.benchmarks.json_stream import iter_objects
from judges.benchmarks.json_text import encoding_of
from judges.benchmarks.meter import tell
from store.errors import InputError
from store.parquet import MAGIC, parquet_rows
from store.records import Problem

Format = Literal["json", "csv", "parquet"]
DELIMITERS = (",", ";", "\t")
LONGEST_CELL = 1 << 27
"""Characters; the csv module's own limit of 128 kB is shorter than a dialogue."""

HEAD = 64
"""Bytes that show a format."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        values: column → value; null and an empty cell are missing values.
        line: where it starts, 1-based; in Parquet the number of the row. column: 0 where rows have none.
        flat: values are texts that may hold JSON, as CSV and Parquet have no other way.
    """

    values: Mapping[str, Any]
    line: int
    column: int = 0
    flat: bool = False


def format_of(path: Path) -> Format:
    """The format of a file by its first bytes.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return format_of_head(stream.read(HEAD))


def format_of_head(head: bytes) -> Format:
    """As `format_of`, of the bytes themselves."""
    if head.startswith(MAGIC):
        return "parquet"
    shown = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    return "json" if shown[:1] in (b"{", b"[") or (encoding_of(head) and b"{" in head[:8]) else "csv"


def read_rows(path: Path) -> Iterator[Row | Problem]:
    """The rows of a file in order.

    Raises:
        OSError: the file cannot be read.
    """
    kind = format_of(path)
    if kind == "json":
        for found in iter_objects(path):
            if isinstance(found, Problem):
                yield found
            elif not isinstance(found.value, dict):
                what = "an entry of the array is no object {…}"
                yield Problem(str(path), found.line, found.column, what, "correct or delete it")
            else:
                yield Row(found.value, found.line, found.column)
    elif kind == "csv":
        yield from _csv_rows(path)
    else:
        yield from _parquet_rows(path)


def header_of(path: Path) -> tuple[list[str], str]:
    """The column names of a CSV file, and what separates them.

    Raises:
        OSError: the file cannot be read. UnicodeDecodeError: its first line is not UTF-8.
    """
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return _header(stream)


def _header(stream: IO[str]) -> tuple[list[str], str]:
    first = stream.readline()
    found = [(next(csv.reader([first], delimiter=delimiter), []), delimiter) for delimiter in DELIMITERS]
    return max(found, key=lambda pair: len(pair[0]))


def _csv_rows(path: Path) -> Iterator[Row | Problem]:
    file = str(path)
    with path.open("rb") as head:
        encoding = encoding_of(head.read(HEAD))
    if encoding:
        yield Problem(file, 1, 1, f"the file is {encoding}, not UTF-8", "save it as UTF-8 and import it again")
        return
    csv.field_size_limit(LONGEST_CELL)
    with path.open("rb") as raw, TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
        line = 1
        try:
            header, delimiter = _header(stream)
            yield from _header_problems(file, header)
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            while True:
                line = reader.line_num + 2
                cells = next(reader, None)
                tell(file, raw.tell())
                if cells is None:
                    return
                if cells:
                    yield from _csv_row(file, header, cells, line)
        except csv.Error as error:
            yield Problem(file, line, 0, f"this is not CSV: {error}; nothing after it was read", "correct this row")
        except UnicodeDecodeError as error:
            what = f"a byte 0x{error.object[error.start]:02x} here or soon after is not UTF-8"
            yield Problem(file, line, 0, f"{what}; nothing after it was read", "save it as UTF-8 and import it again")


def _header_problems(file: str, header: list[str]) -> Iterator[Problem]:
    doubled = sorted({name for name in header if name and header.count(name) > 1})
    if doubled:
        yield Problem(file, 1, 0, f"columns are named twice: {', '.join(doubled)}", "rename one of each")


def _csv_row(file: str, header: list[str], cells: list[str], line: int) -> Iterator[Row | Problem]:
    if len(cells) != len(header):
        what = f"this row has {len(cells)} cells, the header {len(header)}"
        yield Problem(file, line, 0, what, "write every cell; quote one that holds a separator or a line break")
        return
    yield from _without_nul(file, dict(zip(header, cells, strict=True)), line)


def _parquet_rows(path: Path) -> Iterator[Row | Problem]:
    try:
        for number, values in enumerate(parquet_rows(path), start=1):
            yield from _without_nul(str(path), values, number)
    except InputError as error:
        yield Problem(str(path), 0, 0, f"{error.title} {error.detail}", error.hint)


def _without_nul(file: str, row: Mapping[str, str | None], line: int) -> Iterator[Row | Problem]:
    broken = {name: text for name, text in row.items() if text and "\0" in text}
    for name in broken:
        what = f"a NUL character in {name} was replaced by ␀"
        yield Problem(file, line, 0, what, "correct the text if it matters", fatal=False)
    yield Row({**row, **{name: text.replace("\0", "\u2400") for name, text in broken.items()}}, line, flat=True)
