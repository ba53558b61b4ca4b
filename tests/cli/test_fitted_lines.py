"""Long sentences in a terminal: broken between words, tables and files untouched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from annotate.cli.output import fitted

SENTENCE = "The judge misses 44 of 78 Contradicted items (people called 78 items so; the judge agreed on 34)."


def test_a_sentence_is_broken_between_words_and_indented() -> None:
    assert fitted(f"  {SENTENCE}", 60).split("\n") == [
        "  The judge misses 44 of 78 Contradicted items (people",
        "    called 78 items so; the judge agreed on 34).",
    ]


@pytest.mark.parametrize("line", [SENTENCE[:60], "    label         0.79 (0.73–0.84)   247    239" * 3, "x" * 200, ""])
def test_what_fits_a_row_of_a_table_and_what_has_no_space_stay(line: str) -> None:
    assert fitted(line, 60) == line


@given(st.lists(st.text("ab, 记忆", min_size=1, max_size=12).map(lambda word: word.replace(" ", "")), max_size=60))
def test_no_word_is_lost_and_no_line_too_long(words: list[str]) -> None:
    line = " ".join(word for word in words if word)
    rows = fitted(line, 40).split("\n")
    assert " ".join(row.strip() for row in rows) == line.strip()
    assert all(cell_len(row) <= 40 for row in rows)
