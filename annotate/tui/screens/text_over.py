"""What shows something over the desk until a key closes it."""

from __future__ import annotations

from textual import events
from textual.screen import ModalScreen


class TextOver(ModalScreen[None]):
    """Any key that does not scroll closes it."""

    AUTO_FOCUS = ""

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self.is_active and not self.scrolls(event.key):
            self.dismiss(None)

    def scrolls(self, key: str) -> bool:
        """Scroll if that is what the key means; True when it is."""
        raise NotImplementedError
