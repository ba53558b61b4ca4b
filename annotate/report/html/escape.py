"""Strings on their way into HTML. Nothing else in this package writes a string that it did not make itself."""

from __future__ import annotations

import html
import re
from typing import Final

from store.safe_text import safe_text

_NONCHARACTERS: Final = re.compile(
    "[\ufdd0-\ufdef"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(17))
    + "]"
)


def escaped(text: str) -> str:
    """`text` for an element or a quoted attribute: safe to see (`safe_text`), and with no character that HTML obeys."""
    return html.escape(_NONCHARACTERS.sub("\ufffd", safe_text(text)), quote=True)


def isolated(text: str) -> str:
    """`text` inside a sentence or a line, its direction its own."""
    return f"<bdi>{escaped(text)}</bdi>"


def paragraphs(text: str) -> str:
    """A text of several lines, its lines kept, each in the direction of its own script."""
    return "".join(f'<p dir="auto">{escaped(line)}</p>' for line in safe_text(text).split("\n") if line.strip())
