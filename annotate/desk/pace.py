"""Time at the desk: active time that stops when nobody is there, and keys that come too fast to be meant."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

IDLE_AFTER = 60.0
"""Seconds without a key after which active time stops."""
FIRST_PAINT_GUARD = 0.3
"""Seconds after an item's first paint in which a label key cannot be meant for it."""
REPEAT_GAP = 0.12
"""Two presses of one key closer than this are a held key: terminals repeat every 20–50 ms, fingers take longer."""
FIRST_REPEAT = 0.75
"""A held key repeats for the first time after up to so long (common defaults are 0.25 to 0.66 s). Until then the same
label key again right after one that counted may be a finger that rests on it."""

HELD = "key held down: ignored (undo takes the last label back)"
HELD_IN_PART = "key held down: ignored"
AGAIN_SO_SOON = "the same key again so soon: ignored; press it once more if you mean it"
TOO_FAST = "too fast: this item had only just appeared, key ignored"


@dataclass
class ActiveClock:
    """Active time by item: the time between keys, at most `IDLE_AFTER` a gap, goes to the item in front.

    Attributes:
        last: when the last key came, in seconds of any monotonic clock.
        item: the item in front; "" for none.
        spent: item → active seconds in this sitting.
    """

    last: float
    item: str = ""
    spent: dict[str, float] = field(default_factory=dict)
    _settled: dict[str, float] = field(default_factory=dict)

    def tick(self, now: float) -> None:
        """A key came."""
        gap = min(max(now - self.last, 0.0), IDLE_AFTER)
        self.spent[self.item] = self.spent.get(self.item, 0.0) + gap
        self.last = now

    def turn_to(self, item: str) -> None:
        """Another item comes to the front."""
        self.item = item

    @property
    def total(self) -> float:
        """Active seconds of the sitting."""
        return sum(self.spent.values())

    def pending_ms(self, item: str) -> int:
        """Active milliseconds on an item that no act of it has stored yet."""
        return round((self.spent.get(item, 0.0) - self._settled.get(item, 0.0)) * 1000)

    def settle(self, item: str) -> None:
        """An act on the item stored its pending time."""
        self._settled[item] = self.spent.get(item, 0.0)


@dataclass
class KeyGuard:
    """Refuses label keys that come before the item was seen, or from a held key.

    Attributes:
        painted_at: when the current item was first on the screen; None until then.
        armed: whether a screen tells when it paints. A desk without one (line by line) has no use for a guard.
    """

    painted_at: float | None = None
    armed: bool = False
    _last_key: str = ""
    _last_at: float = float("-inf")
    _last_counted: bool = False

    def new_item(self) -> None:
        """Another item is about to be painted."""
        self.painted_at = None

    def painted(self, now: float) -> None:
        """The item's first paint is on the screen."""
        self.armed = True
        if self.painted_at is None:
            self.painted_at = now

    def refusal(self, key: str, now: float) -> str:
        """Why this label key is ignored, or "" when it counts. Every press is remembered, also the ignored."""
        reason = self._reason(key, now)
        self._remember(key, now, counted=not reason)
        return reason

    def refusal_of_part(self, key: str, now: float) -> str:
        """The same for the keys of a grid, ranking or number, where one key is meant many times over."""
        if self.is_held(key, now):
            return HELD_IN_PART
        return TOO_FAST if self.painted_at is None or now - self.painted_at < FIRST_PAINT_GUARD else ""

    def is_held(self, key: str, now: float) -> bool:
        """Whether this key is only repeating itself: for keys that need no more care than that."""
        held = key == self._last_key and now - self._last_at < REPEAT_GAP
        self._remember(key, now, counted=not held)
        return held

    def _reason(self, key: str, now: float) -> str:
        gap = now - self._last_at if key == self._last_key else float("inf")
        if gap < REPEAT_GAP:
            return HELD
        if gap < FIRST_REPEAT and self._last_counted:
            return AGAIN_SO_SOON
        if self.painted_at is None or now - self.painted_at < FIRST_PAINT_GUARD:
            return TOO_FAST
        return ""

    def _remember(self, key: str, now: float, *, counted: bool) -> None:
        self._last_key, self._last_at, self._last_counted = key, now, counted


class Sitting:
    """One stretch of work at the desk. Its pace is never shown unless asked for, and never compared with anybody.

    Attributes:
        minutes: after so many the desk ends at the next boundary; None for no end.
        labelled: items given a label in this sitting.
    """

    def __init__(self, clock: Callable[[], float], minutes: float | None = None) -> None:
        self._clock = clock
        self._started = clock()
        self.minutes = minutes
        self.labelled: set[str] = set()

    @property
    def worked(self) -> float:
        """Minutes since sitting down."""
        return (self._clock() - self._started) / 60

    @property
    def is_over(self) -> bool:
        return self.minutes is not None and self.worked >= self.minutes

    def pace(self, seconds: Collection[float], left: int) -> str:
        """Pace and time left in plain words; `seconds` are active seconds of the items labelled in this sitting."""
        words = [_pace_words(seconds, left) if seconds else f"nothing labelled yet in this sitting · {left} left"]
        if self.minutes is not None:
            words.append(f"this sitting ends in {minutes_in_words(max(0.0, self.minutes - self.worked))}")
        return " · ".join(words)


def _pace_words(seconds: Collection[float], left: int) -> str:
    median = statistics.median(seconds)
    done = f"{len(seconds)} labelled · {median:.0f} s an item (median)"
    return f"{done} · {left} left" + (f", about {minutes_in_words(median * left / 60)}" if left else "")


def minutes_in_words(minutes: float) -> str:
    """ "45 min", "3 h 20 min"; never less than a minute."""
    whole = max(1, round(minutes))
    hours, rest = divmod(whole, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"
