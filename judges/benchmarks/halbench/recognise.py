"""Tells HalBench's files apart by the member names of their first object."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from judges.benchmarks.json_head import first_names
from judges.benchmarks.native import PATCH_FIELD

HEAD_BYTES = 1 << 16

FileKind = Literal["scores", "responses", "item", "endpoints", "drops", "leaderboard", "rankings", ""]


def kind_of_head(head: bytes) -> FileKind:
    """What a file is, by its first bytes; "" when it is none of HalBench's."""
    names = first_names(head)
    if "item_id" in names:
        return _of_an_item(names)
    if {"endpoints", "axis_anchors"} <= names or {"endpoints", "endpoint_panel"} <= names:
        return "endpoints"
    if "all_drops" in names:
        return "drops"
    return "leaderboard" if {"mean_with_n1_floor", "n_anomalies"} <= names else ""


def _of_an_item(names: frozenset[str]) -> FileKind:
    if {"score", "is_anomaly"} <= names:
        return "scores"
    if {"ranking", PATCH_FIELD} <= names:
        return "rankings"
    if {"cell", "prompt"} <= names or {"construct_bearing_element", "prompt"} <= names:
        return "item"
    # A run that begins with a failed call has a row of two fields first.
    return "responses" if "response_text" in names or names == {"item_id", "error"} else ""


def kind_of_file(path: Path) -> FileKind:
    """`kind_of_head` of a file.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return kind_of_head(stream.read(HEAD_BYTES))
