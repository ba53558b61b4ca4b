"""What a judge has to reach: defaults, and the TOML file that changes them, for all tasks, a task, or a label."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from judges.toml_text import read_toml
from store.errors import UsageError
from store.records import digest

MOST_LOOKS: Final = 5
EXAMPLE: Final = """\
# gate.toml: what a judge has to reach before it may score the full run. These are the defaults.
recall = 0.70            # lower bound, of every label
precision = 0.70         # lower bound, of every label
kappa = 0.40             # lower bound of Cohen's kappa
ac1 = 0.40               # lower bound of Gwet's AC1
parse_rate = 0.95        # lower bound of the share of verdicts that could be read
instability = 0.10       # upper bound of the chance that two repeats differ
slice_gap = 0.20         # no slice significantly worse than the rest by more
dangerous_passed = 0.20  # upper bound of the share of dangerous wrong answers that pass as right
effective_gain = 1.0     # labels must be worth more with the judge than without
winning_rate = 0.5       # alternative annotator test, where three people labelled
epsilon = 0.2            # its margin: 0.2 experts, 0.15 skilled, 0.1 crowd
# max_cost = 25.0        # of judging the rest, in the currency of the price table
looks = 5                # how often one judge may be looked at; alpha is shared among the looks
alpha = 0.025            # one-sided, over all looks
required = []            # checks that must be measured although they need more than labels: "stability" …

# [tasks.qa]             # for one task
# kappa = 0.6
# [tasks.qa.labels.Omission]
# recall = 0.8
"""
MEASURED_IF_THERE: Final = ("annotator_test", "stability", "anchoring", "dangerous", "cost")
"""Checks that count where there is something to measure; `required` makes them needed."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits of one task; see `EXAMPLE` for each.

    Attributes:
        labels: recall or precision of single labels where they differ from the rest.
    """

    recall: float = 0.70
    precision: float = 0.70
    kappa: float = 0.40
    ac1: float = 0.40
    parse_rate: float = 0.95
    instability: float = 0.10
    slice_gap: float = 0.20
    dangerous_passed: float = 0.20
    effective_gain: float = 1.0
    winning_rate: float = 0.5
    epsilon: float = 0.2
    max_cost: float | None = None
    looks: int = MOST_LOOKS
    alpha: float = 0.025
    required: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def of_label(self, name: str, label: str) -> float:
        """The limit of a label's recall or precision."""
        return float(self.labels.get(label, {}).get(name, getattr(self, name)))

    @property
    def level(self) -> float:
        """Of the two-sided intervals whose bounds count: alpha in equal parts over the looks (Bonferroni), so that
        looking at most so often opens the gate wrongly with probability alpha at most, however looks depend."""
        return 1 - 2 * self.alpha / self.looks

    def as_json(self) -> dict[str, Any]:
        plain = asdict(self)
        plain["required"] = list(self.required)
        plain["labels"] = {label: dict(limits) for label, limits in self.labels.items()}
        return plain

    @property
    def hash(self) -> str:
        return digest("thresholds", self.as_json())


def thresholds_from(document: Mapping[str, Any]) -> Thresholds:
    """The limits that a certificate says (`Thresholds.as_json`)."""
    known = {one.name for one in fields(Thresholds)}
    said = {name: value for name, value in document.items() if name in known}
    return Thresholds(**{**said, "required": tuple(said.get("required", ()))})


MOST: Final = 1_000_000
"""Of a limit that is no share."""


def thresholds_of(path: Path | None, task: str) -> Thresholds:
    """The limits of a task: defaults, then the file's, then those of its table `[tasks.TASK]`.

    Raises:
        UsageError: the file cannot be read, or says something that is no limit; names file and key.
    """
    if path is None:
        return Thresholds()
    try:
        said = read_toml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: the thresholds cannot be read.", str(error), "See docs/gate.md.") from error
    tasks = said.pop("tasks", {})
    found = _taken(Thresholds(), said, path, "")
    if not isinstance(tasks, dict) or not all(isinstance(own, dict) for own in tasks.values()):
        raise _wrong(path, "tasks", "holds a table for each task", "As in: [tasks.qa]")
    own = tasks.get(task, {})
    return _taken(found, own, path, f"tasks.{task}.")


def _taken(base: Thresholds, said: Mapping[str, Any], path: Path, where: str) -> Thresholds:
    known = {one.name for one in fields(Thresholds)}
    changes: dict[str, Any] = {}
    for name, value in said.items():
        if name not in known:
            raise _wrong(path, where + name, "there is no such threshold", f"There are: {', '.join(sorted(known))}.")
        changes[name] = _value(path, where, name, value)
    return replace(base, **changes)


def _value(path: Path, where: str, name: str, value: Any) -> Any:
    if name == "required":
        if not isinstance(value, list) or not all(one in MEASURED_IF_THERE for one in value):
            raise _wrong(path, where + name, "is a list of checks", f"Such as: {', '.join(MEASURED_IF_THERE)}.")
        return tuple(value)
    if name == "labels":
        return _labels(path, where, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(path, where + name, "is a number", "")
    if name == "looks":
        if value not in range(1, MOST_LOOKS + 1):
            raise _wrong(path, where + name, f"is a whole number from 1 to {MOST_LOOKS}", "")
        return int(value)
    if not 0 <= value <= MOST:
        raise _wrong(path, where + name, f"lies between 0 and {MOST:,}", "")
    if name not in ("max_cost", "effective_gain") and value > 1:
        raise _wrong(path, where + name, "lies between 0 and 1", "")
    if name == "alpha" and not 0 < value <= 0.1:
        raise _wrong(path, where + name, "lies above 0 and is at most 0.1", "")
    return float(value)


def _labels(path: Path, where: str, value: Any) -> dict[str, dict[str, float]]:
    if not isinstance(value, dict) or not all(isinstance(limits, dict) for limits in value.values()):
        raise _wrong(path, f"{where}labels", "holds a table for each label", "As in: [labels.Omission]")
    for label, limits in value.items():
        if strange := sorted(set(limits) - {"recall", "precision"}):
            raise _wrong(path, f"{where}labels.{label}.{strange[0]}", "is neither recall nor precision", "")
    return {
        label: {name: _value(path, f"{where}labels.{label}.", name, limit) for name, limit in limits.items()}
        for label, limits in value.items()
    }


def _wrong(path: Path, key: str, what: str, remedy: str) -> UsageError:
    return UsageError(f"{path}: {key} {what}.", "", remedy or "See docs/gate.md.")
