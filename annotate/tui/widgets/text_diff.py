"""What changed between two texts, as lines: every line bears its sign, colour says nothing that the sign does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final

from annotate.tui.widgets.spans import Line, Span
from store.safe_text import safe_text

CONTEXT: Final = 2
"""Lines alike that are shown around a change."""


def texts_diff(old: Mapping[str, str], new: Mapping[str, str]) -> list[Line]:
    """What changed in the texts of a prompt, language by language; one that is as it was is said to be."""
    languages = list(dict.fromkeys([*old, *new]))
    lines: list[Line] = []
    for language in languages:
        changed = diff_lines(old.get(language, ""), new.get(language, ""))
        if len(languages) > 1:
            lines.append([Span(language, "title"), Span("" if changed else "   as it was", "muted")])
        lines += changed
    return lines or [[Span("as it was", "muted")]]


def diff_lines(old: str, new: str) -> list[Line]:
    """`- ` before a line that went, `+ ` before one that came, two blanks before one alike; none when all are alike."""
    before, after = safe_text(old).splitlines(), safe_text(new).splitlines()
    groups = SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT)
    lines: list[Line] = []
    for number, group in enumerate(groups):
        if number:
            lines.append([Span("  …", "muted")])
        for kind, i1, i2, j1, j2 in group:
            lines += _lines(kind, before[i1:i2], after[j1:j2])
    return lines


def _lines(kind: str, before: list[str], after: list[str]) -> Iterator[Line]:
    if kind == "equal":
        yield from ([Span(f"  {text}", "muted")] for text in before)
        return
    yield from ([Span(f"- {text}", "differs")] for text in before)
    yield from ([Span(f"+ {text}", "chosen")] for text in after)
