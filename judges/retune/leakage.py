"""Does a prompt quote the items it was tuned on? Runs of eight tokens are looked for; Chinese counts by character."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

RUN: Final = 8
_TOKEN: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|[^\\W_\u3040-\u30ff\u3400-\u9fff]+"
)
"""One CJK character, or a run of letters and digits of any other script."""


def tokens(text: str) -> list[str]:
    """The tokens of a text, folded so that case, punctuation and line breaks hide nothing."""
    return [token.casefold() for token in _TOKEN.findall(text)]


def runs(words: Sequence[str], length: int = RUN) -> Iterator[tuple[str, ...]]:
    """All runs of that many tokens."""
    return (tuple(words[start : start + length]) for start in range(len(words) - length + 1))


@dataclass(frozen=True, slots=True)
class Leak:
    """An item that a prompt quotes. `run` is what both hold: item text, for the people of the study alone."""

    item_id: str
    run: str


def leaks(prompt: str, items: Mapping[str, Iterable[str]], base: str = "", length: int = RUN) -> list[Leak]:
    """The items of which the prompt holds a run of `length` tokens that the prompt it came from does not hold.

    Args:
        items: the texts of each item that was tuned or chosen on. base: the prompt before the search.
    """
    own = set(runs(tokens(prompt), length)) - set(runs(tokens(base), length))
    if not own:
        return []
    found: list[Leak] = []
    for item_id, texts in items.items():
        hit = next((run for text in texts for run in runs(tokens(text), length) if run in own), None)
        if hit is not None:
            found.append(Leak(item_id, " ".join(hit)))
    return found
