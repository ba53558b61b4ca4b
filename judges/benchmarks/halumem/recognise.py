"""Tells HaluMem's files apart by the names in their first 64 kB."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Literal

from judges.benchmarks.halumem.shapes import TASK_OF_MEMBER
from judges.benchmarks.json_text import encoding_of

HEAD_BYTES = 1 << 16

FileKind = Literal["verdicts", "answers", "input", ""]
"""verdicts: stat_result or tmp2; answers: an answer sheet; input: the benchmark's questions, no run of it."""

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|([{\[])|([}\]])')

ANSWER_FIELDS = {"extracted_memories", "add_dialogue_duration_ms", "is_generated_qa_session"}
PLAIN_ENCODINGS = {"UTF-16": "utf-16", "UTF-32": "utf-32", "": "utf-8"}


def kind_of_head(head: bytes) -> FileKind:
    """What a file is, by its first bytes; "" when it is none of HaluMem's."""
    names = _names_by_depth(_decode(head))
    if names[1] & TASK_OF_MEMBER.keys():
        return "verdicts"
    if not {"uuid", "sessions"} <= names[1]:
        return ""
    if names[3] & ANSWER_FIELDS:
        return "answers"
    if "memory_points" in names[3]:
        return "input" if "persona_info" in names[1] else "answers"
    return ""


def kind_of_file(path: Path) -> FileKind:
    """`kind_of_head` of a file.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return kind_of_head(stream.read(HEAD_BYTES))


def _decode(head: bytes) -> str:
    encoding = PLAIN_ENCODINGS[encoding_of(head)]
    if encoding == "utf-16" and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
    return head.decode(encoding, "replace")


def _names_by_depth(text: str) -> list[set[str]]:
    """Names of object members by depth 0 to 3, an array around the whole left out."""
    names: list[set[str]] = [set() for _ in range(4)]
    depth = -1 if text.lstrip("\ufeff \t\r\n").startswith("[") else 0
    for token in TOKEN.finditer(text):
        string, colon, opening, closing = token.groups()
        if opening:
            depth += 1
        elif closing:
            depth -= 1
        elif colon and 0 <= depth < len(names):
            names[depth].add(string)
    return names
