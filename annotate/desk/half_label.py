"""A label while it is being given: part by part, nothing defaulted, complete only with every required part.

A half-given label of a task whose decisions are all single keys lives in memory only. One with a grid, a ranking or a
number is stored act by act, as a label without a value: `parts` then holds what is given so far, the value's own under
the id "".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.desk.actions import Choice
from annotate.desk.entries import is_given, order_id
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import (
    VALUE,
    Decision,
    cells_text,
    decision_of,
    decisions_of,
    is_asked,
    is_whole,
    read_cells,
)
from store.records import LabelState


@dataclass(slots=True)
class HalfLabel:
    """What was given on the item in hand.

    Attributes:
        given: part → label of a label that is not complete ("" is the value itself). A grid or ranking may be in part.
        unsure: those of them that were given as unsure.
        pressed: every part given since the item came to hand.
    """

    given: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    pressed: set[str] = field(default_factory=set)

    def start_from(self, state: LabelState) -> None:
        """A label that is there already is changed part by part; a half-given one goes on."""
        if state.value is not None:
            self.given = {VALUE: state.value, **state.parts}
        elif not state.decided:
            self.given = dict(state.parts)
        self.unsure = {VALUE} if self.given and state.unsure else set()

    def press(self, choice: Choice) -> None:
        """The last press of a part counts, its shift too."""
        self.put(choice.part, choice.value)
        (self.unsure.add if choice.unsure else self.unsure.discard)(choice.part)

    def put(self, part: str, text: str) -> None:
        """Give a part; "" takes it back."""
        if text:
            self.given[part] = text
        else:
            self.given.pop(part, None)
        self.pressed.add(part)

    def missing(self, task: TaskDefinition, payload: Mapping[str, Any]) -> list[str]:
        """The required parts that are not given, and those that are given in part; in the task's order."""
        return [
            decision.id
            for decision in decisions_of(task)
            if decision.id in self.given or (decision.required and is_asked(decision, payload))
            if not (decision.id in self.given and _is_whole(decision, payload, self.given[decision.id]))
        ]

    def applied_to(self, state: LabelState) -> LabelState:
        """The complete label; tags, note and marks stay."""
        parts = {part: value for part, value in self.given.items() if part != VALUE}
        return replace(
            state, value=self.given[VALUE], parts=parts, unsure=bool(self.unsure), cannot_judge="", skipped=False
        )

    def kept_in(self, state: LabelState) -> LabelState:
        """The half-given label as it is stored: no value yet."""
        return replace(
            state, value=None, parts=dict(self.given), unsure=bool(self.unsure), cannot_judge="", skipped=False
        )

    def copy(self) -> HalfLabel:
        return HalfLabel(dict(self.given), set(self.unsure), set(self.pressed))

    def clear(self) -> None:
        """Forget the label: it is stored, or taken back."""
        self.given, self.unsure = {}, set()

    def leave(self) -> None:
        """Another item comes to hand."""
        self.clear()
        self.pressed = set()


def required_parts(task: TaskDefinition, payload: Mapping[str, Any]) -> list[str]:
    """What a label must hold: the value ("") and the task's required parts, as far as the item can be asked them."""
    return [d.id for d in decisions_of(task) if d.required and is_asked(d, payload)]


def is_label(task: TaskDefinition, payload: Mapping[str, Any], given: Mapping[str, str]) -> bool:
    """Whether these parts make a complete label of the task, each as it is declared."""
    decisions = {decision.id: decision for decision in decisions_of(task)}
    known = {part: text for part, text in given.items() if part not in map(order_id, decisions)}
    return all(part in known for part in required_parts(task, payload)) and all(
        part in decisions and is_given(decisions[part], payload, known) for part in known
    )


def completed(task: TaskDefinition, said: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """What a verdict said, with a person's own parts in its place; of a grid, their own cells."""
    whole = {**said, **own}
    for decision in decisions_of(task):
        if decision.kind == "checklist" and decision.id in said and decision.id in own:
            judged, given = read_cells(said[decision.id]), read_cells(own[decision.id])
            rows = {row: {**judged.get(row, {}), **given.get(row, {})} for row in (*judged, *given)}
            whole[decision.id] = cells_text(rows)
    return whole


def part_prompt(task: TaskDefinition, part: str) -> str:
    """What to press for a part: its title and its keys."""
    return prompt_words(decision_of(task, part))


def keys_first(task: TaskDefinition, part: str) -> str:
    """The same the other way round, for a line that is cut at its end: a title is on the screen beside it."""
    decision = decision_of(task, part)
    return f"{_key_words(decision)}: {decision.title.removesuffix(':')}"


def prompt_words(decision: Decision) -> str:
    """What to press for a decision."""
    keys = _key_words(decision)
    return f"{decision.title} {keys}" if decision.title.endswith(("?", ":")) else f"{decision.title}: {keys}"


def _key_words(decision: Decision) -> str:
    if decision.kind == "number":
        return f"a number from {decision.low:g} to {decision.high:g}"
    if decision.kind == "ranking":
        return "best to worst"
    return ", ".join(f"{label.key} {label.title}" for label in decision.labels)


def _is_whole(decision: Decision, payload: Mapping[str, Any], text: str) -> bool:
    """A choice that is not declared any more is as good as given: what a label holds is not thrown away unasked."""
    return decision.kind == "choice" or is_whole(decision, payload, text)
