"""The commands that messages recommend, as the user can type them: with `--study` where the user gave it."""

from __future__ import annotations

import re
from pathlib import Path

_WITH_STUDY = "import|status|sample|plan|label|judge|rubric|audit|score|report|retune|gate|export|doctor"
_RECOMMENDED = re.compile(rf"\boverread (?=(?:{_WITH_STUDY})\b)")
_named: list[Path] = []
"""The study of `--study`; none where a command finds it by itself."""


def name_study(study: Path | None) -> None:
    """Remember which study the user named on the command line."""
    _named[:] = [] if study is None else [study]


def as_called(text: str) -> str:
    """The text, its recommended commands with the study that the user named."""
    if not _named or "overread " not in text:
        return text
    from store.opening import command

    return _RECOMMENDED.sub(lambda _: command(_named[0], ""), text)
