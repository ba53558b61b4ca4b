"""Finds a task's label set in the data: which labels, in which order, on which scale, with which keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judges.benchmarks.benchmark import Level
from judges.benchmarks.table.keys import MOST_LABELS, allot
from judges.benchmarks.table.specs import LabelSpec, TaskSpec
from judges.benchmarks.table.survey import LabelCounts


class LabelSetError(ValueError):
    """The data do not show a label set; the message says why."""


def complete(spec: TaskSpec, counts: LabelCounts | None, *, with_gold: bool) -> tuple[TaskSpec, list[str]]:
    """The spec with labels, level and keys, and sentences on what was found out.

    Labels that nobody named are those that occur, numbers from high to low, texts by their alphabet. A scale that
    nobody named is ordinal when all labels are numbers, else nominal. More than ten numbers are no labels: the value is
    then a number.

    Raises:
        LabelSetError: fewer than two labels occur, or more than ten that are no numbers.
    """
    said: list[str] = []
    if not spec.labels and spec.low is None:
        spec = _inferred(spec, _occurring(counts or LabelCounts(), with_gold), said)
    if spec.low is not None:
        return replace(spec, level=spec.level or "interval"), said
    values = [label.value for label in spec.labels]
    keys = allot(values, {label.value: label.keys for label in spec.labels})
    labels = tuple(replace(label, keys=keys[label.value]) for label in spec.labels)
    level = spec.level or _level(values)
    if spec.level is None:
        said.append(f"Task {spec.name}: {level}, as {_why(values)}.")
    said.append(f"Task {spec.name}: keys {', '.join(f'{v} = {keys[v].key} or {keys[v].digit}' for v in values)}.")
    return replace(spec, labels=labels, level=level), said


def same_set(specs: Mapping[str, TaskSpec], inferred: Mapping[str, TaskSpec], said: list[str]) -> dict[str, TaskSpec]:
    """Tasks whose found labels are all among another task's found labels take that one's set: a scale is often shared,
    and a rare label may not occur in every task."""
    found = dict(specs)
    for name in inferred:
        if name not in specs:
            continue
        own = _values(specs[name])
        wider = [other for other in inferred if other in specs and own < _values(specs[other])]
        if own and wider:
            widest = max(wider, key=lambda other: (len(_values(specs[other])), other))
            source = specs[widest]
            found[name] = replace(specs[name], labels=source.labels, level=source.level)
            said.append(f"Task {name}: takes the labels of task {widest}, as all of its own are among them.")
    return found


def _values(spec: TaskSpec) -> frozenset[str]:
    return frozenset(label.value for label in spec.labels)


def _occurring(counts: LabelCounts, with_gold: bool) -> list[str]:
    labels = counts.people + counts.judges
    return sorted(labels + counts.gold if with_gold else labels)


def _inferred(spec: TaskSpec, labels: Sequence[str], said: list[str]) -> TaskSpec:
    where = f"task {spec.name}"
    numbers = [_number(label) for label in labels]
    all_numbers = bool(labels) and all(number is not None for number in numbers)
    if len(labels) < 2:
        found = f"only one label occurs, {labels[0]!r}" if labels else "no label occurs"
        raise LabelSetError(f"{where}: {found}; what else could be said cannot be told from the data")
    if len(labels) > MOST_LABELS:
        if not all_numbers:
            raise LabelSetError(f"{where}: {len(labels)} different labels occur, and {MOST_LABELS} are the most")
        low, high = min(n for n in numbers if n is not None), max(n for n in numbers if n is not None)
        said.append(f"Task {spec.name}: {len(labels)} numbers occur; the value is a number from {low:g} to {high:g}.")
        return replace(spec, low=low, high=high, level="interval")
    ordered = sorted(labels, key=lambda label: (-(_number(label) or 0), label)) if all_numbers else list(labels)
    said.append(f"Task {spec.name}: labels {', '.join(ordered)}, as they occur in the data.")
    said += [f"Task {spec.name}: {first!r} and {second!r} differ only in spelling; a task file can make them one label."
             for first, second in _alike(labels)]  # fmt: skip
    return replace(spec, labels=tuple(LabelSpec(label) for label in ordered))


def _alike(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs that are one label to a person: the same but for case, blanks and full stops, or the same number."""
    shapes: dict[object, str] = {}
    pairs: list[tuple[str, str]] = []
    for label in labels:
        number = _number(label)
        shape: object = number if number is not None else label.strip().rstrip(".").casefold()
        if shape in shapes:
            pairs.append((shapes[shape], label))
        shapes.setdefault(shape, label)
    return pairs


def _level(values: Sequence[str]) -> Level:
    numbers = [_number(value) for value in values]
    return "ordinal" if None not in numbers and len(set(numbers)) == len(values) else "nominal"


def _why(values: Sequence[str]) -> str:
    return "all labels are numbers" if _level(values) == "ordinal" else "its labels are no numbers in order"


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return number if abs(number) < float("inf") and label.strip() == label and "_" not in label else None
