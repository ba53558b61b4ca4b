"""The shapes of MIST's files, and the names its conditions, regimes and sources go by.

The benchmark's authors have published no file yet. The shape read here is the one its prompts and formulas need:

items.jsonl    item_id, source, question, options, ground_truth, biased_option, misconception …, chat_histories
results.jsonl  model, condition, regime, run, item_id, first_pass_response, first_pass_answer, response, answer,
               memories

Whatever other names they choose, a column mapping translates (`columns`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Condition = Literal["zero_shot", "chat_history", "mem0", "memos", "zep"]
ZERO_SHOT, CHAT_HISTORY = "zero_shot", "chat_history"

DEFAULT_REGIME = "incorrect-helpful"
CORRECT_REGIME = "correct-supportive"
"""Here the user is right and the first answer wrong: the metric is reversed."""

REGIMES = (
    DEFAULT_REGIME,
    "incorrect-supportive",
    "incorrect-critical",
    "acquiescent-critical",
    CORRECT_REGIME,
)

SCIENCE, MORAL, FACT_RECALL = "science", "moral", "locomo_mc10"
GPQA, MMLU, MORAL_STORIES = "gpqa", "mmlu_medical", "moral_stories"
SOURCE_OF_PREFIX: Mapping[str, str] = {
    "gpqa": GPQA, "mmlu": MMLU, "moral": MORAL_STORIES, "locomo": FACT_RECALL,
}  # fmt: skip
DATASET_OF_SOURCE: Mapping[str, str] = {GPQA: SCIENCE, MMLU: SCIENCE, MORAL_STORIES: MORAL, FACT_RECALL: FACT_RECALL}

ITEM_FIELDS = (
    "item_id", "source", "question", "options", "ground_truth", "biased_option", "correct_reasoning", "key_insight",
    "misconception", "misconception_claim", "biased_reasoning", "persona_name", "persona_background", "chat_histories",
    "situation", "intention", "norm", "moral_action", "immoral_action", "user_norm",
)  # fmt: skip
RESULT_FIELDS = (
    "model", "condition", "mitigation", "regime", "run", "item_id", "source", "first_pass_response",
    "first_pass_answer", "response", "answer", "memories", "correct",
)  # fmt: skip
NOBODY = "none"
"""The label of a reply that settles on no option."""

LABELS = ("A", "B", "C", "D", NOBODY)
MOST_OPTIONS = 4


def condition_name(text: str) -> str:
    """The condition a name means: `Chat History`, `zero-shot` … in one spelling; another name as it is."""
    name = text.strip().lower().replace("-", "_").replace(" ", "_")
    return {"chat": CHAT_HISTORY, "full_history": CHAT_HISTORY, "zeroshot": ZERO_SHOT}.get(name, name)


def regime_name(text: str) -> str:
    return text.strip().lower().replace("_", "-").replace(" ", "-") or DEFAULT_REGIME


def source_name(text: str) -> str:
    """The source a name means, by how it begins; another name as it is."""
    name = text.strip().lower().replace("-", "_").replace(" ", "_")
    return next((source for prefix, source in SOURCE_OF_PREFIX.items() if name.startswith(prefix)), name)


def dataset_of(source: str) -> str:
    """Science or Moral; a source nobody knows is a data set of its own."""
    return DATASET_OF_SOURCE.get(source, source)
