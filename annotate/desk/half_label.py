"""A label while it is being given: one key a part, nothing defaulted, complete only with every required part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotate.desk.actions import Choice
from judges.benchmarks.benchmark import Label, TaskDefinition
from store.records import LabelState


@dataclass(slots=True)
class HalfLabel:
    """What was pressed on the item in hand.

    Attributes:
        given: part → label of a label that is not complete ("" is the value itself).
        unsure: those of them that were pressed with shift.
        pressed: every part pressed since the item came to hand.
    """

    given: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    pressed: set[str] = field(default_factory=set)

    def start_from(self, state: LabelState) -> None:
        """A label that is there already is changed part by part."""
        if state.value is not None:
            self.given = {"": state.value, **state.parts}
            self.unsure = {""} if state.unsure else set()

    def press(self, choice: Choice) -> None:
        """The last press of a part counts, its shift too."""
        self.given[choice.part] = choice.value
        self.pressed.add(choice.part)
        (self.unsure.add if choice.unsure else self.unsure.discard)(choice.part)

    def missing(self, task: TaskDefinition) -> list[str]:
        """The required parts that are not given, in the task's order."""
        return [part for part in required_parts(task) if part not in self.given]

    def applied_to(self, state: LabelState) -> LabelState:
        """The complete label; tags, note and marks stay."""
        parts = {part: value for part, value in self.given.items() if part}
        return replace(
            state, value=self.given[""], parts=parts, unsure=bool(self.unsure), cannot_judge="", skipped=False
        )

    def clear(self) -> None:
        """Forget the label: it is stored, or taken back."""
        self.given, self.unsure = {}, set()

    def leave(self) -> None:
        """Another item comes to hand."""
        self.clear()
        self.pressed = set()


def required_parts(task: TaskDefinition) -> list[str]:
    """What a label must hold: the value ("") and the task's required parts."""
    return ["", *(part.id for part in task.parts if part.required)]


def is_label(task: TaskDefinition, given: Mapping[str, str]) -> bool:
    """Whether these parts make a complete label of the task, each of its declared set."""
    declared = {part: {label.value for label in part_labels(task, part)[1]} for part in ("", *_part_ids(task))}
    return all(part in given for part in required_parts(task)) and all(
        value in declared.get(part, ()) for part, value in given.items()
    )


def _part_ids(task: TaskDefinition) -> list[str]:
    return [part.id for part in task.parts]


def part_prompt(task: TaskDefinition, part: str) -> str:
    """What to press for a part: its title and its keys."""
    title, labels = part_labels(task, part)
    keys = ", ".join(f"{label.key} {label.title}" for label in labels)
    return f"{title} {keys}" if title.endswith(("?", ":")) else f"{title}: {keys}"


def part_labels(task: TaskDefinition, part: str) -> tuple[str, Sequence[Label]]:
    """Title and labels of a part."""
    if not part:
        return task.title, task.labels
    found = next(each for each in task.parts if each.id == part)
    return found.title, found.labels
