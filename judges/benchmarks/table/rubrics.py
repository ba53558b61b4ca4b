"""What stands for a rubric when a table came without one."""

from __future__ import annotations

from collections.abc import Sequence


def without_rubric(title: str, labels: Sequence[str]) -> str:
    """Markdown that says what is known, and that nobody said more."""
    choice = f"The labels are {', '.join(f'**{label}**' for label in labels)}." if labels else "The answer is a number."
    return f"""\
# {title}

{choice} No rubric came with this table, so people and judge may understand them differently. Write down what each label
means in a task file (`rubric = "…"`) before several people label.
"""
