"""Who called what what: counts over the declared label set."""

from __future__ import annotations

from judges.calibration.agreement.ratings import PairTable


def confusion_counts(pairs: PairTable) -> dict[str, dict[str, int]]:
    """{label of the rows (people): {label of the columns (judge): items}}, every declared label present."""
    labels = pairs.scale.labels
    table = pairs.confusion
    return {row: {column: int(table[i, j]) for j, column in enumerate(labels)} for i, row in enumerate(labels)}
