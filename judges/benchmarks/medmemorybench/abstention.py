"""Whether an answer abstains, by a declared rule. The paper does not say how it told; a person's word overrules this.

An answer abstains when it is empty or an error of the interface, or when one of the phrases below stands within its
first 160 characters: whoever answers first and hedges at the end has answered.
"""

from __future__ import annotations

import re

OPENING = 160
API_ERROR = "[API_ERROR]"

PHRASES = re.compile(
    r"不知道|不清楚|不确定|无法(?:确定|判断|回答|得知|提供|确认)|不能(?:确定|判断|回答)|没有(?:相关|找到|查到|足够|您的|该|关于)"
    r"|未(?:找到|提及|提供|记录|查到)|信息不足|暂无(?:相关)?(?:记录|信息)|缺乏(?:相关)?(?:记录|信息)"
    r"|\b(?:i|we) (?:do not|don't|don’t|cannot|can't|can’t|could not|couldn't|am not able to) "
    r"(?:know|have|find|see|tell|say|determine|answer|confirm|recall)"
    r"|\b(?:no|not enough|insufficient) (?:record|information|evidence|memory|data|mention|entry)"
    r"|\b(?:not|never) (?:recorded|mentioned|specified|documented)\b|\bunknown\b|\bnot sure\b|\bunable to\b",
    re.I,
)


def abstains(output: str) -> bool:
    """Whether the declared rule takes the answer for an abstention."""
    text = output.strip()
    return not text or text.startswith(API_ERROR) or PHRASES.search(text[:OPENING]) is not None
