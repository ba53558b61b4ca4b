from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from annotate.desk.cells import LONGEST_CLUSTER, cell_width, cell_widths, cut_to_width
from annotate.desk.layout import has_disputed_width, is_right_to_left, wrap

_LATIN = ("a", "word ", "  ", "\n", "longlonglongword", "é", "e\u0301", "\u0301")
_WIDE = ("中", "患者，", "。", "（", "한", "ᄒ", "ᅡ", "\u3000")
_EMOJI = ("👩\u200d⚕️", "👍🏽", "🏽", "🇬🇧", "🇬", "❤️", "❤", "1️⃣", "\u200d", "\ufe0f")
PIECES = st.sampled_from((*_LATIN, *_WIDE, *_EMOJI, "ب", "لا ", "शि"))
TEXTS = st.one_of(st.lists(PIECES).map("".join), st.text())


def lines_of(text: str, width: int) -> list[str]:
    wrapped = wrap(text, width)
    return [text[slice(*wrapped.shown(line))] for line in range(len(wrapped))]


@given(TEXTS, st.integers(2, 30))
@example("👩\u200d" * 50, 5)
@example("e" + "\u0301" * 100, 4)
@example("\u200d\ufe0f" * 40, 3)
@example("ᄒ" + "ᅡ" * 200, 10)
def test_lines_tile_the_text_and_none_is_too_wide(text: str, width: int) -> None:
    wrapped = wrap(text, width)
    spans = [wrapped.span(line) for line in range(len(wrapped))]
    assert "".join(text[start:end] for start, end in spans) == text
    assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
    for line, (start, end) in enumerate(spans):
        shown = text[slice(*wrapped.shown(line))]
        assert "\n" not in text[start:end].removesuffix("\n")
        assert cell_width(shown) <= width
        assert cell_len(shown) <= width
        assert len(shown) <= width * (LONGEST_CLUSTER + 1)
        assert text[start:end][len(shown) :].strip(" \n") == ""


@given(TEXTS)
def test_our_widths_are_never_below_rich_s(text: str) -> None:
    assert cell_width(text) >= cell_len(text.replace("\n", ""))
    assert len(cell_widths(text)) == len(text)


@given(TEXTS, st.integers(2, 20))
def test_no_line_starts_inside_a_cluster(text: str, width: int) -> None:
    wrapped = wrap(text, width)
    widths = cell_widths(text)
    for start in list(wrapped.starts)[1:]:
        if start < len(text) and text[start - 1] not in "\n ":
            assert widths[start] > 0


@given(TEXTS, st.integers(2, 30), st.integers(0, 200))
def test_the_line_of_an_offset_holds_it(text: str, width: int, offset: int) -> None:
    wrapped = wrap(text, width)
    if offset < len(text):
        start, end = wrapped.span(wrapped.line_at(offset))
        assert start <= offset < end


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("one\n\ntwo", 10, ["one", "", "two"]),
        ("the quick brown fox", 10, ["the quick", "brown fox"]),
        ("aaaa bbbb", 4, ["aaaa", "bbbb"]),
        ("aaaa   ", 4, ["aaaa"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("  indented text here", 12, ["  indented", "text here"]),
        ("每天服用四十毫克，阿司匹林", 16, ["每天服用四十毫", "克，阿司匹林"]),
        ("他说（你好）", 6, ["他说", "（你", "好）"]),
        ("服用aspirin每天", 8, ["服用", "aspirin", "每天"]),
        ("👩\u200d⚕️👩\u200d⚕️👩\u200d⚕️", 4, ["👩\u200d⚕️👩\u200d⚕️", "👩\u200d⚕️"]),
        ("🇬🇧🇫🇷", 3, ["🇬🇧", "🇫🇷"]),
        ("لا يعاني المريض", 9, ["لا يعاني", "المريض"]),
    ],
)
def test_where_lines_break(text: str, width: int, lines: list[str]) -> None:
    assert lines_of(text, width) == lines


def test_a_line_narrower_than_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells"):
        wrap("中", 1)


def test_very_long_lines_wrap() -> None:
    for character in ("x", "中", "。", " ", "\u0301", "🏽", "ب"):
        text = character * 20_000
        wrapped = wrap(text, 76)
        assert "".join(text[slice(*wrapped.span(line))] for line in range(len(wrapped))) == text
        assert len(wrapped) > 20_000 // (76 * (LONGEST_CLUSTER + 1))


@given(TEXTS, st.integers(0, 20))
def test_a_cut_text_fits(text: str, width: int) -> None:
    text = text.replace("\n", "")
    cut = cut_to_width(text, width)
    assert cell_width(cut) <= max(width, 0)
    assert cut == text or (cell_width(text) > width and text.startswith(cut.removesuffix("…")))


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("👩\u200d⚕️", 2),
        ("👍🏽", 2),
        ("🏽", 2),
        ("🇬🇧", 2),
        ("❤", 1),
        ("❤️", 2),
        ("e\u0301", 1),
        ("شي", 2),
        ("ب\u200dب", 2),
        ("中", 2),
    ],
)
def test_widths_of_clusters(text: str, width: int) -> None:
    assert cell_width(text) == width


def test_scripts_that_terminals_show_their_own_way_are_known() -> None:
    assert is_right_to_left("abc لا") and is_right_to_left("שלום") and not is_right_to_left("中文 abc é")
    assert has_disputed_width("👍🏽") and has_disputed_width("शि") and has_disputed_width("e\u0301")
    assert not has_disputed_width("中文 abc é “q”")
