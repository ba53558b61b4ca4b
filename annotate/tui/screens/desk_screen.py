"""What the screens over a desk share: every key in order, the open prompt, and no act lost when it cannot be saved."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.screen import Screen

from annotate.desk.desk import Desk
from annotate.tui.widgets.prompt import Answer, Prompt
from store.errors import SaveError


class DeskScreen(Screen[None]):
    """Nothing ever has the focus: every key comes here, and goes to the prompt while that is open."""

    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.prompt = Prompt()

    # What a screen fills in

    def take(self, key: str) -> None:
        """One key, by name, while no prompt is open."""
        raise NotImplementedError

    def perform(self, action: str) -> None:
        """Carry out an action of the registry."""
        raise NotImplementedError

    def answered(self, answer: Answer) -> None:
        """The person has closed the prompt."""
        raise NotImplementedError

    def show_desk(self) -> None:
        """Bring everything on the screen in line with the desk."""
        raise NotImplementedError

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Every key; those typed ahead of a dialog that has opened meanwhile are dropped."""
        event.stop()
        event.prevent_default()
        if not self.is_current:
            return
        self.desk.active.tick(self.desk.clock())
        if not self.prompt.is_open:
            self.take(key_name(event))
        elif (answer := self.prompt.take(event)) is not None:
            self.answered(answer)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is text for an open prompt, and nothing else: never keys."""
        event.stop()
        if self.prompt.is_open:
            self.prompt.paste(event.text)

    def perform_from_palette(self, action: str) -> None:
        """An action chosen in the palette; an open note is kept first."""
        self.keep_open_note(then=lambda: self.perform(action))

    # Saving

    def save(self, act: Callable[[], None], then: Callable[[], None] | None = None) -> None:
        """Do what stores, then show it and go on; when it cannot be made safe, stay, say so, offer to try again."""
        try:
            act()
        except SaveError as error:
            self._offer_again(error, act, then)
            return
        self.show_desk()
        if then is not None:
            then()

    def _offer_again(self, error: SaveError, act: Callable[[], None], then: Callable[[], None] | None) -> None:
        from annotate.tui.screens.notice.screen import SaveFailed

        def chosen(again: bool | None) -> None:
            if again:
                self.save(act, then)
            else:
                self.app.exit(error)

        self.app.push_screen(SaveFailed(error), chosen)

    def keep_open_note(self, then: Callable[[], None] | None = None) -> None:
        """Store a note that is still being written, then go on; other questions are dropped."""
        answer = self.prompt.close(kept=True)
        if answer is not None and answer.purpose == "note" and answer.touched:
            self.save(lambda: self.desk.set_note(answer.text.strip()), then)
        elif then is not None:
            then()

    def save_open_note_now(self) -> None:
        """Store a note that is still being written, without a word: the program is being ended.

        Raises:
            SaveError: it could not be made safe.
        """
        answer = self.prompt.close(kept=True)
        if answer is not None and answer.purpose == "note" and answer.touched:
            self.desk.set_note(answer.text.strip())


def key_name(event: events.Key) -> str:
    """A key as the registry names it: the character it gives, or its name."""
    if event.character == " ":
        return "space"
    if event.character is not None and event.is_printable:
        return event.character
    return event.key
