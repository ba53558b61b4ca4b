"""What a typed line means: labels, or a command with what comes after it. A line that is not wholly understood does
nothing: half a sentence must never become a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from annotate.desk.actions import BY_ID, Action, Choice, KeyMap, Unknown, normalise_key
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import decisions_of

TAKES_TEXT = frozenset(
    {"note", "tag", "cannot_judge", "reference_wrong", "harm", "find", "mark_evidence", "go_to", "open"}
)
"""Commands that something may come after."""
OPEN = "open"
"""The one command that only the line-by-line desk has: read a panel that is closed."""
ALIASES: Mapping[str, str] = {
    "keep": "confirm", "why": "note", "next": "next_item", "previous": "previous_item", "back": "previous_item",
    "unlabel": "clear", "evidence": "mark_evidence", "differ": "differences", "exit": "quit", "go": "go_to",
    OPEN: OPEN,
}  # fmt: skip
"""Words for commands beside their ids."""
_UNSURE = "unsure"
_TRAILING = ",.;"


@dataclass(frozen=True, slots=True)
class Labels:
    """One or more parts of a label, in the order given."""

    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """An action of the registry (or `OPEN`), and the text after it."""

    action: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """Why the line means nothing; nothing is done."""

    why: str


Meaning = Labels | Command | NotUnderstood


def read_line(line: str, task: TaskDefinition, keymap: KeyMap) -> Meaning:
    """The meaning of a line typed at an item of this task.

    Labels are keys ("c", "a i", "ai"), digits, titles or values in any case, with "unsure" before or after. A command
    is a key or its words ("note", "go to"), then its text.
    """
    text = line.strip()
    if not text:
        return Command("confirm")
    labels = _labels(text, task, keymap)
    command = _command(text, keymap)
    if labels is not None and command is not None and len(text) > 1:
        return NotUnderstood(f"{text!r} is a label and a command: type the label's key, or the command's")
    if labels is not None:
        return _two_meanings(text, task, keymap) or _one_a_part(labels)
    if command is not None:
        return command
    return _unknown(text, keymap)


# Labels


def _labels(text: str, task: TaskDefinition, keymap: KeyMap) -> list[Choice] | None:
    """The labels a line consists of; None when anything else is in it."""
    words = [word.rstrip(_TRAILING) or word for word in text.split()]
    names = _names(task)
    choices: list[Choice] = []
    unsure = False
    place = 0
    while place < len(words):
        if words[place].casefold() == _UNSURE:
            unsure, place = True, place + 1
            continue
        found, taken = _label_at(words, place, names, keymap)
        if not found:
            return None
        choices += found
        place += taken
    return [replace(choice, unsure=choice.unsure or unsure) for choice in choices] or None


def _label_at(words: list[str], place: int, names: Mapping[str, Choice], keymap: KeyMap) -> tuple[list[Choice], int]:
    """The longest title or value that begins here, else a key, else keys written together."""
    word = words[place]
    if len(word) > 1:
        for taken in range(len(words) - place, 0, -1):
            name = " ".join(words[place : place + taken]).casefold()
            if len(name) > 1 and name in names:
                return [names[name]], taken
    meanings = [keymap.resolve(key) for key in word]
    choices = [meaning for meaning in meanings if isinstance(meaning, Choice)]
    apart = len({choice.part for choice in choices}) == len(meanings)
    return (choices, 1) if apart else ([], 0)


def _names(task: TaskDefinition) -> dict[str, Choice]:
    """Titles, then values, of all labels; the value's own labels come before those of parts."""
    names: dict[str, Choice] = {}
    sets = [(decision.id, decision.labels) for decision in decisions_of(task) if not decision.is_long]
    for part, labels in sets:
        for label in labels:
            names.setdefault(" ".join(label.title.split()).casefold(), Choice(part, label.value))
    for part, labels in sets:
        for label in labels:
            names.setdefault(label.value.casefold(), Choice(part, label.value))
    return names


def _two_meanings(text: str, task: TaskDefinition, keymap: KeyMap) -> NotUnderstood | None:
    """A single character that is the key of one label and the name of another must not choose for the person."""
    names = _names(task)
    for word in text.split():
        named, keyed = names.get(normalise_key(word).casefold()), keymap.resolve(word) if len(word) == 1 else None
        if named is not None and isinstance(keyed, Choice) and (named.part, named.value) != (keyed.part, keyed.value):
            return NotUnderstood(f"{word!r} is the name of one label and a key of another: type the letter")
    return None


def _one_a_part(choices: list[Choice]) -> Meaning:
    parts = [choice.part for choice in choices]
    if len(set(parts)) < len(parts):
        return NotUnderstood("these are two labels where one is asked for")
    return Labels(tuple(choices))


# Commands

_ATTACHED = re.compile(r"([a-z])(\d+)")
"""A letter and a number written together: "t1", "e12"."""


def _command(text: str, keymap: KeyMap) -> Meaning | None:
    """The command a line begins with; None when it begins with none."""
    words = text.split()
    if (action := _by_words(words)) is not None:
        taken, name = action
        return _with_text(name, text.split(maxsplit=taken)[taken:])
    first = words[0]
    if (name_of_key := _by_key(first, keymap)) is not None:
        return _with_text(name_of_key, text.split(maxsplit=1)[1:])
    key, rest = first[0], text[1:]
    attached = _by_key(key, keymap)
    if attached in TAKES_TEXT and (not key.isalnum() or _ATTACHED.fullmatch(normalise_key(key) + first[1:])):
        return Command(attached, rest.strip())
    return None


def _by_words(words: list[str]) -> tuple[int, str] | None:
    """How many words name a command, and which; fewer words if only that can take what follows ("find next dose")."""
    found: tuple[int, str] | None = None
    for taken in range(min(2, len(words)), 0, -1):
        spoken = words[:taken]
        name = ALIASES.get(" ".join(spoken).casefold(), "_".join(spoken).casefold())
        if name not in BY_ID and name != OPEN:
            continue
        if found is None or name in TAKES_TEXT:
            found = taken, name
        if name in TAKES_TEXT or len(words) == taken:
            break
    return found


def _by_key(key: str, keymap: KeyMap) -> str | None:
    """The action of a key: a character, or a name such as "backspace"."""
    meaning = keymap.resolve(key if len(key) == 1 else key.lower())
    return meaning.id if isinstance(meaning, Action) else None


def _with_text(name: str, rest: list[str]) -> Meaning:
    text = rest[0].strip() if rest else ""
    if text and name not in TAKES_TEXT:
        return NotUnderstood(f"{name.replace('_', ' ')} takes nothing after it")
    return Command(name, text)


def _unknown(text: str, keymap: KeyMap) -> NotUnderstood:
    first = text.split()[0]
    meaning = keymap.resolve(first) if len(first) == 1 else Unknown()
    if isinstance(meaning, Choice):
        return NotUnderstood(f"{first!r} is a label, what follows it is not")
    hint = meaning.hint if isinstance(meaning, Unknown) else ""
    return NotUnderstood(hint or f"{text!r} means nothing here; ? lists what can be typed")
