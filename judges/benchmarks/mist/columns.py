"""The column mapping: how the authors' field names and values translate to the ones read here. TOML:

[items]                       # ours = theirs; a dot goes into an object
question = "stem"
ground_truth = "key.correct"
index_from = 0                # where numbers that name an option start; without it a number is refused

[results]
response = "output.text"

[values.condition]            # theirs = ours
full_conversation = "chat_history"
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judges.benchmarks.mist.shapes import ITEM_FIELDS, RESULT_FIELDS
from judges.toml_text import read_toml
from store.records import Problem

VALUES = ("condition", "regime", "source", "mitigation", "model", "run")


@dataclass(frozen=True, slots=True)
class Mapped:
    """A column mapping; the default changes nothing.

    Attributes:
        items, results: our field → their name. values: field → their value → ours.
        index_from: what the first option's number is in the items; None when numbers are no names of options.
        faults: what is wrong with the file.
    """

    items: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    index_from: int | None = None
    faults: tuple[Problem, ...] = ()

    def item(self, row: Mapping[str, Any], name: str) -> Any:
        """Our field of an items row; None when it is missing."""
        return look_up(row, self.items.get(name, name))

    def result(self, row: Mapping[str, Any], name: str) -> Any:
        """Our field of a results row, its value translated; None when it is missing."""
        value = look_up(row, self.results.get(name, name))
        return self.values.get(name, {}).get(str(value), value) if name in self.values else value

    def has_result(self, row: Mapping[str, Any], name: str) -> bool:
        """Whether the row has the field at all, be it null."""
        path = self.results.get(name, name)
        *steps, last = path.split(".")
        here = look_up(row, ".".join(steps)) if steps else row
        return path in row or (isinstance(here, Mapping) and last in here)

    def put(self, row: dict[str, Any], name: str, value: Any) -> None:
        """Set our field in a results row under their name."""
        here, last = self._place(row, name)
        here[last] = value

    def drop(self, row: dict[str, Any], name: str) -> None:
        """Take our field out of a results row."""
        here, last = self._place(row, name)
        here.pop(last, None)

    def _place(self, row: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
        path = self.results.get(name, name)
        if path in row:
            return row, path
        *steps, last = path.split(".")
        here = row
        for step in steps:
            # A copy, since the row may share its objects with what was read.
            here[step] = dict(here[step]) if isinstance(here.get(step), Mapping) else {}
            here = here[step]
        return here, last


def look_up(row: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path; a name that has a dot itself comes first."""
    if path in row:
        return row[path]
    here: Any = row
    for step in path.split("."):
        if not isinstance(here, Mapping):
            return None
        here = here.get(step)
    return here


def read_mapping(path: Path) -> Mapped:
    """The mapping of a file; what is wrong with it is in `faults`."""
    try:
        data = read_toml(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        return _broken(path, f"the column mapping cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return _broken(path, "the column mapping is not UTF-8")
    except tomllib.TOMLDecodeError as error:
        return _broken(path, f"this is not TOML: {error}")
    faults = _faults(data)
    if faults:
        return Mapped(faults=tuple(Problem(str(path), 0, 0, what, "correct the column mapping") for what in faults))
    items = dict(data.get("items", {}))
    index_from = items.pop("index_from", None)
    return Mapped(items, data.get("results", {}), data.get("values", {}), index_from)


def _broken(path: Path, what: str) -> Mapped:
    return Mapped(faults=(Problem(str(path), 0, 0, what, "correct the column mapping"),))


def _faults(data: Mapping[str, Any]) -> list[str]:
    faults = _unknown(data, ("items", "results", "values"), "the column mapping")
    tables = {"items": (*ITEM_FIELDS, "index_from"), "results": RESULT_FIELDS, "values": VALUES}
    for name, known in tables.items():
        table = data.get(name, {})
        if not isinstance(table, dict):
            faults.append(f"{name} is not a table")
            continue
        faults += _unknown(table, known, f"[{name}]")
        wanted = dict if name == "values" else str
        wrong = [key for key, value in table.items() if key != "index_from" and not isinstance(value, wanted)]
        faults += [f"{key} in [{name}] is not {'a table' if wanted is dict else 'a text'}" for key in wrong]
    if isinstance(data.get("items"), dict) and data["items"].get("index_from") not in (None, 0, 1):
        faults.append("index_from in [items] is 0 or 1")
    return faults


def _unknown(table: Mapping[str, Any], known: Sequence[str], where: str) -> list[str]:
    faults = []
    for name in table:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            faults.append(f"{where} has no {name!r}" + (f"; did you mean {near[0]}?" if near else ""))
    return faults
