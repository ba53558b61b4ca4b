"""An HTML page as a tree, read strictly: tags that do not match are an error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "hr", "link", "img", "input"})
DRAWN = frozenset({"line", "rect", "circle"})
"""SVG elements that close themselves."""


@dataclass
class Element:
    """An element with its attributes, its children, and the text directly or deeper inside."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    def all(self, tag: str = "", name: str = "") -> Iterator[Element]:
        """Descendants with the tag and the class."""
        for child in self.children:
            if isinstance(child, Element):
                if tag in ("", child.tag) and (not name or name in child.attributes.get("class", "").split()):
                    yield child
                yield from child.all(tag, name)

    def one(self, tag: str = "", name: str = "") -> Element:
        """The first such descendant."""
        found = next(self.all(tag, name), None)
        assert found is not None, f"no {tag} .{name} in <{self.tag}>"
        return found

    @property
    def text(self) -> str:
        """All text inside, blanks folded, block by block."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join(" ".join(parts).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self.open = [self.root]
        self.comments: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> says an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in DRAWN | VOID, f"<{tag}/> closes itself"
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data.strip())


def read_page(text: str) -> Element:
    """The page as a tree.

    Raises:
        AssertionError: tags do not match, or one is left open.
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], f"left open: {[one.tag for one in reader.open]}"
    assert reader.comments == ["overread report"]
    return reader.root


def section(page: Element, title: str) -> Element:
    """The section under a heading."""
    for one in page.all("section"):
        if any(heading.text == title for heading in one.all("h2")):
            return one
    raise AssertionError(f"no section {title!r}")


def table(inside: Element, caption: str) -> Element:
    """The table whose caption begins so."""
    for one in inside.all("table"):
        if one.one("caption").text.startswith(caption):
            return one
    raise AssertionError(f"no table {caption!r}")


def rows(one: Element) -> dict[str, list[Element]]:
    """Cells by the head of their row."""
    return {row.one("th").text: list(row.all("td")) for row in one.one("tbody").all("tr")}


def number(cell: Element) -> float:
    """The whole number behind a cell."""
    return float(cell.one("data").attributes["value"])
