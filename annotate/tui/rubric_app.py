"""The rubrics of a study in an app of their own."""

from __future__ import annotations

from textual.screen import Screen

from annotate.tui.base_app import OverreadApp, run_to_end
from annotate.tui.screens.rubric.screen import RubricScreen
from annotate.tui.screens.rubric.state import RubricState


class RubricApp(OverreadApp[None]):
    """Shows rubrics until the person leaves."""

    def __init__(self, state: RubricState) -> None:
        super().__init__()
        self.state = state

    def get_default_screen(self) -> Screen[None]:
        return RubricScreen(self.state)


def run_rubrics(state: RubricState) -> int:
    """Show rubrics until the person leaves; returns the exit code as `run_to_end` does."""
    return run_to_end(RubricApp(state))
