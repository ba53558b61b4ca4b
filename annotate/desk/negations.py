"""Words that turn a statement into its opposite, in English, Chinese and Arabic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from annotate.desk.layout import Span

_ENGLISH: Final = (
    r"\b(?:not|no longer|no(?!\. ?\d)|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|[a-z]+n['’]t"
    r"|den(?:y|ies|ied|ying)|negative|absent|absence|lack(?:s|ed|ing)?|free of|ruled out|fails? to|failed to)\b"
)
# Behind the lookarounds stand common words that contain a negation without being one: 不过, 对不起, 非常, 未来, 是不是.
_CHINESE: Final = (
    "没有|没能|没(?!关系)|(?<!是)不是|不再|不曾|(?<![对差])不(?!过|仅|但|同|错|久|断|少|管|论|如|客气|止|是)"
    "|并非|从未|从不|未曾|尚未|并未|未(?!来|必|婚)|毫无|无(?!论|关|数|线)|非(?!常|洲|得)|勿|禁止|否认|阴性|排除|拒绝"
)
_ARABIC: Final = (
    "(?<![\u0600-\u06ff])[وف]?(?:لا|لم|لن|ليس|ليست|ليسوا|لست|غير|بدون|دون|بلا|ينفي|تنفي|نفى|نفت)(?![\u0600-\u06ff])"
)
_NEGATION: Final = re.compile(f"{_ENGLISH}|{_CHINESE}|{_ARABIC}", re.IGNORECASE)


def negations_of(text: str) -> Iterator[Span]:
    """Where `text` denies something, in order."""
    for match in _NEGATION.finditer(text):
        yield Span(match.start(), match.end())
