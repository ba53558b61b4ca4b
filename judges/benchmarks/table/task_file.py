"""The task file: what a table's columns are, and what its tasks ask. TOML, checked whole, every fault told at once.

[columns]                        # role = column; only where they differ from the role's own name
context = "prompt"
cluster = "document"
system = "model"                 # or systems, a list
task = "question"                # one task for each value; without it all rows are of one task
slices = ["domain", "length"]    # strata to report by
key = ["question_id"]            # what pairs the items of two systems; else item_id
human = { label_anna = "Anna" }  # column = annotator, one column a person
[columns.judge.gpt-4o]           # one table a judge
label = "gpt4o"
score = "gpt4o_p"

[references.response_ref]        # a column that names a row of another file
file = "responses.jsonl"         # beside the task file, or among the files given
id = "response_id"
fields = ["response"]

[task]                           # the task, or what holds for every one of several
name = "coverage"
question = "How much of the reference is in the response?"
level = "ordinal"                # best first
labels = ["full", "partial", "none"]
keys = { full = "f1" }           # a letter, a digit, or both
also = { "Fully covered" = "full" }   # other spellings in the data
show = ["context", "reference", "response"]
tags = ["too_vague"]
rubric = "…"                     # or rubric_file

[[tasks]]                        # one of several: its name in the column, and what is its own
name = "Q0"
question = "…"
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from judges.benchmarks.benchmark import Level, PanelKind
from judges.benchmarks.table.keys import NO_KEYS, Keys, allot
from judges.benchmarks.table.specs import (
    JUDGE_FIELDS,
    ROLES,
    LabelSpec,
    Reference,
    Shown,
    TaskFile,
    TaskSpec,
)
from judges.toml_text import read_toml
from store.records import Problem

PANEL_ROLES = ("", "question", "reference", "response", "gold")
_LISTS = ("slices", "key")
_TASK_FIELDS = (
    "name", "title", "question", "level", "labels", "keys", "also", "low", "high", "show", "tags", "rubric",
    "rubric_file", "null",
)  # fmt: skip
_LABEL_FIELDS = ("value", "title", "key", "digit", "hint", "also")
_SHOW_FIELDS = ("field", "title", "kind", "role", "folded", "judge_saw")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


def read_task_file(path: Path) -> TaskFile:
    """The task file; what is wrong with it is in `faults`, nothing is raised for content or a missing file."""
    try:
        data = read_toml(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        return _broken(path, f"the task file cannot be read: {error.strerror}", "check the path")
    except UnicodeDecodeError:
        return _broken(path, "the task file is not UTF-8", "save it as UTF-8")
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        return _broken(path, f"this is not TOML: {_PLACE.sub('', str(error)).strip()}", "correct it", line, column)
    reading = _Reading(path)
    return reading.file(data)


def _broken(path: Path, what: str, remedy: str, line: int = 0, column: int = 0) -> TaskFile:
    return TaskFile(path, faults=(Problem(str(path), line, column, what, remedy),))


class _Reading:
    """Takes a task file apart, collecting faults."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.faults: list[Problem] = []

    def file(self, data: Mapping[str, Any]) -> TaskFile:
        self._known(data, ("columns", "references", "tasks", "task"), "the task file")
        columns = self._table(data, "columns", "[columns]")
        self._known(columns, (*ROLES, *_LISTS), "[columns]")
        tasks = data.get("tasks", [])
        if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
            self._fault("[[tasks]] is not a list of tables")
            tasks = []
        found = TaskFile(
            path=self.path,
            columns=dict(self._columns(columns)),
            slices=self._texts(columns, "slices", "[columns]") if "slices" in columns else None,
            key=self._texts(columns, "key", "[columns]"),
            humans=self._human_columns(columns),
            judges=self._judge_columns(columns),
            references=dict(self._references(self._table(data, "references", "[references]"))),
            base=self._task(self._table(data, "task", "[task]"), "[task]"),
            tasks=tuple(self._task(task, f"task {number}") for number, task in enumerate(tasks, start=1)),
        )
        self._names(found.tasks, "task" in found.columns)
        return replace(found, faults=tuple(self.faults))

    # Columns

    def _columns(self, columns: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for role in ROLES:
            value = columns.get(role)
            if isinstance(value, str) and value:
                yield role, value
            elif value is not None and not (role in ("human", "judge") and isinstance(value, dict)):
                self._fault(f"{role} in [columns] is not the name of a column")

    def _human_columns(self, columns: Mapping[str, Any]) -> dict[str, str]:
        value = columns.get("human")
        if not isinstance(value, dict):
            return {}
        return {column: self._text(value, column, "[columns] human") for column in value}

    def _judge_columns(self, columns: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        value = columns.get("judge")
        if not isinstance(value, dict):
            return {}
        judges: dict[str, dict[str, str]] = {}
        for judge, fields in value.items():
            where = f"[columns.judge.{judge}]"
            fields = {"label": fields} if isinstance(fields, str) else fields
            if not isinstance(fields, dict) or "label" not in fields:
                self._fault(f"{where} does not say which column holds the label")
                continue
            self._known(fields, JUDGE_FIELDS, where)
            judges[judge] = {name: self._text(fields, name, where) for name in JUDGE_FIELDS if name in fields}
        return judges

    def _references(self, references: Mapping[str, Any]) -> Iterator[tuple[str, Reference]]:
        for column in references:
            where = f"[references.{column}]"
            said = self._table(references, column, where)
            self._known(said, ("file", "id", "fields"), where)
            stem = column.removesuffix("_ref")
            fields = self._texts(said, "fields", where) or (stem,)
            identifier = self._text(said, "id", where) or f"{stem}_id"
            yield column, Reference(self._text(said, "file", where) or f"{stem}s.jsonl", identifier, fields)

    # Tasks

    def _task(self, task: Mapping[str, Any], where: str) -> TaskSpec:
        name = self._text(task, "name", where)
        where = f"task {name}" if name else where
        self._known(task, _TASK_FIELDS, where)
        labels = self._labels(task, where)
        level = task.get("level")
        if level is not None and level not in get_args(Level):
            self._fault(f"the level of {where} is not one of {', '.join(get_args(Level))}")
            level = None
        low, high = self._number(task, "low", where), self._number(task, "high", where)
        if (low is None) != (high is None) or (low is not None and high is not None and low >= high):
            self._fault(f"{where} needs a low below a high")
        if labels and low is not None:
            self._fault(f"{where} has labels or bounds of a number, not both")
        if level == "interval" and not all(_is_number(label.value) for label in labels):
            self._fault(f"{where} is on an interval scale, but a label of it is no number")
        return TaskSpec(
            name=name,
            title=self._text(task, "title", where),
            question=self._text(task, "question", where),
            level=level,
            labels=labels,
            low=low,
            high=high,
            show=self._shown(task, where) if "show" in task else None,
            tags=self._texts(task, "tags", where),
            rubric=self._rubric(task, where),
            null=self._null(task, labels, where),
        )

    def _labels(self, task: Mapping[str, Any], where: str) -> tuple[LabelSpec, ...]:
        said = task.get("labels", [])
        if not isinstance(said, list):
            self._fault(f"the labels of {where} are not a list")
            return ()
        shorthand = {name: self._keys(text, where) for name, text in self._table(task, "keys", where).items()}
        also: dict[str, list[str]] = {}
        for spelling, value in self._table(task, "also", where).items():
            also.setdefault(str(value), []).append(spelling)
        labels = [self._label(entry, shorthand, also, where) for entry in said]
        values = [label.value for label in labels]
        self._unknown({*shorthand, *also} - set(values), f"keys or also of {where} name labels it does not have")
        spellings = [*values, *(spelling for label in labels for spelling in label.also)]
        self._unknown({s for s in spellings if spellings.count(s) > 1}, f"labels of {where} are there twice")
        if len(labels) == 1:
            self._fault(f"{where} has one label; two are the least")
        self._check_keys(labels, where)
        return tuple(labels)

    def _label(
        self, entry: Any, shorthand: Mapping[str, Keys], also: Mapping[str, Sequence[str]], where: str
    ) -> LabelSpec:
        if not isinstance(entry, dict):
            value = _label_value(entry)
            return LabelSpec(value, keys=shorthand.get(value, NO_KEYS), also=tuple(also.get(value, ())))
        self._known(entry, _LABEL_FIELDS, f"a label of {where}")
        value = _label_value(entry.get("value"))
        if not value:
            self._fault(f"a label of {where} has no value")
        said = Keys(self._text(entry, "key", where), _label_value(entry.get("digit")))
        return LabelSpec(
            value=value,
            title=self._text(entry, "title", where),
            keys=said if any(said) else shorthand.get(value, NO_KEYS),
            hint=self._text(entry, "hint", where),
            also=(*also.get(value, ()), *self._texts(entry, "also", where)),
        )

    def _keys(self, text: Any, where: str) -> Keys:
        """ "f", "1" or "f1"."""
        letters = [char for char in str(text) if not char.isdigit()]
        digits = [char for char in str(text) if char.isdigit()]
        if len(letters) > 1 or len(digits) > 1:
            self._fault(f"a label of {where} has a key of one letter, one digit, or both; not {str(text)[:20]!r}")
            return NO_KEYS
        return Keys("".join(letters), "".join(digits))

    def _check_keys(self, labels: Sequence[LabelSpec], where: str) -> None:
        try:
            allot([label.value for label in labels], {label.value: label.keys for label in labels})
        except ValueError as error:
            self._fault(f"{where}: {error}")

    def _shown(self, task: Mapping[str, Any], where: str) -> tuple[Shown, ...]:
        said = task["show"]
        if not isinstance(said, list):
            self._fault(f"show of {where} is not a list of fields")
            return ()
        return tuple(self._show(entry, where) for entry in said)

    def _show(self, entry: Any, where: str) -> Shown:
        if not isinstance(entry, dict):
            return Shown(str(entry))
        self._known(entry, _SHOW_FIELDS, f"show of {where}")
        kind, role = entry.get("kind"), entry.get("role")
        if kind is not None and kind not in get_args(PanelKind):
            self._fault(f"a kind in show of {where} is not one of {', '.join(get_args(PanelKind))}")
            kind = None
        if role is not None and role not in PANEL_ROLES:
            self._fault(f"a role in show of {where} is not one of {', '.join(filter(None, PANEL_ROLES))}")
            role = None
        name, title = self._text(entry, "field", where), self._text(entry, "title", where)
        return Shown(name, title, kind, role, bool(entry.get("folded")), bool(entry.get("judge_saw", True)))

    def _rubric(self, task: Mapping[str, Any], where: str) -> str:
        name = self._text(task, "rubric_file", where)
        if not name:
            return self._text(task, "rubric", where)
        try:
            return (self.path.parent / name).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            self._fault(f"the rubric file of {where} cannot be read: {name}")
            return ""

    def _null(self, task: Mapping[str, Any], labels: Sequence[LabelSpec], where: str) -> str:
        value = self._text(task, "null", where)
        if value and value not in [label.value for label in labels]:
            self._fault(f"null of {where} is none of its labels")
        return value

    def _names(self, tasks: Sequence[TaskSpec], told_apart: bool) -> None:
        names = [task.name for task in tasks]
        self._unknown({name for name in names if names.count(name) > 1}, "tasks are there twice")
        if tasks and not (told_apart and all(names)):
            self._fault("[[tasks]] need names, and a column for them: task = … in [columns]")

    # Values

    def _table(self, data: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
        value = data.get(name, {})
        if isinstance(value, dict):
            return value
        self._fault(f"{name} in {where} is not a table")
        return {}

    def _text(self, data: Mapping[str, Any], name: str, where: str) -> str:
        value = data.get(name, "")
        if isinstance(value, str):
            return value
        self._fault(f"{name} in {where} is not a text")
        return ""

    def _texts(self, data: Mapping[str, Any], name: str, where: str) -> tuple[str, ...]:
        value = data.get(name, [])
        value = [value] if isinstance(value, str) else value
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return tuple(value)
        self._fault(f"{name} in {where} is not a list of texts")
        return ()

    def _number(self, data: Mapping[str, Any], name: str, where: str) -> float | None:
        value = data.get(name)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return None if value is None else float(value)
        self._fault(f"{name} of {where} is not a number")
        return None

    def _known(self, data: Mapping[str, Any], names: Sequence[str], where: str) -> None:
        for name in data:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(names)}"
                self._fault(f"{where} has no {name!r}{hint}")

    def _unknown(self, found: Iterable[str], what: str) -> None:
        if named := sorted(set(found)):
            self._fault(f"{what}: {', '.join(named)}")

    def _fault(self, what: str) -> None:
        self.faults.append(Problem(str(self.path), 0, 0, what, "correct the task file"))


def _label_value(value: Any) -> str:
    """A label's text as the data has it: `true`, `3` and "3" of TOML are "true", "3" and "3"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
