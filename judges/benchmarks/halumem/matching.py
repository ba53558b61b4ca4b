"""Finds a text that the benchmark quotes elsewhere: evidence and old versions name memory points by their words alone.

No likeness is measured: a distractor often differs from the point it imitates by one word.
"""

from __future__ import annotations

import re
import unicodedata

LEADING_BRACKETS = re.compile(r"\A(?:\[[^\]]*\]\s*)+(?=\S)")
"""Some old versions carry the date and type of their point, as "[Sep 06, 2025, 22:43:36][Persona Memory]"."""

PUNCTUATION = re.compile(r"""(?<!\d)[.,:]|[.,:](?!\d)|[;!?'"`()\[\]{}‘’“”„«»。、，：；！？「」『』《》]""")
"""What a quotation gains or loses. Signs that carry a value stay: 7.5, 10:30, A+, −5, 20 %."""

ENDING = 24
"""Letters that a quoted clause has at least: shorter ends ("status: normal") say too little."""


def normal_text(text: str) -> str:
    """The words of a text: compatibility forms and case folded, quoting punctuation and spare blanks dropped."""
    folded = unicodedata.normalize("NFKC", text).casefold().strip()
    return " ".join(PUNCTUATION.sub(" ", LEADING_BRACKETS.sub("", folded)).split())


class QuotedTexts:
    """Normal texts by number, to be found by what quotes them: all their words, else a clause that they end in.

    Old versions often drop a person's name or what stands before "reason:". What a text goes on to say after the quoted
    words may take them back, so a beginning is no match.
    """

    __slots__ = ("_by_ending", "_texts", "_whole")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._whole: dict[str, list[int]] = {}
        self._by_ending: dict[str, list[int]] = {}

    def add(self, text: str) -> None:
        """Add the next text, in its normal form."""
        number = len(self._texts)
        self._texts.append(text)
        self._whole.setdefault(text, []).append(number)
        if len(text) > ENDING:
            self._by_ending.setdefault(text[-ENDING:], []).append(number)

    def same(self, text: str) -> list[int]:
        """Numbers of the texts with these words."""
        return self._whole.get(text, [])

    def ending_in(self, text: str) -> list[int]:
        """Numbers of the longer texts that end in these words."""
        if len(text) < ENDING:
            return []
        tail = f" {text}"
        return [number for number in self._by_ending.get(text[-ENDING:], []) if self._texts[number].endswith(tail)]
