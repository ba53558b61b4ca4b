"""The review as data: lines of (text, role)."""

from __future__ import annotations

from annotate.desk.reading import headline
from annotate.desk.review import BlockReview, ReviewLine
from annotate.desk.verdict_view import titles
from annotate.tui.screens.label.state import Line, Span, label_keys
from judges.benchmarks.benchmark import TaskDefinition
from store.safe_text import safe_line


def review_header(benchmark: str, review: BlockReview) -> Line:
    """What this block comes to."""
    hidden = f", {review.hidden} stay hidden" if review.hidden else ""
    return [
        Span(
            f" overread  {benchmark}   Review: {review.labelled} labelled, {review.differing} differ{hidden}"
            f"   {review.place + 1} / {len(review.lines)}",
            "title",
        )
    ]


def review_lines(review: BlockReview, width: int) -> tuple[list[Line], int]:
    """All lines of the review and the row at which the cursor's line begins."""
    rows: list[Line] = []
    cursor = 0
    for place, line in enumerate(review.lines):
        if place == review.place:
            cursor = len(rows)
        rows += _line(line, width, current=place == review.place)
    return rows, cursor


def _line(line: ReviewLine, width: int, *, current: bool) -> list[Line]:
    reading = line.reading
    own = titles(reading.task, reading.state.value, dict(reading.state.parts)) or "cannot judge"
    arrow = "▶ " if current else "  "
    sign = Span("≠ ", "differs") if line.differs else Span("= ", "muted")
    room = max(20, width - 30)
    rows: list[Line] = [
        [Span(arrow, "key"), sign, Span(headline(reading, room), "title"), Span(f"  {reading.task.task}", "muted")],
        [Span("      you    "), Span(own, "chosen"), Span(", unsure" if reading.state.unsure else "")],
    ]
    for view in line.views:
        name = f"  {safe_line(view.judge, 30)}" + (f" · {view.detail}" if view.detail else "")
        rows.append([Span("      judge  "), Span(view.headline, "judge"), Span(name, "muted")])
        reason = f"“{safe_line(view.rationale, 400 if current else max(20, width - 20))}”"
        rows.append([Span("             "), Span(reason if view.rationale else "no rationale kept", "muted")])
    if reading.state.note:
        rows.append([Span("      note   "), Span(safe_line(reading.state.note, room))])
    return [*rows, []]


def review_footer(task: TaskDefinition) -> Line:
    """The keys of the review."""
    labels = " ".join(label_keys(task))
    return [
        Span(" ⏎", "key"), Span(" keep mine   ", "muted"), Span(labels, "key"), Span(" revise   ", "muted"),
        Span("n", "key"), Span(" why   ", "muted"), Span("↓ ↑", "key"), Span(" move   ", "muted"),
        Span("u", "key"), Span(" undo   ", "muted"), Span("q", "key"), Span(" quit", "muted"),
    ]  # fmt: skip
