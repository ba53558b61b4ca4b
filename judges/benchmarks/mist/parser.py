"""The declared answer parser: which option a reply settles on, or none.

The benchmark asks for the final answer "within `<answer>...</answer>` XML tags", a letter or an index, and leaves open
what is done with everything else. Here:

1. The last `<answer>` counts. If it is never closed, the reply was cut and has no answer. Without any there is none.
2. Its content, without blanks, brackets and stops around it, is an answer when it is exactly an option's letter (in
   either case), its index from 1, its text (whatever the case, blanks and final stops), or its letter and its text.
3. Options that the item itself labels with digits ("0" … "3") are known by those, not by their place.
4. Anything else is no answer: two letters, a sentence, an option that is not there, a text that two options have; also
   a letter or index that is the text of another option (blood group "A" as option B).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from judges.benchmarks.json_text import shown

VERSION = "1"
LETTERS = "ABCDEFGHIJ"

Rule = Literal["letter", "index", "text", "letter and text", "no tag", "cut", "empty", "no option"]

_OPENING = re.compile(r"<answer>", re.IGNORECASE)
_ANSWER = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.IGNORECASE | re.DOTALL)
_AROUND = " \t\r\n()[]{}*_`'\".:,;"
_BETWEEN = re.compile(r"\A[(\[*]*([A-Za-z]|\d{1,2})[)\]*]*\s*[.:,)\]–-]?\s+(.+)\Z", re.DOTALL)


class Parsed(NamedTuple):
    """The letter of an option, or None; the rule that decided, and what stood in the tag (short)."""

    letter: str | None
    rule: Rule
    found: str = ""

    @property
    def words(self) -> str:
        """The reading in words."""
        if self.rule in ("no tag", "cut"):
            return "no <answer> tag" if self.rule == "no tag" else "the last <answer> tag is never closed"
        return f"last <answer> tag: {self.found!r}, read as {self.letter or 'no option'} by {self.rule}"


def parse_reply(reply: str, options: Sequence[str], labels: Sequence[str] = ()) -> Parsed:
    """The option that a reply settles on.

    Args:
        options: the texts of the options in order; they are A, B, …
        labels: how the item labels them itself, when not by letters.
    """
    answers = list(_ANSWER.finditer(reply))
    openings = list(_OPENING.finditer(reply))
    if not openings:
        return Parsed(None, "no tag")
    if not answers or openings[-1].start() >= answers[-1].end():
        return Parsed(None, "cut")
    return parse_answer(answers[-1][1], options, labels)


def parse_answer(answer: str, options: Sequence[str], labels: Sequence[str] = ()) -> Parsed:
    """The option that the content of a tag names."""
    found = shown(" ".join(answer.split()))
    bare = answer.strip(_AROUND)
    if not bare:
        return Parsed(None, "empty", found)
    if letter := _by_name(bare, len(options), labels):
        if letter not in (texts := _letters_of(bare, options)) and texts:
            return Parsed(None, "no option", found)
        return Parsed(letter, "letter" if bare.isalpha() else "index", found)
    if letter := _by_text(answer, options):
        return Parsed(letter, "text", found)
    both = _BETWEEN.match(answer.strip())
    if both and (letter := _by_name(both[1], len(options), labels)) and letter in _letters_of(both[2], options):
        return Parsed(letter, "letter and text", found)
    return Parsed(None, "no option", found)


def _by_name(name: str, count: int, labels: Sequence[str]) -> str | None:
    if len(name) == 1 and name.isascii() and name.upper() in LETTERS[:count]:
        return name.upper()
    if labels:
        return LETTERS[list(labels).index(name)] if name in labels else None
    if name.isascii() and name.isdecimal() and str(int(name)) == name and 1 <= int(name) <= count:
        return LETTERS[int(name) - 1]
    return None


def _by_text(answer: str, options: Sequence[str]) -> str | None:
    letters = _letters_of(answer, options)
    return letters[0] if len(letters) == 1 else None


def _letters_of(text: str, options: Sequence[str]) -> list[str]:
    wanted = _plain(text)
    return [letter for letter, option in zip(LETTERS, options, strict=False) if wanted and _plain(option) == wanted]


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_AROUND).casefold()
