"""The member names of a file's first JSON object, by the file's first bytes: how benchmarks tell files apart."""

from __future__ import annotations

import codecs
import re

from judges.benchmarks.json_text import encoding_of

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|([{\[])|([}\]])')
_PLAIN_ENCODINGS = {"UTF-16": "utf-16", "UTF-32": "utf-32", "": "utf-8"}


def first_names(head: bytes) -> frozenset[str]:
    """Names of the first object, an array around it left out; also when the bytes end inside it."""
    text = decoded(head).lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return frozenset()
    names: set[str] = set()
    depth = -1 if text.startswith("[") else 0
    for token in _TOKEN.finditer(text):
        string, colon, opening, closing = token.groups()
        if opening:
            depth += 1
        elif closing:
            depth -= 1
            if depth <= 0:
                break
        elif colon and depth == 1:
            names.add(string)
    return frozenset(names)


def decoded(head: bytes) -> str:
    """The bytes as text in the encoding they show; what is cut or wrong becomes U+FFFD."""
    encoding = _PLAIN_ENCODINGS[encoding_of(head)]
    if encoding == "utf-16" and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
    return head.decode(encoding, "replace")
