"""What a report is asked for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from judges.calibration.audit_result import Settings
from judges.calibration.checks import Thresholds
from judges.calibration.statistic import Statistic

SHOWN_DISAGREEMENTS: Final = 20

Corrected = Mapping[str, Mapping[str, Statistic]]
"""System → metric path ("memory_integrity / recall(all)") → what people would have scored, with its interval."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report is asked for.

    Attributes:
        task, judge: "" for all; with one task there are no scores, which are of the whole benchmark.
        texts: False leaves out every text of an item, a rationale, a note.
        disagreements: how many are shown for each task and judge.
        made_at: aware.
        hidden: items whose verdict stays hidden from whoever asked; their cases are left out and counted.
        epsilon: margin of the alternative annotator test.
        corrected: corrected scores where somebody has computed them, by judge; a judge that is not in it has none.
    """

    made_at: dt.datetime
    task: str = ""
    judge: str = ""
    settings: Settings = field(default_factory=Settings)
    thresholds: Thresholds = field(default_factory=Thresholds)
    texts: bool = True
    disagreements: int = SHOWN_DISAGREEMENTS
    hidden: frozenset[str] = frozenset()
    epsilon: float = 0.2
    corrected: Mapping[str, Corrected] = field(default_factory=dict)
