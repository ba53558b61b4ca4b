"""Worked examples for a prompt: corrected items of train, chosen so that they cover what the judge gets wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from judges.retune.reflection import Example
from judges.rubric import JudgePrompt

MOST: Final = 4
LONGEST: Final = 1500
"""Characters of an item that may be shown as an example."""
HEADINGS: Final[Mapping[str, str]] = {"en": "# Worked examples", "zh": "# 示例"}


def covering(examples: Sequence[Example], prompt: JudgePrompt, language: str, most: int = MOST) -> list[Example]:
    """Up to `most` items: one of each kind of error (what people say, what the judge said), the commonest first; among
    those of one kind the shortest, and rather one with a note."""
    fitting = [one for one in examples if _language(prompt, one) == language and len(_shown(prompt, one)) <= LONGEST]
    wrong = [one for one in fitting if one.reading.label != one.item.label]
    kinds = Counter((one.item.label, one.reading.label or "") for one in wrong)
    chosen: list[Example] = []
    rounds = {kind: _ordered(prompt, wrong, kind) for kind, _ in kinds.most_common()}
    while len(chosen) < most and any(rounds.values()):
        for queue in rounds.values():
            if queue and len(chosen) < most:
                chosen.append(queue.pop(0))
    return chosen


def _ordered(prompt: JudgePrompt, wrong: Sequence[Example], kind: tuple[str, str]) -> list[Example]:
    same = [one for one in wrong if (one.item.label, one.reading.label or "") == kind]
    return sorted(same, key=lambda one: (not one.item.note, len(_shown(prompt, one)), one.item.item_id))


def _language(prompt: JudgePrompt, example: Example) -> str:
    return prompt.of(example.item.item.payload, example.item.texts, example.item.item.slices).language


def _shown(prompt: JudgePrompt, example: Example) -> str:
    """The item as the judge reads it, without the fence that is its own."""
    asked = prompt.of(example.item.item.payload, example.item.texts, example.item.item.slices)
    lines = asked.messages[-1]["content"].split("\n")
    inside = [number for number, line in enumerate(lines) if line.startswith("<<<ITEM ") or line.endswith(">>>")]
    return "\n".join(lines[inside[0] + 1 : inside[-1]]) if len(inside) > 1 else "\n".join(lines)


def with_examples(text: str, examples: Sequence[Example], prompt: JudgePrompt, language: str) -> str:
    """A rubric with worked examples behind it."""
    if not examples:
        return text
    told = [f"{_shown(prompt, one)}\n→ {one.item.label}{_why(one)}" for one in examples]
    return "\n\n".join([text, HEADINGS.get(language, HEADINGS["en"]), *told])


def _why(example: Example) -> str:
    return f": {example.item.note}" if example.item.note else ""
