"""Numbers and answers in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from judges.calibration.checks import NO_MORE_THAN, Answer, Check, Outcome
from judges.calibration.statistic import Statistic

NO_NUMBER: Final = "–"
MINUS: Final = "\u2212"
_NO_BREAK: Final = "\u00a0"
SHARES_OF_ALL: Final = "shares of all items, each label counted for those it stands for"
"""Over a confusion whose cells do."""

OUTCOME_WORDS: Final[Mapping[Outcome, str]] = {
    "good_enough": "Good enough",
    "falls_short": "Not good enough",
    "undecided": "Undecided",
}

FAILURES: Final[Mapping[str, str]] = {
    "missing": "empty",
    "malformed": "unreadable",
    "off_menu": "a label that is not in the set",
    "refusal": "the judge refused",
    "truncated": "cut off",
    "timeout": "timed out",
    "filtered": "stopped by a filter",
    "server_error": "the server failed",
    "too_long": "too long for the model",
    "rejected": "the server took no part",
    "divided": "the panel is divided",
}


def percent(share: float, places: int = 0) -> str:
    """A share as "47 %"; one decimal more where rounding would make it all or none."""
    text = f"{100 * share:.{places}f}"
    if places == 0 and text in ("0", "100") and share not in (0.0, 1.0):
        text = f"{100 * share:.1f}"
    return f"{text}{_NO_BREAK}%"


def decimal(value: float, places: int = 2) -> str:
    """A coefficient as "0.48", with a true minus sign."""
    text = f"{abs(value):.{places}f}"
    return f"{MINUS}{text}" if value < 0 and float(text) else text


def share_words(statistic: Statistic) -> str:
    """ "47 % (24–71 %)", "47 % (no interval)", or a dash."""
    if statistic.value is None:
        return NO_NUMBER
    if statistic.low is None or statistic.high is None:
        return f"{percent(statistic.value)} (no interval)"
    low = percent(statistic.low).removesuffix(f"{_NO_BREAK}%")
    return f"{percent(statistic.value)} ({low}–{percent(statistic.high)})"


def decimal_words(statistic: Statistic, places: int = 2) -> str:
    """ "0.48 (0.30–0.65)", "0.48 (no interval)", or a dash."""
    if statistic.value is None:
        return NO_NUMBER
    if statistic.low is None or statistic.high is None:
        return f"{decimal(statistic.value, places)} (no interval)"
    between = " to " if statistic.low < 0 else "–"
    interval = f"{decimal(statistic.low, places)}{between}{decimal(statistic.high, places)}"
    return f"{decimal(statistic.value, places)} ({interval})"


def count(number: int, noun: str) -> str:
    """ "1 item", "2,000 items"; the noun's last word takes the plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], joint: str = "and") -> str:
    """ "a", "a and b", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}" if names else ""


def threshold_words(check: Check) -> str:
    """The threshold as its number is written."""
    return decimal(check.threshold) if check.name == "kappa" else percent(check.threshold)


def answer_words(check: Check) -> str:
    """What a check comes to: "below 80 %", "undecided: about 84 more labels would do"."""
    words: Mapping[Answer, str] = {
        "met": f"reaches {threshold_words(check)}",
        "missed": f"below {threshold_words(check)}",
        "undecided": undecided_words([check]),
        "untested": f"not tested: {check.statistic.why}",
    }
    return words[check.answer]


def undecided_words(checks: Sequence[Check], more_labels: int | None = None) -> str:
    """ "undecided: about 84 more labels would do" over all open checks, or that no such number can be named."""
    needed = [check.more_labels for check in checks if check.answer == "undecided"]
    known = [number for number in needed if number is not None]
    if more_labels is None and len(known) == len(needed):
        more_labels = max(known, default=None)
    if more_labels is not None:
        return f"undecided: about {count(more_labels, 'more label')} would do"
    if any(
        check.statistic.low is None for check in checks if check.answer == "undecided" and check.more_labels is None
    ):
        return "undecided: no interval can be given"
    return f"undecided: more than {NO_MORE_THAN:,} more labels needed"


def counted(counts: Mapping[str, int]) -> str:
    """ "3 serious, 1 minor", the most frequent first; "none" for nothing."""
    ranked = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{number:,} {name}" for name, number in ranked if number) or "none"


def failure_words(counts: Mapping[str, int]) -> str:
    """Failures by kind in words."""
    return ", ".join(f"{number:,} {FAILURES.get(kind, kind)}" for kind, number in counts.items())
