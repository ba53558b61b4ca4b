"""The review as data: lines of (text, role)."""

from __future__ import annotations

from collections.abc import Container

from annotate.desk.actions import KeyMap
from annotate.desk.reading import headline, response_line
from annotate.desk.review import BlockReview, ReviewLine
from annotate.desk.verdict_view import VerdictView, label_words
from annotate.tui.screens.label.pane import derived_line, label_keys, marks
from annotate.tui.screens.label.state import hints, key_sign
from annotate.tui.widgets.spans import Line, Span, cut_line, cut_rows, line_width, push_right, wrap_lines
from store.safe_text import safe_line

FULL_ROWS, SHORT_ROWS = 6, 1
"""Rows of a rationale that are shown at the cursor, and elsewhere."""


def review_header(benchmark: str, review: BlockReview, width: int) -> Line:
    """What this block comes to."""
    hidden = f", {review.hidden} {'stays' if review.hidden == 1 else 'stay'} hidden" if review.hidden else ""
    words = f"{review.labelled} labelled, {review.differing} {'differs' if review.differing == 1 else 'differ'}{hidden}"
    place = [Span(f"{review.place + 1} / {len(review.lines)} ", "title")]
    for left in (f" overread  {benchmark}   Review of the block: {words}", f" Review: {words}"):
        line = push_right([Span(left, "title")], place, width)
        if sum(len(span.text) for span in line) <= width:
            return line
    return cut_line([Span(f" Review: {words}", "title")], width)


def review_rows(review: BlockReview, width: int) -> tuple[list[Line], range]:
    """All rows of the review, and those of the line at the cursor."""
    rows: list[Line] = []
    cursor = range(0)
    for place, line in enumerate(review.lines):
        first = len(rows)
        rows += _line_rows(line, width, current=place == review.place)
        if place == review.place:
            cursor = range(first, len(rows))
    return rows, cursor


def _line_rows(line: ReviewLine, width: int, *, current: bool) -> list[Line]:
    reading = line.reading
    sign = Span("≠ differs  ", "differs") if line.differs else Span("= agrees   ", "muted")
    if line.differs is False and all(view.differs is None for view in line.views):
        sign = Span("? cannot be compared  ", "muted")
    title: Line = [Span("▶ " if current else "  ", "key"), sign, Span(headline(reading, 200), "title")]
    rows = [cut_line([*title, Span(f"  {reading.task.task}", "muted")], width)]
    if said := response_line(reading, 200):
        rows.append(cut_line([Span("      said   ", "muted"), Span(said, "muted")], width))
    rows.append([Span("      you    "), Span(safe_line(label_words(reading.task, reading.state), 120), "chosen")])
    rows += [[Span("      "), *derived_line(title, words)] for title, words in line.derived]
    for view in line.views:
        rows += _view_rows(view, width, FULL_ROWS if current else SHORT_ROWS)
    for name, words in marks(reading.state):
        told = wrap_lines([[Span(f"      {name:<6} ", "muted"), Span(words)]], width)
        rows += cut_rows(told, FULL_ROWS if current else SHORT_ROWS, width, [])
    return [*rows, []]


def _view_rows(view: VerdictView, width: int, most: int) -> list[Line]:
    who = f"   {safe_line(view.judge, 30)}" + (f" · {view.detail}" if view.detail else "")
    head: Line = [Span("      judge  "), Span(safe_line(view.headline, 80), "judge"), Span(who, "muted")]
    told = [*view.compared, *view.derived]
    apart = wrap_lines([[Span("             "), *derived_line(title, words)] for title, words in told], width)
    if most == SHORT_ROWS:
        apart = cut_rows(apart, SHORT_ROWS, width, []) if apart else []
    if not view.rationale:
        return [head, *apart, [Span("             no rationale kept", "muted")]]
    reason = wrap_lines([[Span(f"             “{safe_line(view.rationale, 2000)}”")]], width)
    return [head, *apart, *cut_rows(reason, most, width, [])]


_REMINDERS = (
    ("note", "why"), ("scroll_down", "next"), ("dialogue", "item"), ("verdict", "judge"), ("undo", "undo"),
    ("help", "keys"), ("quit", "quit"),
)  # fmt: skip
_FIRST_TO_GO = ("undo", "verdict", "note", "scroll_down", "dialogue")
"""Reminders that a narrow footer leaves out, in this order: how to get help and how to leave stay."""


def review_footer(keymap: KeyMap, review: BlockReview, width: int, idle: Container[str] = ()) -> Line:
    """The keys of the review, as many as there is room for; `idle` are actions whose keys would not do them now."""
    labels = " ".join(label_keys(review.line.reading.task))
    line: Line = [Span(" ")]
    if "confirm" not in idle:
        line += [Span(key_sign(keymap.keys_of["confirm"][0]), "key"), Span(" keep mine   ", "muted")]
    line += [Span(labels or key_sign(keymap.keys_of["part"][0]), "key"), Span(" revise   ", "muted")]
    reminders = {action: hints(keymap, [(action, what)]) for action, what in _REMINDERS if action not in idle}
    for action in _FIRST_TO_GO:
        if line_width(line) + sum(map(line_width, reminders.values())) <= width:
            break
        reminders.pop(action, None)
    return cut_line([*line, *(span for reminder in reminders.values() for span in reminder)], width)
