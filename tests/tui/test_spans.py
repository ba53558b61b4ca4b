"""Styled lines: wrapping and cutting by cells loses no character and exceeds no width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotate.tui.widgets.spans import (
    Line,
    Span,
    cut_line,
    cut_rows,
    glued,
    line_width,
    push_right,
    text_of,
    wrap_line,
    wrap_lines,
)

PIECES = st.lists(
    st.builds(
        Span, st.text(st.sampled_from("abc  药é👍🏽ع,"), max_size=12), st.sampled_from(["plain", "key", "muted"])
    ),
    max_size=6,
)
WIDTHS = st.integers(2, 40)


@given(PIECES, WIDTHS)
def test_no_row_is_wider_than_asked_and_no_word_is_lost(line: Line, width: int) -> None:
    rows = wrap_line(line, width)
    assert all(line_width(row) <= max(width, 2) for row in rows)
    assert "".join(text_of(row) for row in rows).replace(" ", "") == text_of(line).replace(" ", "")


@given(PIECES, WIDTHS)
def test_a_cut_line_fits(line: Line, width: int) -> None:
    cut = cut_line(line, width)
    assert line_width(cut) <= width
    assert cut == line or text_of(cut).endswith("…")


def test_rows_after_the_first_are_indented_like_it_and_keep_their_roles() -> None:
    rows = wrap_line([Span("  "), Span("bold words ", "title"), Span("and plain ones")], 14)
    assert [text_of(row) for row in rows] == ["  bold words", "  and plain", "  ones"]
    assert rows[0][-1].role == "title"
    assert rows[1][-1].role == "plain"


def test_what_is_glued_stays_in_one_row() -> None:
    line = [Span(glued("1  mixed facts")), Span("   "), Span(glued("2  not a memory"))]
    assert [text_of(row) for row in wrap_line(line, 20)] == ["1  mixed facts", "2  not a memory"]


def test_what_is_cut_says_so_and_names_the_key() -> None:
    rows = wrap_lines([[Span(f"row {number}")] for number in range(9)], 20)
    cut = cut_rows(rows, 3, 20, [Span(" j all of it", "key")])
    assert [text_of(row) for row in cut] == ["row 0", "row 1", "row 2 … j all of it"]
    assert cut_rows(rows, 9, 20, []) == rows


def test_right_is_right_by_cells_not_by_characters() -> None:
    line = push_right([Span("药")], [Span("端")], 10)
    assert text_of(line) == "药      端"
    assert line_width(push_right([Span("long left")], [Span("right")], 5)) == 15


def test_nothing_is_shown_where_there_is_no_width() -> None:
    assert wrap_lines([[Span("x")]], 0) == []
