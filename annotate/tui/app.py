"""The desk's app: the palette, and a note that is being written kept however the desk is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from textual.app import SystemCommand
from textual.screen import Screen

from annotate.desk.actions import ACTIONS
from annotate.desk.desk import Desk
from annotate.tui.base_app import OverreadApp, run_to_end
from annotate.tui.screens.desk_screen import DeskScreen
from annotate.tui.screens.label.screen import LabelScreen
from store.errors import SaveError


class DeskApp(OverreadApp[SaveError]):
    """The reading desk on a terminal; its return value is the error of an act that was left unsaved, if any."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, desk: Desk, benchmark: str, remapped: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self.label_screen = LabelScreen(desk, benchmark, remapped)

    def get_default_screen(self) -> Screen[None]:
        return self.label_screen

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette offers the registry's actions, for the screen it was opened over."""
        if isinstance(screen, DeskScreen):
            for action in ACTIONS:
                run = partial(screen.perform_from_palette, action.id)
                yield SystemCommand(action.id.replace("_", " "), action.description, run)

    # Leaving

    @property
    def _desk_screens(self) -> list[DeskScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, DeskScreen)]

    def action_leave(self) -> None:
        """Leave; a note that is being written is kept, an act that could not be saved is told."""
        from annotate.tui.screens.notice.screen import SaveFailed

        if isinstance(self.screen, SaveFailed):
            self.exit(self.screen.error)
        else:
            self._desk_screens[-1].keep_open_note(then=self.exit)

    def keep_open(self) -> SaveError | None:
        """Save a note that is being written; returns why it could not be."""
        try:
            self._desk_screens[-1].save_open_note_now()
        except SaveError as failed:
            return failed
        return None


def run_app(desk: Desk, remapped: Mapping[str, Sequence[str]]) -> int:
    """Show the desk until the person leaves; returns the exit code: 0, or 128 and the signal that ended it.

    Raises:
        SaveError: the person left although the last act could not be saved.
        Exception: a fault of the program ended it.
    """
    app = DeskApp(desk, desk.ledger.study.benchmark, remapped)
    code = run_to_end(app)
    if app.return_value is not None:
        raise _left_behind(app.return_value)
    return code


def _left_behind(error: SaveError) -> SaveError:
    """What to say once the screen is gone."""
    if error.journaled:
        return SaveError(
            "Your last act is in the journal, but not in the study file yet.", error.detail,
            "The next start completes it. Nothing is lost.", journaled=True,
        )  # fmt: skip
    return SaveError("Your last act was not saved; everything before it is.", error.detail, "Give it again next time.")
