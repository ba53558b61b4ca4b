from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.blocks import Place
from annotate.desk.cells import cell_width
from annotate.desk.document import Document, Highlight, Mark, Position
from annotate.desk.sections import (
    NOT_SEEN,
    Column,
    Section,
    Turn,
    compare_section,
    dialogue_section,
    list_section,
    text_section,
)

ENGLISH = "The patient reports mild headaches after 40 mg; she is fine. "
CHINESE = "患者否认药物过敏史，每天服用四十毫克阿司匹林。"
ARABIC = "يقول المريض إنه لا يعاني من الصداع. "


def dialogue(turns: list[Turn], *, folded: bool = False) -> Section:
    return dialogue_section("dialogue", "Dialogue", turns, badge=NOT_SEEN, folded=folded)


def sample(*, folded: bool = True) -> Document:
    said = [
        Turn("user", ENGLISH * 3, "Sep 04"),
        Turn("assistant", CHINESE * 4, "Sep 04"),
        Turn("user", "Yes.", "Sep 05"),
        Turn("user", ENGLISH * 3, "Sep 05"),
        Turn("assistant", CHINESE * 4, "Sep 05"),
        Turn("nurse", ARABIC * 2, "Sep 05"),
    ]
    return Document(
        [
            text_section("question", "Question", "What dog does Martin like now?"),
            list_section("evidence", "Evidence", ["He likes dogs. " * 8, "波士顿"]),
            compare_section("old,new", "Old, New", [Column("Old", ENGLISH * 2), Column("New", CHINESE * 3)]),
            dialogue(said, folded=folded),
            list_section("retrieved", "Retrieved", [ENGLISH, None, ""], folded=True),
        ]
    )


def shown(document: Document, width: int = 80) -> list[str]:
    document.lay_out(width)
    return [document.row(number).text.rstrip() for number in range(document.rows)]


def test_short_texts_stand_beside_their_titles() -> None:
    lines = shown(sample())
    assert lines[0] == "  Question     What dog does Martin like now?"
    assert lines[1].startswith("  Evidence     1  He likes dogs.")
    assert lines[2].startswith(" " * 18 + "dogs.") or lines[2].startswith(" " * 18 + "likes")
    assert "  ▸ Dialogue   6 turns, 4 distinct · the judge did not see this" in lines
    assert lines[-1] == "  ▸ Retrieved  3"


def test_narrow_screens_put_titles_above_and_columns_below_each_other() -> None:
    lines = shown(sample(), 40)
    assert lines[:2] == ["  Question", "    What dog does Martin like now?"]
    assert lines.index("    Old") + 1 < lines.index("    New")
    assert "    the judge did not see this" in lines


def test_columns_stand_side_by_side_when_there_is_room() -> None:
    lines = shown(sample())
    head = next(line for line in lines if line.startswith("    Old"))
    assert head.split("│")[1].strip() == "New"
    bars = {cell_width(line[: line.index("│")]) for line in lines if "│" in line}
    assert len(bars) == 1


def test_text_that_could_push_a_column_aside_is_never_left_of_one() -> None:
    document = Document([compare_section("a,b", "A, B", [Column("A", ARABIC), Column("B", "x")])])
    assert all("│" not in line for line in shown(document, 120))


def test_a_dialogue_unfolds_with_speakers_times_and_repeats() -> None:
    document = sample()
    document.lay_out(80)
    before = document.rows
    assert document.set_open("dialogue", True)
    lines = shown(document)
    assert len(lines) > before
    first = lines.index("    1  User  Sep 04  × 2 (repeated)")
    assert lines[first - 1].startswith("  ▾ Dialogue")
    assert "    2  Assistant  × 2 (repeated)" in lines
    assert "    3  User  Sep 05" in lines
    assert "    4–5  repeat earlier turns" in lines
    assert "    6  nurse" in lines
    assert document.set_open("dialogue", False)
    assert document.rows == before


def test_a_single_repeated_turn_keeps_its_place() -> None:
    turns = [Turn("user", "Ready?"), Turn("assistant", "Yes."), Turn("user", "Sure?"), Turn("assistant", "Yes.")]
    assert shown(Document([dialogue(turns)]))[-1] == "    4  Assistant = turn 2: Yes."


def test_sections_that_are_short_do_not_fold() -> None:
    document = sample()
    document.lay_out(80)
    assert not document.set_open("question", False)
    assert document.is_open("question")
    with pytest.raises(KeyError):
        document.set_open("nothing", True)


def test_missing_and_empty_texts_say_so() -> None:
    document = sample()
    document.set_open("retrieved", True)
    assert [line.strip() for line in shown(document)][-2:] == ["2  (not in the data)", "3  (empty)"]


@pytest.mark.parametrize("width", [40, 61, 80, 140, 200])
def test_every_character_of_an_open_document_is_shown_once(width: int) -> None:
    document = sample(folded=False)
    document.lay_out(width)
    seen: dict[tuple[str, int], str] = {}
    for number in range(document.rows):
        row = document.row(number)
        assert cell_width(row.text) <= width
        if "│" not in row.text:
            texts = [run.text for run in row.runs if run.role == "text"]
            seen[row.section, row.unit] = seen.get((row.section, row.unit), "") + "".join(texts)
    for unit in document.distinct_units("dialogue"):
        text = document.text("dialogue", unit).replace(" ", "")
        assert seen["dialogue", unit].replace(" ", "") == text


def test_units_are_located_and_positions_survive_another_width() -> None:
    document = sample(folded=False)
    document.lay_out(80)
    row = document.locate("dialogue", 1, 60)
    assert row is not None
    position = document.position(row)
    assert position.section == "dialogue" and position.place.unit == 1 and position.place.offset <= 60
    document.lay_out(50)
    again = document.row_of(position)
    assert document.position(again).place.unit == 1
    start = document.position(again).place.offset
    assert start <= position.place.offset < start + 50
    assert document.row(document.locate("dialogue", 2) or 0).text.strip().startswith("3  User")


def test_a_repeated_turn_is_located_where_it_was_first_said() -> None:
    document = sample(folded=False)
    document.lay_out(80)
    assert document.original_unit("dialogue", 3) == 0
    assert document.same_units("dialogue", 3) == (0, 3)
    assert document.locate("dialogue", 3) == document.locate("dialogue", 0)
    with pytest.raises(IndexError):
        document.original_unit("dialogue", 99)


def test_a_closed_section_is_located_by_its_title() -> None:
    document = sample()
    document.lay_out(80)
    assert document.locate("dialogue", 1) is None
    title = document.locate("dialogue", -1)
    assert title is not None and document.row(title).is_title
    assert document.row_of(Position("dialogue", Place(1, 60))) == title


@given(st.integers(0, 100), st.integers(20, 160), st.integers(20, 160))
def test_every_row_is_found_again(number: int, width: int, other: int) -> None:
    document = sample(folded=False)
    document.lay_out(width)
    number %= document.rows
    position = document.position(number)
    assert document.position(document.row_of(position)) == position
    document.lay_out(other)
    again = document.position(document.row_of(position))
    assert again.section == position.section
    # Columns share their rows when they stand side by side, and a title may stand beside its text.
    assert again.place.unit == position.place.unit or position.place.unit == -1 or again.section == "old,new"


def test_highlights_cut_runs_and_add_up() -> None:
    document = Document([text_section("a", "A", "He takes 40 mg daily")])
    document.set_highlights("find", [Highlight("a", 0, 3, 11, "find")])
    document.set_highlights("differences", [Highlight("a", 0, 9, 11, "number"), Highlight("a", 0, 15, 20, "word")])
    document.lay_out(80)
    runs = [(run.text, run.highlights) for run in document.row(0).runs if run.role == "text"]
    assert runs == [
        ("He ", ()),
        ("takes ", ("find",)),
        ("40", ("find", "number")),
        (" mg ", ()),
        ("daily", ("word",)),
    ]
    assert document.row(0).text.startswith("≠ ")
    document.set_highlights("differences", [])
    assert document.row(0).text.startswith("  A")


def test_highlights_follow_the_text_over_lines() -> None:
    document = Document([text_section("a", "A", "x" * 200)])
    document.set_highlights("find", [Highlight("a", 0, 90, 110, "find-current")])
    document.lay_out(60)
    marked = [run.text for number in range(document.rows) for run in document.row(number).runs if run.highlights]
    assert sum(map(len, marked)) == 20
    assert [document.row(number).text[0] for number in range(document.rows)].count("»") == len(marked)


def test_marks_are_words_at_the_head_of_a_turn_and_signs_elsewhere() -> None:
    document = sample(folded=False)
    document.lay_out(80)
    document.set_marks("evidence", [Mark("dialogue", 3, "◆", "evidence"), Mark("dialogue", 0, "◆", "evidence")])
    document.set_marks("similar", [Mark("dialogue", 0, "≈", "similar words"), Mark("evidence", 1, "◆", "evidence")])
    head = document.row(document.locate("dialogue", 0) or 0).text
    assert head.endswith("◆ evidence  ≈ similar words") and head.count("◆") == 1
    assert document.row(document.locate("evidence", 1, 0) or 0).text.startswith("◆ ")
    document.lay_out(40)
    assert cell_width(document.row(document.locate("dialogue", 0) or 0).text) <= 40


def test_the_cursor_is_a_bar_beside_its_unit() -> None:
    document = sample(folded=False)
    document.lay_out(80)
    document.cursor = ("dialogue", 1)
    rows = [document.row(number) for number in range(document.rows)]
    barred = {(row.section, row.unit) for row in rows if row.text.startswith("▌")}
    assert barred == {("dialogue", 1)}


def test_two_sections_may_not_share_an_id() -> None:
    with pytest.raises(ValueError, match="same id"):
        Document([text_section("a", "A", "x"), text_section("a", "B", "y")])


def test_rows_outside_are_refused_and_an_empty_document_has_none() -> None:
    document = Document([])
    document.lay_out(80)
    assert document.rows == 0
    with pytest.raises(IndexError):
        document.row(0)


def test_nothing_is_located_before_a_width_is_known() -> None:
    document = sample()
    assert document.locate("question", -1) is None
    assert document.row_of(Position("dialogue", Place(1, 60))) == 0


def test_right_to_left_text_is_announced() -> None:
    assert sample().is_right_to_left
    assert not Document([text_section("a", "A", CHINESE)]).is_right_to_left
