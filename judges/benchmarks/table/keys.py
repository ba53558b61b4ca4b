"""Keys for a label set that nobody gave keys: mnemonic where that goes, never one that the desk uses itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import NamedTuple

RESERVED = frozenset("defgjnqrstuvwx")
"""Letters that are actions of the desk. Declared here since a benchmark knows no screen; a test compares them."""

FREE = tuple(letter for letter in ascii_lowercase if letter not in RESERVED)
DIGITS = "1234567890"
MOST_LABELS = len(DIGITS)
"""A label has a digit of its own, so that one hand can label; there are ten."""


class Keys(NamedTuple):
    """How one label is given."""

    key: str
    digit: str


NO_KEYS = Keys("", "")
"""Both left open."""


def allot(values: Sequence[str], wanted: Mapping[str, Keys] | None = None) -> dict[str, Keys]:
    """A letter and a digit for each label value, in order; what is wanted comes first.

    A label gets the first letter of its words that is free, else any letter of it, else any. Its digit is its place,
    but labels that are digits themselves keep them.

    Args:
        wanted: keys by value, "" for a letter or digit that is left open.

    Raises:
        ValueError: more than ten labels, or a wanted key is taken, reserved or no key; says which.
    """
    if len(values) > MOST_LABELS:
        raise ValueError(f"{len(values)} labels, but only {MOST_LABELS} can have a key of their own")
    given = wanted or {}
    letters = _wanted({value: keys.key for value, keys in given.items()}, FREE, "key")
    digits = _wanted({value: keys.digit for value, keys in given.items()}, tuple(DIGITS), "digit")
    own_digits = all(len(value) == 1 and value in DIGITS for value in values)
    for value in values:
        _take(letters, value, [*_initials(value), *value.lower(), *FREE], FREE)
        _take(digits, value, [value, *DIGITS] if own_digits else list(DIGITS), tuple(DIGITS))
    return {value: Keys(letters[value], digits[value]) for value in values}


def _wanted(given: Mapping[str, str], allowed: Sequence[str], what: str) -> dict[str, str]:
    taken: dict[str, str] = {}
    for value, key in given.items():
        if not key:
            continue
        if key in RESERVED:
            free = " ".join(allowed)
            raise ValueError(f"{what} {key!r} of label {value!r} is an action of the desk; free: {free}")
        if key not in allowed:
            raise ValueError(f"{what} {key!r} of label {value!r} is not one of {''.join(allowed)}")
        if key in taken.values():
            raise ValueError(f"{what} {key!r} is given to two labels")
        taken[value] = key
    return taken


def _take(taken: dict[str, str], value: str, candidates: Sequence[str], allowed: Sequence[str]) -> None:
    if value not in taken:
        used = set(taken.values())
        taken[value] = next(key for key in candidates if key in allowed and key not in used)


def _initials(value: str) -> list[str]:
    words = value.lower().replace("_", " ").replace("-", " ").split()
    return [word[0] for word in words]
