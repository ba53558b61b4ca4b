"""Makes the task definition that the desk shows: which fields, under which titles, with which keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from judges.benchmarks.benchmark import Label, Panel, PanelKind, TaskDefinition
from judges.benchmarks.table.columns import Columns
from judges.benchmarks.table.rubrics import without_rubric
from judges.benchmarks.table.specs import Reference, Shown, TaskSpec
from judges.benchmarks.table.survey import Survey

DEFAULT_TASK = "label"
PAIR = ("response_1", "response_2")
PAIR_FIELD, PAIR_TITLE = ",".join(PAIR), "Response 1, Response 2"
SHOWN_ROLES = ("context", "question", "reference", "gold", "response", *PAIR)
"""What is shown without a task file, in this order. Nothing else is: it could give the verdict away."""

Role = Literal["", "question", "reference", "response", "gold"]
PANEL_ROLE: Mapping[str, Role] = {
    "question": "question",
    "reference": "reference",
    "gold": "reference",
    "response": "response",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the data are known to be, as far as panels go."""

    found: Survey
    columns: Columns
    gold_is_label: bool
    references: Mapping[str, Reference]

    def has(self, name: str) -> bool:
        """Whether items have a field of that name: a role's column, a column, or a field of another file."""
        column = self.columns.of.get(name, name)
        return bool(self.found.filled[column]) or name in self.referred

    @property
    def referred(self) -> frozenset[str]:
        """Fields that come from other files."""
        columns = [column for column in self.references if self.found.filled[column]]
        return frozenset(name for column in columns for name in self.references[column].fields)

    def kind(self, name: str) -> PanelKind:
        kinds = self.found.kinds.get(self.columns.of.get(name, name), set())
        return next(iter(kinds)) if len(kinds) == 1 else "text"

    def is_label(self, name: str) -> bool:
        """Whether the field holds somebody's label."""
        column = self.columns.of.get(name, name)
        return column in self.found.label_columns or (column == self.columns.of["gold"] and self.gold_is_label)


def definition_of(spec: TaskSpec, meaning: Meaning) -> tuple[TaskDefinition, list[str]]:
    """The task as the study keeps it, and sentences on the fields that nobody named."""
    said: list[str] = []
    shown = spec.show if spec.show is not None else _default_fields(meaning)
    panels = tuple(_panel(field, meaning) for field in shown if not meaning.is_label(_field_name(field, meaning)))
    hidden = [field.field for field in shown if meaning.is_label(_field_name(field, meaning))]
    if hidden:
        said.append(f"Task {spec.name}: {', '.join(hidden)} holds labels and is not shown before a person's own.")
    if spec.show is None:
        said.append(f"Task {spec.name}: shown {', '.join(panel.field for panel in panels) or 'nothing'}.")
        if left_out := _left_out(meaning, panels):
            said.append(f"Task {spec.name}: not shown {', '.join(left_out)}; a task file can show them.")
    title = spec.title or spec.name.replace("_", " ").capitalize()
    labels = tuple(
        Label(label.value, label.title or label.value, label.keys.key, label.keys.digit, label.hint)
        for label in spec.labels
    )
    if not spec.rubric:
        said.append(
            f"Task {spec.name}: no rubric, so people and judge may understand the labels differently; write down what"
            ' each means in a task file (rubric = "…").'
        )
    definition = TaskDefinition(
        task=spec.name,
        title=title,
        question=spec.question or _question(meaning),
        level=spec.level or "nominal",
        labels=labels,
        panels=panels,
        tags=spec.tags,
        rubric=spec.rubric or without_rubric(title, [label.title for label in labels]),
        kind="choice" if labels else "number",
        low=spec.low if spec.low is not None else 0.0,
        high=spec.high if spec.high is not None else 1.0,
    )
    return definition, said


def _question(meaning: Meaning) -> str:
    if meaning.has(PAIR[0]) and meaning.has(PAIR[1]):
        return "Which response is better?"
    return "Which label does the response deserve?"


def _default_fields(meaning: Meaning) -> tuple[Shown, ...]:
    fields = [name for name in SHOWN_ROLES if meaning.has(name) and not meaning.is_label(name)]
    if set(PAIR) <= set(fields):
        fields = [PAIR_FIELD if name == PAIR[0] else name for name in fields if name != PAIR[1]]
    return tuple(Shown(field) for field in fields)


def _field_name(shown: Shown, meaning: Meaning) -> str:
    """The name of the field in an item: the role's when the column has one."""
    roles = {column: role for role, column in meaning.columns.of.items()}
    return ",".join(roles.get(name.strip(), name.strip()) for name in shown.field.split(","))


def _panel(shown: Shown, meaning: Meaning) -> Panel:
    name = _field_name(shown, meaning)
    title = shown.title or (PAIR_TITLE if name == PAIR_FIELD else name.replace("_", " ").capitalize())
    kind = shown.kind or ("compare" if "," in name else meaning.kind(name))
    role = cast(Role, shown.role) if shown.role is not None else PANEL_ROLE.get(name, "")
    return Panel(kind, name, title, judge_saw=shown.judge_saw, role=role, folded=shown.folded)


def _left_out(meaning: Meaning, panels: Sequence[Panel]) -> list[str]:
    shown = {name for panel in panels for name in panel.field.split(",")}
    roles = {column: role for role, column in meaning.columns.of.items()}
    known = {"item_id", "task", "group", "cluster", "system", "systems", "human", "judge", "order", "gold", *PAIR}
    return sorted(
        column
        for column in meaning.found.filled
        if roles.get(column, column) not in shown | known
        and column not in meaning.found.label_columns
        and column not in meaning.references
    )


def payload_fields(definition: TaskDefinition) -> list[str]:
    """The fields that the panels of a task show."""
    return list(dict.fromkeys(name for panel in definition.panels for name in panel.field.split(",")))
