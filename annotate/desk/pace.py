"""Time at the desk: active time that stops when nobody is there, and keys that come too fast to be meant."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

IDLE_AFTER = 60.0
"""Seconds without a key after which active time stops."""
FIRST_PAINT_GUARD = 0.3
"""Seconds after an item's first paint in which a label key cannot be meant for it."""
REPEAT_GAP = 0.12
"""Two presses of one key closer than this are a held key: terminals repeat every 20–50 ms, fingers take longer."""


@dataclass
class ActiveClock:
    """Adds up the time between keys, at most `IDLE_AFTER` a gap. Times are seconds of any monotonic clock."""

    last: float
    total: float = 0.0
    _settled: float = 0.0

    def tick(self, now: float) -> None:
        """A key came."""
        self.total += min(max(now - self.last, 0.0), IDLE_AFTER)
        self.last = now

    @property
    def pending_ms(self) -> int:
        """Active milliseconds not yet stored with an act."""
        return round((self.total - self._settled) * 1000)

    def settle(self) -> None:
        """The pending time is stored with an act."""
        self._settled = self.total


@dataclass
class KeyGuard:
    """Refuses label keys that come before the item was seen, or from a held key."""

    painted_at: float | None = None
    _last_key: str = ""
    _last_at: float = float("-inf")

    def new_item(self) -> None:
        """Another item is about to be painted."""
        self.painted_at = None

    def painted(self, now: float) -> None:
        """The item's first paint is on the screen."""
        if self.painted_at is None:
            self.painted_at = now

    def refusal(self, key: str, now: float) -> str:
        """Why this label key is ignored, or "" when it counts. Every press is remembered, also the ignored."""
        held = key == self._last_key and now - self._last_at < REPEAT_GAP
        self._last_key, self._last_at = key, now
        if held:
            return "key held down: ignored (u takes the last label back)"
        if self.painted_at is None or now - self.painted_at < FIRST_PAINT_GUARD:
            return "too fast: this item had only just appeared, key ignored"
        return ""


@dataclass
class Pace:
    """This sitting's work. Never shown unless asked for, and never compared with anybody."""

    seconds: list[float] = field(default_factory=list)

    def add(self, active_ms: int) -> None:
        """One more item labelled, in this much active time."""
        self.seconds.append(active_ms / 1000)

    def words(self, left: int) -> str:
        """Pace and time left in plain words."""
        if not self.seconds:
            return f"nothing labelled yet in this sitting · {left} left"
        median = statistics.median(self.seconds)
        minutes = max(1, round(median * left / 60))
        return f"{len(self.seconds)} labelled · {median:.0f} s an item (median) · {left} left, about {minutes} min"
