"""Tells MIST's files apart by the member names of their first object."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from judges.benchmarks.json_head import first_names
from judges.benchmarks.mist.columns import Mapped

HEAD_BYTES = 1 << 16

FileKind = Literal["items", "results", ""]


def kind_of_head(head: bytes, mapped: Mapped | None = None) -> FileKind:
    """What a file is, by its first bytes; "" when it is none of MIST's."""
    names = first_names(head)
    columns = mapped or Mapped()

    def has(table: str, name: str) -> bool:
        theirs = (columns.items if table == "items" else columns.results).get(name, name)
        return theirs in names or theirs.partition(".")[0] in names

    if has("results", "condition") and has("results", "item_id"):
        first = has("results", "first_pass_response") or has("results", "first_pass_answer")
        if first or has("results", "correct"):
            return "results"
    if has("items", "item_id") and (has("items", "biased_option") or has("items", "immoral_action")):
        return "items"
    return ""


def kind_of_file(path: Path, mapped: Mapped) -> FileKind:
    """`kind_of_head` of a file.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return kind_of_head(stream.read(HEAD_BYTES), mapped)
