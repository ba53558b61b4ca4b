"""How many calls may be on their way: adapts to a server that says "too many", and stops calling one that is down.

Additive increase, multiplicative decrease (Chiu and Jain 1989): each refusal takes the limit down, each round of good
answers raises it by one, up to what the user asked for.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable

from judges.backends.answer import ServerUnusableError

DECREASE = 0.7
COOL_S = 0.5
"""Refusals within this time of a decrease belong to it: they were on their way already."""


class AdaptiveLimit:
    """A gate that lets at most `limit` calls through at a time, and none before a time the server named."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.limit = most, float(most)
        self.active = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._not_before = self._decreased = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> AdaptiveLimit:
        await self.acquire()
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.release()

    async def acquire(self) -> None:
        """Wait for a place."""
        if not self._waiting and self._is_free():
            self.active += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._wake()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.release()
            else:
                self._waiting.remove(place)
            raise

    def release(self) -> None:
        """Give the place back."""
        self.active -= 1
        self._wake()

    def succeeded(self) -> None:
        """A good answer came: the limit grows by 1 a round."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + 1 / self.limit)
            self._wake()

    def refused(self, retry_after: float) -> None:
        """The server said "too many": fewer at a time, and none for `retry_after` seconds."""
        now = self._clock()
        if now - self._decreased >= COOL_S:
            self.limit, self._decreased = max(1.0, self.limit * DECREASE), now
        self.hold(retry_after)

    def hold(self, seconds: float) -> None:
        """Let nobody through for that long."""
        self._not_before = max(self._not_before, self._clock() + seconds)

    def _is_free(self) -> bool:
        return self.active < int(self.limit) and self._clock() >= self._not_before

    def _wake(self) -> None:
        while self._waiting and self._is_free():
            place = self._waiting.popleft()
            if not place.done():
                self.active += 1
                place.set_result(None)
        left = self._not_before - self._clock()
        if self._waiting and left > 0 and (self._timer is None or self._timer.cancelled()):
            self._timer = asyncio.get_running_loop().call_later(left, self._after_hold)

    def _after_hold(self) -> None:
        self._timer = None
        self._wake()


class CircuitBreaker:
    """Opens after several failures of the server in a row, waits, lets calls through again, and gives up in the end.

    While it is open no call is sent; whoever waits is not failed. With every opening the pause doubles.
    """

    def __init__(self, after: int = 10, pause_s: float = 2.0, openings: int = 5) -> None:
        self._after, self._pause, self._openings_left = after, pause_s, openings
        self._all_openings = openings
        self._in_a_row = 0
        self.last = ""

    def succeeded(self) -> None:
        self._in_a_row, self._openings_left = 0, self._all_openings

    def failed(self, what: str) -> float:
        """A call failed on the server's side; returns how long to let nobody through.

        Raises:
            ServerUnusableError: it has failed too often.
        """
        self._in_a_row, self.last = self._in_a_row + 1, what
        if self._in_a_row < self._after:
            return 0.0
        self._in_a_row = 0
        if self._openings_left == 0:
            raise ServerUnusableError(
                "The server does not answer.",
                f"It failed again and again, last with: {what}. What was judged is stored, and nothing else was"
                " counted as failed.",
                "Look after the server, then run the same command: it goes on where it stopped.",
            )
        self._openings_left -= 1
        return float(self._pause * 2 ** (self._all_openings - self._openings_left - 1))


def backoff(attempt: int, base_s: float, cap_s: float, draw: Callable[[], float] = random.random) -> float:
    """Seconds to wait before a retry: anywhere up to base · 2^attempt, at most the cap ("full jitter")."""
    return float(min(cap_s, base_s * 2**attempt) * draw())
