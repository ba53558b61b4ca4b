"""A number with its interval, its sample and, when it is not there, the reason."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Statistic:
    """One reported number. `value` is None exactly when `status` is not "ok"; then `why` says the reason.

    Attributes:
        value: the number. low, high: its interval at `level`, None when withheld (then `why` says why).
        method: how value and interval were computed.
        n: units the value rests on. dropped: units left out, by the rule that left them out.
        status: "ok", "undefined_single_category", "constant_rater", "no_pairable_items", "too_few" …
    """

    value: float | None
    n: int
    method: str = ""
    low: float | None = None
    high: float | None = None
    level: float | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    status: str = "ok"
    why: str = ""

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a statistic is finite or undefined with a reason, not {self.value}")

    @classmethod
    def undefined(
        cls, status: str, why: str, n: int, dropped: dict[str, int] | None = None, method: str = ""
    ) -> Statistic:
        return cls(value=None, n=n, method=method, dropped=dropped or {}, status=status, why=why)

    def with_interval(self, low: float, high: float, level: float, method: str, why: str = "") -> Statistic:
        """The same number with an interval; `method` says how the interval was made, `why` qualifies it."""
        joined = "; ".join(text for text in (self.method, method) if text)
        remark = "; ".join(text for text in (self.why, why) if text)
        return replace(self, low=low, high=high, level=level, method=joined, why=remark)

    def without_interval(self, why: str) -> Statistic:
        """The same number, its interval withheld for the reason given."""
        return replace(self, low=None, high=None, level=None, why="; ".join(text for text in (self.why, why) if text))

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "method": self.method,
            "n": self.n,
            "dropped": self.dropped,
            "status": self.status,
        }
        if self.why:
            fields["why"] = self.why
        return fields
