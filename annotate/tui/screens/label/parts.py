"""The open grid, ranking or number as lines: what is given, where the cursor is, which keys count."""

from __future__ import annotations

from typing import NamedTuple

from annotate.desk.actions import KeyMap
from annotate.desk.cells import cell_width, cut_to_width
from annotate.desk.entries import Entry, Grid, Number, Ranking, letters_of
from annotate.desk.layout import wrap
from annotate.desk.sections import EMPTY
from annotate.tui.screens.label.state import key_sign
from annotate.tui.widgets.spans import Line, Role, Span, cut_line, cut_rows, glued, line_width, wrap_lines
from store.safe_text import safe_line

UNSET = "·"
MOST_TITLE_ROWS = 2
NARROWEST_COLUMN, WIDEST_COLUMN = 6, 18
LONGEST_TEXT = 400
"""Characters of a row's text, or an entry's beginning, that are considered."""


class Area(NamedTuple):
    """Cells that are there for the open part."""

    width: int
    height: int


def entry_lines(entry: Entry, keymap: KeyMap, area: Area, *, unsure: bool) -> list[Line]:
    """The open part, its title first and its keys last, in at most `area.height` rows."""
    head: Line = [Span(safe_line(entry.decision.asks, 200), "title"), Span("  unsure" if unsure else "", "warning")]
    title = cut_rows(wrap_lines([head], area.width), 1 if area.height < 12 else 3, area.width, [])
    keys = wrap_lines([_keys(entry, keymap)], area.width)
    room = Area(area.width, max(area.height - len(title) - len(keys), 2))
    if isinstance(entry, Grid):
        body = _grid(entry, room)
    elif isinstance(entry, Ranking):
        body = _ranking(entry, room)
    else:
        body = _number(entry, room)
    return [*title, *body[: room.height], *keys]


# Keys


def _keys(entry: Entry, keymap: KeyMap) -> Line:
    def sign(action: str) -> str:
        return key_sign(keymap.keys_of[action][0])

    hints: list[tuple[str, str, Role]] = []
    if isinstance(entry, Grid):
        hints = [(f"{label.key} {label.digit}", safe_line(label.title, 40), "muted") for label in entry.decision.labels]
        hints.append((" ".join(label.key.upper() for label in entry.decision.labels), "whole row", "muted"))
    elif isinstance(entry, Ranking):
        hints.append((sign("tie"), "ties", "muted"))
        if numbers := keymap.keys_of["show_entry"][: len(entry.entries)]:
            hints.append((numbers[0] if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}", "full-screen", "muted"))
    hints.append((sign("part_back"), "back", "muted"))
    if not entry.lacks:
        hints.append((sign("part_done"), "take it", "chosen"))
    hints.append(("Esc", "close", "muted"))
    line: Line = []
    for key, words, role in hints:
        line += [Span(glued(key), "key"), Span(glued(f" {words}"), role), Span("  ")]
    return [Span(" "), *line]


# Grid


def _grid(grid: Grid, area: Area) -> list[Line]:
    columns = grid.decision.columns
    first = min(max((cell_width(safe_line(row.title, 40)) for row in grid.rows), default=4) + 3, area.width // 3)
    wide = max(min((area.width - first) // max(len(columns), 1), WIDEST_COLUMN), NARROWEST_COLUMN)
    head = _grid_head([title for _, title in columns], first, wide)
    most = 3 if area.height >= 12 else 1
    text = cut_rows(
        wrap_lines([[Span(f"  {safe_line(grid.here.text or grid.here.title, LONGEST_TEXT)}")]], area.width),
        most, area.width, [],
    )  # fmt: skip
    left: Line = [Span(f"  {grid.lacks}" if grid.lacks else "  every cell is answered", "muted")]
    height = max(area.height - len(head) - len(text) - 1, 1)
    top = max(0, min(grid.row - height // 2, len(grid.rows) - height))
    body = [_grid_row(grid, row, first, wide) for row in range(top, min(top + height, len(grid.rows)))]
    if hidden := len(grid.rows) - len(body):
        left.append(Span(f" · {hidden} more rows ↑↓", "muted"))
    return [*head, *body, *text, cut_line(left, area.width)]


def _grid_head(titles: list[str], first: int, wide: int) -> list[Line]:
    cells = []
    for title in titles:
        text = safe_line(title, 80)
        rows = wrap(text, wide - 1)
        cells.append([text[slice(*rows.shown(row))] for row in range(min(len(rows), MOST_TITLE_ROWS))])
    height = max(map(len, cells), default=0)
    lines: list[Line] = []
    for row in range(height):
        line: Line = [Span(" " * first)]
        for cell in cells:
            line.append(Span(_padded(cell[row - height] if row >= height - len(cell) else "", wide), "title"))
        lines.append(line)
    return lines


def _grid_row(grid: Grid, row: int, first: int, wide: int) -> Line:
    here = row == grid.row
    title = cut_to_width(safe_line(grid.rows[row].title, 40), first - 3)
    line: Line = [Span("▶ " if here else "  ", "key"), Span(_padded(title, first - 2))]
    for column in range(len(grid.decision.columns)):
        value = grid.cell(row, column)
        words = next((label.title for label in grid.decision.labels if label.value == value), UNSET)
        words = cut_to_width(safe_line(words, 40), wide - 3)
        at_cursor = here and column == grid.column
        role: Role = "caret" if at_cursor else "chosen" if value is not None else "muted"
        line.append(Span(f"[{words}]" if at_cursor else f" {words} ", role))
        line.append(Span(" " * max(wide - cell_width(words) - 2, 0)))
    return line


def _padded(text: str, width: int) -> str:
    return text + " " * max(width - cell_width(text), 0)


# Ranking


def _ranking(ranking: Ranking, area: Area) -> list[Line]:
    letters = letters_of(row.id for row in ranking.entries)
    order = " > ".join(" = ".join(letters.get(entry, "–") for entry in group) for group in ranking.groups)
    order += " = …" if ranking.tying else ""
    lines: list[Line] = [
        [Span("  best  ", "muted"), Span(order or "nothing placed yet", "chosen" if order else "muted"),
         Span("  worst" if order and not ranking.left else "", "muted")]
    ]  # fmt: skip
    lines = wrap_lines(lines, area.width)
    places = {entry: place for place, group in enumerate(ranking.groups, start=1) for entry in group}
    for number, row in enumerate(ranking.entries, start=1):
        placed = str(places[row.id]) if row.id in places else UNSET
        head: Line = [
            Span("  "), Span(letters.get(row.id, "–"), "muted" if row.id in places else "key"),
            Span(f" {number}  ", "muted"), Span(f"{placed:<3}", "chosen" if row.id in places else "muted"),
        ]  # fmt: skip
        beginning = cut_to_width(
            safe_line(row.text, LONGEST_TEXT).strip() or EMPTY, max(area.width - line_width(head) - 1, 1)
        )
        lines.append([*head, Span(beginning, "muted" if row.id in places else "plain")])
    if len(ranking.entries) > len(letters):
        lines.append([Span(f"  only {len(letters)} of them have a key: this item cannot be ranked here", "warning")])
    rest: Line = [Span(f"  {ranking.lacks or 'every one is placed'}", "muted")]
    return [*cut_rows(lines, area.height - 1, area.width, []), rest]


# Number


def _number(number: Number, area: Area) -> list[Line]:
    shown = number.text if number.text and number.text != number.typed else ""
    line: Line = [Span("  "), Span(number.typed, "chosen"), Span(" ", "caret")]
    line += [Span(f"  means {shown}", "chosen")] if shown else []
    said = number.lacks or f"from {number.decision.low:g} to {number.decision.high:g}"
    hint = "; one digit from 2 to 9 means tenths" if (number.decision.low, number.decision.high) == (0.0, 1.0) else ""
    return [line, *wrap_lines([[Span(f"  {said}{hint}", "warning" if number.typed and number.lacks else "muted")]],
                              area.width)]  # fmt: skip
