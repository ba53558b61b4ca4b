"""A benchmark's own row, kept in an item's `extra` so that its writer can give it back with its fields in their order.

`row` is the row as JSON text without the values that the item has in its payload or texts anyway; `seen` names those:
column → field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def packed(row: Mapping[str, Any], seen: Mapping[str, str]) -> dict[str, Any]:
    """What to put into `extra`."""
    kept = {name: None if name in seen else value for name, value in row.items()}
    return {"row": json.dumps(kept, ensure_ascii=False), "seen": dict(seen)}


def restored(extra: Mapping[str, Any], payload: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The row as it was read.

    Args:
        texts: the item's long texts themselves by field.
    """
    row: dict[str, Any] = json.loads(extra["row"])
    for column, name in extra["seen"].items():
        row[column] = payload[name] if name in payload else texts[name]
    return row
