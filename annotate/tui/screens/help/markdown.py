"""The little Markdown that rubrics are written in, as styled lines: headings, paragraphs, lists, bold, italic, code.

What is fenced, and rows of tables, stay as they are, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotate.tui.widgets.spans import Line, Role, Span
from store.safe_text import safe_text

_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*\Z")
_ENTRY = re.compile(r"(\s*)(?:[-*+]|(\d+[.)]))\s+(.*)\Z")
_MARKED = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<![\w*])[*_](?=[^\s*_])(.+?)(?<=[^\s*_])[*_](?![\w*])|`([^`]+)`")
_FENCE = re.compile(r"\s*(```+|~~~+)(.*)")
_INDENT = 2


def markdown_lines(text: str) -> list[Line]:
    """The text without its markup signs; lines of one paragraph are joined, entries of a list indented."""
    lines: list[Line] = []
    for kind, words in _blocks(safe_text(text)):
        if kind == "blank":
            lines += [[]] if lines and lines[-1] else []
        elif kind == "heading":
            lines.append([Span(words, "title")])
        elif kind == "code":
            lines.append([Span(words, "key")])
        else:
            lines.append([Span(kind), *_spans(words)] if kind else _spans(words))
    return lines


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """("heading", words), ("blank", ""), ("code", a line as it is), (sign of a list's entry, words) or ("", words of a
    paragraph or a table's row)."""
    held: tuple[str, str] | None = None
    fence = ""
    for raw in text.split("\n"):
        line = raw.rstrip()
        fenced = _FENCE.match(line)
        if fence or (fenced and "`" not in fenced[2]) or line.startswith("|"):
            yield from (held,) if held is not None else ()
            held = None
            opens, closes = not fence and bool(fenced), fence and line.strip() == fence
            if not (opens or closes):
                yield "code" if fence else "", line
            elif fenced and opens and fenced[2].strip():
                yield "code", fenced[2].strip()
            fence = fenced[1] if fenced and opens else "" if closes else fence
            continue
        heading, entry = _HEADING.match(line), _ENTRY.match(line)
        if held is not None and line and not heading and not entry:
            held = (held[0], f"{held[1]} {line.strip()}")
            continue
        if held is not None:
            yield held
        held = None
        if not line:
            yield "blank", ""
        elif heading:
            yield "heading", heading[1]
        elif entry:
            sign = f"{entry[2]} " if entry[2] else "• "
            held = (f"{' ' * _INDENT}{entry[1]}{sign}", entry[3])
        else:
            held = ("", line.strip())
    if held is not None:
        yield held


def _spans(text: str) -> Line:
    line: Line = []
    end = 0
    for match in _MARKED.finditer(text):
        bold, italic, code = match.groups()
        role: Role = "title" if bold else "key" if code else "judge"
        line += [Span(text[end : match.start()]), Span(bold or italic or code, role)]
        end = match.end()
    return [span for span in (*line, Span(text[end:])) if span.text]
