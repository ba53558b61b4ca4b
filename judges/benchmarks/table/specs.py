"""What is known of a table's columns and tasks: from its task file, or found out from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from judges.benchmarks.benchmark import Level, PanelKind
from judges.benchmarks.table.keys import NO_KEYS, Keys
from store.records import Problem

ROLES = (
    "item_id", "task", "context", "question", "response", "response_1", "response_2", "reference", "gold", "group",
    "cluster", "system", "systems", "human", "judge", "order",
)  # fmt: skip
"""What a column can be; each is its own default name."""

JUDGE_FIELDS = ("label", "score", "confidence", "rationale")


@dataclass(frozen=True, slots=True)
class LabelSpec:
    """A label as the task file has it; `also` are other spellings that mean it."""

    value: str
    title: str = ""
    keys: Keys = NO_KEYS
    hint: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A field on the desk; `kind` "" is found out from the data."""

    field: str
    title: str = ""
    kind: PanelKind | None = None
    role: str | None = None
    folded: bool = False
    judge_saw: bool = True


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task. Empty or None is what nobody said and the data have to tell.

    Attributes:
        labels: in rubric order, best first where they are ordered.
        low, high: bounds of a task whose value is a number; it has no labels.
        null: the label that a judge's null stands for, where a benchmark reads it so; "" keeps it a failure.
    """

    name: str = ""
    title: str = ""
    question: str = ""
    level: Level | None = None
    labels: tuple[LabelSpec, ...] = ()
    low: float | None = None
    high: float | None = None
    show: tuple[Shown, ...] | None = None
    tags: tuple[str, ...] = ()
    rubric: str = ""
    null: str = ""

    def over(self, base: TaskSpec) -> TaskSpec:
        """The spec with what it leaves open taken from `base`."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(base, **{name: value for name, value in own.items() if value not in ("", None, ())})


@dataclass(frozen=True, slots=True)
class Reference:
    """Another file that a column refers to: its rows by `id`, of which `fields` belong to the item."""

    file: str
    id: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A task file that was read; empty when there is none.

    Attributes:
        columns: role → column. humans: column → annotator. judges: judge → its fields' columns.
        base: what holds for every task. tasks: what is one task's own.
        faults: what is wrong with it; anything else may then be missing.
    """

    path: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    slices: tuple[str, ...] | None = None
    key: tuple[str, ...] = ()
    humans: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)
    base: TaskSpec = TaskSpec()
    tasks: tuple[TaskSpec, ...] = ()
    faults: tuple[Problem, ...] = ()
