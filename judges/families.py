"""Which maker's model a judge or a system is, as far as its name says."""

from __future__ import annotations

import re
from typing import Final

_FAMILIES: Final = {
    "OpenAI": r"gpt|davinci|openai|(?<![a-z0-9])o[134](?![a-z0-9])",
    "Anthropic": "claude|anthropic|sonnet|haiku|(?<![a-z])opus",
    "Google": "gemini|gemma|(?<![a-z])palm|google",
    "Meta": "llama",
    "Mistral": "mistral|mixtral",
    "Alibaba": "qwen|qwq|tongyi",
    "DeepSeek": "deepseek",
    "xAI": "grok",
    "Zhipu": "(?<![a-z])(?:chat)?glm",
    "Moonshot": "kimi|moonshot",
    "Microsoft": "(?<![a-z])phi-",
    "Cohere": r"(?<![a-z])command-r|cohere",
}
_SPELLINGS: Final = {family: re.compile(pattern) for family, pattern in _FAMILIES.items()}


def family_of(name: str) -> str:
    """The maker whose model the name means, or "" where none or several are named."""
    lowered = name.lower()
    found = [family for family, pattern in _SPELLINGS.items() if pattern.search(lowered)]
    return found[0] if len(found) == 1 else ""
