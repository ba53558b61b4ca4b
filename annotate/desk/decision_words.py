"""What was decided, in words; and, once a verdict may be shown, where it and the person's label differ part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotate.desk.entries import letters_of, order_id, read_order
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import (
    VALUE,
    Decision,
    decisions_of,
    places_of,
    read_cells,
    read_number,
    read_ranking,
    rows_of,
)

MOST_CELLS = 6
"""Differing cells that are named; the rest is counted."""

LONGEST_NUMBER = 6
"""Characters of a number that is shown as it is stored."""


def order_in(parts: Mapping[str, str], decision: Decision) -> tuple[str, ...]:
    """The order in which a label says that the entries of a ranking were shown."""
    return read_order(parts.get(order_id(decision.id), ""))


def decision_words(decision: Decision, text: str, order: Sequence[str] = ()) -> str:
    """A decision in the words of the task.

    Args:
        order: of a ranking, the order in which its entries were shown: they are called by their letters.
    """
    if decision.kind == "checklist":
        return _cell_counts(decision, text)
    if decision.kind == "ranking":
        letters = letters_of(order)
        groups = [" = ".join(sorted(letters.get(entry, entry) for entry in group)) for group in read_ranking(text)]
        return " > ".join(groups) or text
    if decision.kind == "number":
        return _short_number(text)
    return next((label.title for label in decision.labels if label.value == text), text)


def _short_number(text: str) -> str:
    """A number to be read: no more digits than mean anything to a reader."""
    value = read_number(text)
    return text if value is None or len(text) <= LONGEST_NUMBER else f"{value:.3g}"


def _cell_counts(decision: Decision, text: str) -> str:
    counts = Counter(value for cells in read_cells(text).values() for value in cells.values())
    said = [f"{counts[label.value]} {label.title}" for label in decision.labels if counts[label.value]]
    return ", ".join(said) or "no cell"


def label_parts_words(
    task: TaskDefinition, value: str | None, parts: Mapping[str, str], order: Mapping[str, str]
) -> str:
    """The value and the parts in words, in the task's order.

    Args:
        order: the parts that hold the recorded orders: a judge's ranking is told in the letters a person saw.
    """
    given = {**parts, **({VALUE: value} if value is not None else {})}
    return " · ".join(
        decision_words(decision, given[decision.id], order_in(order, decision))
        for decision in decisions_of(task)
        if decision.id in given
    )


def differs(decision: Decision, own: str, judge: str) -> bool:
    """Whether two answers to one decision are not the same, as far as both speak of the same.

    Of a grid only the cells that both gave are compared. A number among the parts is a measurement: it is told how far
    apart two are (`compared`), and that they are not equal means nothing.
    """
    if decision.kind == "checklist":
        return bool(_cells_apart(own, judge))
    if decision.kind == "number":
        return decision.id == VALUE and read_number(own) != read_number(judge)
    if decision.kind == "ranking":
        return places_of(read_ranking(own)) != places_of(read_ranking(judge))
    return own != judge


def compared(decision: Decision, payload: Mapping[str, Any], own: str, judge: str) -> str:
    """How far two answers to a decision of more than one key are apart, in words; "" for a choice."""
    if decision.kind == "number":
        mine, theirs = read_number(own), read_number(judge)
        return (
            f"you {_short_number(own)}, judge {_short_number(judge)}: {theirs - mine:+.2f}"
            if mine is not None and theirs is not None
            else ""
        )
    if decision.kind == "ranking":
        from judges.calibration.agreement.tau_of_rankings import tau_of_rankings

        tau = tau_of_rankings(places_of(read_ranking(own)), places_of(read_ranking(judge)))
        return f"Kendall's tau-b {tau:.2f}" if tau is not None else "no tau: one side ties them all"
    return _compared_cells(decision, payload, own, judge) if decision.kind == "checklist" else ""


def _compared_cells(decision: Decision, payload: Mapping[str, Any], own: str, judge: str) -> str:
    apart = _cells_apart(own, judge)
    judged = read_cells(judge)
    given = [(row, column) for row, cells in read_cells(own).items() for column in cells]
    both = sum(column in judged.get(row, {}) for row, column in given)
    rows = {row.id: row.title for row in rows_of(decision, payload)}
    places = [(row, column) for row in rows for column, _ in decision.columns]
    apart.sort(key=lambda cell: places.index(cell[:2]) if cell[:2] in places else len(places))
    columns, titles = dict(decision.columns), {label.value: label.title for label in decision.labels}
    named = [
        f"{rows.get(row, row)}, {columns.get(column, column)}: you {titles.get(mine, mine)}, "
        f"judge {titles.get(theirs, theirs)}"
        for row, column, mine, theirs in apart[:MOST_CELLS]
    ]
    said = f"{len(apart)} of {both} cells differ"
    silent = len(given) - both
    said += f", the judge says nothing of {silent}" if silent else ""
    return "; ".join([said, *named, *([f"and {len(apart) - MOST_CELLS} more"] if len(apart) > MOST_CELLS else [])])


def _cells_apart(own: str, judge: str) -> list[tuple[str, str, str, str]]:
    """(row, column, own, judge's) of the cells both gave and that differ, in the own order."""
    judged = read_cells(judge)
    return [
        (row, column, value, theirs)
        for row, cells in read_cells(own).items()
        for column, value in cells.items()
        if (theirs := judged.get(row, {}).get(column)) is not None and theirs != value
    ]
