"""Rubrics are shown as text: no asterisk, no hash, nothing of the words lost, no foreign control character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.tui.screens.help.markdown import markdown_lines
from annotate.tui.widgets.spans import text_of
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.halumem.tasks import TASKS
from store.safe_text import TERMINAL_UNSAFE


def shown(text: str) -> list[str]:
    return [text_of(line) for line in markdown_lines(text)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.task)
def test_the_rubrics_show_no_markup_and_every_word(task: TaskDefinition) -> None:
    text = "\n".join(shown(task.rubric))
    assert not any(sign in text for sign in ("*", "#", "`"))
    words = "".join(letter for letter in task.rubric if letter.isalnum())
    assert "".join(letter for letter in text if letter.isalnum()) == words


def test_headings_lists_and_paragraphs() -> None:
    lines = markdown_lines(
        "# Title #\n\nOne line\nof a **bold** paragraph.\n\n- first\n  goes on\n- *second*\n1. third\n"
    )
    assert [text_of(line) for line in lines] == [
        "Title", "", "One line of a bold paragraph.", "", "  • first goes on", "  • second", "  1. third", "",
    ]  # fmt: skip
    assert lines[0][0].role == "title"
    assert [span.role for span in lines[2]] == ["plain", "title", "plain"]


@pytest.mark.parametrize("text", ["2 * 3 * 4", "a_b_c", "**", "* *", "f(**kwargs)", "5 mg/kg*", "`", "x ** y"])
def test_signs_that_mark_nothing_stay(text: str) -> None:
    assert "".join(shown(text)).replace("•", "*").strip() == text.strip() or "".join(shown(text)) == text


@given(st.text(max_size=200))
def test_any_text_is_shown_without_control_characters(text: str) -> None:
    for line in markdown_lines(text):
        assert all(TERMINAL_UNSAFE.search(span.text) is None for span in line)


def test_what_is_fenced_and_the_rows_of_tables_stay_as_they_are() -> None:
    text = 'See:\n```json\n{"a_b_":  [1,\n 2]}\n# **no heading**\n```\n| a | b |\n|---|---|\nafter *it*\n'
    assert shown(text) == [
        "See:", "json", '{"a_b_":  [1,', " 2]}", "# **no heading**", "| a | b |", "|---|---|", "after it", "",
    ]  # fmt: skip
    assert shown("~~~\n```\nto the end\n\n[@click=app.quit]*x*") == ["```", "to the end", "", "[@click=app.quit]*x*"]
