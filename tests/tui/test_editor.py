"""The line editor: any keys in any order leave a text and a caret that belong together, clusters whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotate.desk.cells import cell_widths
from annotate.tui.widgets.editor import Editor
from store.safe_text import TERMINAL_UNSAFE

NAMES = ("left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+x", "f5", "tab")
TEXTS = st.text(st.sampled_from("ab 药é e\u0301👍🏽👩\u200d⚕\ufe0f🇬🇧\x1b\x00\n\u202e"), max_size=12)
KEYS = st.lists(st.one_of(st.sampled_from(NAMES), TEXTS), max_size=30)


@given(TEXTS, KEYS)
def test_the_caret_stays_in_the_text_and_on_a_visible_character(start: str, keys: list[str]) -> None:
    editor = Editor(start)
    for key in keys:
        if key in NAMES:
            editor.key(key, None)
        else:
            editor.insert(key)
        assert 0 <= editor.caret <= len(editor.text)
        first, last = editor.caret_span
        assert first == editor.caret and first <= last <= len(editor.text)
        if key in ("left", "right") and editor.caret < len(editor.text) and editor.caret:
            assert cell_widths(editor.text)[editor.caret] > 0


@given(TEXTS)
def test_what_is_inserted_holds_nothing_a_terminal_obeys(text: str) -> None:
    editor = Editor()
    editor.insert(text)
    assert TERMINAL_UNSAFE.search(editor.text) is None


@given(st.text(st.sampled_from("ab 药é👍🇬🇧"), max_size=12))
def test_right_then_backspace_to_the_start_empties_the_text(text: str) -> None:
    editor = Editor(text)
    for _ in text:
        editor.key("backspace", "\x7f")
    assert (editor.text, editor.caret) == ("", 0)


def test_one_press_goes_over_a_whole_cluster() -> None:
    for cluster in ("e\u0301", "👍🏽", "👩\u200d⚕\ufe0f", "🇬🇧", "药"):
        editor = Editor(f"a{cluster}b")
        editor.left()
        editor.left()
        assert editor.caret_span == (1, 1 + len(cluster))
        editor.delete_on()
        assert editor.text == "ab"


def test_words_and_ends() -> None:
    editor = Editor("take 4 mg  ")
    editor.key("ctrl+w", None)
    assert editor.text == "take 4 "
    editor.key("ctrl+a", None)
    editor.key("ctrl+k", None)
    assert editor.text == ""
    assert editor.touched


def test_a_text_that_comes_back_to_what_it_was_is_not_touched() -> None:
    editor = Editor("same")
    editor.insert("x")
    editor.key("backspace", "\x7f")
    assert not editor.touched
