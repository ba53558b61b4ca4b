"""The pictures show the screen, in its colours, and load nothing."""

from __future__ import annotations

from html import unescape
from xml.etree import ElementTree

from tests.terminal.virtual_screen import VirtualScreen
from tests.tools.make_screenshots import svg


def picture(output: str) -> str:
    screen = VirtualScreen(40, 4)
    screen.feed(output.encode())
    return svg(screen.cells, "overread demo", "shot")


def test_the_picture_holds_the_text_and_its_colours() -> None:
    drawn = picture("plain \x1b[38;2;1;2;3mtinted\x1b[0m \x1b[1;31mred\x1b[0m \x1b[33myellow\x1b[0m\r\n漢字 & <tag>")
    texts = [unescape("".join(node.itertext())) for node in ElementTree.fromstring(drawn).iter() if "text" in node.tag]
    words = " ".join(texts).replace("\xa0", " ")
    assert all(word in words for word in ("plain", "tinted", "red", "yellow", "漢", "字", "& <tag>", "overread demo"))
    assert "#010203" in drawn


def test_the_picture_loads_nothing_and_is_the_same_each_time() -> None:
    drawn = picture("text")
    assert "url(http" not in drawn
    assert "@font-face" not in drawn
    assert "src=" not in drawn
    assert drawn == picture("text")
