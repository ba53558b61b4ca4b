"""The one registry of what a key can do: feeds keys, footer, help, palette and the docs page.

Labels get their keys from the task definition; everything else is an action here. A key map joins both and refuses
clashes, naming both owners.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from annotate.desk.entries import LETTERS, NUMBER_KEYS
from judges.benchmarks.benchmark import Label, TaskDefinition
from judges.benchmarks.decisions import Decision, decisions_of
from store.errors import UsageError

Scope = Literal["item", "everywhere", "part", "checklist", "ranking"]
"""item: only while an item is read; everywhere: also in the review of a block, on the line at the cursor.
part: while a grid, ranking or number is given; checklist, ranking: only in one of that kind. Their keys come first
there and mean something else elsewhere."""
PART_SCOPES: Final = ("part", "checklist", "ranking")


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


# fmt: off
ACTIONS: tuple[Action, ...] = (
    Action(
        "confirm", ("enter",), "Keep your label and go on; confirm a verdict that stands there from the start", "",
        "everywhere",
    ),
    Action("note", ("n",), "Write a note", "note", "everywhere"),
    Action("tag", ("t",), "Set or unset a tag: then its digit", "tag", "everywhere"),
    Action("cannot_judge", ("x",), "Cannot judge this item: then the reason", "", "everywhere"),
    Action("reference_wrong", ("r",), "The reference is wrong: write the right answer", "", "everywhere"),
    Action("harm", ("!",), "Harm if the response were believed: then the degree", "", "everywhere"),
    Action("find", ("/",), "Find text in the item", "find"),
    Action("find_next", (".",), "Next place where it was found"),
    Action("find_previous", (",",), "Previous place where it was found"),
    Action("differences", ("d",), "Mark what differs between reference and response", "differences"),
    Action("next_similar", ("]",), "Next turn most like the gold text (similar words, not proof)", "evidence"),
    Action("previous_similar", ("[",), "Previous turn most like the gold text"),
    Action("next_turn", ("}",), "Put the arrow on the next turn of the dialogue"),
    Action("previous_turn", ("{",), "Put the arrow on the previous turn"),
    Action("mark_evidence", ("e",), "Mark the turn at the arrow as evidence, or unmark it"),
    Action("fold", ("space",), "Open or fold the panel at the top of the view"),
    Action(
        "dialogue", ("v",), "Open or fold the dialogue; in a review, show the whole item", "dialogue", "everywhere",
    ),
    Action("pager", ("ctrl+o",), "Read the whole item in $PAGER, and come back", "", "everywhere"),
    Action("verdict", ("j",), "Show all the judge said, once its verdict may be shown", "", "everywhere"),
    Action("rubric", ("g",), "Show the rubric of this task", "rubric", "everywhere"),
    Action("skip", ("s",), "Skip: the item comes back at the end", "skip"),
    Action("flag", ("f",), "Flag for the lead, or unflag", "", "everywhere"),
    Action("clear", ("backspace",), "Take your label off this item again"),
    Action(
        "part", ("tab",), "Go to the next part that takes more than one key: a grid, a ranking, a number", "",
        "everywhere",
    ),
    Action("undo", ("u",), "Undo your last act, across items and restarts", "undo", "everywhere"),
    Action("redo", ("ctrl+r",), "Redo what was undone", "", "everywhere"),
    Action("next_item", ("right",), "Next item", "", "everywhere"),
    Action("previous_item", ("left",), "Previous item", "", "everywhere"),
    Action("go_to", (":",), "Go to an item by its number"),
    Action("first_open", ("home",), "Go to the first unlabelled item"),
    Action("scroll_down", ("down",), "Scroll down", "", "everywhere"),
    Action("scroll_up", ("up",), "Scroll up", "", "everywhere"),
    Action("page_down", ("pagedown",), "Scroll a page down", "", "everywhere"),
    Action("page_up", ("pageup",), "Scroll a page up", "", "everywhere"),
    Action("audit", ("f2",), "Show how far the judge can be trusted, once your queue is done"),
    Action("disagreements", ("f3",), "Show where people and the judge differ, once your queue is done"),
    Action("judge_runs", ("f4",), "Show the runs of judges: verdicts, failures, calls, cost, once your queue is done"),
    Action("retunes", ("f5",), "Show the searches for a better prompt, once your queue is done"),
    Action("pace", ("w",), "Show your pace and the time left", "", "everywhere"),
    Action("help", ("?", "f1"), "Show all keys", "keys", "everywhere"),
    Action("quit", ("q", "ctrl+q"), "Leave the desk; everything is saved", "quit", "everywhere"),
    Action("part_done", ("enter",), "In a grid, ranking or number: it is complete, go on", "", "part"),
    Action("part_back", ("backspace",), "In a grid, ranking or number: take the last answer back", "", "part"),
    Action("part_unsure", ("~",), "In a grid, ranking or number: you are unsure of it, or sure again", "", "part"),
    Action("cell_left", ("left",), "In a grid: one cell to the left", "", "checklist"),
    Action("cell_right", ("right",), "In a grid: one cell to the right", "", "checklist"),
    Action("cell_up", ("up",), "In a grid: one row up", "", "checklist"),
    Action("cell_down", ("down",), "In a grid: one row down", "", "checklist"),
    Action("tie", ("=",), "In a ranking: the next response ties with the last", "", "ranking"),
    Action(
        "show_entry", tuple("123456789"), "In a ranking: show the first, second … response full-screen", "", "ranking",
    ),
)
# fmt: on

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


PartActKind = Literal["answer", "fill", "place", "type", "show", "move", "back", "tie", "done", "unsure", "close"]


@dataclass(frozen=True, slots=True)
class PartAct:
    """What a key does to the grid, ranking or number that is open.

    Attributes:
        value: of answer and fill the label, of place the entry, of type the character.
        down, right: of move. number: of show, 1-based.
    """

    kind: PartActKind
    value: str = ""
    down: int = 0
    right: int = 0
    number: int = 0


PART_ACTS: Mapping[str, PartAct] = {
    "part_done": PartAct("done"), "part_back": PartAct("back"), "part_unsure": PartAct("unsure"),
    "cell_left": PartAct("move", right=-1), "cell_right": PartAct("move", right=1), "cell_up": PartAct("move", down=-1),
    "cell_down": PartAct("move", down=1), "tie": PartAct("tie"), "show_entry": PartAct("show"),
}  # fmt: skip
"""What the actions of the scopes `PART_SCOPES` do."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A key that means nothing here; `hint` says why when there is a likely reason."""

    hint: str = ""


_FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width forms of the printable ASCII characters (Unicode block Halfwidth and Fullwidth Forms)."""
_EAST_ASIAN: Final = (
    range(0x1100, 0x1200), range(0x2E80, 0xA000), range(0xA960, 0xA980), range(0xAC00, 0xD800), range(0xF900, 0xFB00),
    range(0xFE30, 0xFFF0),
)  # fmt: skip
"""Not one regular expression: its character class alone would take a hundredth of the start."""

INPUT_METHOD_HINT: Final = "input method is on: switch it to English"
LAYOUT_HINT: Final = "another script is on: switch the keyboard to English, or use the digits"


def normalise_key(key: str) -> str:
    """Full-width digits, letters and signs become the ASCII ones, and so do the digits of every script ("٣").

    Everything else stays, names of keys too: "²" and "ª" are keys of their own on French and Spanish keyboards.
    """
    if len(key) != 1 or key.isascii():
        return key
    return str(unicodedata.decimal(key)) if key.isdecimal() else key.translate(_FULL_WIDTH)


def is_input_method(key: str) -> bool:
    """A character only an East Asian input method gives and that no full-width mapping turns into ASCII."""
    return len(key) == 1 and any(ord(normalise_key(key)) in block for block in _EAST_ASIAN)


def _hint(key: str) -> str:
    if len(key) != 1 or key.isascii():
        return ""
    if is_input_method(key):
        return INPUT_METHOD_HINT
    return LAYOUT_HINT if unicodedata.category(key)[0] == "L" else ""


_KEY_NAMES: Final = frozenset(
    ("enter", "space", "tab", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown", "up", "down",
     "left", "right", *(f"f{number}" for number in range(1, 25)))
)  # fmt: skip
_MODIFIED: Final = re.compile(r"(?:(?:ctrl|alt|shift)\+)+(.+)")
_KEPT_BY_THE_DESK: Final = frozenset(("escape", "ctrl+c", "ctrl+p"))
"""Esc closes what is open, Ctrl-C leaves, Ctrl-P opens the palette: not for the key file."""


class _Owner(NamedTuple):
    """Who a key belongs to: what tells owners apart, and the words for it."""

    identity: Hashable
    words: str


class KeyMap:
    """Keys of one task: label keys from its definition, action keys from the registry and the user's key file.

    Attributes:
        keys_of: action id → its keys here.
    """

    def __init__(self, task: TaskDefinition, remapped: Mapping[str, Sequence[str]] | None = None) -> None:
        """Join label and action keys. What a label key stores is the label's `value`, never the key.

        Raises:
            UsageError: an unknown action is remapped, a key cannot be one, or one key has two owners.
        """
        self._owners: dict[str, _Owner] = {}
        self._choices: dict[str, Choice] = {}
        self._actions: dict[str, str] = {}
        self.keys_of: dict[str, tuple[str, ...]] = {}
        for decision in decisions_of(task):
            for label in decision.labels if not decision.is_long else ():
                self._add_label(task.task, decision.id, label)
        self._add_actions(remapped or {})
        for decision in decisions_of(task):
            if decision.is_long:
                self._check_part(task.task, decision)

    def part_keys(self, scope: Scope) -> dict[str, str]:
        """Key → action, for the actions of this scope and those of every part."""
        actions = [action.id for action in ACTIONS if action.scope in ("part", scope)]
        return {key: action for action in actions for key in self.keys_of[action]}

    def resolve(self, key: str) -> Choice | Action | Unknown:
        """What a key means on an item. Capital letters that are no label mean the small letter's action."""
        pressed = normalise_key(key)
        if (choice := self._choices.get(pressed)) is not None:
            return choice
        action = self._actions.get(pressed) or (self._actions.get(pressed.lower()) if len(pressed) == 1 else None)
        return BY_ID[action] if action else Unknown(_hint(pressed))

    def _add_label(self, task: str, part: str, label: Label) -> None:
        if label.key not in _LETTERS or (label.digit and label.digit not in _DIGITS):
            raise UsageError(
                f"Label {label.title!r} of {task} cannot have the keys {label.key!r} and {label.digit!r}.",
                "A label's key is one small letter a-z, its digit one of 0-9, or none.", "Mend the task's definition.",
            )  # fmt: skip
        words = f"label {label.title!r} of {task}" + (f", part {part!r}" if part else "")
        identity = ("label", part, label.value)
        self._own(label.key, _Owner(identity, words))
        self._choices[label.key] = Choice(part, label.value)
        self._own(label.key.upper(), _Owner((*identity, "unsure"), f"{words}, unsure"))
        self._choices[label.key.upper()] = Choice(part, label.value, unsure=True)
        if label.digit:
            self._own(label.digit, _Owner(identity, words))
            self._choices[label.digit] = Choice(part, label.value)

    def _add_actions(self, remapped: Mapping[str, Sequence[str]]) -> None:
        for name in remapped:
            if name not in BY_ID:
                raise UsageError(f"There is no action {name!r} to give a key.", "", f"Actions: {', '.join(BY_ID)}")
        for action in ACTIONS:
            keys = tuple(_checked(action.id, normalise_key(key)) for key in remapped.get(action.id, action.keys))
            if not keys:
                raise UsageError(f"Action {action.id!r} needs a key.", "", "Give it one nobody presses by mistake.")
            self.keys_of[action.id] = keys
            for key in keys if action.scope not in PART_SCOPES else ():
                self._own(key, _Owner(("action", action.id), f"action {action.id!r}"))
                self._actions[key] = action.id

    def _check_part(self, task: str, decision: Decision) -> None:
        """The keys of an open part are a space of their own: its labels and the actions of its scope."""
        outside, self._owners = self._owners, {}
        for label in decision.labels:
            words = f"label {label.title!r} of {task}, part {decision.id!r}"
            for key in filter(None, (label.key, label.key.upper(), label.digit)):
                self._own(key, _Owner(("label", decision.id, label.value), words))
        given = {"ranking": LETTERS, "number": NUMBER_KEYS}.get(decision.kind, "")
        for key in given:
            self._own(key, _Owner(("given", key), f"an answer of {task}, part {decision.id!r}"))
        for scope in ("part", decision.kind):
            for action in (action for action in ACTIONS if action.scope == scope):
                for key in self.keys_of[action.id]:
                    self._own(key, _Owner(("action", action.id), f"action {action.id!r}"))
        self._owners = outside

    def _own(self, key: str, owner: _Owner) -> None:
        other = self._owners.setdefault(key, owner)
        if other.identity != owner.identity:
            raise UsageError(
                f"Key {key!r} has two owners: {other.words} and {owner.words}.", "",
                'Give an action another key in a key file (--keys FILE), as in: skip = "k"',
            )  # fmt: skip


_LETTERS: Final = frozenset(string.ascii_lowercase)
_DIGITS: Final = frozenset(string.digits)


def _checked(action: str, key: str) -> str:
    """A key for an action, as the key file may name it."""
    modified = _MODIFIED.fullmatch(key)
    base = modified[1] if modified else key
    if key in _KEPT_BY_THE_DESK:
        raise UsageError(f"Key {key!r} for action {action!r} is the desk's own.", "", "Choose another.")
    if base not in _KEY_NAMES and not (len(base) == 1 and base.isprintable() and base != " "):
        raise UsageError(
            f"There is no key {key!r} for action {action!r}.",
            'A key is one character, or a name such as "space", "left", "pagedown", "f5" or "ctrl+r".',
        )
    return key
