"""An item as one plain text, and what is said where no pager can show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotate.desk.sections import Turn, dialogue_section, list_section, text_section
from annotate.desk.whole_text import whole_text
from annotate.editor import show_text
from store.errors import UsageError


def test_every_panel_is_whole_and_texts_stand_on_lines_of_their_own() -> None:
    sections = [
        text_section("q", "Question", "ما اسم \x1b[31mالكلب؟"),
        list_section("m", "Memories", ["one", ""], badge="the judge did not see this", folded=True),
        dialogue_section("d", "Dialogue", [Turn("user", "Hi\nthere", "2024-01-01"), Turn("user", "Hi\nthere")]),
    ]
    assert whole_text(sections).splitlines() == [
        "── Question ──", "ما اسم ␛[31mالكلب؟", "",
        "── Memories ──  (the judge did not see this)", "1.", "one", "", "2.", "(empty)", "",
        "── Dialogue ──", "1. User [2024-01-01]", "Hi", "there", "", "2. User", "Hi", "there",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pager", "says"),
    [("'", "is no command"), ("no-such-pager", "cannot be started"), ("false", "The pager ended with 1")],
)
def test_a_pager_that_does_not_work_is_told(pager: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", pager)
    with pytest.raises(UsageError, match=says):
        show_text("text", "item.txt")


def test_without_a_pager_the_way_to_one_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PAGER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="no pager") as told:
        show_text("text", "item.txt")
    assert told.value.hint == "export PAGER=less"
