"""The one registry of what a key can do: feeds keys, footer, help, palette and the docs page.

Labels get their keys from the task definition; everything else is an action here. A key map joins both and refuses
clashes, naming both owners.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judges.benchmarks.benchmark import TaskDefinition
from store.errors import UsageError

Scope = Literal["item", "review", "everywhere"]


@dataclass(frozen=True, slots=True)
class Action:
    """Something a key does.

    Attributes:
        id: stable name, used in the key file.
        keys: default keys: single characters, or names as Textual has them ("left", "ctrl+r").
        description: for the help screen and the palette. short: for the footer; "" keeps it out.
    """

    id: str
    keys: tuple[str, ...]
    description: str
    short: str = ""
    scope: Scope = "item"


ACTIONS: tuple[Action, ...] = (
    Action("confirm", ("enter",), "Keep your label and go on (does nothing on an unlabelled item)", "", "everywhere"),
    Action("note", ("n",), "Write a note", "note"),
    Action("tag", ("t",), "Set or unset a tag: t, then its digit", "tag"),
    Action("cannot_judge", ("x",), "Cannot judge this item: x, then the reason"),
    Action("reference_wrong", ("r",), "The reference is wrong: write the right answer"),
    Action("harm", ("!",), "Harm if the response were believed: !, then the degree"),
    Action("find", ("/",), "Find text in the item", "find"),
    Action("find_next", (".",), "Next hit"),
    Action("find_previous", (",",), "Previous hit"),
    Action("differences", ("d",), "Mark what differs between reference and response", "differences"),
    Action("next_similar", ("]",), "Next turn most like the gold text (similar words, not proof)", "evidence"),
    Action("previous_similar", ("[",), "Previous turn most like the gold text"),
    Action("next_turn", ("}",), "Put the arrow on the next turn of the dialogue"),
    Action("previous_turn", ("{",), "Put the arrow on the previous turn"),
    Action("mark_evidence", ("e",), "Mark the turn at the arrow as evidence, or unmark it"),
    Action("fold", ("space",), "Open or fold the panel at the top of the view"),
    Action("dialogue", ("v",), "Open or fold the dialogue", "dialogue"),
    Action("verdict", ("j",), "Show all the judge said, once its verdict may be shown"),
    Action("rubric", ("g",), "Show the rubric of this task", "rubric"),
    Action("skip", ("s",), "Skip: the item comes back at the end", "skip"),
    Action("flag", ("f",), "Flag for the lead, or unflag"),
    Action("clear", ("backspace",), "Take your label off this item again"),
    Action("undo", ("u",), "Undo your last act, across items and restarts", "undo"),
    Action("redo", ("ctrl+r",), "Redo what was undone"),
    Action("next_item", ("right",), "Next item"),
    Action("previous_item", ("left",), "Previous item"),
    Action("go_to", (":",), "Go to an item by its number"),
    Action("first_open", ("home",), "Go to the first unlabelled item"),
    Action("scroll_down", ("down",), "Scroll down", "", "everywhere"),
    Action("scroll_up", ("up",), "Scroll up", "", "everywhere"),
    Action("page_down", ("pagedown",), "Scroll a page down", "", "everywhere"),
    Action("page_up", ("pageup",), "Scroll a page up", "", "everywhere"),
    Action("pace", ("w",), "Show your pace and the time left"),
    Action("help", ("?", "f1"), "Show all keys", "keys", "everywhere"),
    Action("quit", ("q", "ctrl+q"), "Leave the desk; everything is saved", "quit", "everywhere"),
)

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

REASONS: Mapping[str, tuple[str, str]] = {
    "o": ("outside_specialty", "outside my specialty"),
    "c": ("too_little_context", "too little context"),
    "a": ("ambiguous", "ambiguous"),
    "u": ("unreadable", "unreadable"),
    "l": ("needs_look_up", "needs look-up"),
}
"""Reason key after `x` → (stored id, words)."""

HARMS: Mapping[str, tuple[str, str]] = {
    "0": ("none", "none"),
    "1": ("minor", "minor"),
    "2": ("serious", "serious"),
    "3": ("life_threatening", "life-threatening"),
}
"""Degree key after `!` → (stored id, words)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A label key: which part of the label it sets (`part` "" is the value itself), to what, and whether unsure."""

    part: str
    value: str
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """A key that means nothing here; `hint` says why when there is a likely reason."""

    hint: str = ""


def normalise_key(key: str) -> str:
    """Full-width digits and letters become ASCII ones; names of keys stay."""
    if len(key) != 1 or key.isascii():
        return key
    folded = unicodedata.normalize("NFKC", key)
    return folded if len(folded) == 1 and folded.isascii() else key


def is_input_method(key: str) -> bool:
    """A character only an input method gives: East Asian letters that are no full-width ASCII."""
    return len(key) == 1 and not key.isascii() and unicodedata.east_asian_width(key) in "WF" and key.isalpha()


class KeyMap:
    """Keys of one task: label keys from its definition, action keys from the registry and the user's key file."""

    def __init__(self, task: TaskDefinition, remapped: Mapping[str, Sequence[str]] | None = None) -> None:
        """Join label and action keys.

        Raises:
            UsageError: an unknown action is remapped, or one key has two owners.
        """
        self._owners: dict[str, str] = {}
        self._choices: dict[str, Choice] = {}
        self._actions: dict[str, str] = {}
        self.keys_of: dict[str, tuple[str, ...]] = {}
        self._add_labels(task)
        self._add_actions(remapped or {})

    def resolve(self, key: str) -> Choice | Action | Unknown:
        """What a key means on an item."""
        pressed = normalise_key(key)
        if (choice := self._choices.get(pressed)) is not None:
            return choice
        if (action := self._actions.get(pressed)) is not None:
            return BY_ID[action]
        lowered = pressed.lower()
        if len(pressed) == 1 and lowered in self._actions:
            return BY_ID[self._actions[lowered]]
        return Unknown("input method is on: switch it to English" if is_input_method(pressed) else "")

    def _add_labels(self, task: TaskDefinition) -> None:
        sets = [("", task.labels), *((part.id, part.labels) for part in task.parts)]
        for part, labels in sets:
            for label in labels:
                owner = f"label {label.title!r} of {task.task}"
                self._own(label.key, owner)
                self._choices[label.key] = Choice(part, label.value)
                self._own(label.key.upper(), f"{owner} (unsure)")
                self._choices[label.key.upper()] = Choice(part, label.value, unsure=True)
                self._own(label.digit, owner)
                self._choices[label.digit] = Choice(part, label.value)

    def _add_actions(self, remapped: Mapping[str, Sequence[str]]) -> None:
        for name in remapped:
            if name not in BY_ID:
                raise UsageError(f"There is no action {name!r} to give a key.", "", f"Actions: {', '.join(BY_ID)}")
        for action in ACTIONS:
            keys = tuple(remapped.get(action.id, action.keys))
            self.keys_of[action.id] = keys
            for key in keys:
                self._own(key, f"action {action.id!r}")
                self._actions[key] = action.id

    def _own(self, key: str, owner: str) -> None:
        if (other := self._owners.setdefault(key, owner)) != owner:
            raise UsageError(f"Key {key!r} has two owners: {other} and {owner}.", "", "Give one of them another key.")
