"""What stands for a rubric when a table came without one."""

from __future__ import annotations

from collections.abc import Sequence


def without_rubric(title: str, labels: Sequence[str]) -> str:
    """Markdown that says what is known, and that nobody said more; people read it, and so does a judge."""
    choice = f"The labels are {', '.join(f'**{label}**' for label in labels)}." if labels else "The answer is a number."
    return f"""\
# {title}

{choice} No rubric came with this table that would say more.
"""
