"""A statistic as a row of a text table, and the reasons for what is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judges.calibration.statistic import Statistic

Row = list[str]


def statistic_row(name: str, value: Statistic) -> Row:
    """Name, value or status, interval, n."""
    if value.value is None:
        return [name, value.status.replace("_", " "), "", f"n {value.n}"]
    interval = (
        f"{value.low:.3f} to {value.high:.3f}" if value.low is not None and value.high is not None else "withheld"
    )
    return [name, f"{value.value:.3f}", interval, f"n {value.n}"]


def reasons(statistics: Mapping[str, Statistic | None]) -> Iterator[str]:
    """Why a number or an interval is not there, each reason once."""
    found: dict[str, list[str]] = {}
    for name, value in statistics.items():
        if value is not None and value.why:
            found.setdefault(value.why, []).append(name)
    yield from (f"  {', '.join(names)}: {why}" for why, names in found.items())
