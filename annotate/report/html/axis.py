"""A number, its interval and its threshold on one drawn axis: inline SVG, told in words too, never by colour alone."""

from __future__ import annotations

from typing import Final

from annotate.report.blocks import ScaleRow
from annotate.report.html.escape import escaped
from annotate.report.words import decimal, percent

MIDDLE: Final = 14
HEIGHT: Final = 38
_TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_CLEARANCE: Final = 0.12
"""Share of the axis around the threshold that is kept free of the end labels."""


def axis(row: ScaleRow, name: str) -> str:
    """The axis of a row; `name` makes its ids unique in the page."""
    parts = [
        f'<svg class="axis {row.answer or "plain"}" height="{HEIGHT}" role="img" aria-labelledby="{name}-t {name}-d">',
        f'<title id="{name}-t">{escaped(f"{row.title}: {row.detail}")}</title>',
        f'<desc id="{name}-d">{escaped(in_words(row))}</desc>',
        _line(0, 100, "base"),
        *(_tick(tick) for tick in _TICKS),
        *_threshold(row),
        *_ends(row),
        *_interval(row),
        *_point(row),
        "</svg>",
    ]
    return "".join(parts)


def bar(row: ScaleRow, name: str) -> str:
    """The same without threshold or labels, for a cell of a table."""
    return "".join([
        f'<svg class="axis plain small" height="{2 * MIDDLE}" role="img" aria-labelledby="{name}-t">',
        f'<title id="{name}-t">{escaped(f"{row.title}: {row.number}")}</title>',
        _line(0, 100, "base"), *(_tick(tick) for tick in (0.0, 0.5, 1.0)), *_interval(row), *_point(row), "</svg>",
    ])  # fmt: skip


def in_words(row: ScaleRow) -> str:
    """What the picture shows, as a sentence."""
    said = f"{row.number}" if row.value is not None else "no number"
    limit = f"; threshold {_written(row, row.threshold)}" if row.threshold is not None else ""
    return f"{said}{limit}{f'; {row.words}' if row.words else ''}"


def _written(row: ScaleRow, value: float) -> str:
    return percent(value) if row.unit == "percent" else decimal(value)


def _place(row: ScaleRow, value: float) -> float:
    """Per cent of the axis, cut off at its ends."""
    share = (value - row.lowest) / (1 - row.lowest)
    return round(100 * min(max(share, 0.0), 1.0), 2)


def _line(start: float, end: float, name: str) -> str:
    return f'<line class="{name}" x1="{start:g}%" x2="{end:g}%" y1="{MIDDLE}" y2="{MIDDLE}"/>'


def _upright(place: float, top: int, bottom: int, name: str) -> str:
    return f'<line class="{name}" x1="{place:g}%" x2="{place:g}%" y1="{top}" y2="{bottom}"/>'


def _tick(share: float) -> str:
    return _upright(100 * share, MIDDLE - 3, MIDDLE + 3, "base")


def _label(place: float, text: str, anchor: str, name: str) -> str:
    return f'<text class="{name}" x="{place:g}%" y="{HEIGHT - 2}" text-anchor="{anchor}">{escaped(text)}</text>'


def _threshold(row: ScaleRow) -> list[str]:
    if row.threshold is None:
        return []
    place = _place(row, row.threshold)
    return [
        f'<rect class="short" x="0" y="{MIDDLE - 8}" width="{place:g}%" height="16"/>',
        _upright(place, 0, HEIGHT - 13, "threshold"),
        _label(place, _written(row, row.threshold), "middle", "limit"),
    ]


def _ends(row: ScaleRow) -> list[str]:
    place = (row.threshold - row.lowest) / (1 - row.lowest) if row.threshold is not None else 0.5
    labels = []
    if place > _CLEARANCE:
        labels.append(_label(0, _written(row, row.lowest), "start", "end"))
    if place < 1 - _CLEARANCE:
        labels.append(_label(100, _written(row, 1.0), "end", "end"))
    return labels


def _interval(row: ScaleRow) -> list[str]:
    if row.low is None or row.high is None:
        return []
    low, high = _place(row, row.low), _place(row, row.high)
    return [
        _line(low, high, "interval"),
        _upright(low, MIDDLE - 6, MIDDLE + 6, "cap"),
        _upright(high, MIDDLE - 6, MIDDLE + 6, "cap"),
    ]


def _point(row: ScaleRow) -> list[str]:
    """A disc that reaches the threshold, a square that misses it, a ring where it is undecided."""
    if row.value is None:
        return []
    place = _place(row, row.value)
    if row.answer == "missed":
        square = f'width="10" height="10" y="{MIDDLE - 5}" transform="translate(-5 0)"'
        return [f'<rect class="point" x="{place:g}%" {square}/>']
    return [f'<circle class="point" cx="{place:g}%" cy="{MIDDLE}" r="5"/>']
