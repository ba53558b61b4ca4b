from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Offset, Region
from textual.selection import Selection
from textual.widgets import Static

from annotate.desk.cells import cell_width
from annotate.desk.document import Document, Highlight, Mark
from annotate.desk.sections import (
    Column,
    Turn,
    compare_section,
    dialogue_section,
    list_section,
    text_section,
)
from annotate.tui.line_filter import ControlCharacterFilter
from annotate.tui.widgets.document_view import DocumentView
from store.safe_text import TERMINAL_UNSAFE

HOSTILE = (
    "\x1b]2;TITLE\x1b\\ \x1b]52;c;ZXZpbA==\x07 \x1b[5;5H \x9b31m [@click=app.quit]quit[/] [/x] [bold] [tag=value: x "
    "\x00 \u202egnp.exe\u2066 half \ud83d \u200bzero a\tb\r\nnext\x85line"
)
ENGLISH = "The patient reports mild headaches after 40 mg; she is fine. "
CHINESE = "患者否认药物过敏史，每天服用四十毫克阿司匹林。"


class Host(App[None]):
    """A bare app around the view, with the second wall."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[str, ...]] = []
        self._wall = ControlCharacterFilter()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [self._wall, *super().get_line_filters()]

    def compose(self) -> ComposeResult:
        yield DocumentView(id="view")

    def on_document_view_sections_opened(self, message: DocumentView.SectionsOpened) -> None:
        assert message.control is self.view
        self.opened.append(message.sections)

    @property
    def view(self) -> DocumentView:
        return self.query_one(DocumentView)

    def screen_lines(self) -> list[str]:
        """What the view shows, styles and filters applied."""
        size = self.view.scrollable_size
        return [strip.text for strip in self.view.render_lines(Region(0, 0, size.width, size.height))]


def document(turns: int = 30) -> Document:
    said = [Turn("user" if n % 2 else "assistant", f"Turn {n}. {ENGLISH * 2}{CHINESE}", "Sep 04") for n in range(turns)]
    said.insert(3, said[1])
    return Document(
        [
            text_section("question", "Question", "What dog does Martin like now?"),
            text_section("response", "Response", HOSTILE),
            compare_section("old,new", "Old, New", [Column("Old", ENGLISH * 2), Column("New", CHINESE * 2)]),
            dialogue_section("dialogue", "Dialogue", said, folded=True),
            list_section("memories", "Memories", [ENGLISH, CHINESE, HOSTILE], folded=True),
        ]
    )


@pytest.mark.parametrize("width", [40, 60, 80, 140, 200])
async def test_what_is_on_the_screen_is_the_document(width: int) -> None:
    app = Host()
    async with app.run_test(size=(width, 24)) as pilot:
        app.view.show(document())
        app.view.open_all()
        await pilot.pause()
        shown = app.view.document
        for top in range(0, shown.rows, 24):
            app.view.scroll_rows_to(top)
            lines = app.screen_lines()
            first = app.view.scroll_offset.y
            for y, line in enumerate(lines):
                if first + y < shown.rows:
                    expected = shown.row(first + y).text
                    assert line[: len(expected)] == expected
                assert cell_width(line) == app.view.scrollable_size.width


async def test_what_was_rendered_ahead_is_what_would_be_rendered_now() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.show(document())
        await pilot.pause()
        expected = app.view.render_lines(app.view.size.region)
        app.view.show(document(3))
        app.view.scroll_rows(9)
        await pilot.pause()
        following = document()
        app.view.render_ahead(following)
        assert app.view.document is not following
        app.view.show(following)
        assert app.view.render_lines(app.view.size.region) == expected


@pytest.mark.parametrize("change", ["highlight", "scroll", "resize", "another document"])
async def test_a_change_after_rendering_ahead_is_seen(change: str) -> None:
    app, following = Host(), document()
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.show(document(3))
        await pilot.pause()
        app.view.render_ahead(following)
        if change == "resize":
            await pilot.resize_terminal(60, 20)
            await pilot.pause()
        app.view.show(document(5) if change == "another document" else following)
        if change == "highlight":
            app.view.set_highlights("find", [Highlight("question", 0, 5, 8, "find")])
        if change == "scroll":
            app.view.scroll_rows(4)
        await pilot.pause()
        shown = app.view.render_lines(app.view.size.region)
        app.view.refresh()
        assert shown == app.view.render_lines(app.view.size.region)
        if change == "highlight":
            segments = [segment for strip in shown for segment in strip]
            assert "dog" in [segment.text for segment in segments if segment.style and segment.style.underline]


async def test_opening_a_section_is_told_once() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.show(document())
        assert app.view.toggle_section("dialogue")
        app.view.open_section("dialogue")
        app.view.jump_to("memories", 1)
        assert not app.view.toggle_section("memories")
        await pilot.pause()
        assert app.opened == [("dialogue",), ("memories",)]
        assert app.view.document.open_sections == ("question", "response", "old,new", "dialogue")


async def test_folding_and_resizing_keep_the_text_on_the_top_line() -> None:
    app = Host()
    async with app.run_test(size=(100, 20)) as pilot:
        view = app.view
        view.show(document())
        view.open_section("dialogue")
        await pilot.pause()
        row = view.document.locate("dialogue", 12, 100)
        assert row is not None
        view.scroll_rows_to(row)
        position = view.document.position(view.top_row)
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        again = view.document.position(view.top_row)
        assert view.document.width == view.scrollable_size.width < 60
        assert (again.section, again.place.unit) == (position.section, position.place.unit)
        assert abs(again.place.offset - position.place.offset) < 60
        view.toggle_section("memories")
        assert view.document.position(view.top_row) == again
        view.toggle_section("dialogue")
        assert view.document.row(view.top_row).section in ("dialogue", "old,new", "response", "question")


async def test_scrolling_stops_at_the_ends() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        view = app.view
        view.show(document())
        view.open_section("dialogue")
        await pilot.pause()
        view.scroll_rows(3)
        assert view.top_row == 3
        view.scroll_pages(1)
        assert view.top_row == 3 + 19
        view.scroll_rows(-1000)
        assert view.top_row == 0
        view.scroll_to_bottom()
        assert view.top_row == view.document.rows - 20
        view.scroll_to_top()
        assert view.top_row == 0


async def test_jumps_set_the_cursor_and_are_in_view() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        view = app.view
        view.show(document())
        view.jump_to("dialogue", 20)
        await pilot.pause()
        row = view.document.locate("dialogue", 20)
        assert row is not None and view.top_row <= row < view.top_row + 20
        assert app.screen_lines()[row - view.top_row].startswith("▌")
        assert view.cursor == ("dialogue", 20)
        assert view.move_cursor("dialogue", 1) == 21
        assert view.move_cursor("dialogue", -100) == 0
        view.jump_to("dialogue", 3)
        assert view.cursor == ("dialogue", 1)
        view.clear_cursor()
        view.scroll_rows_to(view.document.locate("dialogue", 10) or 0)
        assert view.move_cursor("dialogue", 1) == 10
        assert view.move_cursor("dialogue", 1) == 11
        with pytest.raises(IndexError):
            view.jump_to("dialogue", 99)


async def test_finding_goes_through_folded_sections() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        view = app.view
        view.show(document())
        await pilot.pause()
        assert view.find("TURN 7.") == 1
        hit = view.find_step()
        await pilot.pause()
        assert hit is not None and hit.section == "dialogue"
        assert app.opened == [("dialogue",)]
        assert view.current_hit == 0
        lines = [line for line in app.screen_lines() if "Turn 7." in line]
        assert len(lines) == 1 and lines[0].startswith("» ")
        assert view.find("40 mg") > 20
        first = view.find_step()
        assert first is not None and view.find_step(-1) != first
        assert view.find("no such text") == 0 and view.find_step() is None
        assert view.find("") == 0


async def test_a_click_on_a_title_folds() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.show(document())
        await pilot.pause()
        row = view.document.locate("dialogue", -1)
        assert row is not None
        assert await pilot.click("#view", offset=(4, row - view.top_row))
        assert view.document.is_open("dialogue")
        assert await pilot.click("#view", offset=(20, 0))
        assert view.document.is_open("question")


async def test_marks_and_differences_show_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.show(document())
        view.open_section("dialogue")
        view.set_marks("evidence", [Mark("dialogue", 0, "◆", "evidence")])
        view.set_highlights("differences", [Highlight("question", 0, 5, 8, "word")])
        await pilot.pause()
        lines = app.screen_lines()
        assert lines[0].startswith("≠ Question")
        assert any("◆ evidence" in line for line in lines)
        strip = view.render_lines(Region(0, 0, 80, 1))[0]
        (marked,) = [segment for segment in strip if segment.text == "dog"]
        assert marked.style is not None and marked.style.underline


async def test_selected_text_can_be_copied() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.show(document())
        await pilot.pause()
        start = view.document.row(0).text.index("What")
        selection = Selection(Offset(start, 0), Offset(start + 8, 0))
        assert view.get_selection(selection) == ("What dog", "\n")
        whole = view.get_selection(Selection(None, None))
        assert whole is not None and "‹RLO›gnp.exe" in whole[0]
        app.screen.selections = {view: selection}
        view.refresh()
        strip = view.render_lines(Region(0, 0, 80, 1))[0]
        assert "What dog" in [segment.text for segment in strip]


async def test_the_view_takes_no_keys() -> None:
    app = Host()
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.show(document())
        app.view.open_section("dialogue")
        await pilot.press("down", "pagedown", "tab", "enter", "end")
        assert app.focused is None and app.view.top_row == 0
        assert app.view._bindings.key_to_bindings == {}


async def test_a_view_shown_before_its_size_is_known() -> None:
    class Early(Host):
        def compose(self) -> ComposeResult:
            view = DocumentView(id="view")
            view.show(document())
            yield view

    app = Early()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "What dog does Martin like now?" in app.screen_lines()[0]


def hostile_text(source: random.Random) -> str:
    pieces = [
        lambda: chr(source.choice([*range(0x20), 0x7F, *range(0x80, 0xA0)])),
        lambda: chr(source.choice([0x200B, 0x200D, 0x202E, 0x2066, 0x2028, 0xFE0F, 0xFEFF, 0xD83D, 0xE0041, 0x301])),
        lambda: chr(source.randrange(0x110000)),
        lambda: source.choice(
            ["[/]", "[@click=app.quit]x[/]", "\x1b[2J", "\x1b]0;t\x07", "中文", "لا", "👩\u200d⚕️", "🏽"]
        ),
        lambda: source.choice(["word ", ENGLISH, CHINESE, "x" * 300, "\u0301" * 80]),
    ]
    return "".join(source.choice(pieces)() for _ in range(source.randrange(60)))


@pytest.mark.slow
async def test_no_control_character_of_hostile_text_reaches_a_strip() -> None:
    source = random.Random(20251130)
    app = Host()
    async with app.run_test(size=(64, 20)) as pilot:
        view = app.view
        for _ in range(40):
            text = lambda: hostile_text(source)  # noqa: E731
            view.show(
                Document(
                    [
                        text_section(text(), text(), text(), badge=text()),
                        compare_section("c" + text(), text(), [Column(text(), text()), Column(text(), text())]),
                        dialogue_section("d" + text(), text(), [Turn(text(), text(), text()) for _ in range(5)]),
                        list_section("l" + text(), text(), [text(), text()], folded=True),
                    ]
                )
            )
            view.open_all()
            view.find(text()[:2])
            await pilot.pause()
            width = view.scrollable_size.width
            for number in range(view.document.rows):
                strip = view.render_line(number - view.scroll_offset.y)
                assert TERMINAL_UNSAFE.search(strip.text) is None
                assert all(unicodedata.category(character) not in ("Cc", "Cs") for character in strip.text)
                assert strip.cell_length == width
                assert len(strip.text) < width * 40
                for segment in strip:
                    assert segment.style is None or not segment.style.meta.get("@click")
        assert app.is_running


async def test_the_second_wall_cleans_every_widget() -> None:
    class Bare(Host):
        def compose(self) -> ComposeResult:
            yield Static("\x1b]2;TITLE\x07 \x9b31m \u202eevil \ud83d \x00 end", markup=False)

    app = Bare()
    async with app.run_test(size=(60, 3)) as pilot:
        await pilot.pause()
        line = app.query_one(Static).render_lines(Region(0, 0, 60, 1))[0].text
        assert TERMINAL_UNSAFE.search(line) is None
        assert "]2;TITLE" in line and line.rstrip().endswith("end")


def test_the_wall_leaves_clean_lines_alone_and_drops_poisoned_links() -> None:
    wall = ControlCharacterFilter()
    clean = [Segment("plain 中文 👩\u200d⚕️"), Segment("link", Style(link="https://example.org"))]
    assert wall.apply(clean, Color(0, 0, 0)) == clean
    (cleaned,) = wall.apply([Segment("a\x1bb\n", Style(link="https://x\x1b\\", bold=True))], Color(0, 0, 0))
    assert (cleaned.text, cleaned.style) == ("ab", Style(bold=True))
