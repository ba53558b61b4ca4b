"""Signs that stand beside words, so that no meaning hangs on colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from annotate.report.blocks import Sign
from judges.calibration.checks import Answer, Outcome

OUTCOME_SIGNS: Final[Mapping[Outcome, str]] = {"good_enough": "✓", "falls_short": "✗", "undecided": "?"}
ANSWER_SIGNS: Final[Mapping[Answer, str]] = {"met": "✓", "missed": "✗", "undecided": "?", "untested": "–"}
CALLOUT_SIGNS: Final[Mapping[Sign, str]] = {"danger": "!", "safe": "✓", "note": "i"}
