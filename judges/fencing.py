"""Item text as data: fenced with a mark it cannot contain, its verdict-like syntax made harmless, its tricks flagged.

Who wrote the item may have written it for the judge. The fence's name comes from a hash of the whole item, so no text
can hold the fence that will close it; what looks like a fence or like an answer is broken up with a visible dot; what
tries to give orders is reported, whether or not the judge obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from store.records import digest

ORDERS, CLOSES, IMITATES = "orders_a_verdict", "closes_the_fence", "imitates_an_answer"
SIGNS: Final = (ORDERS, CLOSES, IMITATES)
"""What an item can try, in the order in which it is told."""

DOT: Final = "·"
_KEYS = re.compile(
    r"""(?P<quote>["'“”＂])(?P<head>ver|rea)(?P<tail>dict|soning)(?P=quote)(?=\s*[:：])""", re.IGNORECASE
)
_LINE = re.compile(r"(?P<head>VER|ver|Ver|判)(?P<tail>DICT|dict|定)(?=[*_ \t]*[:：])")
_FENCE = re.compile(r"<<<|>>>|《《《|》》》")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|rubric|rules?|prompts?|above|guidelines?)\b"
    r"|\b(?:you must|please|always|now|judges?,?|graders?,?|evaluators?,?)\s+(?:\w+\s+){0,3}?"
    r"(?:output|answer|reply|respond|return|give|grade|mark|label|rate|score|judge)\b[^.\n]{0,60}"
    r"\b(?:verdict|label|score|grade|correct|pass|full marks|points?)\b"
    r"|\b(?:the )?(?:correct|final|right) (?:verdict|label|grade|score) (?:is|must be|should be)\b"
    r"|(?:忽略|无视|忘记)[^。\n]{0,20}(?:指令|指示|规则|提示|要求|标准)"
    r"|(?:请|必须|务必|应当)[^。\n]{0,15}(?:判定|判为|评为|打分|给出|输出)[^。\n]{0,15}(?:正确|满分|通过|分)",
    re.IGNORECASE,
)
_SYSTEM_TOKENS = re.compile(
    r"<\|[a-z_]{2,30}\|>|\[/?INST\]|</?(?:system|assistant|user)>|^#{1,4} ?(?:system|assistant)\b",
    re.IGNORECASE | re.MULTILINE,
)


def fence_of(texts: Iterable[str]) -> tuple[str, str]:
    """The lines before and after the item: they hold a hash of what stands between them."""
    mark = digest("fence", list(texts))[:12].upper()
    return f"<<<ITEM {mark}", f"ITEM {mark}>>>"


def neutralised(text: str) -> str:
    """The text with fences, members of answers and chat marks broken up by a dot; everything else stays as it is."""
    text = _KEYS.sub(lambda m: f"{m['quote']}{m['head']}{DOT}{m['tail']}{m['quote']}", text)
    text = _LINE.sub(lambda m: f"{m['head']}{DOT}{m['tail']}", text)
    text = _FENCE.sub(lambda m: DOT.join(m[0]), text)
    return _SYSTEM_TOKENS.sub(lambda m: f"{m[0][0]}{DOT}{m[0][1:]}", text)


def signs_of(texts: Iterable[str]) -> tuple[str, ...]:
    """What the texts of an item try, as ids of `SIGNS`; () for nothing. No proof of intent: a person looks."""
    found: set[str] = set()
    for text in texts:
        if _ORDERS.search(text):
            found.add(ORDERS)
        if _FENCE.search(text) or _SYSTEM_TOKENS.search(text):
            found.add(CLOSES)
        if _KEYS.search(text) or _LINE.search(text):
            found.add(IMITATES)
    return tuple(sign for sign in SIGNS if sign in found)
