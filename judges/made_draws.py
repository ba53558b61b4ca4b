"""Draws that stand in a study: who asked for them, which is meant, which another one continues."""

from __future__ import annotations

from collections.abc import Sequence

from store.draws import Draw, list_draws
from store.errors import UsageError
from store.study import Study

MADE_BY = "sample"
"""Marks draws that somebody asked for; `label` serves them before one that it made itself."""


def find_draw(study: Study, named: str) -> Draw:
    """The draw whose id begins so.

    Raises:
        UsageError: none, or several.
    """
    draws = list_draws(study)
    found = [draw for draw in draws if named and draw.draw_id.startswith(named)]
    if len(found) != 1:
        ids = ", ".join(draw.draw_id for draw in draws) or "none"
        raise UsageError(f"There is {'no' if not found else 'more than one'} draw {named!r}.", f"Draws: {ids}.")
    return found[0]


def extended(draws: Sequence[Draw]) -> set[str]:
    """Ids of draws that a later one continues."""
    return {str(draw.settings["extends"]) for draw in draws if draw.settings.get("extends")}
