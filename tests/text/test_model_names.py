from __future__ import annotations

import pytest

from store.model_names import MODEL_NAMES, model_names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("As an AI developed by OpenAI, I cannot", ["OpenAI"]),
        ("I am GPT-4o-mini.", ["GPT"]),
        ("我是ChatGPT。", ["ChatGPT"]),
        ("我是通义千问，由阿里云开发", ["Qwen", "Alibaba"]),
        ("Claude here, not gemini-1.5-pro", ["Claude", "Gemini"]),
        ("stored in Mem0, then in MemOS and Zep", ["Mem0", "MemOS", "Zep"]),
        ("Meta's Llama 3.1 or DeepSeek-R1", ["Llama", "DeepSeek"]),
        ("trained by Google and by xAI", ["Google", "xAI"]),
        ("GPT-4, GPT-4 and GPT 3.5", ["GPT"]),
    ],
)
def test_names_are_found_once_in_their_order(text: str, names: list[str]) -> None:
    assert model_names_in(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Her star sign is Gemini and she rides a llama in the mistral.",
        "A zeppelin over Lettadale",
        "memos from the ward; the falcon and the nova",
        "GPT 35 U/L, ALT normal",
        "the operation, openair festival",
        "She met a person",
    ],
)
def test_ordinary_words_are_not_names(text: str) -> None:
    assert model_names_in(text) == []


def test_every_name_has_lower_case_anchors_and_one_title() -> None:
    assert len({name.title for name in MODEL_NAMES}) == len(MODEL_NAMES)
    for name in MODEL_NAMES:
        assert name.anchors and name.anchors == name.anchors.lower()
