"""Prints how long the desk's work on long texts takes, in milliseconds: the best of three.

Run from the root of the project: python tests/performance/document.py
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from textual.app import App, ComposeResult
from textual.geometry import Region

from annotate.desk.chinese import ChineseSegmenter
from annotate.desk.differences import differences
from annotate.desk.document import Document
from annotate.desk.evidence import rank_turns
from annotate.desk.find import Finder
from annotate.desk.layout import wrap
from annotate.desk.sections import Turn, dialogue_section
from annotate.tui.widgets.document_view import DocumentView
from store.model_names import model_names_in
from store.safe_text import safe_text

MEGABYTE = 1_000_000
ENGLISH = "The patient reports mild headaches after forty mg; she's fine, and likes her Golden Retriever. "
CHINESE = "患者否认药物过敏史，每天服用四十毫克阿司匹林，没有养猫。"
ARABIC = "يقول المريض إنه لا يعاني من الصداع منذ ثلاثة أيام. "


def filled(sentence: str, size: int = MEGABYTE) -> str:
    """The sentence over and over, up to `size` bytes of UTF-8, in paragraphs of ten."""
    paragraph = sentence * 10 + "\n"
    return paragraph * (size // len(paragraph.encode()) + 1)


def report(name: str, work: Callable[[], object], times: int = 3) -> None:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    print(f"{best * 1000:9.1f}  {name}")


def dialogue(sentence: str, turns: int) -> list[Turn]:
    """A dialogue of a megabyte, no turn like another."""
    said = sentence * (MEGABYTE // turns // len(sentence.encode()) + 1)
    return [Turn("user" if n % 2 else "assistant", f"{n} {said}", f"Sep {n // 10}") for n in range(turns)]


def texts() -> None:
    for name, sentence in (("English", ENGLISH), ("Chinese", CHINESE), ("Arabic", ARABIC)):
        text = filled(sentence)
        report(f"safe_text, 1 MB {name}", lambda text=text: safe_text(text))
        report(f"wrap at 76, 1 MB {name}", lambda text=text: wrap(text, 76))
        report(f"model names in 1 MB {name}", lambda text=text: model_names_in(text))
    report("safe_text, 1 MB of escapes", lambda: safe_text("\x1b[31m\u202e" * (MEGABYTE // 6)))
    for name, line in (("x", "x"), ("中", "中"), ("combining", "\u0301"), ("joined emoji", "👩\u200d")):
        text = (line * 200_000)[:200_000]
        report(f"wrap at 76, one line of 200,000 characters: {name}", lambda text=text: wrap(text, 76))


def documents() -> None:
    for name, sentence, turns in (("English", ENGLISH, 500), ("English", ENGLISH, 5_000), ("Chinese", CHINESE, 3_000)):
        section = dialogue_section("d", "Dialogue", dialogue(sentence, turns), folded=True)

        def unfold(section: object = section) -> Document:
            document = Document([section])
            document.lay_out(80)
            document.set_open("d", True)
            return document

        report(f"unfold 1 MB of {name}, {turns} turns", unfold)
        document = unfold()
        report("  50 rows of it", lambda document=document: [document.row(1000 + row) for row in range(50)])
        report("  first search in it", lambda document=document: Finder(document).search("golden 毫克"))
        report(
            "  its turns ranked by similar words",
            lambda document=document, sentence=sentence: rank_turns(sentence, document.texts("d")),
        )


def comparisons() -> None:
    report("start the Chinese segmenter", lambda: ChineseSegmenter().warm(), times=1)
    report("differences, two English sentences", lambda: differences(ENGLISH, ENGLISH.replace("forty", "50")))
    report(
        "differences, first two Chinese sentences", lambda: differences(CHINESE, CHINESE.replace("四", "五")), times=1
    )
    report("differences, two Chinese sentences", lambda: differences(CHINESE, CHINESE.replace("四", "五")))
    for name, sentence in (("English", ENGLISH), ("Chinese", CHINESE)):
        text = filled(sentence, 60_000)[:20_000]
        report(f"differences, 20,000 characters of {name}", lambda text=text: differences(text, text[500:]))


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield DocumentView()


async def screen() -> None:
    app = Host()
    async with app.run_test(size=(140, 45)) as pilot:
        view = app.query_one(DocumentView)
        section = dialogue_section("d", "Dialogue", dialogue(ENGLISH, 2_000), folded=True)
        view.show(Document([section]))
        await pilot.pause()
        area = Region(0, 0, view.size.width, view.size.height)

        def unfold() -> None:
            view.toggle_section("d")
            view.render_lines(area)

        report("unfold 1 MB in the view and paint it", unfold, times=1)

        def page() -> None:
            view.scroll_pages(1)
            view.refresh()
            view.render_lines(area)

        report("  a page down, painted", page, times=20)


if __name__ == "__main__":
    texts()
    documents()
    comparisons()
    asyncio.run(screen())
