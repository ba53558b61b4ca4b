"""What the reflecting model is asked, and what may become of its answer.

The template asks for general rules and forbids quotations; gepa's own asks for "all niche and domain specific factual
information", which is how items get into prompts. The form of the verdict is not the rubric's business: it stands in
the frame around it (`judges.rubric`), so no proposal can break it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from judges.backends.answer import Answer
from judges.benchmarks.benchmark import TaskDefinition
from judges.favourable import favourable_label
from judges.rubric import JudgePrompt
from judges.verdict_reader import Reading

from .items import TuneItem

TEMPLATE: Final = """\
You improve the instructions of a judge. The judge reads an item and gives it one of these labels:
{labels}

Its present instructions stand between the lines of equals signs.
==========
{instructions}
==========

Below are items that it judged with them, what it said, and what careful people say.

{examples}

Find what the mistakes have in common, and write better instructions.

- State general rules that would be right for items nobody has seen yet: what to compare, what counts, what does not
  count, in which order to decide, what to do in doubt.
- Say which mistake each rule is there to prevent, and in which direction the judge erred.
- Do not quote, paraphrase or mention any item: no names, numbers, phrases or answers from them. Instructions that hold
  eight words in a row of an item are thrown away.
- Keep every rule of the present instructions that still serves. Keep the labels exactly as they are.
- Say nothing about the form of the answer; that is told to the judge elsewhere.
- At most {limit} words. Write in {language}.

Give the whole new instructions between two lines of three backticks, and nothing else.
"""
LANGUAGES: Final = {"en": "English", "zh": "Chinese"}
LEAST_WORDS: Final = 400
"""Even the shortest rubric may grow to so many words."""
GROWTH: Final = 2.0
CHARACTERS_A_WORD: Final = 40
"""No language needs more on average, spaces and lines among them: blanks are no way around the limit."""
SAID_CHARACTERS: Final = 200
"""Of what a server says of a call that failed."""
ITEM_CHARACTERS: Final = 6000
"""Of an item as the reflecting model sees it; the judge itself sees all of it."""

_FENCE: Final = "```"
_CONTRACT = re.compile(r"<<<|>>>|\"verdict\"|^[^\S\n]*(?:VERDICT|判定)[^\S\n]*[:：]", re.MULTILINE)


class ProposalError(ValueError):
    """A proposal that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Example:
    """An item of train with what the judge said of it."""

    item: TuneItem
    reading: Reading


def word_count(text: str) -> int:
    """Words of a text, one for each Chinese character."""
    from judges.retune.leakage import tokens

    return len(tokens(text))


def word_limit(base: str) -> int:
    """How long a rubric may become that began as `base`."""
    return max(LEAST_WORDS, int(GROWTH * word_count(base)))


def reflection_prompt(
    prompt: JudgePrompt, language: str, instructions: str, examples: Sequence[Example], limit: int
) -> str:
    """What the reflecting model is asked."""
    task = prompt.task
    labels = "\n".join(f"- {label.value}" + (f": {label.hint}" if label.hint else "") for label in task.labels)
    told = "\n\n".join(_told(number, prompt, one) for number, one in enumerate(examples, start=1))
    return TEMPLATE.format(
        labels=labels, instructions=instructions, examples=told, limit=limit, language=LANGUAGES.get(language, language)
    )


def _told(number: int, prompt: JudgePrompt, example: Example) -> str:
    item = example.item
    asked = prompt.of(item.item.payload, item.texts, item.item.slices)
    shown = asked.messages[-1]["content"]
    if len(shown) > ITEM_CHARACTERS:
        half = ITEM_CHARACTERS // 2
        shown = f"{shown[:half]}\n[…]\n{shown[-half:]}"
    return f"## Item {number}\n{shown}\n\n{feedback(prompt.task, example)}"


def feedback(task: TaskDefinition, example: Example) -> str:
    """What people say to what the judge said: the direction of the error, their note, their tags."""
    titles = {label.value: label.title for label in task.labels}
    reading, right = example.reading, example.item.label
    lines = []
    if reading.label is None:
        lines.append(f"The judge gave no verdict that can be read ({reading.failure}). Right is: {right}.")
    elif reading.label == right:
        lines.append(f"The judge said {reading.label}, and people agree.")
    else:
        lines.append(f"WRONG. The judge said {reading.label} ({titles.get(reading.label, reading.label)}).")
        lines.append(f"People say {right} ({titles.get(right, right)}).{_direction(task, reading.label, right)}")
    if reading.rationale:
        lines.append(f"The judge's reasons: {reading.rationale[:1000]}")
    if example.item.note:
        lines.append(f"Why, in a person's words: {example.item.note[:1000]}")
    if example.item.tags:
        lines.append(f"Kind of failure: {', '.join(example.item.tags)}")
    return "\n".join(lines)


def _direction(task: TaskDefinition, said: str, right: str) -> str:
    """Which way the judge erred: along the scale, or past the label that says "right", where one does."""
    if task.level != "nominal":
        steps = task.values.index(right) - task.values.index(said)
        end = task.values[0] if steps > 0 else task.values[-1]
        return f" It erred by {abs(steps)} {'step' if abs(steps) == 1 else 'steps'} towards {end}."
    best = favourable_label(task)
    if best is None:
        return ""
    if said == best:
        return " It let pass what is not right."
    return " It rejected what is right." if right == best else " It took one failure for another."


def proposal_of(answer: Answer, limit: int) -> str:
    """The new instructions in an answer.

    Raises:
        ProposalError: there are none, they were cut off or are too long, or they meddle with the form of the verdict.
    """
    if answer.failure:
        raise ProposalError(f"the reflecting model gave no answer ({answer.failure}): {answer.why[:SAID_CHARACTERS]}")
    if answer.finish_reason == "length":
        raise ProposalError("the answer was cut off at the longest that the reflecting model may give")
    found = _instructions((answer.text or "").rsplit("</think>", 1)[-1].strip())
    if not found:
        raise ProposalError("the instructions are empty")
    if (words := word_count(found)) > limit:
        raise ProposalError(f"the instructions have {words} words; {limit} are allowed")
    if len(found) > limit * CHARACTERS_A_WORD:
        raise ProposalError(f"the instructions have {len(found):,} characters for {words} words")
    if _CONTRACT.search(found):
        raise ProposalError("the instructions meddle with the form of the answer")
    return found


def _instructions(text: str) -> str:
    """What stands between backticks; of an answer without any, which small models give, all its lines."""
    if blocks := _blocks(text):
        return max(blocks, key=len).strip()
    if _FENCE in text or "\n" not in text:
        raise ProposalError("the answer holds no instructions between backticks")
    return text


def _blocks(text: str) -> list[str]:
    """What stands between lines of three backticks, in one pass: an answer may be of any length and of any form."""
    blocks: list[str] = []
    inside: list[str] | None = None
    for line in text.split("\n"):
        after = line.removeprefix(_FENCE) if line.startswith(_FENCE) else "`"
        if inside is None:
            inside = [] if "`" not in after else None
        elif after.strip():
            inside.append(line)
        else:
            blocks.append("\n".join(inside))
            inside = None
    return blocks


def components(texts: Mapping[str, str], items: Sequence[TuneItem], prompt: JudgePrompt) -> list[str]:
    """The languages whose rubric some item is judged by."""
    used = {prompt.of(one.item.payload, one.texts, one.item.slices).language for one in items}
    return [language for language in texts if language in used]
