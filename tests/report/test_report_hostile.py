"""Texts of items, judges and people that would like to be markup: on the page they are text and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from annotate.report.blocks import Block, Case, Cell, Document, Listing, Panel, Paragraph, Passage, Row, Section, Table
from annotate.report.document import build_document
from annotate.report.html.escape import escaped, paragraphs
from annotate.report.html.page import html_page
from annotate.report.markdown import line_of, lines_of, markdown_text
from store.records import LabelState
from tests.report.page_tree import Element, read_page
from tests.report.planted_studies import CORRECT, HALLUCINATION, Planted, items_of, options, plant

HOSTILE = {
    "script": "</details><script>alert(1)</script>",
    "quotes": '" onmouseover="alert(1)" \'`',
    "sections": "]]><![CDATA[x]]> <!-- --> &lt; &amp;amp; &#60;",
    "image": '<img src="https://example.org/x.png" onerror=alert(1)>',
    "markdown": "![x](https://example.org/x.png) [y](javascript:alert(1)) <https://example.org> https://example.org",
    "blocks": "# heading\n| a | b |\n| - | - |\n> quote\n```\ncode\n- list\n1. one\n===\n    indented\n<div>\n$x$",
    "bidi": "left \u202eright\u2066",
    "control": "nul\x00 esc\x1b[31m csi\x9b bell\x07",
    "noncharacter": "none \ufffe \U0010ffff",
    "emoji": "👩\u200d⚕️ 5 mg",
    "arabic": "تتحسس من البنسلين 5 mg",
    "style": "</style><style>*{display:none}</style>{} @import 'x'",
}
MARKDOWN = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").enable("strikethrough")


def hostile_items() -> list[Planted]:
    everything = " ".join(HOSTILE.values())
    state = LabelState(value=HALLUCINATION, note=everything, reference_wrong=True, right_answer=everything,
                       tags=(HOSTILE["script"],), harm="serious")  # fmt: skip
    return [
        *items_of({(CORRECT, CORRECT): 30, (HALLUCINATION, HALLUCINATION): 20}, HOSTILE["quotes"]),
        *(
            Planted(
                CORRECT, {HOSTILE["script"]: state, "dr.li": HALLUCINATION}, question=text, response=text,
                rationale=text, system=HOSTILE["image"], slices={HOSTILE["markdown"]: text, "kind": name},
                judge_name=HOSTILE["script"],
            )
            for name, text in HOSTILE.items()
        ),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Document:
    with plant(tmp_path_factory.mktemp("hostile") / "hostile.duckdb", hostile_items()) as study:
        return build_document(study, options(disagreements=100))


def test_hostile_texts_leave_the_page_as_sound_as_any(hostile: Document) -> None:
    text = "".join(html_page(hostile))
    page = read_page(text)
    assert {one.tag for one in page.all()}.isdisjoint({"script", "img", "link", "iframe"})
    assert len(list(page.all("style"))) == 1
    assert not any(name.startswith("on") for one in page.all() for name in one.attributes)
    assert [one for one in page.all() if not one.attributes.get("href", "#").startswith("#")] == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", text)


def cases(page: Element) -> list[Element]:
    return list(page.all("details", "case"))


def test_hostile_texts_can_still_be_read(hostile: Document) -> None:
    page = read_page("".join(html_page(hostile)))
    assert len(cases(page)) == len(HOSTILE)
    said = page.text
    for shown in (
        "</details><script>alert(1)</script>",
        '" onmouseover="alert(1)" \'`',
        "]]><![CDATA[x]]> <!-- --> &lt; &amp;amp; &#60;",
        "left ‹RLO›right‹LRI›",
        "nul␀ esc␛[31m csi‹9B› bell␇",
        "none \ufffd \ufffd",
        "👩\u200d⚕️ 5 mg",
        "تتحسس من البنسلين 5 mg",
    ):
        assert shown in said


def test_every_text_of_an_item_takes_the_direction_of_its_script(hostile: Document) -> None:
    page = read_page("".join(html_page(hostile)))
    passages = [one for case in cases(page) for panel in case.all("div", "panel") for one in panel.all("p")]
    texts = [one for one in passages if "class" not in one.attributes]
    assert len(texts) > 3 * len(HOSTILE)
    assert all(one.attributes.get("dir") == "auto" for one in texts)


def test_hostile_texts_are_no_markup_in_markdown(hostile: Document) -> None:
    text = "".join(markdown_text(hostile))
    rendered = MARKDOWN.render(text.removeprefix("<!-- overread report -->"))
    tags = set(re.findall(r"</?([a-z0-9]+)", rendered))
    ours = "h[1-4]|p|strong|em|[uo]l|li|table|thead|tbody|t[rhd]|code|blockquote|br|hr"
    assert [tag for tag in tags if not re.fullmatch(ours, tag)] == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def inline(text: str) -> str:
    """What Markdown makes of one escaped line, tags and entities taken back."""
    rendered = MARKDOWN.render(line_of(text))
    assert set(re.findall(r"</?([a-z0-9]+)", rendered)) <= {"p"}
    plain = re.sub("</?p>", "", rendered).strip("\n")
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


@given(st.text(alphabet=st.sampled_from("ab1 \\`*_{}[]()<>#+-.!|~=:@&$\"'/wé漢"), min_size=1, max_size=30))
def test_any_line_shows_in_markdown_as_it_is(text: str) -> None:
    shown = text.strip(" ")
    if shown:
        assert inline(text).strip(" \u00a0") == shown


@given(st.text(alphabet=st.characters(codec="utf-16", categories=None), max_size=40))
def test_any_text_is_text_in_html(text: str) -> None:
    page = Element("")
    from tests.report.page_tree import _Reader

    reader = _Reader()
    reader.feed(f'<p title="{escaped(text)}">{escaped(text)}</p>{paragraphs(text)}')
    reader.close()
    page = reader.root
    assert {one.tag for one in page.all()} == {"p"}
    assert reader.open == [page]


def test_a_line_of_several_keeps_its_breaks_and_a_cell_stays_one_line() -> None:
    assert lines_of("one\r\ntwo\n\nthree") == ["one", "two", "three"]
    assert "\n" not in line_of("one\ntwo | three")
    assert line_of("a | b") == "a \\| b"


def document_of(*blocks: Block) -> Document:
    return Document("t", "s", (Section("a", "b", tuple(blocks)),), "c")


@pytest.mark.parametrize("text", [*HOSTILE.values(), "half \ud83d"], ids=[*HOSTILE, "surrogate"])
def test_no_block_lets_markup_through(text: str) -> None:
    """Every kind of block, with the text wherever a text can stand."""
    passage = Passage(text, head=text, note=text)
    document = document_of(
        Paragraph(text),
        Listing((text,)),
        Table(text, (text, text), (Row((Cell(text), Cell(text, value=1.0))), Row((Cell(text),), group=True))),
        Case(
            text, text, text, text, text, urgent=True, panels=(Panel(text, (passage, passage), True),), remarks=(text,)
        ),
    )
    page = read_page("".join(html_page(document)))
    assert {one.tag for one in page.all()}.isdisjoint({"script", "img"})
    assert len(list(page.all("section"))) == 1
    rendered = MARKDOWN.render("".join(markdown_text(document)).removeprefix("<!-- overread report -->"))
    assert not re.search(r"<(script|img|a|div|pre|del|style)\b", rendered)


def test_a_studys_file_name_is_text_too(tmp_path: Path) -> None:
    with plant(tmp_path / "<b>&'x'.duckdb", items_of({(CORRECT, CORRECT): 25})) as study:
        page = read_page("".join(html_page(build_document(study, options()))))
    assert "study <b>&'x'.duckdb" in page.text
