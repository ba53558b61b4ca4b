"""What somebody may make of a rubric: rules for every way of editing, for the people's rubric as for the judge's."""

from __future__ import annotations

import re

from judges.benchmarks.benchmark import Label, TaskDefinition
from store.errors import UsageError


class AsItWasError(UsageError):
    """The text is the present one: there is nothing to store."""


def require_edited(text: str, before: str, task: TaskDefinition) -> str:
    """The text without blanks around it, when it may take the place of `before`.

    Raises:
        AsItWasError: it is the same.
        UsageError: it is empty, or no longer names a label that it named; nothing is to be stored then.
    """
    edited = text.strip()
    if not edited:
        raise UsageError("The rubric is empty; nothing was changed.", "", "Write something, or leave it as it is.")
    if edited == before.strip():
        raise AsItWasError("The rubric is as it was; nothing was changed.")
    if gone := [label.value for label in task.labels if _names(before, label) and not _names(edited, label)]:
        raise UsageError(
            f"The rubric no longer names {'a label' if len(gone) == 1 else 'labels'}: {', '.join(gone)}."
            " Nothing was changed.",
            "A label that people or judge may give must be explained.",
            "Name it, by its value or its title; labels themselves are changed in the task file.",
        )
    return edited


def placeholders(text: str) -> list[str]:
    """What looks as if the item's texts were to be put in its place, as in the prompts of other tools; nothing is."""
    return list(dict.fromkeys(re.findall(r"\{\{? ?[A-Za-z_]\w{0,40} ?\}?\}", text)))[:5]


def _names(text: str, label: Label) -> bool:
    """Whether a text holds the label's value or title as a word of its own."""
    return any(
        re.search(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", text, re.IGNORECASE)
        for word in {label.value, label.title}
        if word
    )
