"""Who called what what: counts and shares over the declared label set."""

from __future__ import annotations

from judges.calibration.agreement.ratings import PairTable


def confusion_counts(pairs: PairTable) -> dict[str, dict[str, int]]:
    """{label of the rows (people): {label of the columns (judge): items}}, every declared label present."""
    labels = pairs.scale.labels
    table = pairs.confusion
    return {row: {column: int(table[i, j]) for j, column in enumerate(labels)} for i, row in enumerate(labels)}


def confusion_shares(pairs: PairTable) -> dict[str, dict[str, float]]:
    """The same as shares of all items, each counting for those it stands for; together 1."""
    labels, table = pairs.scale.labels, pairs.tables(pairs.mass)
    whole = float(table.sum())
    return {
        row: {column: float(table[i, j]) / whole for j, column in enumerate(labels)} for i, row in enumerate(labels)
    }
