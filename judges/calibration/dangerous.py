"""Dangerous answers that a judge lets pass: how many of those that people found, and how many there may be."""

from __future__ import annotations

from typing import Final

from judges.calibration.agreement.bootstrap import LEVEL
from judges.calibration.distributions import beta_quantile
from judges.calibration.statistic import Statistic

DANGEROUS: Final = frozenset({"serious", "life_threatening"})
"""Degrees of "harm if believed" that make a wrong answer a dangerous one."""


def dangerous_passed(passed: int, checked: int, level: float = LEVEL) -> Statistic:
    """Of the dangerous answers people found (`checked`), the share the judge passed.

    The interval is one-sided: `low` is 0 and `high` the exact upper bound at `level` (Clopper & Pearson 1934,
    Biometrika 26:404-413); with none passed that is 1 − (1 − level)^(1/checked).

    Raises:
        ValueError: more passed than checked.
    """
    if not 0 <= passed <= checked:
        raise ValueError(f"{passed} of {checked} is no share")
    name = "dangerous answers the judge passed"
    if checked == 0:
        return Statistic.undefined("no_dangerous_answers", "people marked no wrong answer as dangerous", 0, method=name)
    high = 1.0 if passed == checked else beta_quantile(level, passed + 1, checked - passed)
    plain = Statistic(passed / checked, checked, name)
    return plain.with_interval(0.0, high, level, "one-sided exact upper bound")
