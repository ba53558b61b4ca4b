"""Tells whether a file is a table with something to judge in it, by its first bytes."""

from __future__ import annotations

import csv

from judges.benchmarks.json_head import decoded, first_names
from judges.benchmarks.table.columns import HUMAN_PREFIX, JUDGE_PREFIX
from judges.benchmarks.table.rows import DELIMITERS, format_of_head

JUDGED = frozenset({"response", "response_1", "response_ref"})
SAID = frozenset({"human", "judge", "gold"})
OWN_EXPORT = "overread_export"
"""The mark of this tool's own exports, which are read elsewhere."""


def is_table(head: bytes) -> bool:
    """Whether there is something to judge, and something said of it. Parquet, which only a table can be, always is."""
    kind = format_of_head(head)
    if kind == "parquet":
        return True
    names = first_names(head) if kind == "json" else _header(head)
    prefixed = any(name.startswith((HUMAN_PREFIX, JUDGE_PREFIX)) for name in names)
    return bool(JUDGED & names) and (bool(SAID & names) or prefixed) and OWN_EXPORT not in names


def _header(head: bytes) -> frozenset[str]:
    first = decoded(head).lstrip("\ufeff").partition("\n")[0].rstrip("\r")
    try:
        found = [frozenset(next(csv.reader([first], delimiter=delimiter), [])) for delimiter in DELIMITERS]
    except csv.Error:
        return frozenset()
    return max(found, key=len)
