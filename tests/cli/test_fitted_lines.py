"""Long sentences in a terminal: broken between words, tables and files untouched."""

from __future__ import annotations

import io

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from annotate.cli.errors import report, report_usage
from annotate.cli.output import fitted, fitted_to
from annotate.cli.remedies import name_study
from store.errors import UsageError

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


class Terminal(io.StringIO):
    """A stream that is a terminal and does not tell its size: COLUMNS does."""

    def isatty(self) -> bool:
        return True


def test_messages_are_broken_at_words_in_a_terminal_and_piped_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    name_study(None)  # whatever a command before named
    hint = "Draw more: overread sample --n 40   or   label what is drawn: overread label"
    error = UsageError("This cannot be done with so few labels.", f"Two lines:\n{'word ' * 12}", hint)
    wrong = typer.BadParameter("No such option --nonsense, nor anything else that reads as long as this does.")
    monkeypatch.setattr("sys.stderr", told := Terminal())
    assert (report(error), report_usage(wrong)) == (2, 2)
    lines = told.getvalue().splitlines()
    assert max(map(len, lines)) <= 40 and lines[:2] == ["overread: This cannot be done with so", "  few labels."]
    assert "  Draw more: overread sample --n 40   or" in lines and lines[-1].startswith("  ")
    monkeypatch.setattr("sys.stderr", piped := io.StringIO())
    report(error)
    assert hint in piped.getvalue() and len(piped.getvalue().splitlines()) == 4
    assert fitted_to(None, SENTENCE) == SENTENCE
